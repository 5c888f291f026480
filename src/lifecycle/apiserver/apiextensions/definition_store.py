"""The registry of the definitions themselves.

Upstream:
`apiextensions-apiserver/pkg/registry/customresourcedefinition/{strategy,etcd}.go`,
v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.clock import Clock
from lifecycle.api.custom_resources import storage_version
from lifecycle.api.field_errors import FieldError
from lifecycle.api.wire import Object
from lifecycle.apiserver.apiextensions.definition_validation import (
    validate_definition,
    validate_definition_status_update,
    validate_definition_update,
)
from lifecycle.apiserver.apiextensions.definitions import FINALIZER, with_condition
from lifecycle.apiserver.apiextensions.formats import FORMATS
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.registry.strategy import Strategy

PENDING = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"


class DefinitionStrategy(Strategy):
    """The strategy of CustomResourceDefinitions."""

    def validate_create(self, obj: Object) -> list[FieldError]:
        """See `definition_validation`."""
        return validate_definition(obj)

    def validate_update(
        self, new: Object, old: Object, subresource: str
    ) -> list[FieldError]:
        """See `definition_validation`."""
        if subresource == "status":
            return validate_definition_status_update(new, old)
        return validate_definition_update(new, old)

    def warnings_on_create(self, obj: Object) -> list[str]:
        """Formats that nobody checks."""
        found: dict[str, None] = {}
        for version in obj["spec"].get("versions") or ():
            _formats((version.get("schema") or {}).get("openAPIV3Schema"), found)
        return [f'unrecognized format "{name}"' for name in found]

    def prepare_for_update(self, new: Object, old: Object, subresource: str) -> None:
        """The storage version is among the stored ones, from now on."""
        super().prepare_for_update(new, old, subresource)
        if subresource:
            return
        state = new.get("status") or {}
        stored, current = state.get("storedVersions") or [], storage_version(new)
        if current and current not in stored:
            new["status"] = {**state, "storedVersions": [*stored, current]}


_UNCHECKED = {"int32", "int64", "float", "double"}


def _formats(schema: Any, found: dict[str, None]) -> None:
    if isinstance(schema, list):
        for each in schema:
            _formats(each, found)
    elif isinstance(schema, dict):
        form = schema.get("format")
        if (
            isinstance(form, str)
            and form
            and form not in FORMATS
            and form not in _UNCHECKED
        ):
            found[form] = None
        for key, value in schema.items():
            if key == "properties":
                for child in value.values():
                    _formats(child, found)
            elif key not in ("default", "enum", "example"):
                _formats(value, found)


class DefinitionStore(ResourceStore):
    """The registry of CustomResourceDefinitions: a delete first puts the clean-up
    finalizer on.
    """

    strategy = DefinitionStrategy()

    def __init__(self, resource: Any, environment: Environment) -> None:
        super().__init__(resource, environment)
        self._clock: Clock = environment.clock

    def marked_for_deletion(self, obj: Object) -> Object:
        """With the finalizer and the condition `Terminating`."""
        metadata = obj["metadata"]
        finalizers = list(metadata.get("finalizers") or ())
        if FINALIZER not in finalizers:
            finalizers.append(FINALIZER)
        marked = {**obj, "metadata": {**metadata, "finalizers": finalizers}}
        return with_condition(
            marked,
            self._clock.timestamp(),
            "Terminating",
            "True",
            "InstanceDeletionPending",
            PENDING,
        )
