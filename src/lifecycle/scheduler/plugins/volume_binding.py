"""VolumeBinding: a pod's claims must exist, and its volumes be where it runs.

Claims that are bound hold the pod to the nodes their volumes can be reached from;
claims that are to be bound at once (`Immediate`) must be, before the pod's turn; claims
that wait for their first pod are matched per node, and bound when the node is chosen
(see `volume_binder.py`).

Upstream: `pkg/scheduler/framework/plugins/volumebinding/volume_binding.go`, v1.36. Left
out: scoring by storage capacity (off by default). What its Reserve and PreBind do is in
`scheduler.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from lifecycle.api.persistent_volumes import is_fully_bound
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import (
    SKIP,
    ClusterEvent,
    CycleState,
    FilterPlugin,
    QueueingHint,
    Status,
    always,
    unresolvable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.snapshot import Snapshot
from lifecycle.scheduler.volume_binder import PodVolumes, VolumeBinder


def claim_names(pod: Object) -> Iterator[tuple[str, bool]]:
    """The claims a pod's volumes use, and whether one is for an ephemeral volume: that
    claim is named after pod and volume.
    """
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"], False
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}", True


def uses_claim(info: PodInfo, _old: Object | None, new: Object | None) -> bool:
    """The hint for changes of claims: whether it is one of the pod's."""
    if new is None or new["metadata"]["namespace"] != info.pod["metadata"]["namespace"]:
        return False
    return any(name == new["metadata"]["name"] for name, _ in claim_names(info.pod))


class VolumePlugin(FilterPlugin):
    """What the plugins about volumes share: where claims and volumes are known, and
    that a claim's coming may help its pod.
    """

    claim_events: ClassVar[Mapping[ClusterEvent, QueueingHint]] = {
        ClusterEvent("PersistentVolumeClaim", "Add"): uses_claim,
        ClusterEvent("PersistentVolumeClaim", "Update"): uses_claim,
    }
    volume_events: ClassVar[Mapping[ClusterEvent, QueueingHint]] = {
        **claim_events,
        ClusterEvent("PersistentVolume", "Add"): always,
        ClusterEvent("PersistentVolume", "Update"): always,
        ClusterEvent("StorageClass", "Add"): always,
        ClusterEvent("Node", "Add"): always,
        ClusterEvent("Node", "UpdateNodeLabel"): always,
    }

    def __init__(self, binder: VolumeBinder | None = None) -> None:
        self._binder = binder or VolumeBinder()

    def lasting_claims(self, pod: Object) -> Iterator[tuple[str, Object | None]]:
        """The claims that do not end with the pod, by name; None for one that is not
        there.
        """
        for name, ephemeral in claim_names(pod):
            if not ephemeral:
                yield name, self._binder.claim(f"{pod['metadata']['namespace']}/{name}")


@dataclass(slots=True)
class ClaimState:
    """The pod's claims, and what was found per node."""

    bound: list[Object]
    waiting: list[Object]
    by_node: dict[str, PodVolumes] = field(default_factory=dict)


class VolumeBinding(VolumePlugin):
    """Filters by claims and volumes."""

    name = "VolumeBinding"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """A claim or a volume comes or changes; a class comes or names other places; a
        node comes or moves; there is more room.
        """
        return {
            **self.volume_events,
            ClusterEvent("StorageClass", "Update"): _topologies_changed,
            ClusterEvent("CSINode", "Add"): always,
            ClusterEvent("CSINode", "Update"): always,
            ClusterEvent("CSIDriver", "Update"): _stops_counting,
            ClusterEvent("CSIStorageCapacity", "Add"): always,
            ClusterEvent("CSIStorageCapacity", "Update"): _has_more,
        }

    def sign_pod(self, info: PodInfo) -> Hashable:
        """Only pods without claims can share an answer."""
        return () if next(claim_names(info.pod), None) is None else None

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: Snapshot
    ) -> Status | None:
        """Nothing to do without claims; a refusal if one is missing or not usable."""
        names = list(claim_names(info.pod))
        if not names:
            return SKIP
        meta = info.pod["metadata"]
        found: list[Object] = []
        for name, ephemeral in names:
            claim = self._binder.claim(f"{meta['namespace']}/{name}")
            why = _unusable(claim, name, info.pod, ephemeral)
            if claim is None or why:
                return unresolvable(self.name, why)
            found.append(claim)
        bound = [claim for claim in found if is_fully_bound(claim)]
        waiting = [
            c
            for c in found
            if not is_fully_bound(c) and not c["spec"].get("volumeName")
        ]
        waiting = [claim for claim in waiting if self._binder.waits_for_consumer(claim)]
        if len(bound) + len(waiting) < len(found):
            return unresolvable(
                self.name, "pod has unbound immediate PersistentVolumeClaims"
            )
        state.data[self.name] = ClaimState(bound, waiting)
        return None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes where a volume cannot be reached, found or made."""
        claims: ClaimState = state.data[self.name]
        volumes, reasons = self._binder.find_pod_volumes(
            claims.bound, claims.waiting, node.name, node.labels
        )
        if reasons:
            return unresolvable(self.name, *reasons)
        claims.by_node[node.name] = volumes
        return None


def _unusable(claim: Object | None, name: str, pod: Object, ephemeral: bool) -> str:
    if claim is None:
        if ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") == "Lost":
        volume = claim["spec"].get("volumeName", "")
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
    if claim["metadata"].get("deletionTimestamp"):
        return f'persistentvolumeclaim "{name}" is being deleted'
    owners = claim["metadata"].get("ownerReferences") or ()
    if ephemeral and not any(
        o.get("controller") and o["uid"] == pod["metadata"].get("uid") for o in owners
    ):
        where, who = claim["metadata"]["namespace"], pod["metadata"]
        return f"PVC {where}/{name} was not created for pod {who['namespace']}/{who['name']} (pod is not owner)"
    return ""


def _topologies_changed(_info: PodInfo, old: Object | None, new: Object | None) -> bool:
    return (
        old is None
        or new is None
        or old.get("allowedTopologies") != new.get("allowedTopologies")
    )


def _stops_counting(_info: PodInfo, old: Object | None, new: Object | None) -> bool:
    """The driver tells no more how much room it has, and is believed to have enough."""
    return all(d is not None for d in (old, new)) and (
        bool((old or {})["spec"].get("storageCapacity"))
        and not (new or {})["spec"].get("storageCapacity")
    )


def _has_more(_info: PodInfo, old: Object | None, new: Object | None) -> bool:
    return (
        old is None
        or new is None
        or any(_amount(new, key) > _amount(old, key) for key in _ROOM)
    )


_ROOM = ("maximumVolumeSize", "capacity")


def _amount(capacity: Object, key: str) -> int:
    return parse_quantity(capacity.get(key) or "0").value()
