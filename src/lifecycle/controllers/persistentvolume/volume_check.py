"""Whether a volume that a claim asks for by name can be had, or what stands in the way.

A volume found by the controller has passed more than this: here neither the claim's
selector nor the volume's phase is looked at, since somebody has chosen.

Upstream: `pkg/controller/volume/persistentvolume/pv_controller.go`
(`checkVolumeSatisfyClaim`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.persistent_volumes import storage_class_of
from lifecycle.api.quantity import parse_quantity


def check_volume_satisfies_claim(volume: Object, claim: Object) -> str:
    """What is wrong with the volume for this claim; empty if nothing is."""
    offer, spec = volume["spec"], claim["spec"]
    if "deletionTimestamp" in volume["metadata"]:
        return f'the volume is marked for deletion "{volume["metadata"]["name"]}"'
    requests = (spec.get("resources") or {}).get("requests") or {}
    size = parse_quantity((offer.get("capacity") or {}).get("storage", "0"))
    if size < parse_quantity(requests.get("storage", "0")):
        return "requested PV is too small"
    if storage_class_of(volume) != storage_class_of(claim):
        return "storageClassName does not match"
    key = "volumeAttributesClassName"
    if (offer.get(key) or "") != (spec.get(key) or ""):
        return "volumeAttributesClassName does not match"
    mode = "Filesystem"
    if (offer.get("volumeMode") or mode) != (spec.get("volumeMode") or mode):
        return "incompatible volumeMode"
    if not set(spec.get("accessModes") or ()) <= set(offer.get("accessModes") or ()):
        return "incompatible accessMode"
    return ""
