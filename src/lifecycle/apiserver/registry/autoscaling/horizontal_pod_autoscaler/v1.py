"""Autoscalers of `autoscaling/v1`: v1 outside, v2 inside.

What was sent goes through v2 once, and is completed there, so that the answer shows
what is stored; it is judged and shown in tables as v2.

Upstream: `pkg/apis/autoscaling/v1/defaults.go`,
`pkg/registry/autoscaling/horizontalpodautoscaler`, which serves both versions from one
storage, v1.36. Left out: the order of metrics in a table of v1, where CPU stands last
(upstream prints what is stored).
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apis.autoscaler_versions import (
    BEHAVIOR,
    CONDITIONS,
    CURRENT_METRICS,
    METRICS,
    to_v1,
    to_v2,
)
from lifecycle.apiserver.registry.autoscaling.horizontal_pod_autoscaler import (
    strategy as v2,
)
from lifecycle.apiserver.registry.autoscaling.horizontal_pod_autoscaler.validation import (  # noqa: E501
    validate_status_update,
)
from lifecycle.apiserver.registry.printers.printer import Cells
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy
from lifecycle.apiserver.registry.rest.update import prepare_for_status_update


def set_defaults(autoscaler: Object) -> None:
    """At least one replica. And, as a later version fills it in once the object went
    through it: 80 % CPU, if nothing else is measured.
    """
    set_default(autoscaler.setdefault("spec", {}), "minReplicas", 1)
    if autoscaler.get("metadata") is not None:
        _settle(autoscaler)


def _settle(obj: Object) -> None:
    stored = to_v2(obj)
    v2.STRATEGY.set_defaults(stored)
    _become(obj, to_v1(stored))


def _become(obj: Object, other: Object) -> None:
    obj.clear()
    obj.update(other)


def prepare_for_update(new: Object, old: Object) -> None:
    """Say it as v1 shows what is stored."""
    _settle(new)


def _prepare_for_status_update(new: Object, old: Object) -> None:
    prepare_for_status_update(new, old)
    _settle(new)


def validate(autoscaler: Object) -> list[FieldError]:
    """As v2."""
    return v2.STRATEGY.validate(to_v2(autoscaler))


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """As v2."""
    return v2.STRATEGY.validate_update(to_v2(new), to_v2(old))


def print_autoscaler(autoscaler: Object, now: float) -> Cells:
    """The cells of v2."""
    return v2.STRATEGY.printer.row(to_v2(autoscaler), now)


STRATEGY = Strategy(
    set_defaults=set_defaults,
    prepare_for_create=_settle,
    validate=validate,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(_prepare_for_status_update, validate_status_update)
    },
    printer=replace(
        v2.STRATEGY.printer,
        row=print_autoscaler,
        internal_annotations=(METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR),
    ),
)
