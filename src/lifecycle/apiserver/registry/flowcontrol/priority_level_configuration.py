"""PriorityLevelConfigurations: how many requests of a level run at once, and how the
others wait.

Upstream: `pkg/apis/flowcontrol/v1/defaults.go`,
`pkg/registry/flowcontrol/prioritylevelconfiguration/strategy.go`,
`pkg/apis/flowcontrol/validation/validation.go` (`ValidatePriorityLevelConfiguration`
…), `pkg/printers/internalversion/printers.go` (`printPriorityLevelConfiguration`),
v1.36.
"""

from __future__ import annotations

import math

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.flowcontrol.conditions import validate_conditions
from lifecycle.apiserver.registry.flowcontrol.mandatory import (
    EXEMPT,
    validate_mandatory_level,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import validate_core_object_meta
from lifecycle.apiserver.registry.rest.strategy import (
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)

_MOST_QUEUES = 10_000_000
_HASH_BITS = 60


# --- defaults -------------------------------------------------------------------------


def set_defaults(level: Object) -> None:
    """Shares and queues."""
    spec = level.setdefault("spec", {})
    exempt, limited = spec.get("exempt"), spec.get("limited")
    if exempt is not None:
        set_default(exempt, "nominalConcurrencyShares", 0)
        set_default(exempt, "lendablePercent", 0)
    if limited is not None:
        set_default(limited, "nominalConcurrencyShares", 30)
        set_default(limited, "lendablePercent", 0)
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            for key, value in (
                ("handSize", 8),
                ("queues", 64),
                ("queueLengthLimit", 50),
            ):
                if not queuing.get(key):
                    queuing[key] = value


# --- validation -----------------------------------------------------------------------


def validate(level: Object) -> list[FieldError]:
    """Exempt, or limited in some way."""
    meta, spec = level.get("metadata") or {}, level.get("spec") or {}
    errors = validate_core_object_meta(meta, False, content.name_is_dns_subdomain)
    type_, exempt, limited = (
        spec.get("type", ""),
        spec.get("exempt"),
        spec.get("limited"),
    )
    if (meta.get("name") == EXEMPT) != (type_ == "Exempt"):
        errors.append(
            invalid(
                "spec.type",
                type_,
                "must be 'Exempt' if and only if `name` is 'exempt'",
            )
        )
    if type_ == "Exempt":
        if limited is not None:
            errors.append(
                forbidden("spec.limited", "must be nil if the type is not Limited")
            )
        if exempt is not None:  # a level from before v1.28 has none
            errors += _validate_shares(exempt, "spec.exempt") + _validate_lending(
                exempt, "spec.exempt"
            )
    elif type_ == "Limited":
        if exempt is not None:
            errors.append(
                forbidden("spec.exempt", "must be nil if the type is Limited")
            )
        if limited is None:
            errors.append(
                required("spec.limited", "must not be empty when type is Limited")
            )
        else:
            errors += _validate_limited(limited, "spec.limited")
    else:
        errors.append(not_supported("spec.type", type_, ("Exempt", "Limited")))
    errors += validate_mandatory_level(meta.get("name", ""), spec)
    return errors + validate_conditions(level)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """The conditions. Upstream: `ValidatePriorityLevelConfigurationStatusUpdate`."""
    return validate_conditions(new)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


def _validate_shares(one: Object, path: str) -> list[FieldError]:
    shares = one.get("nominalConcurrencyShares")
    if shares is not None and shares < 0:
        return [
            invalid(
                f"{path}.nominalConcurrencyShares",
                shares,
                "must be a non-negative integer",
            )
        ]
    return []


def _validate_lending(one: Object, path: str) -> list[FieldError]:
    percent = one.get("lendablePercent")
    if percent is not None and not 0 <= percent <= 100:
        return [
            invalid(f"{path}.lendablePercent", percent, content.range_error(0, 100))
        ]
    return []


def _validate_limited(limited: Object, path: str) -> list[FieldError]:
    errors = _validate_shares(limited, path)
    response, here = limited.get("limitResponse") or {}, f"{path}.limitResponse"
    type_, queuing = response.get("type", ""), response.get("queuing")
    if type_ == "Reject":
        if queuing is not None:
            errors.append(
                forbidden(
                    f"{here}.queuing",
                    "must be nil if limited.limitResponse.type is not Limited",
                )
            )
    elif type_ == "Queue":
        if queuing is None:
            why = "must not be empty if limited.limitResponse.type is Limited"
            errors.append(required(f"{here}.queuing", why))
        else:
            errors += _validate_queuing(queuing, f"{here}.queuing")
    else:
        errors.append(not_supported(f"{here}.type", type_, ("Queue", "Reject")))
    errors += _validate_lending(limited, path)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        why = "if specified, must be a non-negative integer"
        errors.append(invalid(f"{path}.borrowingLimitPercent", borrowing, why))
    return errors


def _validate_queuing(queuing: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    limit, queues, hand = (
        queuing.get(field, 0) for field in ("queueLengthLimit", "queues", "handSize")
    )
    if limit <= 0:
        errors.append(invalid(f"{path}.queueLengthLimit", limit, "must be positive"))
    if queues <= 0:
        errors.append(invalid(f"{path}.queues", queues, "must be positive"))
    elif queues > _MOST_QUEUES:
        errors.append(
            invalid(
                f"{path}.queues", queues, f"must not be greater than {_MOST_QUEUES}"
            )
        )
    if hand <= 0:
        errors.append(invalid(f"{path}.handSize", hand, "must be positive"))
    elif hand > queues:
        errors.append(
            invalid(
                f"{path}.handSize",
                hand,
                f"should not be greater than queues ({queues})",
            )
        )
    elif math.ceil(math.log2(queues) * hand) > _HASH_BITS:
        why = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not"
            f" be greater than {_HASH_BITS}"
        )
        errors.append(invalid(f"{path}.handSize", hand, why))
    return errors


# --- table ----------------------------------------------------------------------------


def print_priority_level_configuration(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get prioritylevelconfigurations`."""
    spec = obj.get("spec") or {}
    limited = spec.get("limited")
    queuing = ((limited or {}).get("limitResponse") or {}).get("queuing")
    shares = "<none>" if limited is None else limited.get("nominalConcurrencyShares", 0)
    queues = (
        "<none>" if queuing is None else queuing.get(key, 0)
        for key in ("queues", "handSize", "queueLengthLimit")
    )
    return [
        obj["metadata"]["name"],
        spec.get("type", ""),
        shares,
        *queues,
        age(obj, now),
    ]


_QUEUING = "flowcontrol/v1.QueuingConfiguration"

PRINTER = Printer(
    (
        NAME,
        Column("Type", field("flowcontrol/v1.PriorityLevelConfigurationSpec", "type")),
        Column(
            "NominalConcurrencyShares",
            field(
                "flowcontrol/v1.LimitedPriorityLevelConfiguration",
                "nominalConcurrencyShares",
            ),
        ),
        Column("Queues", field(_QUEUING, "queues")),
        Column("HandSize", field(_QUEUING, "handSize")),
        Column("QueueLengthLimit", field(_QUEUING, "queueLengthLimit")),
        AGE,
    ),
    print_priority_level_configuration,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.SPEC,
    validate=validate,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_alone,
            validate_status_update,
            reset_fields=METADATA_AND_SPEC_FIELDS,
        )
    },
    printer=PRINTER,
)
