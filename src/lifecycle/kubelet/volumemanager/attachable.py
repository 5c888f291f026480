"""Volumes behind a claim: others attach them, the kubelet waits.

A PersistentVolumeClaim leads to a PersistentVolume. If that one needs attaching (most
CSI drivers), the attach/detach controller does it and says so in the node's status,
`volumesAttached`; the kubelet only believes what it reads there, and only then lets the
driver on the node mount it.

Upstream: `pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go`
(`createVolumeSpec`, `getPVCExtractPV`),
`pkg/volume/util/operationexecutor/operation_generator.go`
(`GenerateVerifyControllerAttachedVolumeFunc`), v1.36. Left out: CSI drivers (none is
registered, so mounting ends with the message of that), block devices.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.volume.payloads import GetObject, VolumeError
from lifecycle.kubelet.volumemanager.references import volume_names

PVC_PROTECTION_FINALIZER = "kubernetes.io/pvc-protection"


class NotAttached(Exception):
    """Nobody has attached it yet: wait."""


class Unprocessable(Exception):
    """What the volume is cannot be found out: `failed to process volumes`."""


async def claimed_volume(volume: Object, pod: Object, get: GetObject) -> Object:
    """The PersistentVolume behind a pod's volume; an ephemeral one is behind a claim of
    the pod's own. Raises Unprocessable.
    """
    meta, ephemeral = pod["metadata"], "ephemeral" in volume
    namespace = meta["namespace"]
    name = (
        f"{meta['name']}-{volume['name']}"
        if ephemeral
        else volume["persistentVolumeClaim"]["claimName"]
    )
    try:
        claim = await _bound_claim(name, namespace, get)
        if ephemeral and not _belongs_to(claim, pod):
            what = (
                f"PVC {namespace}/{name} was not created for pod"
                f" {namespace}/{meta['name']}"
            )
            raise Unprocessable(f"{what} (pod is not owner)")
        persistent_volume = await _volume_of(claim, get)
    except LookupError as error:
        raise Unprocessable(
            f"error processing PVC {namespace}/{name}: {error.args[0]}"
        ) from None
    _check_mode(volume["name"], pod, persistent_volume)
    return persistent_volume


def _check_mode(name: str, pod: Object, persistent_volume: Object) -> None:
    """Raises Unprocessable for a device that is to be mounted, and the other way
    round.
    """
    mode = persistent_volume["spec"].get("volumeMode") or "Filesystem"
    for key, wanted in (("volumeMounts", "Filesystem"), ("volumeDevices", "Block")):
        if mode != wanted and name in volume_names(pod, key):
            raise Unprocessable(
                f"volume {name} has volumeMode {mode}, but is specified in {key}"
            )


async def _bound_claim(name: str, namespace: str, get: GetObject) -> Object:
    """Raises LookupError also if it is bound to nothing, or may be gone before the pod
    is. One that is protected stays as long as the pod does: a kubelet that has just
    started goes on with the pods that it finds.
    """
    try:
        claim = await get("persistentvolumeclaims", name, namespace)
    except LookupError as error:
        raise LookupError(
            f"failed to fetch PVC from API server: {error.args[0]}"
        ) from None
    meta = claim["metadata"]
    is_protected = PVC_PROTECTION_FINALIZER in (meta.get("finalizers") or ())
    if meta.get("deletionTimestamp") and not is_protected:
        raise LookupError("PVC is being deleted")
    if (claim.get("status") or {}).get("phase") != "Bound":
        raise LookupError("PVC is not bound")
    if not claim["spec"].get("volumeName"):
        raise LookupError("PVC has empty pvc.Spec.VolumeName")
    return claim


async def _volume_of(claim: Object, get: GetObject) -> Object:
    """Raises LookupError also for one that is somebody else's. Upstream:
    `getPVSpec`.
    """
    name, uid = claim["spec"]["volumeName"], claim["metadata"].get("uid", "")
    try:
        volume = await get("persistentvolumes", name, "")
    except LookupError as error:
        raise LookupError(
            f"failed to fetch PV {name} from API server: {error.args[0]}"
        ) from None
    found, reference = f"found PV object {name} but", volume["spec"].get("claimRef")
    if reference is None:
        raise LookupError(
            f"{found} it has a nil pv.Spec.ClaimRef indicating it is not yet bound to"
            " the claim"
        )
    if reference.get("uid", "") != uid:
        raise LookupError(
            f"{found} its pv.Spec.ClaimRef.UID {reference.get('uid', '')} does not"
            f" point to claim.UID {uid}"
        )
    return volume


def _belongs_to(claim: Object, pod: Object) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(
        owner["uid"] == pod["metadata"]["uid"]
        for owner in owners
        if owner.get("controller")
    )


def unique_volume_name(volume: Object) -> str:
    """As it stands in `volumesAttached`; empty for what needs no attaching."""
    csi = volume["spec"].get("csi")
    return f"kubernetes.io/csi/{csi['driver']}^{csi['volumeHandle']}" if csi else ""


def verify_controller_attached_volume(
    volume: Object, attached: Iterable[Object]
) -> None:
    """Raises NotAttached unless the node's status lists the volume. `attached`:
    its `volumesAttached`.
    """
    name = unique_volume_name(volume)
    if name and all(entry["name"] != name for entry in attached):
        raise NotAttached(name)


def mount_device(volume: Object) -> None:
    """Ask the driver. Raises VolumeError: there is none here."""
    csi = volume["spec"].get("csi")
    if csi:
        raise VolumeError(
            "kubernetes.io/csi: attacher.MountDevice failed to create"
            f" newCsiDriverClient: driver name {csi['driver']} not found in the list of"
            " registered CSI drivers"
        )
    raise VolumeError(f"no volume plugin matched name: {volume['metadata']['name']}")
