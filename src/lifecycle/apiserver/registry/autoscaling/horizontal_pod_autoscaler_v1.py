"""Autoscalers of `autoscaling/v1`: v1 outside, v2 inside.

What was sent goes through v2 once, so that the answer shows what is stored; it is
judged and shown in tables as v2.

Upstream: `pkg/registry/autoscaling/horizontalpodautoscaler`, which serves both versions
from one storage, v1.36.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.field_errors import FieldError
from lifecycle.api.wire import Object
from lifecycle.apiserver.apis.autoscaler_versions import (
    AUTOSCALING_V1,
    AUTOSCALING_V2,
    KIND,
    to_v1,
    to_v2,
)
from lifecycle.apiserver.registry.printers.printer import Cells
from lifecycle.apiserver.registry.rest.strategy import UpdateStrategy
from lifecycle.apiserver.registry.rest.update import prepare_for_status_update
from lifecycle.apiserver.registry.unmigrated.strategies import unmigrated_strategy

_V2 = unmigrated_strategy(AUTOSCALING_V2, KIND)


def _settle(obj: Object) -> None:
    settled = to_v1(to_v2(obj))
    obj.clear()
    obj.update(settled)


def prepare_for_update(new: Object, old: Object) -> None:
    """Say it as v1 shows what is stored."""
    _settle(new)


def _prepare_for_status_update(new: Object, old: Object) -> None:
    prepare_for_status_update(new, old)
    _settle(new)


def validate(autoscaler: Object) -> list[FieldError]:
    """As v2."""
    return _V2.validate(to_v2(autoscaler))


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """As v2."""
    return _V2.validate_update(to_v2(new), to_v2(old))


def print_autoscaler(autoscaler: Object, now: float) -> Cells:
    """The cells of v2."""
    return _V2.printer.row(to_v2(autoscaler), now)


STRATEGY = replace(
    unmigrated_strategy(AUTOSCALING_V1, KIND),
    prepare_for_create=_settle,
    validate=validate,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    subresources={"status": UpdateStrategy(_prepare_for_status_update)},
    printer=replace(_V2.printer, row=print_autoscaler),
)
