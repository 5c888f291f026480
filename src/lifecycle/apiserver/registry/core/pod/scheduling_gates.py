"""A pod that is still held back may be steered to fewer nodes, never to others.

Upstream: `pkg/apis/core/validation/validation.go` (`validateNodeSelectorMutation`,
`validateNodeAffinityMutation`, `validateNodeSelectorTermHasOnlyAdditions`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def validate_node_selector_mutation(
    after: Object | None, before: Object
) -> list[FieldError]:
    """Labels may be added."""
    node_selector = after or {}
    if all(node_selector.get(key) == value for key, value in before.items()):
        return []
    value = dict(sorted(node_selector.items())) if after is not None else None
    why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
    return [invalid("spec.nodeSelector", value, why)]


def validate_node_affinity_mutation(
    after: Object | None, before: Object | None
) -> list[FieldError]:
    """The number of alternatives stays once there are some; each may ask for more."""
    old = ((before or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    new = ((after or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms")
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    if old and len(new or ()) != len(old):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(path, internal_value("[]core/v1.NodeSelectorTerm", new), why)]
    return [
        invalid(
            f"{path}[{index}]",
            internal_value("core/v1.NodeSelectorTerm", term),
            "only additions are allowed (no mutations or deletions)",
        )
        for index, (term, known) in enumerate(zip(new or (), old))
        if not _only_additions(term, known)
    ]


def _only_additions(term: Object, known: Object) -> bool:
    groups = [
        (term.get(g) or [], known.get(g) or [])
        for g in ("matchExpressions", "matchFields")
    ]
    if not any(before for _, before in groups):
        return not any(after for after, _ in groups)
    return all(after[: len(before)] == before for after, before in groups)


def unsteered(spec: Object, before: Object) -> Object:
    """The new spec with the selector and node affinity of the old one: what is left
    must be equal.
    """
    munged = {
        key: value
        for key, value in spec.items()
        if key not in ("nodeSelector", "affinity")
    }
    if before.get("nodeSelector"):
        munged["nodeSelector"] = before["nodeSelector"]
    affinity, old_affinity = (
        dict(spec.get("affinity") or {}),
        before.get("affinity") or {},
    )
    affinity.pop("nodeAffinity", None)
    if old_affinity.get("nodeAffinity") is not None:
        affinity["nodeAffinity"] = old_affinity["nodeAffinity"]
    if affinity or before.get("affinity") is not None:
        munged["affinity"] = affinity
    return munged
