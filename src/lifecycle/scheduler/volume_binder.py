"""Which volume a claim could get on which node.

A claim of a class with `WaitForFirstConsumer` is bound only when its first pod is
scheduled, so that the volume is where the pod can run. For each node the binder
answers: do the volumes already bound fit there; is there a free one for each claim that
waits, the smallest that is large enough; if not, may one be made there? What was chosen
for a pod is *assumed*, as its place on the node is, until the API server says so.

Upstream: `pkg/scheduler/framework/plugins/volumebinding/binder.go` (`volumeBinder`),
`assume_cache.go`, v1.36. Left out: translation of in-tree volumes to CSI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lifecycle.api.persistent_volumes import (
    NO_PROVISIONER,
    SELECTED_NODE,
    annotations_of,
    bound_to,
    find_matching_volume,
    fits_node,
    storage_class_of,
)
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object
from lifecycle.scheduler.storage_capacity import has_enough_capacity

ERR_REASON_BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
ERR_REASON_NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
ERR_REASON_NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
ERR_REASON_PV_NOT_EXIST = (
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
)


def with_selected_node(claim: Object, node: str) -> Object:
    """The claim, for which a volume is to be made on that node."""
    return {
        **claim,
        "metadata": {
            **claim["metadata"],
            "annotations": {**annotations_of(claim), SELECTED_NODE: node},
        },
    }


@dataclass(slots=True)
class PodVolumes:
    """What is to be done for a pod's claims on one node: volumes to bind, volumes to
    make.
    """

    bindings: list[tuple[Object, Object]] = field(default_factory=list)
    provisions: list[Object] = field(default_factory=list)


def _no_object(_name: str) -> Object | None:
    return None


class VolumeBinder:
    """Looks at claims (by `namespace/name`), volumes and classes (by name); and what
    drivers tell of nodes and room.
    """

    def __init__(
        self,
        get_claim: Callable[[str], Object | None] = _no_object,
        get_volume: Callable[[str], Object | None] = _no_object,
        list_volumes: Callable[[], Iterable[Object]] = tuple,
        get_class: Callable[[str], Object | None] = _no_object,
        get_csi_node: Callable[[str], Object | None] = _no_object,
        get_driver: Callable[[str], Object | None] = _no_object,
        list_capacities: Callable[[], Iterable[Object]] = tuple,
    ) -> None:
        self._get_claim, self._get_volume = get_claim, get_volume
        self._list_volumes, self.get_class = list_volumes, get_class
        self.get_csi_node, self._get_driver, self._list_capacities = (
            get_csi_node,
            get_driver,
            list_capacities,
        )
        self._assumed: dict[str, Object] = {}
        """Claims (`namespace/name`) and volumes (name) as they will be, while the API
        server's are the same as before.
        """

    def _current(self, key: str, stored: Object | None) -> Object | None:
        assumed = self._assumed.get(key)
        if assumed is None or stored is None:
            return stored
        if stored["metadata"].get("resourceVersion") == assumed["metadata"].get(
            "resourceVersion"
        ):
            return assumed
        del self._assumed[key]
        return stored

    def claim(self, key: str) -> Object | None:
        """The claim, as assumed."""
        return self._current(key, self._get_claim(key))

    def volume(self, name: str) -> Object | None:
        """The volume, as assumed."""
        return self._current(name, self._get_volume(name))

    def waits_for_consumer(self, claim: Object) -> bool:
        """Whether the claim's class leaves the binding to the scheduler. Upstream:
        `IsDelayBindingMode`.
        """
        found = self.get_class(storage_class_of(claim))
        return (
            found is not None
            and found.get("volumeBindingMode") == "WaitForFirstConsumer"
        )

    def find_pod_volumes(
        self,
        bound: Sequence[Object],
        waiting: Sequence[Object],
        node: str,
        labels: Mapping[str, str],
    ) -> tuple[PodVolumes, list[str]]:
        """What would be done on that node, and why it cannot be. Upstream:
        `FindPodVolumes`.
        """
        reasons: list[str] = []
        for claim in bound:
            volume = self.volume(claim["spec"]["volumeName"])
            if volume is None:
                reasons.append(ERR_REASON_PV_NOT_EXIST)
                break
            if not fits_node(volume, labels):
                reasons.append(ERR_REASON_NODE_CONFLICT)
                break
        found = PodVolumes()
        to_provision = [c for c in waiting if SELECTED_NODE in annotations_of(c)]
        if any(annotations_of(claim)[SELECTED_NODE] != node for claim in to_provision):
            return found, [*reasons, ERR_REASON_BIND_CONFLICT]
        chosen: set[str] = set()
        volumes = [
            v
            for v in (
                self._current(v["metadata"]["name"], v) for v in self._list_volumes()
            )
            if v is not None
        ]
        for claim in sorted((c for c in waiting if c not in to_provision), key=_size):
            match = find_matching_volume(claim, volumes, labels, chosen)
            if match is None:
                to_provision.append(claim)
            else:
                chosen.add(match["metadata"]["name"])
                found.bindings.append((claim, match))
        for claim in to_provision:
            why = self._why_not_provisioned(claim, labels)
            if why:
                return found, [*reasons, why]
            found.provisions.append(claim)
        return found, reasons

    def _why_not_provisioned(self, claim: Object, labels: Mapping[str, str]) -> str:
        """Upstream: `checkVolumeProvisions`."""
        class_name = storage_class_of(claim)
        found = self.get_class(class_name)
        provisioner = (found or {}).get("provisioner", "")
        if found is None or provisioner in ("", NO_PROVISIONER):
            return ERR_REASON_BIND_CONFLICT
        terms = found.get("allowedTopologies")
        if terms and not any(
            all(
                labels.get(e["key"]) in e["values"]
                for e in term.get("matchLabelExpressions") or ()
            )
            for term in terms
        ):
            return ERR_REASON_BIND_CONFLICT
        driver = self._get_driver(provisioner)
        if not has_enough_capacity(
            claim, class_name, labels, driver, self._list_capacities()
        ):
            return ERR_REASON_NOT_ENOUGH_SPACE
        return ""

    def assume(self, volumes: PodVolumes, node: str) -> PodVolumes:
        """Believe that it is done; the objects as they are to be written."""
        wanted = PodVolumes(
            [(claim, bound_to(volume, claim)) for claim, volume in volumes.bindings],
            [with_selected_node(claim, node) for claim in volumes.provisions],
        )
        self._assumed.update(
            (volume["metadata"]["name"], volume) for _, volume in wanted.bindings
        )
        self._assumed.update((key_of(claim), claim) for claim in wanted.provisions)
        return wanted

    def revert(self, volumes: PodVolumes) -> None:
        """It was not done."""
        for _, volume in volumes.bindings:
            self._assumed.pop(volume["metadata"]["name"], None)
        for claim in volumes.provisions:
            self._assumed.pop(key_of(claim), None)


def key_of(claim: Object) -> str:
    """`namespace/name`."""
    return f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"


def _size(claim: Object) -> int:
    return parse_quantity(
        ((claim["spec"].get("resources") or {}).get("requests") or {}).get(
            "storage", "0"
        )
    ).value()
