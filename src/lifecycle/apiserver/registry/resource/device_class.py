"""DeviceClasses: kinds of devices that a request can name.

Upstream: `pkg/registry/resource/deviceclass/strategy.go`,
`pkg/apis/resource/validation/validation.go` (`ValidateDeviceClass` …),
`pkg/printers/internalversion/printers.go` (`printDeviceClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.resource_names import is_extended_resource_name
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import NAME_AND_AGE
from lifecycle.apiserver.registry.resource.claim_validation import CONFIGS
from lifecycle.apiserver.registry.resource.collections import validate_slice
from lifecycle.apiserver.registry.resource.device_configuration import (
    validate_configuration,
    validate_selectors,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(device_class: Object) -> list[FieldError]:
    """A new class."""
    errors = validate_core_object_meta(
        device_class.get("metadata") or {},
        False,
        content.name_is_dns_subdomain,
        generated=True,
    )
    return errors + _validate_spec(device_class.get("spec") or {}, None)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed one."""
    errors = validate_core_object_meta(
        new["metadata"], False, content.name_is_dns_subdomain, generated=True
    )
    errors += validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_spec(new.get("spec") or {}, old.get("spec") or {})


def _validate_spec(spec: Object, old: Object | None) -> list[FieldError]:
    errors = validate_selectors(spec.get("selectors"), "spec.selectors")
    stored = old is not None and spec.get("config") == old.get("config")
    errors += validate_slice(
        spec.get("config"),
        CONFIGS,
        lambda config, path: validate_configuration(config, path, stored=stored),
        "spec.config",
    )
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended_resource_name(name):
        why = "must be a valid extended resource name"
        errors.append(invalid("spec.extendedResourceName", name, why))
    return errors


STRATEGY = Strategy(
    generation=Generation.SPEC,
    validate=validate,
    validate_update=validate_update,
    returns_deleted_object=True,
    printer=NAME_AND_AGE,
)
