"""Volumes behind a claim: others attach them, the kubelet waits.

A PersistentVolumeClaim leads to a PersistentVolume. If that one needs attaching (most
CSI drivers), the attach/detach controller does it and says so in the node's status,
`volumesAttached`; the kubelet only believes what it reads there, and only then lets the
driver on the node mount it.

Upstream: `pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go`
(`getPVCExtractPV`), `pkg/volume/util/operationexecutor/operation_generator.go`
(`GenerateVerifyControllerAttachedVolumeFunc`), v1.36. Left out: CSI drivers (none is
registered, so mounting ends with the message of that), block devices.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.wire import Object
from lifecycle.kubelet.volume.payloads import GetObject, VolumeError


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
        claim = await get("persistentvolumeclaims", name, namespace)
        if (claim.get("status") or {}).get("phase") != "Bound" or not claim["spec"].get(
            "volumeName"
        ):
            raise Unprocessable(
                f"error processing PVC {namespace}/{name}: PVC is not bound"
            )
        if ephemeral and not _belongs_to(claim, pod):
            what = (
                f"PVC {namespace}/{name} was not created for pod"
                f" {namespace}/{meta['name']}"
            )
            raise Unprocessable(f"{what} (pod is not owner)")
        return await get("persistentvolumes", claim["spec"]["volumeName"], "")
    except LookupError as error:
        raise Unprocessable(
            f"error processing PVC {namespace}/{name}: failed to fetch PVC from API"
            f" server: {error.args[0]}"
        ) from None


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
