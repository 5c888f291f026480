"""Persistent volumes: storage that outlives pods.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_PersistentVolume`),
`pkg/registry/core/persistentvolume/strategy.go`, `pkg/api/persistentvolume/util.go`,
`pkg/printers/internalversion/printers.go` (`printPersistentVolume`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_volume_source_defaults
from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.loop.clock import Clock
from lifecycle.api.quantity import canonical_quantity
from lifecycle.apiserver.registry.core.persistent_volume.validation import (
    validate,
    validate_status_update,
    validate_update,
)
from lifecycle.apiserver.registry.core.pod.warnings import (
    DEPRECATED_VOLUMES,
    node_selector_term_warnings,
)
from lifecycle.apiserver.registry.core.volumes_and_claims import (
    access_modes,
    beta_class_warnings,
    or_unset,
    phase,
    storage_class_name,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(volume: Object) -> None:
    """Phase, reclaim policy, mode."""
    status = volume.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    spec = volume.setdefault("spec", {})
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    set_volume_source_defaults(spec)
    round_up_resource_list(spec.get("capacity"))


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(volume: Object) -> None:
    """Pending, since its creation."""
    volume["status"] = {
        "phase": "Pending",
        "lastPhaseTransitionTime": volume["metadata"].get("creationTimestamp"),
    }


def prepare_for_status_update(new: Object, old: Object) -> None:
    """Another phase is dated now, unless its writer has dated it."""
    update.prepare_for_status_update(new, old)
    status, before = new.get("status") or {}, old.get("status") or {}
    since = status.get("lastPhaseTransitionTime")
    was = before.get("lastPhaseTransitionTime")
    if status.get("phase") == before.get("phase"):
        since = was if since is None else since
    elif since is None or since == was:
        since = Clock().timestamp()
    if since is not None:
        new["status"] = {**status, "lastPhaseTransitionTime": since}


# --- warnings -------------------------------------------------------------------------


_POD_ONLY = ("gitRepo", "flocker", "quobyte")


def warnings_on_create(volume: Object) -> list[str]:
    """Of what is deprecated: class annotation, Recycle, labels, sources."""
    spec = volume.get("spec") or {}
    warnings = beta_class_warnings(volume)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        why = (
            "The Recycle reclaim policy is deprecated. Instead, the recommended"
            " approach is to use dynamic provisioning."
        )
        warnings.append(f"spec.persistentVolumeReclaimPolicy: {why}")
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get(
        "nodeSelectorTerms"
    ) or []
    for index, term in enumerate(terms):
        warnings += node_selector_term_warnings(
            term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
        )
    for source, name, warning in DEPRECATED_VOLUMES:
        if spec.get(source) is not None and source not in _POD_ONLY:
            warnings.append(f"spec.{name}: {warning}")
    return warnings


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same."""
    return warnings_on_create(new)


# --- table ----------------------------------------------------------------------------


def print_persistent_volume(volume: Object, now: float) -> Cells:
    """The cells of `kubectl get persistentvolumes`."""
    spec = volume.get("spec") or {}
    claim = spec.get("claimRef")
    return [
        volume["metadata"]["name"],
        canonical_quantity((spec.get("capacity") or {}).get("storage", "0")),
        access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        phase(volume),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        storage_class_name(volume),
        or_unset(spec.get("volumeAttributesClassName")),
        (volume.get("status") or {}).get("reason", ""),
        age(volume, now),
        or_unset(spec.get("volumeMode")),
    ]


_PV = "core/v1.PersistentVolume"

PRINTER = Printer(
    (
        NAME,
        Column("Capacity", field(f"{_PV}Spec", "capacity")),
        Column("Access Modes", field(f"{_PV}Spec", "accessModes")),
        Column("Reclaim Policy", field(f"{_PV}Spec", "persistentVolumeReclaimPolicy")),
        Column("Status", field(f"{_PV}Status", "phase")),
        Column("Claim", field(f"{_PV}Spec", "claimRef")),
        Column("StorageClass", "StorageClass of the pv"),
        Column("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
        Column("Reason", field(f"{_PV}Status", "reason")),
        AGE,
        Column("VolumeMode", field(f"{_PV}Spec", "volumeMode"), priority=1),
    ),
    print_persistent_volume,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={
        "status": UpdateStrategy(prepare_for_status_update, validate_status_update)
    },
    returns_deleted_object=True,
    printer=PRINTER,
)
