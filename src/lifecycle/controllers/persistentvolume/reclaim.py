"""What becomes of a volume that nobody claims any more.

`Retain` leaves it to people. `Delete` is for whoever made it: an external provisioner,
known by the annotation, sees the phase Released and does it itself. Of what people made
themselves only a `hostPath` below `/tmp` can be deleted; every other such volume fails.

Upstream: `pkg/controller/volume/persistentvolume/pv_controller.go` (`reclaimVolume`,
`findDeletablePlugin`), `pkg/volume/hostpath/host_path.go` (`hostPathDeleter`), v1.36.
Left out: `Recycle`, and what lies in the directory: the object goes, the files stay.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.persistent_volumes import annotations_of

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"


class CannotDeleteError(Exception):
    """There is nobody who could."""


def is_to_be_deleted_here(volume: Object) -> bool:
    """Whether the object is to go, and by this controller. Raises CannotDeleteError."""
    spec = volume["spec"]
    if spec.get("persistentVolumeReclaimPolicy") != "Delete":
        return False
    provisioner = annotations_of(volume).get(PROVISIONED_BY, "")
    if provisioner and not provisioner.startswith("kubernetes.io/"):
        return False
    if "hostPath" not in spec:
        name = volume["metadata"]["name"]
        message = "no deletable volume plugin matched"
        raise CannotDeleteError(
            f'error getting deleter volume plugin for volume "{name}": {message}'
        )
    path = spec["hostPath"]["path"]
    if not path.partition("/tmp/")[2]:
        raise CannotDeleteError(
            f"host_path deleter only supports /tmp/.+ but received provided {path}"
        )
    return True
