"""Binding claims to volumes, and telling both what they are.

A bond is written in four steps, each of which may be the last before a crash: the claim
on the volume, the volume's phase, the volume on the claim, the claim's phase. Whoever
finds a bond half written completes it. A claim that has no volume yet takes the one
kept for it, or the smallest free one that is large enough; unless its class lets the
scheduler choose. Volumes are not made here: that is for a provisioner of one's own,
which is told by an annotation.

Upstream: `pkg/controller/volume/persistentvolume/pv_controller.go` (`syncUnboundClaim`,
`syncBoundClaim`, `syncVolume`, `bind`), v1.36. Left out: provisioners and recyclers
inside the controller.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.persistent_volumes import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    NO_PROVISIONER,
    SELECTED_NODE,
    annotations_of,
    bound_to,
    find_matching_volume,
    is_bound_to,
    storage_class_of,
)
from lifecycle.api.resources import resource
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.persistentvolume.reclaim import (
    PROVISIONED_BY,
    CannotDeleteError,
    is_to_be_deleted_here,
)
from lifecycle.controllers.persistentvolume.volume_check import (
    check_volume_satisfies_claim,
)
from lifecycle.controllers.storageprotection.protection_controllers import (
    claims_used_by,
)

CLAIMS, VOLUMES = resource("persistentvolumeclaims"), resource("persistentvolumes")
PROVISIONER_ANNOTATIONS = (
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
)


class PersistentVolumeController:
    """Keys of the queue: `claim:namespace/name` and `volume:name`."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._claims, self._volumes = (
            informers.informer(CLAIMS),
            informers.informer(VOLUMES),
        )
        self._classes = informers.informer(resource("storageclasses.storage.k8s.io"))
        self._pods = informers.informer(resource("pods"))
        self._recorder = EventRecorder(
            client, "persistentvolume-controller", clock=clock
        )
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._written: dict[str, Object] = {}
        """What we wrote ourselves, by key, while the cache is older."""
        self._claims.add_event_handler(
            add=self._claim,
            update=lambda old, new: self._claim(new),
            delete=self._claim_deleted,
        )
        self._volumes.add_event_handler(
            add=self._volume,
            update=lambda old, new: self._volume(new),
            delete=self._volume_deleted,
        )
        self._classes.add_event_handler(add=lambda _: self._all_unbound())

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (self._claims, self._volumes, self._classes, self._pods):
                await informer.wait_for_sync()
            await run_workers(
                self._queue,
                self._sync,
                workers=1,
                name="persistentvolume-binder-controller",
            )
        finally:
            await self._recorder.stop()

    # Events.

    def _claim(self, claim: Object) -> None:
        self._queue.add(f"claim:{meta_namespace_key(claim)}")

    def _claim_deleted(self, claim: Object) -> None:
        self._written.pop(f"claim:{meta_namespace_key(claim)}", None)
        if claim["spec"].get("volumeName"):
            self._queue.add(f"volume:{claim['spec']['volumeName']}")

    def _volume(self, volume: Object) -> None:
        self._queue.add(f"volume:{volume['metadata']['name']}")
        reference = volume["spec"].get("claimRef")
        if reference is not None:
            self._queue.add(f"claim:{reference['namespace']}/{reference['name']}")
        elif (volume.get("status") or {}).get("phase") == "Available":
            self._all_unbound()

    def _volume_deleted(self, volume: Object) -> None:
        self._written.pop(f"volume:{volume['metadata']['name']}", None)
        reference = volume["spec"].get("claimRef")
        if reference is not None:
            self._queue.add(f"claim:{reference['namespace']}/{reference['name']}")

    def _all_unbound(self) -> None:
        for claim in self._claims.indexer.list():
            if BIND_COMPLETED not in annotations_of(claim):
                self._claim(claim)

    # What there is, our own writes included.

    def _newest(self, key: str, cached: Object | None) -> Object | None:
        written = self._written.get(key)
        if (
            cached is None
            or written is None
            or written["metadata"]["uid"] != cached["metadata"]["uid"]
        ):
            return cached
        ours, theirs = (
            int(obj["metadata"]["resourceVersion"]) for obj in (written, cached)
        )
        if ours > theirs:
            return written
        del self._written[key]
        return cached

    def _get_claim(self, key: str) -> Object | None:
        return self._newest(f"claim:{key}", self._claims.indexer.get_by_key(key))

    def _get_volume(self, name: str) -> Object | None:
        return self._newest(f"volume:{name}", self._volumes.indexer.get_by_key(name))

    async def _write(self, kind: Any, obj: Object, *, status: bool = False) -> Object:
        updated = await self._client.update(
            kind, mutable_copy(obj), subresource="status" if status else ""
        )
        prefix = "claim" if kind is CLAIMS else "volume"
        self._written[f"{prefix}:{meta_namespace_key(updated)}"] = updated
        return updated

    # The sync.

    async def _sync(self, key: str) -> None:
        kind, _, name = key.partition(":")
        if kind == "volume":
            volume = self._get_volume(name)
            if volume is not None:
                await self._sync_volume(volume)
            return
        claim = self._get_claim(name)
        if claim is None:
            return
        if BIND_COMPLETED in annotations_of(claim):
            await self._sync_bound_claim(claim)
        else:
            await self._sync_unbound_claim(claim)

    async def _sync_unbound_claim(self, claim: Object) -> None:
        volume_name = claim["spec"].get("volumeName")
        if volume_name:
            volume = self._get_volume(volume_name)
            if volume is None or (
                volume["spec"].get("claimRef") is not None
                and not is_bound_to(volume, claim)
            ):
                if volume is not None:
                    text = f'volume "{volume_name}" already bound to a different claim.'
                    self._recorder.event(claim, "Warning", "FailedBinding", text)
                await self._claim_phase(claim, "Pending")
                return
            wrong = (
                check_volume_satisfies_claim(volume, claim)
                if volume["spec"].get("claimRef") is None
                else ""
            )
            if wrong:
                text = f'Cannot bind to requested volume "{volume_name}": {wrong}'
                self._recorder.event(claim, "Warning", "VolumeMismatch", text)
                await self._claim_phase(claim, "Pending")
                return
            await self._bind(volume, claim)
            return
        waits = self._waits_for_consumer(claim) and SELECTED_NODE not in annotations_of(
            claim
        )
        names = [volume["metadata"]["name"] for volume in self._volumes.indexer.list()]
        volumes = [
            volume for volume in map(self._get_volume, names) if volume is not None
        ]
        match = find_matching_volume(claim, volumes, None, set(), only_kept=waits)
        if match is not None:
            await self._bind(match, claim)
            return
        await self._report_unbound_claim(claim, waits)

    def _waits_for_consumer(self, claim: Object) -> bool:
        storage_class = self._classes.indexer.get_by_key(storage_class_of(claim))
        return (
            storage_class is not None
            and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        )

    async def _report_unbound_claim(self, claim: Object, waits: bool) -> None:
        name = storage_class_of(claim)
        storage_class = self._classes.indexer.get_by_key(name)
        if waits:
            pods = self._pods_waiting_for(claim)
            if pods:
                text = f"waiting for pod {','.join(pods)} to be scheduled"
                self._recorder.event(claim, "Normal", "WaitForPodScheduled", text)
            else:
                text = "waiting for first consumer to be created before binding"
                self._recorder.event(claim, "Normal", "WaitForFirstConsumer", text)
        elif not name:
            text = (
                "no persistent volumes available for this claim and no storage class"
                " is set"
            )
            self._recorder.event(claim, "Normal", "FailedBinding", text)
        elif storage_class is None:
            text = f'storageclass.storage.k8s.io "{name}" not found'
            self._recorder.event(claim, "Warning", "ProvisioningFailed", text)
        elif storage_class["provisioner"] == NO_PROVISIONER:
            text = "no volume plugin matched name: kubernetes.io/no-provisioner"
            self._recorder.event(claim, "Warning", "ProvisioningFailed", text)
        else:
            provisioner = storage_class["provisioner"]
            if any(
                annotations_of(claim).get(key) != provisioner
                for key in PROVISIONER_ANNOTATIONS
            ):
                annotations = {
                    **annotations_of(claim),
                    **dict.fromkeys(PROVISIONER_ANNOTATIONS, provisioner),
                }
                claim = await self._write(
                    CLAIMS,
                    {
                        **claim,
                        "metadata": {**claim["metadata"], "annotations": annotations},
                    },
                )
            text = (
                "Waiting for a volume to be created either by the external provisioner"
                f" '{provisioner}' or manually by the system administrator. If volume"
                " creation is delayed, please verify that the provisioner is running"
                " and correctly registered."
            )
            self._recorder.event(claim, "Normal", "ExternalProvisioning", text)
        await self._claim_phase(claim, "Pending")

    def _pods_waiting_for(self, claim: Object) -> list[str]:
        meta = claim["metadata"]
        return [
            pod["metadata"]["name"]
            for pod in self._pods.indexer.list_namespace(meta["namespace"])
            if not pod["spec"].get("nodeName")
            and any(name == meta["name"] for name, _ in claims_used_by(pod))
        ]

    async def _sync_bound_claim(self, claim: Object) -> None:
        name = claim["spec"].get("volumeName")
        if not name:
            await self._update_claim_status_lost(
                claim,
                "ClaimLost",
                "Bound claim has lost reference to PersistentVolume. Data on the volume"
                " is lost!",
            )
            return
        volume = self._get_volume(name)
        if volume is None:
            await self._update_claim_status_lost(
                claim,
                "ClaimLost",
                "Bound claim has lost its PersistentVolume. Data on the volume is"
                " lost!",
            )
        elif volume["spec"].get("claimRef") is None or is_bound_to(volume, claim):
            await self._bind(volume, claim)
        else:
            text = (
                "Two claims are bound to the same volume, this one is bound incorrectly"
            )
            await self._update_claim_status_lost(claim, "ClaimMisbound", text)

    async def _update_claim_status_lost(
        self, claim: Object, reason: str, message: str
    ) -> None:
        if (claim.get("status") or {}).get("phase") != "Lost":
            await self._write(
                CLAIMS, {**claim, "status": {"phase": "Lost"}}, status=True
            )
            self._recorder.event(claim, "Warning", reason, message)

    async def _bind(self, volume: Object, claim: Object) -> None:
        """All four steps, as far as they are not taken yet."""
        reference = volume["spec"].get("claimRef") or {}
        if reference.get("uid") != claim["metadata"]["uid"]:
            volume = await self._write(VOLUMES, bound_to(volume, claim))
        await self._volume_phase(volume, "Bound")
        annotations = {**annotations_of(claim), BIND_COMPLETED: "yes"}
        name = volume["metadata"]["name"]
        if not claim["spec"].get("volumeName"):
            annotations[BOUND_BY_CONTROLLER] = "yes"
        if (
            annotations != annotations_of(claim)
            or claim["spec"].get("volumeName") != name
        ):
            meta, spec = (
                {**claim["metadata"], "annotations": annotations},
                {**claim["spec"], "volumeName": name},
            )
            claim = await self._write(CLAIMS, {**claim, "metadata": meta, "spec": spec})
        status = claim.get("status") or {}
        modes = volume["spec"].get("accessModes") or []
        new_status = {**status, "phase": "Bound", "accessModes": modes}
        if status.get("phase") != "Bound":  # later they may have become others
            new_status["capacity"] = {"storage": volume["spec"]["capacity"]["storage"]}
            new_status.pop("currentVolumeAttributesClassName", None)
            attributes = volume["spec"].get("volumeAttributesClassName")
            if attributes:
                new_status["currentVolumeAttributesClassName"] = attributes
        if new_status != status:
            await self._write(CLAIMS, {**claim, "status": new_status}, status=True)

    async def _claim_phase(self, claim: Object, phase: str) -> None:
        status = claim.get("status") or {}
        if status.get("phase") != phase:
            await self._write(
                CLAIMS, {**claim, "status": {**status, "phase": phase}}, status=True
            )

    async def _volume_phase(
        self, volume: Object, phase: str, message: str = ""
    ) -> Object:
        """Write the phase if it is another; the volume as it is then. The server dates
        it.
        """
        status = volume.get("status") or {}
        if (status.get("phase"), status.get("message", "")) == (phase, message):
            return volume
        new_status = {
            "phase": phase,
            "message": message,
            "lastPhaseTransitionTime": status.get("lastPhaseTransitionTime"),
        }
        new_status = {key: value for key, value in new_status.items() if value}
        return await self._write(VOLUMES, {**volume, "status": new_status}, status=True)

    async def _reclaim(self, volume: Object) -> None:
        """Delete a released volume, if that is wanted and can be done; else say so,
        once.
        """
        try:
            if (
                is_to_be_deleted_here(volume)
                and "deletionTimestamp" not in volume["metadata"]
            ):
                await self._client.delete(
                    VOLUMES, volume["metadata"]["name"], uid=volume["metadata"]["uid"]
                )
        except CannotDeleteError as error:
            failed = await self._volume_phase(volume, "Failed", str(error))
            if failed is not volume:
                self._recorder.event(
                    failed, "Warning", "VolumeFailedDelete", str(error)
                )

    async def _sync_volume(self, volume: Object) -> None:
        reference = volume["spec"].get("claimRef")
        if reference is None or not reference.get("uid"):
            await self._volume_phase(volume, "Available")
            return
        claim = self._get_claim(f"{reference['namespace']}/{reference['name']}")
        if claim is None or claim["metadata"]["uid"] != reference["uid"]:
            if (volume.get("status") or {}).get("phase") != "Failed":
                volume = await self._volume_phase(volume, "Released")
            await self._reclaim(volume)
            return
        bound = claim["spec"].get("volumeName")
        if not bound:
            self._claim(claim)
        elif bound == volume["metadata"]["name"]:
            await self._volume_phase(volume, "Bound")
        elif (
            PROVISIONED_BY in annotations_of(volume)
            and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
        ):  # made for this claim, which did not need it
            if (volume.get("status") or {}).get("phase") != "Failed":
                volume = await self._volume_phase(volume, "Released")
            await self._reclaim(volume)
        else:
            await self._unbind(volume, reference)

    async def _unbind(self, volume: Object, reference: Object) -> None:
        """The claim went elsewhere: what we wrote is taken back; who was meant to have
        the volume from the start may come back. Upstream: `unbindVolume`.
        """
        meta, spec = dict(volume["metadata"]), dict(volume["spec"])
        if BOUND_BY_CONTROLLER in annotations_of(volume):
            meta["annotations"] = {
                key: value
                for key, value in annotations_of(volume).items()
                if key != BOUND_BY_CONTROLLER
            }
            del spec["claimRef"]
        else:
            spec["claimRef"] = {k: v for k, v in reference.items() if k != "uid"}
        free = await self._write(VOLUMES, {**volume, "metadata": meta, "spec": spec})
        await self._volume_phase(free, "Available")
