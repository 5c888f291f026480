"""Which volume a claim could get on which node.

A claim of a class with `WaitForFirstConsumer` is bound only when its first pod is
scheduled, so that the volume is where the pod can run. For each node the binder
answers: do the volumes already bound fit there; is there a free one for each claim that
waits, the smallest that is large enough; if not, may one be made there? What was chosen
for a pod is *assumed*, as its place on the node is, until the API server says so.

Once a node is decided, the scheduler writes only its choice: the claim on a free
volume, or the chosen node on the claim, for whoever makes volumes. The rest is the
volume controllers' work; the pod's binding waits until every claim is bound, ten
minutes at most, and starts over if somebody takes the choice back.

Upstream: `pkg/scheduler/framework/plugins/volumebinding/binder.go` (`volumeBinder`,
`BindPodVolumes`, `bindAPIUpdate`, `checkBindings`), `assume_cache.go`, v1.36. Left out:
translation of in-tree volumes to CSI.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.persistent_volumes import (
    NO_PROVISIONER,
    SELECTED_NODE,
    annotations_of,
    bound_to,
    find_matching_volume,
    fits_node,
    is_fully_bound,
    storage_class_of,
)
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.scheduler.framework.handle import Handle
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.plugins.volume_binding.storage_capacity import (
    has_enough_capacity,
)

BIND_TIMEOUT = 600.0

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


class BindingError(Exception):
    """The volumes could not be bound; the text is what users see."""


class VolumeBinder:
    """Chooses among the volumes that the listers know. With a client it can write the
    choice, with an informer of claims it can wait for what comes of it.
    """

    def __init__(
        self,
        listers: Listers,
        client: Client | None = None,
        informer: SharedInformer | None = None,
        bind_timeout: float = BIND_TIMEOUT,
    ) -> None:
        self.listers = listers
        self._client = client
        self._bind_timeout = bind_timeout
        self._assumed: dict[str, Object] = {}
        self._waiters: set[asyncio.Future[None]] = set()
        if informer is not None:
            informer.add_event_handler(update=self._claim_changed)

    @classmethod
    def of(cls, handle: Handle, bind_timeout: float = BIND_TIMEOUT) -> VolumeBinder:
        """The binder of a framework's plugins."""
        informers = handle.informers
        claims = resource("persistentvolumeclaims")
        informer = None if informers is None else informers.informer(claims)
        return cls(handle.listers, handle.client, informer, bind_timeout)

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
        return self._current(key, self.listers.get_claim(key))

    def volume(self, name: str) -> Object | None:
        """The volume, as assumed."""
        return self._current(name, self.listers.get_volume(name))

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
        pod_volumes = PodVolumes()
        to_provision = [c for c in waiting if SELECTED_NODE in annotations_of(c)]
        if any(annotations_of(claim)[SELECTED_NODE] != node for claim in to_provision):
            return pod_volumes, [*reasons, ERR_REASON_BIND_CONFLICT]
        chosen: set[str] = set()
        volumes = [
            v
            for v in (
                self._current(v["metadata"]["name"], v)
                for v in self.listers.list_volumes()
            )
            if v is not None
        ]
        for claim in sorted((c for c in waiting if c not in to_provision), key=_size):
            match = find_matching_volume(claim, volumes, labels, chosen)
            if match is None:
                to_provision.append(claim)
            else:
                chosen.add(match["metadata"]["name"])
                pod_volumes.bindings.append((claim, match))
        for claim in to_provision:
            reason = self._check_volume_provisions(claim, labels)
            if reason:
                return pod_volumes, [*reasons, reason]
            pod_volumes.provisions.append(claim)
        return pod_volumes, reasons

    def _check_volume_provisions(self, claim: Object, labels: Mapping[str, str]) -> str:
        """Upstream: `checkVolumeProvisions`."""
        class_name = storage_class_of(claim)
        storage_class = self.listers.get_class(class_name)
        provisioner = (storage_class or {}).get("provisioner", "")
        if storage_class is None or provisioner in ("", NO_PROVISIONER):
            return ERR_REASON_BIND_CONFLICT
        terms = storage_class.get("allowedTopologies")
        if terms and not any(
            all(
                labels.get(e["key"]) in e["values"]
                for e in term.get("matchLabelExpressions") or ()
            )
            for term in terms
        ):
            return ERR_REASON_BIND_CONFLICT
        driver = self.listers.get_csi_driver(provisioner)
        if not has_enough_capacity(
            claim, class_name, labels, driver, self.listers.list_capacities()
        ):
            return ERR_REASON_NOT_ENOUGH_SPACE
        return ""

    def assume(self, volumes: PodVolumes, node: str) -> PodVolumes:
        """Believe that it is done; the objects as they are to be written."""
        assumed = PodVolumes(
            [(claim, bound_to(volume, claim)) for claim, volume in volumes.bindings],
            [with_selected_node(claim, node) for claim in volumes.provisions],
        )
        self._assumed.update(
            (volume["metadata"]["name"], volume) for _, volume in assumed.bindings
        )
        self._assumed.update((key_of(claim), claim) for claim in assumed.provisions)
        return assumed

    def revert(self, volumes: PodVolumes) -> None:
        """It was not done."""
        for _, volume in volumes.bindings:
            self._assumed.pop(volume["metadata"]["name"], None)
        for claim in volumes.provisions:
            self._assumed.pop(key_of(claim), None)

    # -- carrying it out ---------------------------------------------------------------

    async def bind_pod_volumes(self, volumes: PodVolumes, node: str) -> None:
        """Write the choice and wait. Raises StatusError and BindingError."""
        client = self._client
        if client is None:
            raise BindingError("binding volumes: there is no cluster")
        for _, volume in volumes.bindings:
            await client.update(resource("persistentvolumes"), volume)
        for claim in volumes.provisions:
            await client.update(resource("persistentvolumeclaims"), claim)
        try:
            async with asyncio.timeout(self._bind_timeout):
                while not self._check_bindings(volumes, node):
                    await self._change_of_a_claim()
        except TimeoutError:
            raise BindingError("binding volumes: context deadline exceeded") from None

    def _check_bindings(self, volumes: PodVolumes, node: str) -> bool:
        done = True
        for claim in [*(claim for claim, _ in volumes.bindings), *volumes.provisions]:
            key = key_of(claim)
            now = self.listers.get_claim(key)
            provisioned = claim in volumes.provisions
            if now is None:
                what = "provisioning pvc" if provisioned else "binding"
                raise BindingError(
                    f"binding volumes: failed to check {what}: persistentvolumeclaims"
                    f' "{key}" not found'
                )
            bound = is_fully_bound(now)
            is_newer = int(now["metadata"]["resourceVersion"]) > int(
                claim["metadata"]["resourceVersion"]
            )
            annotations = annotations_of(now)
            if (
                provisioned
                and not bound
                and is_newer
                and annotations.get(SELECTED_NODE) != node
            ):  # taken back
                name = now["metadata"]["name"]
                raise BindingError(
                    f'binding volumes: provisioning failed for PVC "{name}"'
                    if annotations
                    else "binding volumes: selectedNode annotation reset for PVC"
                    f' "{name}"'
                )
            done = done and bound
        return done

    async def _change_of_a_claim(self) -> None:
        """Wait for the next one (upstream looks once a second)."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    def _claim_changed(self, _old: Object, _new: Object) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


def key_of(claim: Object) -> str:
    """`namespace/name`."""
    return f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"


def _size(claim: Object) -> int:
    return parse_quantity(
        ((claim["spec"].get("resources") or {}).get("requests") or {}).get(
            "storage", "0"
        )
    ).value()
