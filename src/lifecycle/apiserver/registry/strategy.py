"""What the generic registry asks a resource's own rules: its strategy.

The registry knows the order of things; the strategy knows the kind. How is the text of
an object read, what is added to it, what may the client not set, what is wrong with it?
The built-in kinds share one strategy, `BUILT_IN`, which looks the facts up by kind. A
CustomResourceDefinition makes a strategy of its own, out of its schema.

Upstream: `apiserver/pkg/registry/rest/{create,update}.go` (`RESTCreateStrategy`,
`RESTUpdateStrategy`); the codec, defaulter, table convertor and field manager that
`apiserver/pkg/endpoints/handlers/rest.go` (`RequestScope`) carries, v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lifecycle.api import strategy
from lifecycle.api.defaults import set_defaults
from lifecycle.api.field_errors import FieldError
from lifecycle.api.managed_fields.typed import Type
from lifecycle.api.schema import decode
from lifecycle.api.schema.decode import internal_package
from lifecycle.api.table import table
from lifecycle.api.validation import (
    validate_create,
    validate_update,
    warnings_for,
    warnings_for_update,
)
from lifecycle.api.wire import Object

if TYPE_CHECKING:
    from lifecycle.api.resources import Resource

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class Strategy:
    """The strategy of the built-in kinds, and the base of all others. Has no state.

    `type` is the shape that server-side apply works with; None: the one that is
    published for the kind. `scale` says where a custom resource keeps its replicas
    (`specReplicasPath` …). `items_carry_kind`: each item of a list says what it is.
    """

    patch_types: tuple[str, ...] = (
        JSON_PATCH,
        MERGE_PATCH,
        STRATEGIC_MERGE_PATCH,
        APPLY_PATCH,
    )
    type: Type | None = None
    scale: Object | None = None
    items_carry_kind = False

    # -- reading and printing ----------------------------------------------------------

    def decode(
        self, obj: object, api_version: str, kind: str
    ) -> tuple[Object, list[str]]:
        """The normal form of what was sent, and the strict errors. Raises StatusError
        400.
        """
        return decode(obj, api_version, kind)

    def set_defaults(self, obj: Object) -> None:
        """Fill in what was not said, in place."""
        set_defaults(obj)

    def table(
        self,
        resource: Resource,
        objs: Sequence[Object],
        list_meta: Object | None,
        now: float,
        include: str,
        headers: bool,
    ) -> Object:
        """Objects as a Table; `list_meta` is None for a single one."""
        return table(
            resource,
            objs,
            now=now,
            list_meta=list_meta,
            include_object=include,
            no_headers=not headers,
        )

    def go_type(self, resource: Resource, suffix: str) -> str:
        """The internal type of an object, or with `List` of a list, as Go prints it."""
        return f"*{internal_package(resource.group)}.{resource.kind}{suffix}"

    def field_labels(self, kind: str) -> Sequence[str]:
        """What field selectors may name."""
        return strategy.field_labels(kind)

    def field_label_error(self, kind: str, label: str) -> str:
        """What is said of a field selector that names anything else."""
        return strategy.field_label_error(kind, label)

    # -- writing -----------------------------------------------------------------------

    def prepare_for_create(self, obj: Object) -> None:
        """Drop what the client may not set, add what the registry sets. In place."""
        strategy.prepare_for_create(obj)

    def validate_create(self, obj: Object) -> list[FieldError]:
        """Everything wrong with a new object."""
        return validate_create(obj)

    def warnings_on_create(self, obj: Object) -> list[str]:
        """What the client should know."""
        return warnings_for(obj)

    def warnings_on_update(self, new: Object, old: Object) -> list[str]:
        """The same of a change."""
        return warnings_for_update(new, old)

    def canonicalize(self, obj: Object) -> None:
        """Last touches, after validation. In place."""
        strategy.canonicalize(obj)

    def prepare_for_update(self, new: Object, old: Object, subresource: str) -> None:
        """Keep what this write may not touch. Changes `new` in place."""
        strategy.prepare_for_update(new, old, subresource)

    def validate_update(
        self, new: Object, old: Object, subresource: str
    ) -> list[FieldError]:
        """Everything wrong with replacing `old` by `new`."""
        return validate_update(new, old, subresource)

    def allow_create_on_update(self, kind: str) -> bool:
        """May a PUT to a name that does not exist create the object?"""
        return strategy.allow_create_on_update(kind)

    def allow_unconditional_update(self, kind: str) -> bool:
        """May an update leave the resourceVersion out?"""
        return strategy.allow_unconditional_update(kind)

    def returns_deleted_object(self, kind: str) -> bool:
        """Is the answer to a delete the object (else: a Status)?"""
        return kind in RETURNS_OBJECT


RETURNS_OBJECT = frozenset(
    {
        "CSIDriver", "CSINode", "Namespace", "PersistentVolume",
        "PersistentVolumeClaim", "Pod", "PodTemplate",
        "ResourceQuota", "Service", "ServiceAccount", "StorageClass",
        "VolumeAttachment",
    }
)  # fmt: skip
"""Kinds whose delete answers with the object instead of a Status
(`ReturnDeletedObject`).
"""

BUILT_IN = Strategy()
