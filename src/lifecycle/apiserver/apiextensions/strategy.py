"""A definition's schema as the generic registry's strategy.

One per served version. What is sent is pruned, given its defaults and checked by the
version's own schema; `status` is set aside when the version has the subresource;
everything else is the registry's business, as for a Pod.

Upstream:
`apiextensions-apiserver/pkg/registry/customresource/{strategy,status_strategy,validator}.go`,
`pkg/apiserver/customresource_handler.go` (`schemaCoercingDecoder`,
`unstructuredDefaulter`), v1.36.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

from lifecycle.api import fast_json, status
from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.go.format import go_value
from lifecycle.api.go.json.encode import go_float
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.api.schema import compile_schema, decode
from lifecycle.api.schema.decode import CannotBeHandledError, NoKindError
from lifecycle.api.validation import content
from lifecycle.apiserver.apiextensions import embedded_resources
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
from lifecycle.apiserver.apiextensions.schema_weight import schema_weight
from lifecycle.apiserver.apiextensions.structural import (
    ANYTHING,
    is_structural,
    schema_of,
)
from lifecycle.apiserver.managedfields.typed import Type, type_of
from lifecycle.apiserver.registry.printers.custom import custom_printer, json_path
from lifecycle.apiserver.registry.rest.field_labels import (
    NAME,
    NAMESPACE,
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)
from lifecycle.apiserver.registry.rest.update import reset_object_meta_for_status
from lifecycle.apiserver.registry.scales import nested
from lifecycle.etcd.store import RequestTooLargeError

MAX_INT32 = 2**31 - 1
_GO_TYPES: dict[type, str] = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
}
STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")


PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
"""A strategic merge patch needs merge keys, and only built-in kinds have them."""


class CustomResourceRules:
    """What the schema of one version of a definition has to say."""

    def __init__(self, definition: Object, version: Object) -> None:
        spec = definition["spec"]
        self.kind: str = spec["names"]["kind"]
        self.api_version = f"{spec['group']}/{version['name']}"
        self.namespaced = spec["scope"] == "Namespaced"
        self.schema = schema_of(version)
        self.preserves = bool(spec.get("preserveUnknownFields"))
        subresources = version.get("subresources") or {}
        self.has_status = subresources.get("status") is not None
        self.scale: Object | None = subresources.get("scale")
        self._replicas_paths = _replicas_paths(spec)
        self.selectable = {
            field["jsonPath"].removeprefix("."): json_path(field["jsonPath"])
            for field in version.get("selectableFields") or ()
        }
        self._has_rules = has_rules(self.schema)
        self._weight = schema_weight(self.schema)
        self._type = self._compiled_type()
        columns = version.get("additionalPrinterColumns") or []
        self._printer = custom_printer(fast_json.dumps(columns))

    @property
    def strategy(self) -> Strategy:
        """The same as the generic registry asks for it. It knows the rules, and they do
        not know it: so both go together with whoever has it.
        """
        status = UpdateStrategy(
            prepare_for_status_update,
            self.validate_status_update,
            reset_fields=METADATA_AND_SPEC_FIELDS,
        )
        return Strategy(
            decode=self.decode,
            set_defaults=self.set_defaults,
            set_defaults_of_applied=self.set_defaults_of_applied,
            unstructured_defaulter=self.unstructured_defaulter,
            patch_types=PATCH_TYPES,
            weight=self._weight,
            type=self._type,
            generation=Generation.WITHOUT_METADATA,
            validate=self.validate,
            canonicalize=canonicalize,
            warnings_on_create=warnings_on_create,
            allow_unconditional_update=False,
            validate_update=self.validate_update,
            warnings_on_update=warnings_on_update,
            subresources={"status": status} if self.has_status else {},
            scale=self.scale,
            replicas_path=self._replicas_paths.get,
            field_labels=FieldLabels(
                (
                    NAME,
                    *([NAMESPACE] if self.namespaced else []),
                    *self.selectable,
                ),
                self.selectable_fields,
                field_label_not_supported,
            ),
            printer=self._printer,
            go_type=_go_type,
            items_carry_kind=True,
        )

    def _compiled_type(self) -> Type:
        # what has no structure says nothing about who owns what
        known = self.schema if is_structural(self.schema) else ANYTHING
        document = with_type_meta(known, self.kind)
        return type_of(
            compile_schema(
                document,
                {OBJECT_META: meta_components()[OBJECT_META], **meta_components()},
            )
        )

    # -- reading and printing ----------------------------------------------------------

    def decode(
        self, obj: object, api_version: str, kind: str
    ) -> tuple[Object, list[str]]:
        """See `Strategy`: pruned, and with the metadata in normal form."""
        if not isinstance(obj, dict) or not obj.get("kind"):
            raw = fast_json.dumps(obj).decode()
            raise NoKindError(raw)
        actual_version = obj.get("apiVersion", "")
        if actual_version != self.api_version:
            raise status.bad_request(
                f"the API version in the data ({actual_version}) does not match the"
                f" expected API version ({self.api_version})"
            )
        mine = fast_json.loads(fast_json.dumps(obj, option=fast_json.OPT_SORT_KEYS))
        decoded, strict = decode({**mine, "kind": kind}, api_version, kind)
        decoded["kind"] = mine["kind"]
        if not self.preserves:
            strict = [
                *strict,
                *(f'unknown field "{path}"' for path in prune(decoded, self.schema)),
            ]
        unreadable = embedded_resources.coerce(decoded, self.schema)
        if unreadable is not None:
            raise CannotBeHandledError(kind, api_version, kind, str(unreadable))
        return decoded, strict

    def from_storage(self, obj: Object) -> Object:
        """A stored object in this version: pruned and completed by today's schema, as
        far as that goes. Changes the object.
        """
        self.renamed(obj)
        with contextlib.suppress(RequestTooLargeError):
            self.set_defaults(obj)
        return obj

    def renamed(self, obj: Object) -> Object:
        """The same object under this version's name, pruned, and not completed. Changes
        the object.
        """
        obj["apiVersion"] = self.api_version
        if not self.preserves:
            prune(obj, self.schema)
        return obj

    def set_defaults(self, obj: Object) -> None:
        """See `Strategy`: the schema's defaults."""
        set_schema_defaults(obj, self.schema)
        kept = {key: value for key, value in obj.items() if key != "metadata"}
        drop_wrong_nulls(kept, self.schema)
        for key in obj.keys() - kept.keys() - {"metadata"}:
            del obj[key]

    def set_defaults_of_applied(self, obj: Object) -> None:
        """See `Strategy`: what has no default is told to be wrong."""
        set_schema_defaults(obj, self.schema)

    def unstructured_defaulter(self, obj: Object) -> None:
        """See `Strategy`: what a webhook adds is pruned as what a client sends."""
        if not self.preserves:
            prune(obj, self.schema)
        self.set_defaults(obj)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """The values of what the version declares selectable."""
        values = {}
        for label, find in self.selectable.items():
            results = find(obj)
            value = results[0] if results else None
            values[label] = (
                ""
                if value is None
                else str(value).lower()
                if isinstance(value, bool)
                else str(value)
            )
        return values

    # -- writing -----------------------------------------------------------------------

    def validate(self, obj: Object) -> list[FieldError]:
        """See `Strategy`."""
        errors = self._type_meta(obj)
        if errors:
            return errors
        errors = validate_object_meta(
            obj.get("metadata") or {}, self.namespaced, content.name_is_dns_subdomain
        )
        errors += validate_value(obj, self.schema)
        errors += self._scale_errors(obj, spec=True)
        errors += embedded_resources.validate(obj, self.schema)
        errors += validate_list_types(obj, self.schema)
        return errors + self._rules(obj, ABSENT, errors)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """See `Strategy`: what was wrong before and is unchanged passes."""
        errors = self._type_meta(new)
        if errors:
            return errors
        errors = validate_object_meta_update(new["metadata"], old["metadata"])
        errors += validate_value(new, self.schema, "", old)
        errors += self._scale_errors(new, spec=True)
        errors += embedded_resources.validate(new, self.schema)
        return self._against_the_old(new, old, errors)

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        """The same of a status."""
        errors = self._type_meta(new)
        if errors:
            return errors
        errors = validate_object_meta_update(new["metadata"], old["metadata"])
        state = (self.schema.get("properties") or {}).get("status")
        if state is not None and "status" in new:
            before = old.get("status", ABSENT)
            errors += validate_value(new["status"], state, "status", before)
        errors += self._scale_errors(new, spec=False)
        return self._against_the_old(new, old, errors)

    def _against_the_old(
        self, new: Object, old: Object, errors: list[FieldError]
    ) -> list[FieldError]:
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
            if why := _accessor_error(obj, path):
                errors.append(invalid(path, 0, why))
            elif value is None:
                continue
            elif value < 0:
                errors.append(invalid(path, value, "should be a non-negative integer"))
            elif value > MAX_INT32:
                errors.append(
                    invalid(path, value, f"should be less than or equal to {MAX_INT32}")
                )
        return errors


def prepare_for_status_update(new: Object, old: Object) -> None:
    """Of `new` counts the status only; an object without a schema of its own keeps the
    order of what is stored.
    """
    state = new.get("status")
    reset_object_meta_for_status(new, old)
    metadata = new["metadata"]
    new.clear()
    new.update({**old, "metadata": metadata})
    new.pop("status", None)
    if state is not None:
        new["status"] = state


def _accessor_error(obj: Object, path: str) -> str:
    """Why a simple path does not lead to an integer; empty if it does, or to nothing.
    Upstream: `unstructured.NestedInt64`.
    """
    value: Any = obj
    here = ""
    for part in path.lstrip(".").split("."):
        here += f".{part}"
        if not isinstance(value, dict):
            return _of_another_type(here, value, "map[string]interface{}")
        value = value.get(part)
        if value is None:
            return ""
    if not isinstance(value, int) or isinstance(value, bool):
        return _of_another_type(here, value, "int64")
    return ""


def _of_another_type(here: str, value: Any, expected: str) -> str:
    go_type = _GO_TYPES.get(type(value), "map[string]interface {}")
    return (
        f"{here} accessor error: {go_value(value)} is of the type {go_type}, expected"
        f" {expected}"
    )


_MAY_BE_A_WHOLE_FLOAT = re.compile(rb"[0-9](\.0|e\+?[0-9]+|[0-9]{18})[],}]").search
"""Or it is part of a text, or an integer that 64 bits can hold."""


def canonicalize(obj: Object) -> None:
    """Each `1.0` becomes a `1`: so a float without a fraction is printed. An integer of
    more than 64 bits is a float, of which seventeen digits are printed and then zeros.
    """
    if _MAY_BE_A_WHOLE_FLOAT(fast_json.dumps(obj)):
        obj.update(_as_go_prints(obj))


def _as_go_prints(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_go_prints(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_as_go_prints, value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 63:
        return int(value)
    if type(value) in (int, float) and 1 << 63 <= value < 1 << 64:
        return int(go_float(float(value)))
    return value


def _go_type(resource: Resource, suffix: str) -> str:
    """Custom resources have no type of their own."""
    return f"*unstructured.Unstructured{suffix}"


def _replicas_paths(spec: Object) -> dict[str, tuple[str, ...]]:
    """By version; an empty path for one without a scale. Upstream:
    `customresource_handler.go` (`getOrCreateServingInfoFor`).
    """
    paths: dict[str, tuple[str, ...]] = {}
    for version in spec["versions"]:
        scale = (version.get("subresources") or {}).get("scale") or {}
        fields = scale.get("specReplicasPath", "").removeprefix(".")
        steps = fields.split(".") if fields else ()
        paths[f"{spec['group']}/{version['name']}"] = tuple(f"f:{s}" for s in steps)
    return paths


def warnings_on_create(obj: Object) -> list[str]:
    """Finalizers with names that may clash."""
    return warnings_on_update(obj, {"metadata": {}})


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same of finalizers that are new."""
    warnings = []
    before = old["metadata"].get("finalizers") or ()
    for name in sorted({*(new["metadata"].get("finalizers") or ())}.difference(before)):
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
