"""VolumeBinding: a pod's claims must exist, and its volumes be where it runs.

Claims that are bound hold the pod to the nodes their volumes can be reached from;
claims that are to be bound at once (`Immediate`) must be, before the pod's turn; claims
that wait for their first pod are matched per node, and bound when the node is chosen
(see `binder.py`).

Upstream: `pkg/scheduler/framework/plugins/volumebinding/volume_binding.go`, v1.36. Left
out: scoring by storage capacity (off by default).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.persistent_volumes import is_fully_bound
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.status import StatusError
from lifecycle.scheduler.framework.cycle_state import CycleState, NotFoundError
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreBindPlugin,
    PreFilterAnswer,
    PreFilterPlugin,
    ReservePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.volume_binding.binder import (
    BindingError,
    PodVolumes,
    VolumeBinder,
)
from lifecycle.scheduler.framework.status import SKIP, Status, as_status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, always
from lifecycle.scheduler.framework.volumes import (
    VOLUME_EVENTS,
    claim_names,
    is_delay_binding_mode,
)


@dataclass(slots=True)
class ClaimState:
    """The pod's claims, what would be done on each node, and what is to be done on the
    chosen one.
    """

    bound: list[Object]
    waiting: list[Object]
    by_node: dict[str, PodVolumes] = field(default_factory=dict)
    reserved: PodVolumes | None = None


class VolumeBinding(
    PreFilterPlugin, FilterPlugin, ReservePlugin, PreBindPlugin, EnqueueExtensions
):
    """Filters by claims and volumes, sets volumes aside and binds them."""

    name = "VolumeBinding"

    def __init__(self, binder: VolumeBinder) -> None:
        self._binder = binder

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A claim or a volume comes or changes; a class comes or names other places; a
        node comes or moves; there is more room.
        """
        return {
            **VOLUME_EVENTS,
            ClusterEvent(
                "StorageClass", "Update"
            ): _is_schedulable_after_storage_class_change,
            ClusterEvent("CSINode", "Add"): always,
            ClusterEvent("CSINode", "Update"): always,
            ClusterEvent(
                "CSIDriver", "Update"
            ): _is_schedulable_after_csi_driver_change,
            ClusterEvent("CSIStorageCapacity", "Add"): always,
            ClusterEvent(
                "CSIStorageCapacity", "Update"
            ): _is_schedulable_after_capacity_change,
        }

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """Nothing to do without claims; a refusal if one is missing or not usable."""
        names = list(claim_names(info.pod))
        if not names:
            return None, SKIP
        meta = info.pod["metadata"]
        claims: list[Object] = []
        for name, ephemeral in names:
            claim = self._binder.claim(f"{meta['namespace']}/{name}")
            reason = _unusable_claim_reason(claim, name, info.pod, ephemeral)
            if claim is None or reason:
                return None, unresolvable(self.name, reason)
            claims.append(claim)
        bound = [claim for claim in claims if is_fully_bound(claim)]
        waiting = [
            c
            for c in claims
            if not is_fully_bound(c) and not c["spec"].get("volumeName")
        ]
        waiting = [c for c in waiting if is_delay_binding_mode(c, self._binder.listers)]
        if len(bound) + len(waiting) < len(claims):
            return None, unresolvable(
                self.name, "pod has unbound immediate PersistentVolumeClaims"
            )
        state.write(self.name, ClaimState(bound, waiting))
        return None, None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes where a volume cannot be reached, found or made."""
        claims: ClaimState = state.read(self.name)
        volumes, reasons = self._binder.find_pod_volumes(
            claims.bound, claims.waiting, node.name, node.labels
        )
        if reasons:
            return unresolvable(self.name, *reasons)
        claims.by_node[node.name] = volumes
        return None

    def reserve(self, state: CycleState, pod: Object, node_name: str) -> Status | None:
        """Assume what is to be done on the node."""
        claims = _claims_of(state)
        volumes = claims.by_node.get(node_name) if claims else None
        if claims and volumes and (volumes.bindings or volumes.provisions):
            claims.reserved = self._binder.assume(volumes, node_name)
        return None

    def unreserve(self, state: CycleState, pod: Object, node_name: str) -> None:
        """It is not to be done."""
        claims = _claims_of(state)
        if claims and claims.reserved is not None:
            self._binder.revert(claims.reserved)
            claims.reserved = None

    def pre_bind_pre_flight(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """Nothing to do if every claim is bound."""
        claims = _claims_of(state)
        return None if claims and claims.reserved is not None else SKIP

    async def pre_bind(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """Write the choice, and wait until every claim is bound."""
        claims: ClaimState = state.read(self.name)
        if claims.reserved is None:
            return None
        try:
            await self._binder.bind_pod_volumes(claims.reserved, node_name)
        except (StatusError, BindingError) as error:
            return as_status(error, self.name)
        return None


def _claims_of(state: CycleState) -> ClaimState | None:
    """What PreFilter found; None for a pod without claims."""
    if VolumeBinding.name in state.skip_filter_plugins:
        return None
    try:
        claims: ClaimState = state.read(VolumeBinding.name)
    except NotFoundError:  # a profile without our PreFilter
        return None
    return claims


def _unusable_claim_reason(
    claim: Object | None, name: str, pod: Object, ephemeral: bool
) -> str:
    if claim is None:
        if ephemeral:
            return (
                "waiting for ephemeral volume controller to create the"
                f' persistentvolumeclaim "{name}"'
            )
        return f'persistentvolumeclaim "{name}" not found'
    if (claim.get("status") or {}).get("phase") == "Lost":
        volume = claim["spec"].get("volumeName", "")
        return (
            f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume'
            f' "{volume}"'
        )
    if claim["metadata"].get("deletionTimestamp"):
        return f'persistentvolumeclaim "{name}" is being deleted'
    owners = claim["metadata"].get("ownerReferences") or ()
    if ephemeral and not any(
        o.get("controller") and o["uid"] == pod["metadata"].get("uid") for o in owners
    ):
        where, who = claim["metadata"]["namespace"], pod["metadata"]
        return (
            f"PVC {where}/{name} was not created for pod"
            f" {who['namespace']}/{who['name']} (pod is not owner)"
        )
    return ""


def _is_schedulable_after_storage_class_change(
    _info: PodInfo, old: Object | None, new: Object | None
) -> bool:
    return (
        old is None
        or new is None
        or old.get("allowedTopologies") != new.get("allowedTopologies")
    )


def _is_schedulable_after_csi_driver_change(
    _info: PodInfo, old: Object | None, new: Object | None
) -> bool:
    """The driver tells no more how much room it has, and is believed to have enough."""
    return all(d is not None for d in (old, new)) and (
        bool((old or {})["spec"].get("storageCapacity"))
        and not (new or {})["spec"].get("storageCapacity")
    )


def _is_schedulable_after_capacity_change(
    _info: PodInfo, old: Object | None, new: Object | None
) -> bool:
    return (
        old is None
        or new is None
        or any(_amount(new, key) > _amount(old, key) for key in _ROOM)
    )


_ROOM = ("maximumVolumeSize", "capacity")


def _amount(capacity: Object, key: str) -> int:
    return parse_quantity(capacity.get(key) or "0").value()
