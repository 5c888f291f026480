"""Reading a CustomResourceDefinition: its conditions, its versions.

Upstream: `apiextensions-apiserver/pkg/apihelpers/helpers.go`
(`SetCRDCondition`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.conditions import is_condition_true, with_condition
from lifecycle.api.http.wire import Object

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


def set_crd_condition(
    definition: Object,
    now: str,
    condition_type: str,
    status: str,
    reason: str,
    message: str,
) -> Object:
    """The definition with a condition set; its transition time changes only with its
    status. Upstream: `SetCRDCondition`.
    """
    condition = {
        "lastTransitionTime": now,
        "message": message,
        "reason": reason,
        "status": status,
        "type": condition_type,
    }
    return with_condition(definition, condition, now)


def is_served(definition: Object) -> bool:
    """Whether anything of it may be asked for. A conflict over names that comes later
    does not take away what was given.
    """
    return is_condition_true(definition, "NamesAccepted") or is_condition_true(
        definition, "Established"
    )
