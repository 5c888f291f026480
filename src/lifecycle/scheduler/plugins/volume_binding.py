"""VolumeBinding (with VolumeRestrictions and VolumeZone): a pod's claims must exist.

Only what a cluster without a volume controller can answer: a pod without claims passes all volume plugins at once; a
claim that does not exist, is being deleted or is lost keeps the pod waiting; a bound claim passes.

Upstream: `pkg/scheduler/framework/plugins/volumebinding/volume_binding.go` (`PreFilter`, `podHasPVCs`),
`volumerestrictions`, `volumezone`, `nodevolumelimits`, v1.36. Left out: node affinity and zones of volumes, limits,
dynamic provisioning.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping

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

GetClaim = Callable[[str], Object | None]
"""Looks up a claim by `namespace/name`."""


def claim_names(pod: Object) -> Iterator[str]:
    """The claims a pod's volumes use; an ephemeral volume's claim is named after pod and volume."""
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"]
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}"


class VolumeBinding(FilterPlugin):
    """Looks the pod's claims up."""

    name = "VolumeBinding"

    def __init__(self, get_claim: GetClaim | None = None) -> None:
        self._get_claim = get_claim or (lambda key: None)

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """A claim comes or is bound."""
        return {
            ClusterEvent("PersistentVolumeClaim", "Add"): always,
            ClusterEvent("PersistentVolumeClaim", "Update"): always,
        }

    def sign_pod(self, info: PodInfo) -> Hashable:
        """Only pods without claims can share an answer."""
        return () if next(claim_names(info.pod), None) is None else None

    def pre_filter(self, state: CycleState, info: PodInfo, snapshot: Snapshot) -> Status | None:
        """Nothing to do without claims; a refusal if one is missing or not usable."""
        names = list(claim_names(info.pod))
        if not names:
            return SKIP
        namespace = info.pod["metadata"]["namespace"]
        unbound = False
        for name in names:
            claim = self._get_claim(f"{namespace}/{name}")
            if claim is None:
                return unresolvable(self.name, f'persistentvolumeclaim "{name}" not found')
            if (claim.get("status") or {}).get("phase") == "Lost":
                volume = claim["spec"].get("volumeName", "")
                return unresolvable(
                    self.name, f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
                )
            if claim["metadata"].get("deletionTimestamp"):
                return unresolvable(self.name, f'persistentvolumeclaim "{name}" is being deleted')
            unbound = unbound or (claim.get("status") or {}).get("phase") != "Bound"
        if unbound:
            return unresolvable(self.name, "pod has unbound immediate PersistentVolumeClaims")
        return None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Bound claims are taken to be reachable from every node."""
        return None
