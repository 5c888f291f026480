"""VolumeRestrictions: some volumes bear one user only.

A claim with the access mode `ReadWriteOncePod` is for a single pod in the whole
cluster; and a few old kinds of disks (GCE, AWS, iSCSI, Ceph RBD) cannot be mounted
twice on a node, unless everybody only reads.

Upstream: `pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go`,
v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterAnswer,
    PreFilterExtensions,
    PreFilterPlugin,
)
from lifecycle.scheduler.framework.listers import Listers, SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import (
    SKIP,
    Status,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, always
from lifecycle.scheduler.framework.volumes import (
    CLAIM_EVENTS,
    claim_names,
    lasting_claims,
)

ERR_REASON_DISK_CONFLICT = "node(s) had no available disk"
ERR_REASON_READ_WRITE_ONCE_POD_CONFLICT = (
    "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod"
    " access mode"
)
DISKS = ("gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd")


class RestrictionState:
    """The pod's claims that are for one pod only, and how many other pods use one of
    them.
    """

    def __init__(self, namespace: str, claims: set[str]) -> None:
        self.namespace, self.claims, self.conflicts = namespace, claims, 0

    def clone(self) -> RestrictionState:
        """For a what-if."""
        copy = RestrictionState(self.namespace, self.claims)
        copy.conflicts = self.conflicts
        return copy

    def used_by(self, other: PodInfo) -> int:
        """How many of the claims another pod uses."""
        if other.pod["metadata"]["namespace"] != self.namespace:
            return 0
        return sum(
            not ephemeral and name in self.claims
            for name, ephemeral in claim_names(other.pod)
        )


class VolumeRestrictions(
    PreFilterPlugin,
    PreFilterExtensions,
    FilterPlugin,
    EnqueueExtensions,
):
    """Refuses second users."""

    name = "VolumeRestrictions"

    def __init__(self, listers: Listers) -> None:
        self._listers = listers

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A pod with the same volume goes; a node comes; the claim comes."""
        return {
            ClusterEvent("AssignedPod", "Delete"): _is_schedulable_after_pod_deleted,
            ClusterEvent("Node", "Add"): always,
            **CLAIM_EVENTS,
        }

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """Count the other users of the pod's exclusive claims."""
        namespace = info.pod["metadata"]["namespace"]
        exclusive: set[str] = set()
        for name, claim in lasting_claims(info.pod, self._listers):
            if claim is None:
                return None, unresolvable(
                    self.name, f'persistentvolumeclaim "{name}" not found'
                )
            if "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ()):
                exclusive.add(name)
        restrictions = RestrictionState(namespace, exclusive)
        if exclusive:
            others = (
                other
                for node in snapshot.node_info_list
                for other in node.pods.values()
            )
            restrictions.conflicts = sum(map(restrictions.used_by, others))
        disks = any(
            kind in v for v in info.pod["spec"].get("volumes") or () for kind in DISKS
        )
        if not disks and not restrictions.conflicts:
            return None, SKIP
        state.write(self.name, restrictions)
        return None, None

    def add_pod(
        self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo
    ) -> None:
        """One more."""
        restrictions: RestrictionState = state.read(self.name)
        restrictions.conflicts += restrictions.used_by(added)

    def remove_pod(
        self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> None:
        """One less."""
        restrictions: RestrictionState = state.read(self.name)
        restrictions.conflicts -= restrictions.used_by(removed)

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes where the disk is in use, and every node while the claim is."""
        if any(_disks_conflict(info.pod, other.pod) for other in node.pods.values()):
            return unschedulable(self.name, ERR_REASON_DISK_CONFLICT)
        if state.read(self.name).conflicts > 0:
            return unschedulable(self.name, ERR_REASON_READ_WRITE_ONCE_POD_CONFLICT)
        return None


def _is_schedulable_after_pod_deleted(
    info: PodInfo, old: Object | None, new: Object | None
) -> bool:
    """Whether the pod that is gone had one of this one's disks, or claims."""
    if old is None or old["metadata"]["namespace"] != info.pod["metadata"]["namespace"]:
        return False
    mine = {name for name, ephemeral in claim_names(info.pod) if not ephemeral}
    theirs = {name for name, ephemeral in claim_names(old) if not ephemeral}
    return bool(mine & theirs) or _disks_conflict(info.pod, old)


def _disks_conflict(pod: Object, other: Object) -> bool:
    """Whether a disk of one pod is in the way of a disk of another."""
    return any(
        _conflict(ours, theirs)
        for ours in pod["spec"].get("volumes") or ()
        for theirs in other["spec"].get("volumes") or ()
    )


def _conflict(a: Object, b: Object) -> bool:
    """Whether two pods' volumes are one disk that cannot be shared."""
    kind = next((kind for kind in DISKS if kind in a and kind in b), None)
    if kind is None:
        return False
    ours, theirs = a[kind], b[kind]
    if kind == "awsElasticBlockStore":
        return bool(ours["volumeID"] == theirs["volumeID"])
    if ours.get("readOnly") and theirs.get("readOnly"):
        return False
    if kind == "gcePersistentDisk":
        return bool(ours["pdName"] == theirs["pdName"])
    if kind == "iscsi":
        return bool(ours["iqn"] == theirs["iqn"])
    same = all(ours.get(key) == theirs.get(key) for key in ("pool", "image"))
    return same and bool(set(ours["monitors"]) & set(theirs["monitors"]))
