"""A definition's schema as the generic registry's strategy.

One per served version. What is sent is pruned, given its defaults and checked by the
version's own schema; `status` is set aside when the version has the subresource;
everything else is the registry's business, as for a Pod.

Upstream:
`apiextensions-apiserver/pkg/registry/customresource/{strategy,status_strategy,validator}.go`,
`pkg/apiserver/customresource_handler.go` (`schemaCoercingDecoder`,
`unstructuredDefaulter`), v1.36. Left out: checking the metadata of embedded resources.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from lifecycle.api import status
from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.managed_fields.field_sets import LEAF
from lifecycle.api.managed_fields.typed import Type, type_of
from lifecycle.api.resources import Resource
from lifecycle.api.schema import compile_schema, decode
from lifecycle.api.table import table
from lifecycle.api.table.custom import json_path
from lifecycle.api.validation import content
from lifecycle.api.validation.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)
from lifecycle.api.wire import Object
from lifecycle.apiserver.apiextensions.cel_rules import (
    BLOCKING,
    UNCHECKED,
    has_rules,
    validate_rules,
)
from lifecycle.apiserver.apiextensions.defaulting import (
    drop_wrong_nulls,
    set_schema_defaults,
)
from lifecycle.apiserver.apiextensions.list_types import validate_list_types
from lifecycle.apiserver.apiextensions.openapi import (
    OBJECT_META,
    meta_components,
    with_type_meta,
)
from lifecycle.apiserver.apiextensions.pruning import prune
from lifecycle.apiserver.apiextensions.schema_validation import (
    ABSENT,
    NO_PATH,
    validate_value,
)
from lifecycle.apiserver.registry.scales import nested
from lifecycle.apiserver.registry.strategy import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    Strategy,
)

MAX_INT32 = 2**31 - 1
_GO_TYPES: dict[type, str] = {
    str: "string",
    bool: "bool",
    float: "float64",
    list: "[]interface {}",
}
STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")


class CustomResourceStrategy(Strategy):
    """The strategy of one version of a custom resource."""

    patch_types = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
    items_carry_kind = True

    def __init__(self, definition: Object, version: Object) -> None:
        spec = definition["spec"]
        self.kind: str = spec["names"]["kind"]
        self.api_version = f"{spec['group']}/{version['name']}"
        self.namespaced = spec["scope"] == "Namespaced"
        self.schema: Object = version["schema"]["openAPIV3Schema"]
        self.preserves = bool(spec.get("preserveUnknownFields"))
        subresources = version.get("subresources") or {}
        self.has_status = subresources.get("status") is not None
        self.scale: Object | None = subresources.get("scale")
        self.columns: list[Object] = version.get("additionalPrinterColumns") or []
        self.selectable = {
            field["jsonPath"].removeprefix("."): json_path(field["jsonPath"])
            for field in version.get("selectableFields") or ()
        }
        self._has_rules = has_rules(self.schema)
        self.type = self._compiled_type()

    def _compiled_type(self) -> Type:
        document = with_type_meta(self.schema, self.kind)
        made = type_of(
            compile_schema(
                document,
                {OBJECT_META: meta_components()[OBJECT_META], **meta_components()},
            )
        )
        if self.has_status:
            made.resets = {
                "": {"f:status": LEAF},
                "status": {"f:metadata": LEAF, "f:spec": LEAF},
            }
        else:
            made.resets = {}
        return made

    # -- reading and printing ----------------------------------------------------------

    def decode(
        self, obj: object, api_version: str, kind: str
    ) -> tuple[Object, list[str]]:
        """See `Strategy`: pruned, and with the metadata in normal form. A Scale or a
        DeleteOptions is no custom resource.
        """
        if api_version != self.api_version:
            return super().decode(obj, api_version, kind)
        if not isinstance(obj, dict) or not obj.get("kind"):
            shown = orjson.dumps(obj).decode()
            raise status.bad_request(f"Object 'Kind' is missing in '{shown}'")
        given = obj.get("apiVersion", "")
        if given != self.api_version:
            raise status.bad_request(
                f"the API version in the data ({given}) does not match the expected API version ({self.api_version})"
            )
        mine = orjson.loads(orjson.dumps(obj, option=orjson.OPT_SORT_KEYS))
        decoded, strict = decode({**mine, "kind": kind}, api_version, kind)
        decoded["kind"] = mine["kind"]
        if not self.preserves:
            strict = [
                *strict,
                *(f'unknown field "{path}"' for path in prune(decoded, self.schema)),
            ]
        return decoded, strict

    def from_storage(self, obj: Object) -> Object:
        """A stored object in this version: pruned and completed by today's schema.
        Changes the object.
        """
        obj["apiVersion"] = self.api_version
        if not self.preserves:
            prune(obj, self.schema)
        self.set_defaults(obj)
        return obj

    def set_defaults(self, obj: Object) -> None:
        """See `Strategy`: the schema's defaults."""
        if obj.get("apiVersion") != self.api_version:
            return
        set_schema_defaults(obj, self.schema)
        drop_wrong_nulls(
            {key: value for key, value in obj.items() if key != "metadata"}, self.schema
        )

    def table(
        self,
        resource: Resource,
        objs: Sequence[Object],
        list_meta: Object | None,
        now: float,
        include: str,
        headers: bool,
    ) -> Object:
        """See `Strategy`: the definition's own columns."""
        return table(
            resource, objs, now=now, list_meta=list_meta, include_object=include,
            no_headers=not headers,
            printer_columns=self.columns, custom=True,
        )  # fmt: skip

    def go_type(self, resource: Resource, suffix: str) -> str:
        """See `Strategy`: custom resources have no type of their own."""
        return f"*unstructured.Unstructured{suffix}"

    def field_labels(self, kind: str) -> Sequence[str]:
        """Name, namespace and what the version declares selectable."""
        return [
            "metadata.name",
            *(["metadata.namespace"] if self.namespaced else []),
            *self.selectable,
        ]

    def field_label_error(self, kind: str, label: str) -> str:
        """See `Strategy`."""
        return f"field label not supported: {label}"

    def fields_of(self, obj: Object) -> dict[str, str]:
        """The values that field selectors compare with."""
        metadata = obj["metadata"]
        values = {
            "metadata.name": metadata.get("name", ""),
            "metadata.namespace": metadata.get("namespace", ""),
        }
        for label, find in self.selectable.items():
            found = find(obj)
            value = found[0] if found else None
            values[label] = (
                ""
                if value is None
                else str(value).lower()
                if isinstance(value, bool)
                else str(value)
            )
        return values

    # -- writing -----------------------------------------------------------------------

    def prepare_for_create(self, obj: Object) -> None:
        """See `Strategy`."""
        metadata = obj["metadata"]
        for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            metadata.pop(key, None)
        metadata["generation"] = 1
        if self.has_status:
            obj.pop("status", None)

    def prepare_for_update(self, new: Object, old: Object, subresource: str) -> None:
        """See `Strategy`: generations count every change outside of the metadata (and
        of a status that is set aside).
        """
        metadata, before = new["metadata"], old["metadata"]
        for key in (
            "generation",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        ):
            if key in before:
                metadata[key] = before[key]
            elif key == "generation":
                metadata.pop(key, None)
        if subresource == "status":
            state = new.get("status")
            kept = {
                key: metadata[key]
                for key in ("managedFields", "resourceVersion")
                if key in metadata
            }
            for key in list(new):
                del new[key]
            rest = {
                key: value
                for key, value in before.items()
                if key not in ("managedFields", "resourceVersion")
            }
            new.update({**old, "metadata": {**rest, **kept}})
            new.pop("status", None)
            if state is not None:
                new["status"] = state
            return
        if self.has_status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        if _content(new) != _content(old):
            metadata["generation"] = before.get("generation", 0) + 1

    def canonicalize(self, obj: Object) -> None:
        """Nothing to do."""

    def warnings_on_create(self, obj: Object) -> list[str]:
        """Finalizers with names that may clash."""
        return self.warnings_on_update(obj, {"metadata": {}})

    def warnings_on_update(self, new: Object, old: Object) -> list[str]:
        """The same of finalizers that are new."""
        warnings = []
        before = old["metadata"].get("finalizers") or ()
        for name in sorted(
            {*(new["metadata"].get("finalizers") or ())}.difference(before)
        ):
            if "/" not in name and name not in STANDARD_FINALIZERS:
                words = (
                    "a domain-qualified finalizer name including a path (/)"
                    if "." in name
                    else "a domain-qualified finalizer name"
                )
                warnings.append(
                    f'metadata.finalizers: "{name}": prefer {words} to avoid accidental'
                    " conflicts with other finalizer writers"
                )
        return warnings

    def validate_create(self, obj: Object) -> list[FieldError]:
        """See `Strategy`."""
        errors = self._type_meta(obj)
        if errors:
            return errors
        errors = validate_object_meta(
            obj.get("metadata") or {}, self.namespaced, content.name_is_dns_subdomain
        )
        errors += validate_value(obj, self.schema)
        errors += self._scale_errors(obj, spec=True)
        errors += validate_list_types(obj, self.schema)
        return errors + self._rules(obj, ABSENT, errors)

    def validate_update(
        self, new: Object, old: Object, subresource: str
    ) -> list[FieldError]:
        """See `Strategy`: what was wrong before and is unchanged passes."""
        errors = self._type_meta(new)
        if errors:
            return errors
        errors = validate_object_meta_update(new["metadata"], old["metadata"])
        if subresource == "status":
            state = (self.schema.get("properties") or {}).get("status")
            if state is not None and "status" in new:
                errors += validate_value(
                    new["status"], state, "status", old.get("status", ABSENT)
                )
            errors += self._scale_errors(new, spec=False)
        else:
            errors += validate_value(new, self.schema, "", old)
            errors += self._scale_errors(new, spec=True)
        if not validate_list_types(old, self.schema):
            errors += validate_list_types(new, self.schema)
        return errors + self._rules(new, old, errors)

    def _rules(
        self, obj: Object, old: Any, errors: list[FieldError]
    ) -> list[FieldError]:
        if not self._has_rules:
            return []
        if any(error.type in BLOCKING for error in errors):
            return [invalid(NO_PATH, None, UNCHECKED)]
        return validate_rules(obj, self.schema, old)

    def _type_meta(self, obj: Object) -> list[FieldError]:
        errors = []
        if obj.get("kind") != self.kind:
            errors.append(invalid("kind", obj.get("kind", ""), f"must be {self.kind}"))
        if obj.get("apiVersion") != self.api_version:
            errors.append(
                invalid(
                    "apiVersion",
                    obj.get("apiVersion", ""),
                    f"must be {self.api_version}",
                )
            )
        return errors

    def _scale_errors(self, obj: Object, *, spec: bool) -> list[FieldError]:
        if self.scale is None:
            return []
        errors = []
        for key in (
            ("specReplicasPath", "statusReplicasPath")
            if spec
            else ("statusReplicasPath",)
        ):
            path = self.scale[key]
            value = nested(obj, path)
            if value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                given = _GO_TYPES.get(type(value), "map[string]interface {}")
                why = f"{path} accessor error: {value} is of the type {given}, expected int64"
                errors.append(invalid(path, 0, why))
            elif value < 0:
                errors.append(invalid(path, value, "should be a non-negative integer"))
            elif value > MAX_INT32:
                errors.append(
                    invalid(path, value, f"should be less than or equal to {MAX_INT32}")
                )
        return errors

    def allow_create_on_update(self, kind: str) -> bool:
        """Never."""
        return False

    def allow_unconditional_update(self, kind: str) -> bool:
        """Never: an update names the version it replaces."""
        return False

    def returns_deleted_object(self, kind: str) -> bool:
        """The answer is a Status."""
        return False


def _content(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key != "metadata"}
