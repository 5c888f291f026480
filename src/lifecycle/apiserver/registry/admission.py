"""What admission is asked about one request, in one place.

A handler lets admission change a new object before the registry sees it, and hands the
registry a function that asks once more, now only yes or no, right before it writes. In
between the registry has made the object what it will be. What is to be deleted is not
changed any more: there both phases run at once. So they do for a connection, which is
stored nowhere.

Upstream: `apiserver/pkg/endpoints/handlers/{create,update,patch,delete}.go` (where
`NewAttributesRecord` is called), `apiserver/pkg/registry/rest/create.go`
(`AdmissionToValidateObjectFunc`), `update.go` (`AdmissionToValidateObjectUpdateFunc`),
`delete.go` (`AdmissionToValidateObjectDeleteFunc`),
`handlers/rest.go` (`ConnectResource`), v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from lifecycle.api.http.wire import Object
from lifecycle.api.tracing import span
from lifecycle.apiserver.admission.attributes import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
)
from lifecycle.apiserver.managedfields.entries import decode
from lifecycle.apiserver.registry.metadata import (
    AFTER_ADMISSION,
    check_namespace,
    dedup_owner_references,
)
from lifecycle.apiserver.registry.scope import RequestScope

Validate = Callable[[Object | None, Object | None], Awaitable[None]]
"""Whether the new object may take the place of the old one. The old one is None for a
create, the new one for a delete. Raises StatusError for no.
"""


class Chain(Protocol):
    """What is asked: the admission chain, or something around it."""

    async def admit(self, attributes: Attributes) -> None: ...

    async def validate(self, attributes: Attributes) -> None: ...


class RequestAdmission:
    """The admission of one request."""

    def __init__(self, chain: Chain, scope: RequestScope) -> None:
        self._chain, self._scope = chain, scope

    async def admit(self, obj: Object, old: Object | None) -> None:
        """Let the plugins change the new object, in place. Raises StatusError."""
        before = (obj.get("metadata") or {}).get("managedFields")
        with span("apiserver", "mutating admission"):
            attributes = self.attributes(obj, old)
            await self._chain.admit(attributes)
        grown = self._scope.strategy.weighed(attributes.grown)
        self._scope.size = max(self._scope.size, grown)
        if attributes.reinvocation is not None:  # somebody had a say in it
            check_namespace(obj, self._scope)
            keep_valid_managed_fields(obj, before, self._scope.warnings)
        dedup_owner_references(obj, self._scope.warnings, AFTER_ADMISSION)

    async def validate(self, obj: Object | None, old: Object | None) -> None:
        """See `Validate`."""
        with span("apiserver", "validating admission"):
            await self._chain.validate(self.attributes(obj, old))

    async def validate_delete(self, obj: Object | None, old: Object | None) -> None:
        """See `Validate`, for a delete: both phases."""
        attributes = self.attributes(obj, old)
        await self._chain.admit(attributes)
        await self._chain.validate(attributes)

    async def connect(self, options: Object) -> None:
        """Whether a connection may be opened: both phases, at once. Plugins may change
        its options, in place. Raises StatusError.
        """
        attributes = replace(self.attributes(options, None), operation=CONNECT)
        await self._chain.admit(attributes)
        await self._chain.validate(attributes)

    def attributes(self, obj: Object | None, old: Object | None) -> Attributes:
        """What the plugins get to see. An object of a create has its name from its
        metadata, once it has one.
        """
        scope = self._scope
        name, namespace = scope.name, scope.namespace
        is_scale = scope.subresource == "scale"  # whatever it is the scale of
        if obj is None:
            operation = DELETE
        elif old is None:
            operation = CREATE
            name = name or (obj.get("metadata") or {}).get("name") or ""
        else:
            operation = UPDATE
        if scope.resource.plural == "namespaces" and not scope.resource.group:
            namespace = name  # it is its own
        return Attributes(
            operation=operation,
            resource=scope.resource,
            subresource=scope.subresource,
            namespace=namespace,
            name=name,
            obj=obj,
            old_obj=old,
            options=scope.options,
            user=scope.user,
            dry_run=scope.dry_run,
            warnings=scope.warnings,
            defaulter=None if is_scale else scope.strategy.unstructured_defaulter,
        )


async def validate_all(obj: Object | None, old: Object | None) -> None:
    """See `Validate`: for what the server does by itself. Upstream:
    `rest.ValidateAllObjectFunc`, `ValidateAllObjectUpdateFunc`.
    """


def keep_valid_managed_fields(obj: Object, before: Any, warnings: list[str]) -> None:
    """Managed fields that make no sense any more are those from before admission.
    Upstream: `managedfields/admission.go`
    (`managedFieldsValidatingAdmissionController`).
    """
    metadata = obj["metadata"]
    try:
        decode(metadata.get("managedFields"), trusted=False)
    except ValueError as error:
        warnings.append(
            ".metadata.managedFields was in an invalid state after admission; this"
            " could be caused by an outdated mutating admission controller; please fix"
            f" your requests: {error}"
        )
        if before is None:
            del metadata["managedFields"]
        else:
            metadata["managedFields"] = before
