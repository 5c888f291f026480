"""VolumeZone: a volume labelled with a zone is used only from nodes of that zone.

That was the way before volumes had node affinity. A label may name several zones
(`a__b`); the old beta labels match the node's new ones; a node without any zone or
region takes every volume.

Upstream: `pkg/scheduler/framework/plugins/volumezone/volume_zone.go`, v1.36.
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
from lifecycle.scheduler.framework.status import SKIP, Status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn
from lifecycle.scheduler.framework.volumes import (
    VOLUME_EVENTS,
    is_delay_binding_mode,
    lasting_claims,
)

ERR_REASON_CONFLICT = "node(s) had no available volume zone"
TOPOLOGY_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
"""The labels that count, and what each is called today."""


class VolumeZone(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Compares volumes' zones with nodes'."""

    name = "VolumeZone"

    def __init__(self, listers: Listers) -> None:
        self._listers = listers

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A claim, a volume, a class or a node comes or changes."""
        return VOLUME_EVENTS

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """The zones of the pod's volumes; nothing to do if there are none."""
        zones: list[tuple[str, set[str]]] = []
        for name, claim in lasting_claims(info.pod, self._listers):
            if claim is None:
                return None, unresolvable(
                    self.name, f'persistentvolumeclaim "{name}" not found'
                )
            volume_name = claim["spec"].get("volumeName")
            if not volume_name:
                reason = self._without_volume(claim)
                if reason:
                    return None, unresolvable(self.name, reason)
                continue
            volume = self._listers.get_volume(volume_name)
            if volume is None:
                return None, unresolvable(
                    self.name, f'persistentvolume "{volume_name}" not found'
                )
            zones += _topologies(volume)
        if not zones:
            return None, SKIP
        state.write(self.name, zones)
        return None, None

    def _without_volume(self, claim: Object) -> str:
        name = storage_class_of(claim)
        if not name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        if self._listers.get_class(name) is None:
            return f'storageclass.storage.k8s.io "{name}" not found'
        return (
            ""
            if is_delay_binding_mode(claim, self._listers)
            else "PersistentVolume had no name"
        )

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes of other zones."""
        if not any(label in node.labels for label in TOPOLOGY_LABELS):
            return None
        for key, values in state.read(self.name):
            value = node.labels.get(key, node.labels.get(TOPOLOGY_LABELS[key]))
            if value not in values:
                return unresolvable(self.name, ERR_REASON_CONFLICT)
        return None


def _topologies(volume: Object) -> list[tuple[str, set[str]]]:
    labels = volume["metadata"].get("labels") or {}
    return [
        (key, set(labels[key].split("__")))
        for key in TOPOLOGY_LABELS
        if labels.get(key)
    ]
