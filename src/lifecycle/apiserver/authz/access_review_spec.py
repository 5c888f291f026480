"""The question inside a `SubjectAccessReview`, as a `RequestInfo`.

A review asks about a request that nobody makes: the same authorizers answer it, so its
spec is turned into the same question. Here are also the rules that a spec has to keep.

Upstream: `pkg/registry/authorization/util/helpers.go` (`ResourceAttributesFrom`,
`NonResourceAttributesFrom`, `BuildEvaluationError`),
`pkg/apis/authorization/validation/validation.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lifecycle.api.fields import escape_value, parse_field_selector
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.api.labels import parse_selector
from lifecycle.api.labels.requirements import new_requirement
from lifecycle.api.status import StatusError

_OPERATORS = ("In", "NotIn")
_LABEL_OPERATORS = {
    "In": "in",
    "NotIn": "notin",
    "Exists": "exists",
    "DoesNotExist": "!",
}


def request_info_from(spec: Object) -> RequestInfo:
    """What a review's spec asks about: an API resource or a path."""
    what = spec.get("resourceAttributes")
    if what is None:
        path = spec.get("nonResourceAttributes") or {}
        return RequestInfo(
            is_resource_request=False,
            path=path.get("path", ""),
            verb=path.get("verb", ""),
        )
    return RequestInfo(
        is_resource_request=True,
        path="",
        verb=what.get("verb", ""),
        group=what.get("group", ""),
        version=what.get("version", "") or "*",
        namespace=what.get("namespace", ""),
        resource=what.get("resource", ""),
        subresource=what.get("subresource", ""),
        name=what.get("name", ""),
        field_selector=",".join(_fields(what.get("fieldSelector") or {})[0]),
        label_selector=",".join(_labels(what.get("labelSelector") or {})[0]),
    )


def user_from(spec: Object) -> UserInfo:
    """Whom a review asks about."""
    extra = {
        key.lower(): tuple(values or ())
        for key, values in (spec.get("extra") or {}).items()
    }
    return UserInfo(
        spec.get("user", ""),
        tuple(spec.get("groups") or ()),
        spec.get("uid", ""),
        extra,
    )


def selector_problems(spec: Object) -> list[str]:
    """What a review says of selectors that are left out of the question, or in part.
    Upstream: `BuildEvaluationError`.
    """
    what = spec.get("resourceAttributes") or {}
    problems = []
    for key, read in (("fieldSelector", _fields), ("labelSelector", _labels)):
        kept, failed = read(what.get(key) or {})
        if failed:
            how = "partially ignored" if kept else "ignored"
            problems.append(
                f"spec.resourceAttributes.{key} {how} due to parse error",
            )
    return problems


def _fields(selector: Object) -> tuple[list[str], bool]:
    """Terms of a field selector, and whether some could not be read. A requirement has
    one value.
    """
    if not selector.get("requirements"):
        return _raw(selector, lambda text: parse_field_selector(text).requirements)
    terms, failed = [], False
    for requirement in selector["requirements"]:
        values = requirement.get("values") or []
        if len(values) == 1 and requirement.get("operator") in _OPERATORS:
            sign = "=" if requirement["operator"] == "In" else "!="
            value = escape_value(values[0])
            terms.append(f"{requirement.get('key', '')}{sign}{value}")
        else:
            failed = True
    return terms, failed


def _labels(selector: Object) -> tuple[list[str], bool]:
    """The same of a label selector. Upstream: `labelSelectorAsSelector`."""
    if not selector.get("requirements"):
        return _raw(selector, lambda text: parse_selector(text).requirements)
    terms, failed = [], False
    for requirement in selector["requirements"]:
        operator = _LABEL_OPERATORS.get(requirement.get("operator", ""))
        try:
            if operator is None:
                raise ValueError("not a valid label selector operator")
            values = requirement.get("values") or ()
            found = new_requirement(requirement.get("key", ""), operator, values)
        except (StatusError, ValueError):
            failed = True
        else:
            terms.append(str(found))
    return terms, failed


def _raw(
    selector: Object, parse: Callable[[str], Iterable[object]]
) -> tuple[list[str], bool]:
    try:
        return list(map(str, parse(selector.get("rawSelector") or ""))), False
    except (StatusError, ValueError):
        return [], True
