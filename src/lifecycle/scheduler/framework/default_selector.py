"""What the owners of a pod select: pods of one kind, for whoever spreads them.

Upstream: `pkg/scheduler/framework/plugins/helper/spread.go` (`DefaultSelector`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Requirement, Selector, selector_from_label_selector

ListServices = Callable[[str], list[Object]]
"""The Services of a namespace."""

GetOwner = Callable[[str, str, str], Object | None]
"""A controller by kind, namespace and name."""


def default_selector(
    pod: Object, list_services: ListServices, get_owner: GetOwner
) -> Selector | None:
    """What the pod's Services and its controller select, all together; None if nobody
    selects it.
    """
    metadata = pod["metadata"]
    namespace, labels = metadata["namespace"], metadata.get("labels") or {}
    requirements: dict[tuple[str, str, tuple[str, ...]], Requirement] = {}
    for service in list_services(namespace) if labels else ():
        selector = service["spec"].get("selector")
        if selector and all(
            labels.get(key) == value for key, value in selector.items()
        ):
            for key, value in selector.items():
                requirements[key, "=", (value,)] = Requirement(key, "=", (value,))
    controller = next(
        (o for o in metadata.get("ownerReferences") or () if o.get("controller")), None
    )
    if controller is not None and controller["kind"] in (
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    ):
        owner = get_owner(controller["kind"], namespace, controller["name"])
        if owner is not None:
            selector = owner["spec"].get("selector")
            of_owner = (
                Selector(
                    Requirement(key, "=", (value,))
                    for key, value in (selector or {}).items()
                )
                if controller["kind"] == "ReplicationController"
                else selector_from_label_selector(selector)
            )
            for r in of_owner.requirements:
                requirements[r.key, r.operator, tuple(r.values)] = r
    return Selector(requirements.values()) if requirements else None
