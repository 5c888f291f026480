"""Initializers, a model of a rule that is gone: who has to look at an object before
everybody else may.

From 1.7 to 1.13 (alpha all the time, off by default, removed in 1.14) an
`InitializerConfiguration` named initializers and the resources they cared about.
Admission wrote their names into `metadata.initializers.pending` of each new object. The
object was stored, and hidden; each initializer did its work and took its own name off
the list. When the list was empty, the object was there for everybody.

The field is gone from the objects of today, so here the list is kept in an annotation
that never leaves the server (`initializer_visibility` turns it into the field and
back).

Upstream: `plugin/pkg/admission/initialization/initialization.go` and
`apimachinery/pkg/api/validation/objectmeta.go` (`ValidateInitializersUpdate`), v1.13.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from lifecycle.api.field_errors import FieldError, invalid, invalid_object
from lifecycle.api.http.wire import ANONYMOUS, Object, RequestInfo
from lifecycle.api.resources import Resource
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.authz.authorizer import Authorize, decide

STATE = "initializers.lifecycle.internal/state"


def state_of(obj: Object) -> Object | None:
    """`metadata.initializers` of a stored object: `{"pending": [{"name": …}], "result":
    …}`; None once it is initialized.
    """
    text = (obj.get("metadata", {}).get("annotations") or {}).get(STATE)
    return json.loads(text) if text else None


def with_state(obj: Object, state: Object | None) -> None:
    """Write the list of an object that belongs to the caller."""
    meta = obj["metadata"] = dict(obj["metadata"])
    annotations = {
        key: value
        for key, value in (meta.get("annotations") or {}).items()
        if key != STATE
    }
    if state is not None:
        annotations[STATE] = json.dumps(state)
    if annotations:
        meta["annotations"] = annotations
    else:
        meta.pop("annotations", None)


class Initializers(Plugin):
    """Fills the list in, and watches over it. `configurations` holds the
    InitializerConfigurations by name; who serves them writes into it.
    """

    name = "Initializers"
    operations = frozenset({CREATE, UPDATE})

    def __init__(
        self, authorize: Authorize, configurations: Mapping[str, Object]
    ) -> None:
        self._authorize, self._configurations = authorize, configurations

    def initializers_for(self, resource: Resource) -> list[str]:
        """Names of the initializers that care about a resource: configurations by name,
        within one in its order.
        """
        found: list[str] = []
        for _, configuration in sorted(self._configurations.items()):
            for initializer in configuration.get("initializers") or ():
                if any(
                    _matches(rule, resource) for rule in initializer.get("rules") or ()
                ):
                    found.append(initializer["name"])
        return list(dict.fromkeys(found))

    async def admit(self, attributes: Attributes) -> None:
        """Raises StatusError 403 for who may not skip initializers, or touch what is
        not initialized yet; 422 for impossible lists.
        """
        obj = attributes.obj
        assert obj is not None
        if attributes.operation == CREATE:
            await self._on_create(attributes, obj)
            return
        before, now = state_of(attributes.old_obj or {}), state_of(obj)
        if now is not None and not now.get("pending") and not now.get("result"):
            now = None
            with_state(obj, None)
        if before is None and now is None:
            return
        await self._may_initialize(attributes)
        errors = _transition(before, now)
        if errors:
            raise invalid_object(
                attributes.resource.kind,
                attributes.resource.group,
                attributes.name,
                errors,
            )

    async def _on_create(self, attributes: Attributes, obj: Object) -> None:
        given = state_of(obj)
        if given is not None and given.get("result"):
            raise attributes.forbidden("initializers may not set a result on creation")
        if given is not None:  # an empty list means: without initializers, please
            await self._may_initialize(attributes)
            with_state(obj, given if given.get("pending") else None)
            return
        names = self.initializers_for(attributes.resource)
        if names:
            with_state(obj, {"pending": [{"name": name} for name in names]})

    async def _may_initialize(self, attributes: Attributes) -> None:
        """Whether the user has the verb `initialize`."""
        row = attributes.resource
        info = RequestInfo(
            is_resource_request=True, path="", verb="initialize", group=row.group,
            version=row.version,
            namespace=attributes.namespace, resource=row.plural, name=attributes.name,
        )  # fmt: skip
        verdict = await decide(self._authorize, attributes.user or ANONYMOUS, info)
        if not verdict.allowed:
            raise attributes.forbidden(
                f"user must have permission to initialize resources: {verdict.reason}"
            )


def _named(names: Iterable[str], wanted: str) -> bool:
    return "*" in names or wanted in names


def _matches(rule: Object, row: Resource) -> bool:
    return (
        _named(rule.get("apiGroups") or (), row.group)
        and _named(rule.get("apiVersions") or (), row.version)
        and _named(rule.get("resources") or (), row.plural)
    )


def _transition(before: Object | None, now: Object | None) -> list[FieldError]:
    """What is wrong with a change of the list. Upstream:
    `ValidateInitializersUpdate`.
    """
    path = "metadata.initializers"
    if before is None:
        return [
            invalid(path, now, "field is immutable once initialization has completed")
        ]
    if before.get("result"):
        return [invalid(path, now, "field is immutable once initialization has failed")]
    if now is None or not now.get("result"):
        return []
    if now["result"].get("status") != "Failure":
        return [
            invalid(
                f"{path}.result.status",
                now["result"].get("status", ""),
                "must be 'Failure'",
            )
        ]
    return []
