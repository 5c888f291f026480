"""The question inside a `SubjectAccessReview`, as a `RequestInfo`.

A review asks about a request that nobody makes: the same authorizers answer it, so its
spec is turned into the same question. Here are also the rules that a spec has to keep.

Upstream: `pkg/registry/authorization/util/helpers.go` (`ResourceAttributesFrom`,
`NonResourceAttributesFrom`), `pkg/apis/authorization/validation/validation.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object, RequestInfo, UserInfo

_OPERATORS = {"In": "in", "NotIn": "notin"}


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
        field_selector=_field_selector(what.get("fieldSelector") or {}),
        label_selector=_label_selector(what.get("labelSelector") or {}),
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


def _field_selector(selector: Object) -> str:
    if selector.get("rawSelector"):
        return str(selector["rawSelector"])
    terms = []
    for requirement in selector.get("requirements") or ():
        values = requirement.get("values") or []
        if len(values) == 1 and requirement.get("operator") in _OPERATORS:
            sign = "=" if requirement["operator"] == "In" else "!="
            terms.append(f"{requirement.get('key', '')}{sign}{values[0]}")
    return ",".join(terms)


def _label_selector(selector: Object) -> str:
    if selector.get("rawSelector"):
        return str(selector["rawSelector"])
    terms = []
    for requirement in selector.get("requirements") or ():
        key, operator = requirement.get("key", ""), requirement.get("operator")
        if operator in _OPERATORS:
            terms.append(
                f"{key} {_OPERATORS[operator]}"
                f" ({','.join(requirement.get('values') or ())})"
            )
        elif operator in ("Exists", "DoesNotExist"):
            terms.append(key if operator == "Exists" else f"!{key}")
    return ",".join(terms)
