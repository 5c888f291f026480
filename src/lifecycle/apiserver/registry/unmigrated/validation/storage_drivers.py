"""What CSI drivers and the machinery around them write: drivers, nodes, attachments,
capacities, attribute classes.

Upstream: `pkg/apis/storage/validation/validation.go` (`ValidateCSIDriver`,
`ValidateCSINode`, `ValidateVolumeAttachment`, `ValidateCSIStorageCapacity`,
`ValidateVolumeAttributesClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    NOT_NEGATIVE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.unmigrated.validation.persistent_volumes import (
    validate_volume_spec,
)
from lifecycle.apiserver.registry.unmigrated.validation.volumes import (
    validate_csi_driver_name,
)

_NODE_ID_LIMIT = 256
_SHORTEST_TOKEN = 600
_PARAMETERS, _PARAMETERS_SIZE = 512, 256 * 1024


# --- drivers --------------------------------------------------------------------------


def validate_csi_driver(driver: Object) -> list[FieldError]:
    """A new driver."""
    errors = validate_core_object_meta(
        driver.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    return errors + _validate_driver_spec(driver.get("spec") or {})


def validate_csi_driver_update(new: Object, old: Object) -> list[FieldError]:
    """Whether it attaches, and how its volumes live, stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_driver_spec(spec)
    for field, shown in (
        ("attachRequired", "attachedRequired"),
        ("volumeLifecycleModes", "volumeLifecycleModes"),
    ):
        if spec.get(field) != before.get(field):
            errors.append(invalid(f"spec.{shown}", spec.get(field), IMMUTABLE))
    return errors


def _validate_driver_spec(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for field, shown in (
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount",) * 2,
        ("storageCapacity",) * 2,
    ):
        if spec.get(field) is None:
            errors.append(required(f"spec.{shown}"))
    policy, policies = (
        spec.get("fsGroupPolicy"),
        ("File", "None", "ReadWriteOnceWithFSType"),
    )
    if policy is not None and policy not in policies:
        errors.append(not_supported("spec.fsGroupPolicy", policy, policies))
    errors += _validate_token_requests(
        spec.get("tokenRequests") or [], "spec.tokenRequests"
    )
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in ("Persistent", "Ephemeral"):
            errors.append(
                not_supported(
                    "spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral")
                )
            )
    if spec.get("seLinuxMount") is None:
        errors.append(required("spec.seLinuxMount"))
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        why = "must be greater than or equal to 10 seconds"
        errors.append(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, why))
    return errors


def _validate_token_requests(requests: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    audiences: set[str] = set()
    for index, request in enumerate(requests):
        here, audience, seconds = (
            f"{path}[{index}]",
            request.get("audience", ""),
            request.get("expirationSeconds"),
        )
        if audience in audiences:
            errors.append(duplicate(f"{here}.audience", audience))
            continue
        audiences.add(audience)
        if seconds is not None and seconds < _SHORTEST_TOKEN:
            errors.append(
                invalid(
                    f"{here}.expirationSeconds",
                    seconds,
                    "may not specify a duration less than 10 minutes",
                )
            )
        if seconds is not None and seconds > 1 << 32:
            errors.append(
                invalid(
                    f"{here}.expirationSeconds",
                    seconds,
                    "may not specify a duration larger than 2^32 seconds",
                )
            )
    return errors


# --- nodes ----------------------------------------------------------------------------


def validate_csi_node(node: Object) -> list[FieldError]:
    """A new CSINode."""
    errors = validate_core_object_meta(
        node.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    names: set[str] = set()
    for index, driver in enumerate((node.get("spec") or {}).get("drivers") or ()):
        errors += _validate_node_driver(driver, names, f"spec.drivers[{index}]")
    return errors


def _validate_node_driver(
    driver: Object, names: set[str], path: str
) -> list[FieldError]:
    name, node_id = driver.get("name", ""), driver.get("nodeID", "")
    errors = validate_csi_driver_name(name, f"{path}.name")
    if not node_id:
        errors.append(required(f"{path}.nodeID"))
    if len(node_id) > _NODE_ID_LIMIT:
        errors.append(
            invalid(
                f"{path}.nodeID",
                node_id,
                f"must be {_NODE_ID_LIMIT} characters or less",
            )
        )
    count = (driver.get("allocatable") or {}).get("count")
    if count is not None and count < 0:
        errors.append(invalid(f"{path}.allocatable.count", count, NOT_NEGATIVE))
    if name in names:
        errors.append(duplicate(f"{path}.name", name))
    names.add(name)
    keys: set[str] = set()
    for key in driver.get("topologyKeys") or ():
        if not key:
            errors.append(required(path))
        if key in keys:
            errors.append(duplicate(path, key))
        keys.add(key)
        errors += [invalid(path, key, why) for why in content.qualified_name(key)]
    return errors


def validate_csi_node_update(new: Object, old: Object) -> list[FieldError]:
    """A driver comes or goes; an entry that stays does not change."""
    errors = validate_csi_node(new)
    for before in (old.get("spec") or {}).get("drivers") or ():
        for driver in (new.get("spec") or {}).get("drivers") or ():
            if driver.get("name") == before.get("name") and _unlimited(
                driver
            ) != _unlimited(before):
                errors.append(
                    invalid(
                        "CSINodeDriver",
                        internal_value("storage/v1.CSINodeDriver", driver),
                        IMMUTABLE,
                    )
                )
    return errors


def _unlimited(driver: Object) -> Object:
    """Without the limit, which a kubelet keeps up to date."""
    return {key: value for key, value in driver.items() if key != "allocatable"}


# --- attachments ----------------------------------------------------------------------


def validate_volume_attachment(attachment: Object) -> list[FieldError]:
    """A new attachment: one attacher, one volume, one node."""
    errors = validate_core_object_meta(
        attachment.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    spec = attachment.get("spec") or {}
    errors += _validate_attachment_spec(spec)
    errors += validate_csi_driver_name(spec.get("attacher", ""), "spec.attacher")
    name = (spec.get("source") or {}).get("persistentVolumeName")
    if name is not None:
        errors += [
            invalid("spec.source.persistentVolumeName", name, why)
            for why in content.name_is_dns_subdomain(name, False)
        ]
    return errors


def _validate_attachment_spec(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if not spec.get("attacher"):
        errors.append(required("spec.attacher"))
    source = spec.get("source") or {}
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if name is None and inline is None:
        errors.append(required("spec.source", one))
    elif name is not None and inline is not None:
        errors.append(forbidden("spec.source", one))
    elif name is not None and not name:
        errors.append(
            required(
                "spec.source.persistentVolumeName",
                "must specify non empty persistentVolumeName",
            )
        )
    elif inline is not None:
        errors += validate_volume_spec(
            inline, "spec.source.inlineVolumeSpec", inline=True
        )
    node = spec.get("nodeName", "")
    return errors + [
        invalid("spec.nodeName", node, why)
        for why in content.name_is_dns_subdomain(node, False)
    ]


def validate_volume_attachment_update(new: Object, old: Object) -> list[FieldError]:
    """The spec stays."""
    meta, spec = new.get("metadata") or {}, new.get("spec") or {}
    errors = validate_core_object_meta(
        meta, False, content.name_is_dns_subdomain
    ) + _validate_attachment_spec(spec)
    if spec != (old.get("spec") or {}):
        errors.append(
            invalid(
                "spec",
                internal_value("storage/v1.VolumeAttachmentSpec", spec),
                IMMUTABLE,
            )
        )
    return errors


# --- capacities and classes -----------------------------------------------------------


def validate_storage_capacity(capacity: Object) -> list[FieldError]:
    """A new capacity report."""
    errors = validate_core_object_meta(
        capacity.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    errors += validate_label_selector(capacity.get("nodeTopology"), "nodeTopology")
    name, amount = capacity.get("storageClassName", ""), capacity.get("capacity")
    errors += [
        invalid("storageClassName", name, why)
        for why in content.name_is_dns_subdomain(name, False)
    ]
    if amount is not None and parse_quantity(amount) < parse_quantity("0"):
        errors.append(invalid("capacity", amount, NOT_NEGATIVE))
    return errors


def validate_storage_capacity_update(new: Object, old: Object) -> list[FieldError]:
    """What was asked about stays; the answer may change."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    for field in ("nodeTopology", "storageClassName"):
        if new.get(field) != old.get(field):
            errors.append(invalid(field, new.get(field), IMMUTABLE))
    return errors


def validate_provisioner(name: str, path: str) -> list[FieldError]:
    """A driver's or provisioner's name. Upstream: `validateProvisioner`."""
    if not name:
        return [required(path)]
    return [invalid(path, name, why) for why in content.qualified_name(name.lower())]


def validate_parameters(
    parameters: Object | None, path: str, *, allow_none: bool
) -> list[FieldError]:
    """What is handed on to a driver. Upstream: `validateParameters`."""
    given = parameters or {}
    if len(given) > _PARAMETERS:
        return [too_long(path, _PARAMETERS)]
    errors = [invalid(path, key, "field can not be empty.") for key in given if not key]
    if sum(len(key) + len(value) for key, value in given.items()) > _PARAMETERS_SIZE:
        errors.append(too_long(path, _PARAMETERS_SIZE))
    if not allow_none and not given:
        errors.append(required(path, "must contain at least one key/value pair"))
    return errors


def validate_volume_attributes_class(class_: Object) -> list[FieldError]:
    """A new class of volume attributes."""
    errors = validate_core_object_meta(
        class_.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    errors += validate_provisioner(class_.get("driverName", ""), "driverName")
    return errors + validate_parameters(
        class_.get("parameters"), "parameters", allow_none=False
    )


def validate_volume_attributes_class_update(
    new: Object, old: Object
) -> list[FieldError]:
    """Nothing of it changes."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    for field in ("driverName", "parameters"):
        if new.get(field) != old.get(field):
            errors.append(forbidden(field, f"updates to {field} are forbidden."))
    return errors + validate_volume_attributes_class(new)
