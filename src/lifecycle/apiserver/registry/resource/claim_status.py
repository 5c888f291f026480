"""The status of a claim: what was allocated, for whom, and how the devices are.

Upstream: `pkg/apis/resource/validation/validation.go`
(`validateResourceClaimStatusUpdate` …), v1.36.
"""

from __future__ import annotations

from uuid import UUID

from lifecycle.api.field_errors import (
    FieldError,
    Named,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation.addresses import validate_interface_address
from lifecycle.apiserver.registry.core.pod.placement import validate_node_selector
from lifecycle.apiserver.registry.resource.claim_validation import (
    CONFIGS,
    RequestNames,
    gather_request_names,
    validate_request_reference,
    validate_request_references,
)
from lifecycle.apiserver.registry.resource.collections import (
    itself,
    validate_set,
    validate_slice,
)
from lifecycle.apiserver.registry.resource.device_configuration import (
    validate_configuration,
    validate_raw_extension,
)
from lifecycle.apiserver.registry.resource.device_names import (
    validate_driver_name,
    validate_label,
    validate_pool_name,
)
from lifecycle.apiserver.registry.resource.slice_validation import (
    validate_binding_conditions,
)
from lifecycle.apiserver.registry.rest.conditions import validate_conditions
from lifecycle.apiserver.registry.rest.object_meta import IMMUTABLE

_RESERVED_FOR = 256
_RESULTS = 32
_CONDITIONS = 8
_DATA_LENGTH = 10 * 1024
_SOURCES = ("FromClaim", "FromClass")
DeviceID = tuple[str, str, str, str]


def _device_id(device: Object) -> DeviceID:
    return (
        device.get("driver", ""),
        device.get("pool", ""),
        device.get("device", ""),
        device.get("shareID") or "",
    )


def _shown_id(identity: DeviceID) -> Object:
    """The identity of a device as a message shows it."""
    return dict(zip(("Driver", "Pool", "Device", "ShareID"), identity, strict=True))


def validate_claim_status(new: Object, old: Object) -> list[FieldError]:
    """`new`, `old`: claims."""
    status, before = new.get("status") or {}, old.get("status") or {}
    allocation = status.get("allocation")
    names = gather_request_names((new.get("spec") or {}).get("devices") or {})
    reserved_for = status.get("reservedFor") or []
    errors = validate_set(
        reserved_for,
        _RESERVED_FOR,
        _validate_consumer,
        lambda consumer: consumer.get("uid", ""),
        "status.reservedFor",
        Named,
    )
    results = ((allocation or {}).get("devices") or {}).get("results") or ()
    allocated = {_device_id(result) for result in results}
    errors += validate_set(
        status.get("devices"),
        None,
        lambda device, path: _validate_device(device, path, allocated),
        _device_id,
        "status.devices",
        _shown_id,
    )
    if reserved_for and allocation is None:
        why = "may not be specified when `allocated` is not set"
        errors.append(forbidden("status.reservedFor", why))
    elif reserved_for and new["metadata"].get("deletionTimestamp") is not None:
        known = before.get("reservedFor") or []
        if any(consumer not in known for consumer in reserved_for):
            why = (
                "new entries may not be added while `deallocationRequested` or"
                " `deletionTimestamp` are set"
            )
            errors.append(forbidden("status.reservedFor", why))
    if allocation is None:
        return errors
    if before.get("allocation") is None:
        return errors + _validate_allocation(allocation, names, "status.allocation")
    if allocation != before["allocation"]:
        shown = internal_value("resource/v1.AllocationResult", allocation)
        errors.append(invalid("status.allocation", shown, IMMUTABLE))
    return errors


def drop_deallocated_devices(new: Object, old: Object) -> None:
    """The status of a device goes with its allocation. In place."""
    status = new.get("status") or {}
    results = [
        ((one.get("allocation") or {}).get("devices") or {}).get("results") or ()
        for one in (old.get("status") or {}, status)
    ]
    gone = {_device_id(result) for result in results[0]}
    gone -= {_device_id(result) for result in results[1]}
    if "devices" not in status:
        return
    kept = [one for one in status["devices"] or () if _device_id(one) not in gone]
    new["status"] = {key: one for key, one in status.items() if key != "devices"}
    if kept:
        new["status"]["devices"] = kept


def _validate_consumer(consumer: Object, path: str) -> list[FieldError]:
    return [
        required(f"{path}.{key}")
        for key in ("resource", "name", "uid")
        if not consumer.get(key)
    ]


def _validate_share_id(text: str | None, path: str) -> list[FieldError]:
    if text is None:
        return []
    try:
        uid = UUID(text)
    except ValueError:
        length = len(text.encode())
        why = f"error validating uid: invalid UUID length: {length}"
        if length in (32, 36, 38, 45):
            why = "error validating uid: invalid UUID format"
        return [invalid(path, text, why)]
    if text == str(uid):
        return []
    why = (
        "uid must be in RFC 4122 normalized form,"
        " `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"
    )
    return [invalid(path, text, why)]


def _validate_allocation(
    allocation: Object, names: RequestNames, path: str
) -> list[FieldError]:
    devices, here = allocation.get("devices") or {}, f"{path}.devices"

    def validate_result(result: Object, path: str) -> list[FieldError]:
        errors = validate_request_reference(
            result.get("request", ""), f"{path}.request", names
        )
        errors += validate_driver_name(result.get("driver", ""), f"{path}.driver")
        errors += validate_pool_name(result.get("pool", ""), f"{path}.pool")
        errors += validate_label(result.get("device", ""), f"{path}.device")
        errors += validate_binding_conditions(result, path)
        return errors + _validate_share_id(result.get("shareID"), f"{path}.shareID")

    def validate_config(config: Object, path: str) -> list[FieldError]:
        source = config.get("source", "")
        errors: list[FieldError] = []
        if not source:
            errors.append(required(f"{path}.source"))
        elif source not in _SOURCES:
            errors.append(
                not_supported(f"{path}.source", source, ("FromClaim", "FromClass"))
            )
        errors += validate_request_references(
            config.get("requests"), f"{path}.requests", names
        )
        return errors + validate_configuration(config, path)

    errors = validate_slice(
        devices.get("results"), _RESULTS, validate_result, f"{here}.results"
    )
    errors += validate_slice(
        devices.get("config"), 2 * CONFIGS, validate_config, f"{here}.config"
    )
    if allocation.get("nodeSelector") is not None:
        errors += validate_node_selector(
            allocation["nodeSelector"], f"{path}.nodeSelector"
        )
    return errors


def _validate_device(
    device: Object, path: str, allocated: set[DeviceID]
) -> list[FieldError]:
    errors = validate_driver_name(device.get("driver", ""), f"{path}.driver")
    errors += validate_pool_name(device.get("pool", ""), f"{path}.pool")
    errors += validate_label(device.get("device", ""), f"{path}.device")
    errors += _validate_share_id(device.get("shareID"), f"{path}.shareID")
    if _device_id(device) not in allocated:
        why = "must be an allocated device in the claim"
        errors.append(invalid(path, _shown_id(_device_id(device)), why))
    conditions = device.get("conditions") or []
    if len(conditions) > _CONDITIONS:
        errors.append(too_many(f"{path}.conditions", len(conditions), _CONDITIONS))
    errors += validate_conditions(conditions, f"{path}.conditions")
    if device.get("data") is not None:
        errors += validate_raw_extension(device["data"], f"{path}.data", _DATA_LENGTH)
    return errors + _validate_network_data(
        device.get("networkData") or {}, f"{path}.networkData"
    )


def _validate_network_data(data: Object, path: str) -> list[FieldError]:
    errors = [
        too_long(f"{path}.{key}", limit)
        for key, limit in (("interfaceName", 256), ("hardwareAddress", 128))
        if len(data.get(key, "").encode()) > limit
    ]
    return errors + validate_set(
        data.get("ips"), 16, validate_interface_address, itself, f"{path}.ips"
    )
