"""`kubectl create poddisruptionbudget`: one bound, and a selector that is written as
for `--selector`.

Upstream: `kubectl/pkg/cmd/create/create_pdb.go`,
`apimachinery/pkg/apis/meta/v1/helpers.go` (`ParseToLabelSelector`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import parse_selector
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError


def create_pdb(
    name: str, selector: str, min_available: str = "", max_unavailable: str = ""
) -> Object:
    """A PodDisruptionBudget. Raises CommandError unless exactly one bound is given."""
    if not selector:
        raise CommandError("a selector must be specified")
    if not min_available and not max_unavailable:
        raise CommandError("one of min-available or max-unavailable must be specified")
    if min_available and max_unavailable:
        raise CommandError("min-available and max-unavailable cannot be both specified")
    bound = "minAvailable" if min_available else "maxUnavailable"
    spec = {
        bound: _int_or_percent(min_available or max_unavailable, bound),
        "selector": _label_selector(selector),
    }
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": spec,
    }


def _int_or_percent(text: str, bound: str) -> int | str:
    digits = text.removesuffix("%")
    if not digits.isdigit():
        flag = "min-available" if bound == "minAvailable" else "max-unavailable"
        raise CommandError(f"invalid format specified for {flag}")
    return text if text.endswith("%") else int(text)


_OPERATORS = {"in": "In", "notin": "NotIn", "exists": "Exists", "!": "DoesNotExist"}


def _label_selector(text: str) -> Object:
    labels: dict[str, str] = {}
    expressions: list[Object] = []
    try:
        selector = parse_selector(text)
    except StatusError as error:
        raise CommandError(
            f"couldn't parse the selector string {go_quote(text)}: {error.message}"
        ) from None
    for requirement in selector.requirements:
        if requirement.operator in ("=", "=="):
            labels[requirement.key] = requirement.values[0]
            continue
        if requirement.operator not in _OPERATORS:
            why = (
                "isn't supported in label selectors"
                if requirement.operator in ("gt", "lt")
                else ("is not a valid label selector operator")
            )
            raise CommandError(f"{go_quote(requirement.operator)} {why}")
        expression: Object = {
            "key": requirement.key,
            "operator": _OPERATORS[requirement.operator],
        }
        if requirement.values:
            expression["values"] = list(requirement.values)
        expressions.append(expression)
    out: Object = {}
    if labels:
        out["matchLabels"] = labels
    if expressions:
        out["matchExpressions"] = expressions
    return out
