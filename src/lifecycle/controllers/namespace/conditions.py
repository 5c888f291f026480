"""What a namespace says while it goes away: five conditions, each either "nothing
wrong" or why it is still here.

Upstream: `pkg/controller/namespace/deletion/status_condition_utils.go`
(`namespaceConditionUpdater`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.conditions import Condition, set_status_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time

DISCOVERY_FAILURE = "NamespaceDeletionDiscoveryFailure"
GV_PARSING_FAILURE = "NamespaceDeletionGroupVersionParsingFailure"
CONTENT_FAILURE = "NamespaceDeletionContentFailure"
CONTENT_REMAINING = "NamespaceContentRemaining"
FINALIZERS_REMAINING = "NamespaceFinalizersRemaining"

SUCCESSFUL: dict[str, tuple[str, str]] = {
    DISCOVERY_FAILURE: ("ResourcesDiscovered", "All resources successfully discovered"),
    GV_PARSING_FAILURE: (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    CONTENT_FAILURE: (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    CONTENT_REMAINING: ("ContentRemoved", "All content successfully removed"),
    FINALIZERS_REMAINING: (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}


def failures(
    remaining: Mapping[str, int],
    finalizers: Mapping[str, int],
    errors: list[str],
    undiscovered: str = "",
) -> dict[str, tuple[str, str]]:
    """Reason and message of the conditions that are not fine.

    `remaining`: objects left per `resource.group`; `finalizers`: objects per finalizer
    that holds them; `errors`: deletes that failed; `undiscovered`: what could not be
    found out about the API.
    """
    conditions: dict[str, tuple[str, str]] = {}
    if undiscovered:
        conditions[DISCOVERY_FAILURE] = ("DiscoveryFailed", undiscovered)
    left = sorted(
        f"{name} has {count} resource instances"
        for name, count in remaining.items()
        if count
    )
    if left:
        conditions[CONTENT_REMAINING] = (
            "SomeResourcesRemain",
            f"Some resources are remaining: {', '.join(left)}",
        )
    held = sorted(
        f"{name} in {count} resource instances"
        for name, count in finalizers.items()
        if count
    )
    if held:
        message = (
            f"Some content in the namespace has finalizers remaining: {', '.join(held)}"
        )
        conditions[FINALIZERS_REMAINING] = ("SomeFinalizersRemain", message)
    if errors:
        message = (
            f"Failed to delete all resource types, {len(errors)} remaining:"
            f" {', '.join(sorted(errors))}"
        )
        conditions[CONTENT_FAILURE] = ("ContentDeletionFailed", message)
    return conditions


def update_conditions(
    status: Object, failed: Mapping[str, tuple[str, str]], now: float
) -> bool:
    """Bring all five conditions of a status (the caller's own) up to date. Whether
    anything changed.
    """
    conditions: list[Condition] = list(status.get("conditions") or ())
    changed = False
    for condition_type, fine in SUCCESSFUL.items():
        reason, message = failed.get(condition_type, fine)
        condition = {
            "type": condition_type,
            "status": "True" if condition_type in failed else "False",
            "reason": reason,
            "message": message,
        }
        changed |= set_status_condition(conditions, condition, format_time(now))
    status["conditions"] = conditions
    return changed


def content_name(plural: str, group: str) -> str:
    """How a condition names a resource: `pods.`, `deployments.apps`."""
    return f"{plural}.{group}"
