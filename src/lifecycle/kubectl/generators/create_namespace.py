"""`kubectl create namespace`, `serviceaccount`, `quota`, `priorityclass` and
`poddisruptionbudget`: one flag or two, one object.

Upstream: `kubectl/pkg/cmd/create/create_namespace.go`, `create_serviceaccount.go`,
`create_quota.go`, `create_priorityclass.go`, `create_pdb.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.go_format import go_quote
from lifecycle.api.labels import parse_selector
from lifecycle.api.quantity import FORMAT_WRONG, parse_quantity
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError


def create_namespace(name: str) -> Object:
    """A Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def create_serviceaccount(name: str) -> Object:
    """A ServiceAccount."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}


def create_quota(name: str, hard: str = "", scopes: str = "") -> Object:
    """A ResourceQuota. `hard`: `pods=2,cpu=1`. Raises CommandError for anything
    else.
    """
    limits = {}
    for statement in hard.split(",") if hard else ():
        resource, equals, amount = statement.partition("=")
        if not equals or "=" in amount:
            raise CommandError(
                f"Invalid argument syntax {statement}, expected <resource>=<value>"
            )
        try:
            if amount != amount.strip():  # JSON forgives white space, a flag does not
                raise ValueError(FORMAT_WRONG)
            limits[resource] = str(parse_quantity(amount))
        except ValueError as wrong:
            raise CommandError(str(wrong)) from None
    spec: Object = {"hard": dict(sorted(limits.items()))} if limits else {}
    if scopes:
        spec["scopes"] = scopes.split(",")
        if "" in spec["scopes"]:
            raise CommandError('invalid resource quota scope ""')
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name},
        "spec": spec,
    }


def create_priorityclass(
    name: str,
    value: int,
    *,
    global_default: bool,
    description: str,
    preemption_policy: str,
) -> Object:
    """A PriorityClass."""
    obj: Object = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }
    if global_default:
        obj["globalDefault"] = True
    if description:
        obj["description"] = description
    obj["preemptionPolicy"] = preemption_policy
    return obj


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
    except StatusError as wrong:
        raise CommandError(
            f"couldn't parse the selector string {go_quote(text)}: {wrong.message}"
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
