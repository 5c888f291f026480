"""A claim stays as long as a pod uses it, a volume as long as a claim is bound to it, a
volume attributes class as long as a claim or a volume names it.

All carry a finalizer from their creation on (admission puts it there; these
controllers do, should it be missing). Deleting one only marks it; when nobody uses it
any more, the finalizer goes, and the object with it. Without these controllers no claim
could ever be deleted, nor a namespace that has one.

Upstream: `pkg/controller/volume/pvcprotection/pvc_protection_controller.go`,
`pkg/controller/volume/pvprotection/pv_protection_controller.go`,
`pkg/controller/volume/vacprotection/vac_protection_controller.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource, resource
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owner_references import is_controlled_by

PVC_PROTECTION_FINALIZER = "kubernetes.io/pvc-protection"
PV_PROTECTION_FINALIZER = "kubernetes.io/pv-protection"
VAC_PROTECTION_FINALIZER = "kubernetes.io/vac-protection"


def claims_used_by(pod: Object) -> Iterator[tuple[str, bool]]:
    """The names of a pod's claims, each with whether it was made for the pod's
    ephemeral volume.
    """
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"], False
        elif "ephemeral" in volume:
            yield ephemeral_claim_name(pod, volume), True


def ephemeral_claim_name(pod: Object, volume: Object) -> str:
    """The claim that is made for an ephemeral volume. Upstream:
    `ephemeral.VolumeClaimName`.
    """
    return f"{pod['metadata']['name']}-{volume['name']}"


def pod_is_shut_down(pod: Object) -> bool:
    """Whether the kubelet is done with the pod, or it was deleted by force."""
    meta = pod["metadata"]
    return "deletionTimestamp" in meta and meta.get("deletionGracePeriodSeconds") == 0


def pod_uses_claim(pod: Object, claim: Object) -> bool:
    """Only a pod with a node counts: no kubelet starts one whose claim is being
    deleted.
    """
    if not pod["spec"].get("nodeName"):
        return False
    name = claim["metadata"]["name"]
    return any(
        used == name
        and (
            not ephemeral
            or (not pod_is_shut_down(pod) and is_controlled_by(claim, pod))
        )
        for used, ephemeral in claims_used_by(pod)
    )


def classes_named_by(obj: Object) -> set[str]:
    """The volume attributes classes of a claim or a volume: the one it asks for, and
    for a claim the one it has and the one it is being moved to. Upstream:
    `getPVCReferencedVACNames`, `getPVReferencedVACNames`.
    """
    status = obj.get("status") or {}
    names = {
        obj["spec"].get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return {name for name in names if name}


class _Protection:
    """What they have in common: put the finalizer on what lives, take it off what is
    to go and is not used.
    """

    finalizer = ""

    def __init__(
        self, client: Client, kept: SharedInformer, kind: Resource, name: str
    ) -> None:
        self._client, self._kept, self._kind, self._name = client, kept, kind, name
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        kept.add_event_handler(
            add=self._enqueue_if_needed,
            update=lambda old, new: self._enqueue_if_needed(new),
        )

    def _enqueue_if_needed(self, obj: Object) -> None:
        has = self.finalizer in (obj["metadata"].get("finalizers") or ())
        if has == ("deletionTimestamp" in obj["metadata"]):
            self._queue.add(meta_namespace_key(obj))

    async def run(self) -> None:
        """Work until cancelled."""
        await self._kept.wait_for_sync()
        await run_workers(self._queue, self._sync, workers=1, name=self._name)

    async def _sync(self, key: str) -> None:
        obj = self._kept.indexer.get_by_key(key)
        if obj is None:
            return
        finalizers = obj["metadata"].get("finalizers") or []
        going, has = (
            "deletionTimestamp" in obj["metadata"],
            self.finalizer in finalizers,
        )
        if going and has and not await self._in_use(obj):
            finalizers = [f for f in finalizers if f != self.finalizer]
        elif not going and not has:
            finalizers = [*finalizers, self.finalizer]
        else:
            return
        copy = mutable_copy(obj)
        copy["metadata"]["finalizers"] = finalizers
        await self._client.update(self._kind, copy)

    async def _in_use(self, obj: Object) -> bool:
        raise NotImplementedError


class PVCProtectionController(_Protection):
    """Protects claims."""

    finalizer = PVC_PROTECTION_FINALIZER

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        kind = resource("persistentvolumeclaims")
        super().__init__(
            client,
            informers.informer(kind),
            kind,
            "persistentvolumeclaim-protection-controller",
        )
        self._pods = informers.informer(resource("pods"))
        self._pods.add_event_handler(
            add=self._pod_changed,
            update=lambda old, new: self._pod_changed(new),
            delete=self._pod_deleted,
        )

    async def run(self) -> None:
        """Work until cancelled."""
        await self._pods.wait_for_sync()
        await super().run()

    def _pod_changed(self, pod: Object) -> None:
        if not pod["spec"].get("nodeName") or (pod.get("status") or {}).get(
            "phase"
        ) in ("Succeeded", "Failed"):
            self._pod_deleted(pod)

    def _pod_deleted(self, pod: Object) -> None:
        for name, _ in claims_used_by(pod):
            self._queue.add(f"{pod['metadata']['namespace']}/{name}")

    async def _in_use(self, obj: Object) -> bool:
        namespace = obj["metadata"]["namespace"]
        if any(
            pod_uses_claim(pod, obj)
            for pod in self._pods.indexer.list_namespace(namespace)
        ):
            return True
        live = await self._client.list(
            resource("pods"), namespace
        )  # the cache may not know the newest yet
        return any(pod_uses_claim(pod, obj) for pod in live.get("items") or ())


class PVProtectionController(_Protection):
    """Protects volumes."""

    finalizer = PV_PROTECTION_FINALIZER

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        kind = resource("persistentvolumes")
        super().__init__(
            client,
            informers.informer(kind),
            kind,
            "persistentvolume-protection-controller",
        )

    async def _in_use(self, obj: Object) -> bool:
        return bool((obj.get("status") or {}).get("phase") == "Bound")


class VACProtectionController(_Protection):
    """Protects volume attributes classes. It knows of claims and volumes what its
    informers do: a claim that is made while the class goes may come too late.
    """

    finalizer = VAC_PROTECTION_FINALIZER

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        kind = resource("volumeattributesclasses.storage.k8s.io")
        super().__init__(
            client,
            informers.informer(kind),
            kind,
            "volumeattributesclass-protection-controller",
        )
        self._users = [
            informers.informer(resource(plural))
            for plural in ("persistentvolumeclaims", "persistentvolumes")
        ]
        for users in self._users:
            users.add_event_handler(update=self._user_changed, delete=self._user_gone)

    async def run(self) -> None:
        """Work until cancelled."""
        for users in self._users:
            await users.wait_for_sync()
        await super().run()

    def _user_changed(self, old: Object, new: Object) -> None:
        for name in classes_named_by(old) - classes_named_by(new):
            self._queue.add(name)

    def _user_gone(self, user: Object) -> None:
        for name in classes_named_by(user):
            self._queue.add(name)

    async def _in_use(self, obj: Object) -> bool:
        name = obj["metadata"]["name"]
        return any(
            name in classes_named_by(user)
            for users in self._users
            for user in users.indexer.list()
        )
