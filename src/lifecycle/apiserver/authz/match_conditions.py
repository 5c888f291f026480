"""`matchConditions` of an authorization webhook: which questions it wants to see at
all.

Upstream: `apiserver/pkg/authorization/cel/matcher.go` (`CELMatcher.Eval`), `compile.go`
(`convertObjectToUnstructured`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.aggregate import aggregate
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.cel.environment import EvaluationError
from lifecycle.apiserver.cel.expression import Expression

_RESOURCE_FIELDS = (
    "group",
    "name",
    "namespace",
    "resource",
    "subresource",
    "verb",
    "version",
)


def match_condition(text: str) -> Expression:
    """Compiled. Raises CompileError."""
    return Expression(text, "request", condition=True)


def conditions_match(
    conditions: tuple[Expression, ...], spec: Object
) -> tuple[bool, str]:
    """Whether all conditions hold for an access review's spec, and what went wrong if
    that cannot be said.

    One that is false settles it, whatever others failed at.
    """
    request = complete(spec)
    errors = []
    for condition in conditions:
        try:
            value = condition.evaluate(request)
        except EvaluationError as error:
            errors.append(
                f"cel evaluation error: expression '{condition.text}' resulted in"
                f" error: {error}"
            )
            continue
        if value is not True:
            return False, ""
    return not errors, aggregate(errors)


def complete(spec: Object) -> Object:
    """A spec as conditions see it: every text field is there, empty if need be; the two
    kinds of attributes only where they are meant.
    """
    whole: Object = {"user": "", "groups": [], "uid": "", "extra": {}, **spec}
    if "resourceAttributes" in spec:
        whole["resourceAttributes"] = (
            dict.fromkeys(_RESOURCE_FIELDS, "") | spec["resourceAttributes"]
        )
    if "nonResourceAttributes" in spec:
        whole["nonResourceAttributes"] = {"path": "", "verb": ""} | spec[
            "nonResourceAttributes"
        ]
    return whole
