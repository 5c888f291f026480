"""How often a rule may be asked for one object, what that costs at most, and when it is
too much.

A rule inside of a list is asked for each item. Where lists and maps have limits, the
product of those above a rule says how often; where one has none, a request is full of
the smallest values that the rule can be about.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go`
(`CELSchemaContext`, `TotalCost`), `validation.go` (`getExpressionCost`,
`getCostErrorMessage`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lifecycle.api.field_errors import FieldError, forbidden
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.cel.decl_type import MAX_REQUEST_SIZE_BYTES, DeclType
from lifecycle.apiserver.cel.estimates import MOST

STATIC_ESTIMATED_COST_LIMIT = 10_000_000
STATIC_ESTIMATED_CRD_COST_LIMIT = 100_000_000
UNBOUNDED = None
_NAMED = 4
"""Of the most expensive ones so many are named."""


def max_cardinality(above: int | None, schema: Object) -> int | None:
    """How often something right below a schema may be there for one object, if the
    schema's value may `above` times; None if nothing limits it.
    """
    limit: int | None = 1
    if schema.get("type") == "array":
        limit = schema.get("maxItems")
    elif schema.get("type") == "object" and "additionalProperties" in schema:
        limit = schema.get("maxProperties")
    if above is UNBOUNDED or limit is None:
        return UNBOUNDED
    return min(above * max(0, limit), MOST)


def expression_cost(cost: int, cardinality: int | None, decl_type: DeclType) -> int:
    """Of all the times that a rule may be asked."""
    if cardinality is UNBOUNDED:  # with a comma between any two
        cardinality = MAX_REQUEST_SIZE_BYTES // (decl_type.min_serialized_size + 1)
    return min(cost * cardinality, MOST)


def _too_much(what: str, cost: int, limit: int) -> str:
    """By how much a cost is too high, less exactly the more it is."""
    factor = cost / limit
    if factor > 100:
        times = "more than 100x"
    elif factor < 1.5:  # or else it might be 1.0
        times = f"{factor:f}x"
    else:
        times = f"{factor:.1f}x"
    return (
        f"{what} exceeds budget by factor of {times} (try simplifying the rule, or"
        " adding maxItems, maxProperties, and maxLength where arrays, maps, and strings"
        " are declared)"
    )


@dataclass(slots=True)
class RuleCosts:
    """Of all rules of a schema. `limited`: each of them has a limit, too."""

    limited: bool = True
    total: int = 0
    most_expensive: list[tuple[int, str]] = field(default_factory=list)

    def observe(self, path: str, what: str, cost: int) -> list[FieldError]:
        """One expression more, and that it costs too much; nothing if it does not."""
        self.total = min(self.total + cost, MOST)
        if cost >= STATIC_ESTIMATED_CRD_COST_LIMIT // 100:
            self.most_expensive.append((cost, path))
            self.most_expensive.sort(key=lambda each: -each[0])
            del self.most_expensive[_NAMED:]
        if not self.limited or cost <= STATIC_ESTIMATED_COST_LIMIT:
            return []
        return [forbidden(path, _too_much(what, cost, STATIC_ESTIMATED_COST_LIMIT))]

    def errors(self, path: str) -> list[FieldError]:
        """That all together cost too much, and the most expensive ones."""
        if self.total <= STATIC_ESTIMATED_CRD_COST_LIMIT:
            return []
        why = (
            "contributed to estimated rule cost total exceeding cost limit for entire"
            " OpenAPIv3 schema"
        )
        what = (
            "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3"
            " schema"
        )
        blamed = [forbidden(where, why) for _, where in self.most_expensive]
        message = _too_much(what, self.total, STATIC_ESTIMATED_CRD_COST_LIMIT)
        return [*blamed, forbidden(path, message)]
