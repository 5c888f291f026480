"""Label and field selectors, as an access review carries them: a list of requirements.

Who may list only what belongs to their own node must be asked with the selector, or the
answer would be about everything. A selector that cannot be parsed is left out of the
question: the webhook then sees a wider request than was made, never a narrower one.

Upstream: `apiserver/plugin/pkg/authorizer/webhook/webhook.go`
(`labelSelectorAsSelector`, `fieldSelectorToAuthorizationAPI`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.fields import parse_field_selector
from lifecycle.api.labels import parse_selector
from lifecycle.api.status import StatusError

_IN, _NOT_IN = ("in", "=", "=="), ("notin", "!=")


def review_selector(name: str, text: str) -> dict[str, Any] | None:
    """`fieldSelector` or `labelSelector` of `resourceAttributes`; None for a text that
    says nothing usable.
    """
    try:
        requirements = _fields(text) if name == "fieldSelector" else _labels(text)
    except (StatusError, ValueError):
        return None
    return {"requirements": requirements} if requirements else None


def _fields(text: str) -> list[dict[str, Any]]:
    return [
        {
            "key": requirement.field,
            "operator": "NotIn" if requirement.operator in _NOT_IN else "In",
            "values": [requirement.value],
        }
        for requirement in parse_field_selector(text).requirements
    ]


def _labels(text: str) -> list[dict[str, Any]]:
    requirements = []
    for requirement in parse_selector(text).requirements:
        operator = requirement.operator
        if operator in _IN or operator in _NOT_IN:
            name = "In" if operator in _IN else "NotIn"
            requirements.append(
                {
                    "key": requirement.key,
                    "operator": name,
                    "values": sorted(requirement.values),
                }
            )
        elif operator in ("exists", "!"):
            requirements.append(
                {
                    "key": requirement.key,
                    "operator": "Exists" if operator == "exists" else "DoesNotExist",
                }
            )
    return requirements
