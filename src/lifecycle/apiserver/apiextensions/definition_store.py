"""The registry of the definitions themselves.

Upstream:
`apiextensions-apiserver/pkg/registry/customresourcedefinition/{strategy,etcd}.go`,
v1.36.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from lifecycle.api.custom_resources import storage_version
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import Resource
from lifecycle.apiserver.apiextensions.definitions import FINALIZER, set_crd_condition
from lifecycle.apiserver.apiextensions.formats import is_unrecognized
from lifecycle.apiserver.apiextensions.validation.definition import (
    validate_definition,
    validate_definition_status_update,
    validate_definition_update,
)
from lifecycle.apiserver.apiextensions.validation.options import V1BETA1
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.store import Environment, ResourceStore

PENDING = (
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin"
    " soon"
)


def prepare_for_update(new: Object, old: Object) -> None:
    """The storage version is among the stored ones, from now on."""
    state = new.get("status") or {}
    stored, current = state.get("storedVersions") or [], storage_version(new)
    if current and current not in stored:
        new["status"] = {**state, "storedVersions": [*stored, current]}


def warnings_on_create(definition: Object) -> list[str]:
    """Formats that nobody checks."""
    formats: dict[str, None] = {}
    for version in definition["spec"].get("versions") or ():
        _formats((version.get("schema") or {}).get("openAPIV3Schema"), formats)
    return [f'unrecognized format "{name}"' for name in formats]


def definition_strategy(strategy: Strategy) -> Strategy:
    """The strategy of CustomResourceDefinitions, with the rules that need to know
    schemas.
    """
    ours = replace(
        strategy,
        validate=validate_definition,
        warnings_on_create=warnings_on_create,
        prepare_for_update=prepare_for_update,
        validate_update=validate_definition_update,
        subresources={
            "status": replace(
                strategy.subresources["status"],
                validate_update=validate_definition_status_update,
            )
        },
    )
    v1beta1 = replace(
        ours,
        validate=partial(validate_definition, options=V1BETA1),
        validate_update=partial(validate_definition_update, options=V1BETA1),
    )
    return replace(ours, earlier={"apiextensions.k8s.io/v1beta1": v1beta1})


def _formats(schema: Any, formats: dict[str, None]) -> None:
    if isinstance(schema, list):
        for each in schema:
            _formats(each, formats)
    elif isinstance(schema, dict):
        form = schema.get("format")
        type_ = schema.get("type") or ""
        if isinstance(form, str) and form and is_unrecognized(form, type_):
            formats[form] = None
        for key, value in schema.items():
            if key == "properties":
                for child in value.values():
                    _formats(child, formats)
            elif key not in ("default", "enum", "example"):
                _formats(value, formats)


class DefinitionStore(ResourceStore):
    """The registry of CustomResourceDefinitions: a delete first puts the clean-up
    finalizer on.
    """

    def __init__(
        self, resource: Resource, environment: Environment, strategy: Strategy
    ) -> None:
        super().__init__(resource, environment, definition_strategy(strategy))
        self._clock: Clock = environment.clock

    def marked_for_deletion(self, obj: Object) -> Object:
        """With the finalizer and the condition `Terminating`."""
        metadata = obj["metadata"]
        finalizers = list(metadata.get("finalizers") or ())
        if FINALIZER not in finalizers:
            finalizers.append(FINALIZER)
        marked = {**obj, "metadata": {**metadata, "finalizers": finalizers}}
        return set_crd_condition(
            marked,
            self._clock.timestamp(),
            "Terminating",
            "True",
            "InstanceDeletionPending",
            PENDING,
        )
