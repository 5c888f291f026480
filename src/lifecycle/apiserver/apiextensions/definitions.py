"""Reading a CustomResourceDefinition: its conditions, its versions.

Upstream: `apiextensions-apiserver/pkg/apihelpers/helpers.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


def condition(definition: Object, kind: str) -> Object | None:
    """A condition by its type."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), None)


def condition_is_true(definition: Object, kind: str) -> bool:
    """Whether a condition is there and true."""
    found = condition(definition, kind)
    return found is not None and found.get("status") == "True"


def with_condition(
    definition: Object, now: str, kind: str, status: str, reason: str, message: str
) -> Object:
    """The definition with a condition set; its transition time changes only with its
    status.
    """
    old = condition(definition, kind)
    since = (
        old["lastTransitionTime"]
        if old is not None and old.get("status") == status
        else now
    )
    new = {
        "lastTransitionTime": since,
        "message": message,
        "reason": reason,
        "status": status,
        "type": kind,
    }
    state = dict(definition.get("status") or {})
    conditions = list(state.get("conditions") or ())
    places = [
        index for index, each in enumerate(conditions) if each.get("type") == kind
    ]
    if places:
        conditions[places[0]] = new
    else:
        conditions.append(new)
    state["conditions"] = conditions
    return {**definition, "status": state}


def is_served(definition: Object) -> bool:
    """Whether anything of it may be asked for. A conflict over names that comes later
    does not take away what was given.
    """
    return condition_is_true(definition, "NamesAccepted") or condition_is_true(
        definition, "Established"
    )
