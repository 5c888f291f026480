"""VolumeAttachments: which volume is to be attached to which node.

Upstream: `pkg/apis/storage/v1/zz_generated.defaults.go`,
`pkg/registry/storage/volumeattachment/strategy.go`,
`pkg/apis/storage/validation/validation.go` (`ValidateVolumeAttachment` …),
`pkg/printers/internalversion/printers.go` (`printVolumeAttachment`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_volume_source_defaults
from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.field_errors import FieldError, forbidden, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.persistent_volume.validation import (
    validate_volume_spec,
)
from lifecycle.apiserver.registry.core.pod.volumes import (
    validate_csi_driver_name,
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
from lifecycle.apiserver.registry.rest.numbers import MAX_INT32
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
)
from lifecycle.apiserver.registry.rest.strategy import (
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)

# --- defaults -------------------------------------------------------------------------


def set_defaults(attachment: Object) -> None:
    """A volume that stands in the attachment itself has its source's defaults."""
    inline = ((attachment.get("spec") or {}).get("source") or {}).get(
        "inlineVolumeSpec"
    )
    if inline:
        set_volume_source_defaults(inline)
        round_up_resource_list(inline.get("capacity"))


# --- validation -----------------------------------------------------------------------


def validate(attachment: Object) -> list[FieldError]:
    """A new attachment: one attacher, one volume, one node."""
    errors = validate_core_object_meta(
        attachment.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    spec = attachment.get("spec") or {}
    errors += _validate_spec(spec)
    status = attachment.get("status") or {}
    errors += _validate_volume_error(status, "attachError")
    errors += _validate_volume_error(status, "detachError")
    name = (spec.get("source") or {}).get("persistentVolumeName")
    if name is not None:
        errors += [
            invalid("spec.source.persistentVolumeName", name, why)
            for why in content.name_is_dns_subdomain(name, False)
        ]
    return errors


def _validate_spec(spec: Object) -> list[FieldError]:
    errors = validate_csi_driver_name(spec.get("attacher", ""), "spec.attacher")
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


def _validate_volume_error(status: Object, key: str) -> list[FieldError]:
    code = (status.get(key) or {}).get("errorCode")
    if code is None or 0 <= code <= MAX_INT32:
        return []
    why = content.range_error(0, MAX_INT32)
    return [invalid(f"status.{key}.errorCode", code, why)]


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The spec stays."""
    errors, spec = validate(new), new.get("spec") or {}
    if spec != (old.get("spec") or {}):
        errors.append(
            invalid(
                "spec",
                internal_value("storage/v1.VolumeAttachmentSpec", spec),
                IMMUTABLE,
            )
        )
    return errors


# --- table ----------------------------------------------------------------------------


def print_volume_attachment(attachment: Object, now: float) -> Cells:
    """The cells of `kubectl get volumeattachments`."""
    spec = attachment.get("spec") or {}
    volume = (spec.get("source") or {}).get("persistentVolumeName") or ""
    attached = bool((attachment.get("status") or {}).get("attached"))
    return [
        attachment["metadata"]["name"],
        spec.get("attacher", ""),
        volume,
        spec.get("nodeName", ""),
        attached,
        age(attachment, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column(
            "Attacher",
            field("storage/v1.VolumeAttachmentSpec", "attacher"),
            format="name",
        ),
        Column(
            "PV", field("storage/v1.VolumeAttachmentSource", "persistentVolumeName")
        ),
        Column("Node", field("storage/v1.VolumeAttachmentSpec", "nodeName")),
        Column(
            "Attached",
            field("storage/v1.VolumeAttachmentStatus", "attached"),
            "boolean",
        ),
        AGE,
    ),
    print_volume_attachment,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_only_update,
            validate_update,
            reset_fields=METADATA_AND_SPEC_FIELDS,
        )
    },
    returns_deleted_object=True,
    printer=PRINTER,
)
