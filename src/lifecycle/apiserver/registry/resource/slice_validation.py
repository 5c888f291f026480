"""What a driver says of its devices: where they are, what they can, what they share.

Upstream: `pkg/apis/resource/validation/validation.go` (`validateResourceSliceSpec`
…), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import (
    INVALID,
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.placement import validate_node_selector
from lifecycle.apiserver.registry.resource.claim_validation import (
    EFFECTS,
    validate_value,
)
from lifecycle.apiserver.registry.resource.collections import (
    by_name,
    validate_map,
    validate_set,
    validate_slice,
)
from lifecycle.apiserver.registry.resource.device_capacity import (
    validate_exclusive_capacity,
    validate_shared_capacity,
)
from lifecycle.apiserver.registry.resource.device_names import (
    KEY_LENGTH,
    validate_driver_name,
    validate_label,
    validate_pool_name,
    validate_qualified_name,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_label_name,
)

_DEVICES = 128
_DEVICES_WITH_ADVANCED_FEATURES = 64
_COUNTER_SETS = 8
_COUNTERS = 32
_CONSUMED_SETS = 2
_ATTRIBUTES_AND_CAPACITIES = 32
_ATTRIBUTE_VALUE_LENGTH = 64
_TAINTS = 16
_CONDITIONS = 4
_UNSET_OR_TRUE = "must be either unset or set to true"
_NUMBER = r"(0|[1-9]\d*)"
_PRE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = r"[0-9a-zA-Z-]+"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE}(\.{_PRE})*)?(\+{_BUILD}(\.{_BUILD})*)?",
    re.ASCII,
)


def validate_slice_spec(
    spec: Object, old: Object | None, path: str
) -> list[FieldError]:
    """`old`: the spec it replaces."""
    driver, pool = spec.get("driver", ""), spec.get("pool") or {}
    errors = validate_driver_name(driver, f"{path}.driver")
    errors += _validate_pool(pool, f"{path}.pool")
    if old is not None:
        pool_name = pool.get("name", "")
        if pool_name != (old.get("pool") or {}).get("name", ""):
            errors.append(invalid(f"{path}.pool.name", pool_name, IMMUTABLE))
        if driver != old.get("driver", ""):
            errors.append(invalid(f"{path}.driver", driver, IMMUTABLE))
        if spec.get("nodeName") != old.get("nodeName"):
            errors.append(invalid(f"{path}.nodeName", spec.get("nodeName"), IMMUTABLE))
    errors += _validate_nodes_of_slice(spec, path)
    kinds = [spec.get(field) for field in ("sharedCounters", "devices")]
    if None not in kinds:
        why = "only one of `sharedCounters` or `devices` is allowed"
        errors.append(FieldError(INVALID, path, "", why, of_empty=not all(kinds)))
    devices, per_device = spec.get("devices") or [], spec.get("perDeviceNodeSelection")
    before = {by_name(one): one for one in reversed((old or {}).get("devices") or [])}
    advanced = any(one.get("taints") or one.get("consumesCounters") for one in devices)
    errors += validate_set(
        devices,
        _DEVICES_WITH_ADVANCED_FEATURES if advanced else _DEVICES,
        lambda device, here: _validate_device(
            device, before.get(by_name(device)), here, bool(per_device)
        ),
        by_name,
        f"{path}.devices",
    )
    return errors + validate_set(
        spec.get("sharedCounters"),
        _COUNTER_SETS,
        lambda one, here: _validate_counters(one, "name", here),
        by_name,
        f"{path}.sharedCounters",
    )


def _validate_pool(pool: Object, path: str) -> list[FieldError]:
    errors = validate_pool_name(pool.get("name", ""), f"{path}.name")
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if count <= 0:
        why = "must be greater than zero"
        errors.append(invalid(f"{path}.resourceSliceCount", count, why))
    if generation < 0:
        why = "must be greater than or equal to zero"
        errors.append(invalid(f"{path}.generation", generation, why))
    return errors


def _validate_node_name(name: str, path: str) -> list[FieldError]:
    return [invalid(path, name, why) for why in content.dns1123_subdomain(name)]


def _validate_nodes_of_slice(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    said: list[str] = []
    node, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if node:
        said.append("`nodeName`")
        errors += _validate_node_name(node, f"{path}.nodeName")
    elif node is not None:
        why = "must be either unset or set to a non-empty string"
        errors.append(invalid(f"{path}.nodeName", node, why))
    if selector is not None:
        said.append("`nodeSelector`")
        here = f"{path}.nodeSelector"
        errors += validate_node_selector(selector, here)
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            shown = None
            if terms is not None:
                shown = [internal_value("core/v1.NodeSelectorTerm", t) for t in terms]
            why = "must have exactly one node selector term"
            errors.append(invalid(f"{here}.nodeSelectorTerms", shown, why))
    for key in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(key):
            said.append(f"`{key}`")
        elif spec.get(key) is not None:
            errors.append(invalid(f"{path}.{key}", False, _UNSET_OR_TRUE))
    why = (
        "exactly one of `nodeName`, `nodeSelector`, `allNodes`,"
        " `perDeviceNodeSelection` is required"
    )
    if not said:
        errors.append(required(path, why))
    elif len(said) > 1:
        why += ", but multiple fields are set"
        errors.append(invalid(path, f"{{{', '.join(said)}}}", why))
    return errors


def _validate_counters(counters: Object, name: str, path: str) -> list[FieldError]:
    """A set of counters, or what a device takes of one; `name`: where its name is."""
    text, here = counters.get(name, ""), f"{path}.{name}"
    errors = validate_label(text, here) if text else [required(here)]
    if not counters.get("counters"):
        return [*errors, required(f"{path}.counters")]
    return errors + validate_map(
        counters["counters"],
        _COUNTERS,
        63,
        validate_label,
        lambda counter, where: [],
        f"{path}.counters",
    )


def _validate_device(
    device: Object, old: Object | None, path: str, per_device: bool
) -> list[FieldError]:
    errors = validate_label(device.get("name", ""), f"{path}.name")
    attributes, capacity = (
        device.get("attributes") or {},
        device.get("capacity") or {},
    )
    count = len(attributes) + len(capacity)
    if count > _ATTRIBUTES_AND_CAPACITIES:
        why = (
            "the total number of attributes and capacities must not exceed"
            f" {_ATTRIBUTES_AND_CAPACITIES}"
        )
        errors.append(invalid(path, count, why))
    errors += validate_map(
        attributes,
        None,
        KEY_LENGTH,
        validate_qualified_name,
        _validate_attribute,
        f"{path}.attributes",
    )
    shared = device.get("allowMultipleAllocations")
    errors += validate_map(
        capacity,
        None,
        KEY_LENGTH,
        validate_qualified_name,
        validate_shared_capacity if shared else validate_exclusive_capacity,
        f"{path}.capacity",
    )
    taints = device.get("taints") or []
    if old is None or (old.get("taints") or []) != taints:
        errors += validate_slice(taints, _TAINTS, _validate_taint, f"{path}.taints")
    errors += validate_set(
        device.get("consumesCounters"),
        _CONSUMED_SETS,
        lambda one, here: _validate_counters(one, "counterSet", here),
        lambda one: one.get("counterSet", ""),
        f"{path}.consumesCounters",
    )
    errors += _validate_nodes_of_device(device, path, per_device)
    return errors + validate_binding_conditions(device, path)


def _validate_nodes_of_device(
    device: Object, path: str, per_device: bool
) -> list[FieldError]:
    node, selector, everywhere = (
        device.get(key) for key in ("nodeName", "nodeSelector", "allNodes")
    )
    if not per_device:
        if node is None and selector is None and everywhere is None:
            return []
        why = (
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if"
            " `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
        )
        return [invalid(path, None, why)]
    errors: list[FieldError] = []
    said: list[str] = []
    if node:
        said.append("`nodeName`")
        errors += _validate_node_name(node, f"{path}.nodeName")
    elif node is not None:
        errors.append(invalid(f"{path}.nodeName", node, "must not be empty"))
    if selector is not None:
        said.append("`nodeSelector`")
        errors += validate_node_selector(selector, f"{path}.nodeSelector")
    if everywhere:
        said.append("`allNodes`")
    elif everywhere is not None:
        errors.append(invalid(f"{path}.allNodes", False, _UNSET_OR_TRUE))
    why = (
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when"
        " `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
    )
    if not said:
        errors.append(required(path, why))
    elif len(said) > 1:
        errors.append(invalid(path, f"{{{', '.join(said)}}}", why))
    return errors


def _validate_attribute(attribute: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    text, version = attribute.get("string"), attribute.get("version")
    if text is not None and len(text.encode()) > _ATTRIBUTE_VALUE_LENGTH:
        errors.append(too_long(f"{path}.string", _ATTRIBUTE_VALUE_LENGTH))
    if version is not None:
        here = f"{path}.version"
        if not _SEMVER.fullmatch(version):
            why = "must be a string compatible with semver.org spec 2.0.0"
            errors.append(invalid(here, version, why))
        if len(version.encode()) > _ATTRIBUTE_VALUE_LENGTH:
            errors.append(too_long(here, _ATTRIBUTE_VALUE_LENGTH))
    values = ("bool", "int", "string", "version")
    count = sum(attribute.get(key) is not None for key in values)
    if count != 1:
        shown = internal_value("resource/v1.DeviceAttribute", attribute)
        why = "exactly one value must be specified"
        errors.append(invalid(path, shown if count else "", why))
    return errors


def _validate_taint(taint: Object, path: str) -> list[FieldError]:
    value, effect = taint.get("value", ""), taint.get("effect", "")
    errors = validate_label_name(taint.get("key", ""), f"{path}.key")
    if value:
        errors += validate_value(value, f"{path}.value")
    if not effect:
        errors.append(required(f"{path}.effect"))
    elif effect not in EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, EFFECTS))
    return errors


def validate_binding_conditions(device: Object, path: str) -> list[FieldError]:
    """What must come true before a pod is bound, and what says that it never will."""
    good, bad = ("bindingConditions", "bindingFailureConditions")
    errors: list[FieldError] = []
    for key in (good, bad):
        errors += validate_slice(
            device.get(key), _CONDITIONS, validate_label_name, f"{path}.{key}"
        )
    names = device.get(good) or []
    for key in (good, bad):
        seen: set[str] = set()
        for index, name in enumerate(device.get(key) or ()):
            here = f"{path}.{key}[{index}]"
            if name in seen:
                errors.append(duplicate(here, name))
            seen.add(name)
            if key == bad and name in names:
                why = "bindingFailureConditions must not overlap with bindingConditions"
                errors.append(invalid(here, name, why))
    for key, other in ((good, bad), (bad, good)):
        if device.get(other) and not device.get(key):
            why = f"{key} are required to use {other}"
            errors.append(invalid(f"{path}.{key}", device.get(key), why))
    return errors
