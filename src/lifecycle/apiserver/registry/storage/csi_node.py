"""CSINodes: which drivers a node has, and how many volumes of each it can take.

Upstream: `pkg/registry/storage/csinode/strategy.go`,
`pkg/apis/storage/validation/validation.go` (`ValidateCSINode` …),
`pkg/printers/internalversion/printers.go` (`printCSINode`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, duplicate, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.volumes import (
    validate_csi_driver_name,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest.numbers import NOT_NEGATIVE
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- validation -----------------------------------------------------------------------


_NODE_ID_LIMIT = 256


def validate(node: Object) -> list[FieldError]:
    """A new CSINode."""
    errors = validate_core_object_meta(
        node.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    names: set[str] = set()
    for index, driver in enumerate((node.get("spec") or {}).get("drivers") or ()):
        errors += _validate_driver(driver, names, f"spec.drivers[{index}]")
    return errors


def _validate_driver(driver: Object, names: set[str], path: str) -> list[FieldError]:
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


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A driver comes or goes; an entry that stays does not change."""
    errors = validate(new)
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


# --- table ----------------------------------------------------------------------------


def print_csi_node(node: Object, now: float) -> Cells:
    """The cells of `kubectl get csinodes`."""
    return [
        node["metadata"]["name"],
        len((node.get("spec") or {}).get("drivers") or ()),
        age(node, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column(
            "Drivers",
            "Drivers indicates the number of CSI drivers registered on the node",
            "integer",
        ),
        AGE,
    ),
    print_csi_node,
)

STRATEGY = Strategy(
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
    returns_deleted_object=True,
    printer=PRINTER,
)
