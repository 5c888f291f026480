"""The registry of `autoscaling/v1`: it speaks v1, and judges, shows in tables and
stores v2.

Upstream: `pkg/registry/autoscaling/horizontalpodautoscaler`, which serves both versions
from one storage, v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.field_errors import FieldError
from lifecycle.api.resources import Resource, resource
from lifecycle.api.wire import Object
from lifecycle.apiserver.apis.autoscaler_versions import to_v1, to_v2
from lifecycle.apiserver.registry.store import ResourceStore
from lifecycle.apiserver.registry.strategy import Strategy


class AutoscalerV1Strategy(Strategy):
    """v1 outside, v2 inside. What was sent goes through v2 once, so that the answer
    shows what is stored.
    """

    def prepare_for_create(self, obj: Object) -> None:
        """See `Strategy`."""
        super().prepare_for_create(obj)
        _settle(obj)

    def prepare_for_update(self, new: Object, old: Object, subresource: str) -> None:
        """See `Strategy`."""
        super().prepare_for_update(new, old, subresource)
        _settle(new)

    def validate_create(self, obj: Object) -> list[FieldError]:
        """As v2."""
        return super().validate_create(to_v2(obj))

    def validate_update(
        self, new: Object, old: Object, subresource: str
    ) -> list[FieldError]:
        """As v2."""
        return super().validate_update(to_v2(new), to_v2(old), subresource)

    def table(
        self,
        resource: Resource,
        objs: Sequence[Object],
        list_meta: Object | None,
        now: float,
        include: str,
        headers: bool,
    ) -> Object:
        """The cells of v2 around the objects of v1."""
        shown = super().table(
            _stored(), [to_v2(obj) for obj in objs], list_meta, now, include, headers
        )
        if include == "Object":
            for row, obj in zip(shown["rows"], objs):
                row["object"] = obj
        return shown


def _settle(obj: Object) -> None:
    settled = to_v1(to_v2(obj))
    obj.clear()
    obj.update(settled)


def _stored() -> Resource:
    return resource("horizontalpodautoscalers.autoscaling")


class AutoscalerV1Store(ResourceStore):
    """See the module."""

    strategy = AutoscalerV1Strategy()

    def to_storage(self, obj: Object) -> Object:
        """As v2."""
        return to_v2(obj)
