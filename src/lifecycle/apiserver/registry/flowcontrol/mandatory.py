"""The objects without which no request would be served: `exempt` and `catch-all`, as
schemas and as levels. Whoever writes to them must leave them as they are.

Upstream: `pkg/apis/flowcontrol/internalbootstrap/default-internal.go`
(`MandatoryFlowSchemas`, `MandatoryPriorityLevelConfigurations`) and, in
`pkg/apis/flowcontrol/validation/validation.go`, the ends of `ValidateFlowSchema` and
`ValidatePriorityLevelConfiguration`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value

EXEMPT = "exempt"
CATCH_ALL = "catch-all"


def _everything(*groups: str) -> Object:
    return {
        "subjects": [{"kind": "Group", "group": {"name": name}} for name in groups],
        "resourceRules": [
            {
                "verbs": ["*"],
                "apiGroups": ["*"],
                "resources": ["*"],
                "clusterScope": True,
                "namespaces": ["*"],
            }
        ],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }


_SCHEMAS: dict[str, Object] = {
    EXEMPT: {
        "priorityLevelConfiguration": {"name": EXEMPT},
        "matchingPrecedence": 1,
        "rules": [_everything("system:masters")],
    },
    CATCH_ALL: {
        "priorityLevelConfiguration": {"name": CATCH_ALL},
        "matchingPrecedence": 10_000,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [_everything("system:unauthenticated", "system:authenticated")],
    },
}
_LEVELS: dict[str, Object] = {
    EXEMPT: {"type": "Exempt"},
    CATCH_ALL: {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 5,
            "limitResponse": {"type": "Reject"},
            "lendablePercent": 0,
        },
    },
}


def _pruned(value: Any) -> Any:
    """Without empty lists, which Go takes for the same as none."""
    if isinstance(value, dict):
        return {
            key: _pruned(one) for key, one in value.items() if one not in ([], None)
        }
    return list(map(_pruned, value)) if isinstance(value, list) else value


def validate_mandatory_schema(name: str, spec: Object) -> list[FieldError]:
    """A FlowSchema of such a name has the one spec."""
    fixed = _SCHEMAS.get(name)
    if fixed is None or _pruned(spec) == fixed:
        return []
    value = internal_value("flowcontrol/v1.FlowSchemaSpec", spec)
    return [invalid("spec", value, f"spec of '{name}' must equal the fixed value")]


def validate_mandatory_level(name: str, spec: Object) -> list[FieldError]:
    """So has a level, but how many seats `exempt` counts as its own may be said."""
    fixed = _LEVELS.get(name)
    if fixed is None:
        return []
    compared, besides = _pruned(spec), ""
    if name == EXEMPT:
        compared.pop("exempt", None)
        besides = " except the 'spec.exempt' field"
    if compared == fixed:
        return []
    value = internal_value("flowcontrol/v1.PriorityLevelConfigurationSpec", spec)
    why = f"spec of '{name}'{besides} must equal the fixed value"
    return [invalid("spec", value, why)]
