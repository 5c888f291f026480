"""Generic ephemeral volumes: a pod brings the template of a claim along, and the claim
is made, lives and dies with it.

The claim is called after pod and volume and belongs to the pod, so garbage collection
takes it away. A claim of that name that belongs to somebody else is not touched, and
the pod waits.

Upstream: `pkg/controller/volume/ephemeral/controller.go` (`ephemeralController`),
`component-helpers/storage/ephemeral/ephemeral.go` (`VolumeClaimName`,
`VolumeIsForPod`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import RetryError, run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.owner_references import is_controlled_by, new_controller_ref
from lifecycle.controllers.storageprotection.protection_controllers import (
    claims_used_by,
    ephemeral_claim_name,
)

WORKERS = 5
BY_CLAIM = "ephemeral-claim"
"""Pods by the claims that are made for them, `namespace/name`."""


def ephemeral_volumes(pod: Object) -> list[Object]:
    """The pod's volumes that want a claim of their own."""
    return [
        volume for volume in pod["spec"].get("volumes") or () if "ephemeral" in volume
    ]


def _claims_of(pod: Object) -> Iterable[str]:
    return [
        f"{pod['metadata']['namespace']}/{name}"
        for name, ephemeral in claims_used_by(pod)
        if ephemeral
    ]


class EphemeralVolumeController:
    """Makes the claims, and makes one again that somebody deleted."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._claims = informers.informer(resource("persistentvolumeclaims"))
        self._pods = informers.informer(resource("pods"))
        self._pods.add_indexers({BY_CLAIM: _claims_of})
        self._recorder = EventRecorder(client, "ephemeral_volume", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        # A pod's volumes never change, and what becomes of the claim after the pod is
        # garbage collection's business.
        self._pods.add_event_handler(add=self._enqueue)
        self._claims.add_event_handler(delete=self._claim_deleted)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._pods.wait_for_sync()
            await self._claims.wait_for_sync()
            await run_workers(
                self._queue,
                self._sync,
                workers=WORKERS,
                name="ephemeral-volume-controller",
            )
        finally:
            await self._recorder.stop()

    def _enqueue(self, pod: Object) -> None:
        if "deletionTimestamp" not in pod["metadata"] and ephemeral_volumes(pod):
            self._queue.add(meta_namespace_key(pod))

    def _claim_deleted(self, claim: Object) -> None:
        for pod in self._pods.indexer.by_index(BY_CLAIM, meta_namespace_key(claim)):
            self._enqueue(pod)

    async def _sync(self, key: str) -> None:
        pod = self._pods.indexer.get_by_key(key)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            return
        for volume in ephemeral_volumes(pod):
            err = await self._handle_volume(pod, volume)
            if err:
                message = f"ephemeral volume {volume['name']}: {err}"
                self._recorder.event(pod, "Warning", "FailedBinding", message)
                raise RetryError(f"pod {key}, {message}")

    async def _handle_volume(self, pod: Object, volume: Object) -> str:
        """See to the claim of one volume; what is wrong with it."""
        name, namespace = (
            ephemeral_claim_name(pod, volume),
            pod["metadata"]["namespace"],
        )
        claim = self._claims.indexer.get_by_key(f"{namespace}/{name}")
        if claim is not None:
            if is_controlled_by(claim, pod):
                return ""
            return (
                f"PVC {namespace}/{name} was not created for pod"
                f" {meta_namespace_key(pod)} (pod is not owner)"
            )
        template = volume["ephemeral"]["volumeClaimTemplate"]
        template_meta = template.get("metadata") or {}
        owner = new_controller_ref(
            {"kind": "Pod", "apiVersion": "v1", "metadata": pod["metadata"]}
        )
        meta: Object = {"name": name, "ownerReferences": [owner]}
        meta |= {
            field: template_meta[field]
            for field in ("annotations", "labels")
            if template_meta.get(field)
        }
        pvc = {
            "kind": "PersistentVolumeClaim",
            "apiVersion": "v1",
            "metadata": meta,
            "spec": template["spec"],
        }
        try:
            await self._client.create(self._claims.resource, pvc, namespace)
        except StatusError as error:
            return f"create PVC {name}: {error.message}"
        return ""
