"""Node selectors: which nodes a pod says it can, or would like to, run on.

`nodeSelector` and `requiredDuringScheduling…` must hold; terms are alternatives (or),
requirements within a term must all hold (and). An empty term matches nothing.

Upstream: `component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`
(`GetRequiredNodeAffinity`, `nodeSelectorTerm`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.go.strconv import parse_int
from lifecycle.api.http.wire import Object

Matcher = Callable[[str, Mapping[str, str]], bool]
"""Takes a node's name and labels."""


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else parse_int(text)
    except ValueError:
        return None


def _requirement(requirement: Object) -> Callable[[Mapping[str, str]], bool]:
    key, operator = requirement["key"], requirement["operator"]
    values = requirement.get("values") or []
    if operator == "In":
        return lambda labels: labels.get(key) in values
    if operator == "NotIn":
        return lambda labels: labels.get(key) not in values
    if operator == "Exists":
        return lambda labels: key in labels
    if operator == "DoesNotExist":
        return lambda labels: key not in labels
    if operator in ("Gt", "Lt") and len(values) == 1:
        bound = _integer(values[0])

        def compare(labels: Mapping[str, str]) -> bool:
            value = _integer(labels.get(key))
            if value is None or bound is None:
                return False
            return value > bound if operator == "Gt" else value < bound

        return compare
    return lambda labels: False


@short_lru_cache(1024)
def _term(encoded: bytes) -> Matcher:
    term = fast_json.loads(encoded)
    labels_match = [_requirement(r) for r in term.get("matchExpressions") or ()]
    fields_match = [_requirement(r) for r in term.get("matchFields") or ()]
    if not labels_match and not fields_match:
        return lambda name, labels: False

    def matches(name: str, labels: Mapping[str, str]) -> bool:
        return all(match(labels) for match in labels_match) and all(
            match({"metadata.name": name}) for match in fields_match
        )

    return matches


def term_matcher(term: Object) -> Matcher:
    """A term as a function; terms with the same content share it."""
    return _term(fast_json.trimmed(fast_json.dumps(term)))


def required_node_affinity(spec: Object) -> Matcher | None:
    """What the pod's `nodeSelector` and required node affinity demand together; None if
    nothing.
    """
    selector = spec.get("nodeSelector")
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not selector and required is None:
        return None
    terms = (
        None
        if required is None
        else [term_matcher(t) for t in required.get("nodeSelectorTerms") or ()]
    )

    def matches(name: str, labels: Mapping[str, str]) -> bool:
        if selector and any(
            labels.get(key) != value for key, value in selector.items()
        ):
            return False
        return terms is None or any(term(name, labels) for term in terms)

    return matches
