"""NodeVolumeLimits: a machine can have only so many volumes of a kind attached.

How many, each storage driver says itself, in the node's CSINode object. A volume counts
once, however many pods of the node use it; a claim that has no volume yet counts for
the driver of its class. A driver that names no limit has none.

Upstream: `pkg/scheduler/framework/plugins/nodevolumelimits/csi.go` (`CSILimits`),
v1.36. Left out: in-tree volumes that count for the driver they migrated to, volumes
attached for pods that are gone (VolumeAttachment), and the alpha check that the driver
is installed at all (VolumeLimitScaling).
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.persistent_volumes import storage_class_of
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterAnswer,
    PreFilterPlugin,
)
from lifecycle.scheduler.framework.listers import Listers, SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import SKIP, Status, unschedulable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, always
from lifecycle.scheduler.framework.volumes import (
    claim_names,
    uses_claim,
)

ERR_REASON_MAX_VOLUME_COUNT_EXCEEDED = "node(s) exceed max volume count"


def _is_schedulable_after_pod_deleted(
    _info: PodInfo, old: Object | None, _new: Object | None
) -> bool:
    return (
        old is not None and bool(old["spec"].get("nodeName")) and any(claim_names(old))
    )


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Counts volumes per driver and node."""

    name = "NodeVolumeLimits"

    def __init__(self, listers: Listers) -> None:
        self._listers = listers

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A driver's limit becomes known or changes, a pod with volumes goes, the claim
        comes.
        """
        return {
            ClusterEvent("CSINode", "Add"): always,
            ClusterEvent("CSINode", "Update"): always,
            ClusterEvent("AssignedPod", "Delete"): _is_schedulable_after_pod_deleted,
            ClusterEvent("PersistentVolumeClaim", "Add"): uses_claim,
        }

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """Nothing to do for a pod without claims."""
        return None, None if any(claim_names(info.pod)) else SKIP

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes where one more volume of a driver is too many."""
        limits = self._limits(node.name)
        if not limits:
            return None
        new_volumes = self._attachable(info.pod)
        attached: dict[str, str] = {}
        for other in node.pods.values():
            attached.update(self._attachable(other.pod))
        new = [
            driver for volume, driver in new_volumes.items() if volume not in attached
        ]
        there = list(attached.values())
        for driver in set(new):
            if (
                driver in limits
                and there.count(driver) + new.count(driver) > limits[driver]
            ):
                return unschedulable(self.name, ERR_REASON_MAX_VOLUME_COUNT_EXCEEDED)
        return None

    def _limits(self, node: str) -> dict[str, int]:
        csi_node = self._listers.get_csi_node(node) or {}
        drivers = (csi_node.get("spec") or {}).get("drivers") or ()
        counts = {
            driver["name"]: (driver.get("allocatable") or {}).get("count")
            for driver in drivers
        }
        return {name: count for name, count in counts.items() if count is not None}

    def _attachable(self, pod: Object) -> dict[str, str]:
        """The pod's volumes (each by a name of its own) and their drivers."""
        attachable = {}
        for name, _ephemeral in claim_names(pod):
            claim = self._listers.get_claim(f"{pod['metadata']['namespace']}/{name}")
            handle, driver = ("", "") if claim is None else self._driver_of(claim)
            if driver and handle:
                attachable[f"{driver}/{handle}"] = driver
        return attachable

    def _driver_of(self, claim: Object) -> tuple[str, str]:
        volume = self._listers.get_volume(claim["spec"].get("volumeName") or "")
        if volume is not None:
            source = volume["spec"].get("csi") or {}
            return source.get("volumeHandle", ""), source.get("driver", "")
        storage_class = self._listers.get_class(storage_class_of(claim)) or {}
        meta = claim["metadata"]
        handle = f"claim {meta['namespace']}/{meta['name']}"
        return handle, storage_class.get("provisioner", "")
