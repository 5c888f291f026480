"""Is there room for a volume that is still to be made?

A storage driver that opts in (CSIDriver, `storageCapacity: true`) tells how much room
it has where: CSIStorageCapacity objects, each for one class and for the nodes that its
selector matches. A claim fits if one of them has room for all of it. Other drivers are
believed to have room always.

Upstream: `pkg/scheduler/framework/plugins/volumebinding/binder.go`
(`hasEnoughCapacity`, `capacitySufficient`, `nodeHasAccess`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.quantity import parse_quantity


def has_enough_capacity(
    claim: Object,
    class_name: str,
    labels: Mapping[str, str],
    driver: Object | None,
    capacities: Iterable[Object],
) -> bool:
    """Whether the driver of a class has room for the claim, for nodes with these
    labels.
    """
    request = ((claim["spec"].get("resources") or {}).get("requests") or {}).get(
        "storage"
    )
    if request is None or driver is None or not driver["spec"].get("storageCapacity"):
        return True
    size = parse_quantity(request).value()
    return any(
        capacity["storageClassName"] == class_name
        and _sufficient(capacity, size)
        and _has_access(labels, capacity)
        for capacity in capacities
    )


def _sufficient(capacity: Object, size: int) -> bool:
    limit = capacity.get("maximumVolumeSize") or capacity.get("capacity")
    return limit is not None and parse_quantity(limit).value() >= size


def _has_access(labels: Mapping[str, str], capacity: Object) -> bool:
    topology = capacity.get("nodeTopology")
    return topology is not None and selector_from_label_selector(topology).matches(
        dict(labels)
    )
