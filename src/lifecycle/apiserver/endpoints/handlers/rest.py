"""What the handlers of all verbs share: the registries, reading a body, writing an
answer.

Upstream: `apiserver/pkg/endpoints/handlers/rest.go` (`RequestScope`),
`response.go` (`transformResponseObject`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from lifecycle.api import status
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.worker import beside
from lifecycle.api.schema.decode import CannotBeHandledError, NoKindError
from lifecycle.api.schema.duplicates import in_order_of_text
from lifecycle.api.tracing import span
from lifecycle.apiserver.admission.matching import conversions_from
from lifecycle.apiserver.audit.context import log_request_object
from lifecycle.apiserver.endpoints.bodies import parse_body, summarize_data
from lifecycle.apiserver.endpoints.connect import PodConnector
from lifecycle.apiserver.endpoints.conversion import converted
from lifecycle.apiserver.endpoints.lists import ListEndpoint
from lifecycle.apiserver.endpoints.negotiation import JSON, Accepted, negotiate
from lifecycle.apiserver.managedfields import update_managed_fields
from lifecycle.apiserver.registry.admission import RequestAdmission
from lifecycle.apiserver.registry.authorization.reviews import Review
from lifecycle.apiserver.registry.metadata import keep_reset
from lifecycle.apiserver.registry.scales import KIND, VERSION
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.storage.cacher.cached_object import Cached


class RestHandler:
    """The registries by `(group, plural)`, and what is answered without one: `virtual`
    resources and subresources.
    """

    def __init__(
        self,
        environment: Environment,
        stores: dict[tuple[str, str], ResourceStore],
        virtual: dict[tuple[str, str], Review] | None = None,
        virtual_subresources: (
            dict[tuple[str, str, str], Callable[..., Any]] | None
        ) = None,
        connector: PodConnector | None = None,
    ) -> None:
        self.environment = environment
        self.stores = stores
        self.virtual = virtual or {}
        self.virtual_subresources = virtual_subresources or {}
        self.lists = ListEndpoint(environment)
        self.connector = connector or PodConnector({})

    def store(self, scope: RequestScope) -> ResourceStore:
        """The registry of the scope's resource."""
        store = self.stores.get(scope.resource.store_key)
        if (
            store is None or store.resource is not scope.resource
        ):  # a version that is published but not kept here
            raise status.generic_not_found()
        return store

    def admission(self, scope: RequestScope) -> RequestAdmission:
        """What admission is asked about the request."""
        return RequestAdmission(self.environment.admission, scope)

    async def read(
        self,
        request: Request,
        scope: RequestScope,
        api_version: str,
        kind: str,
        alias: str = "",
    ) -> Object:
        """The object a client sent: normal form, with defaults; it belongs to this
        request.

        `alias`: an older version of the same fields, which is taken as well. Upstream:
        `AcceptsGroupVersion`.
        """
        with span("apiserver", "decode"):
            return await beside(
                scope.size, self._read, request, scope, api_version, kind, alias
            )

    def _read(
        self,
        request: Request,
        scope: RequestScope,
        api_version: str,
        kind: str,
        alias: str,
    ) -> Object:
        validation = scope.field_validation
        sent, duplicates = parse_body(request, kind, field_validation=validation)
        if (
            alias
            and isinstance(sent, dict)
            and (sent.get("apiVersion"), sent.get("kind")) == (alias, kind)
        ):
            sent = {**sent, "apiVersion": api_version}
        strategy = scope.strategy
        if kind != scope.resource.kind:  # of a subresource: a Scale, a Binding …
            strategy = strategy_for(api_version, kind)
        try:
            obj, strict = strategy.decode(sent, api_version, kind)
        except NoKindError as error:
            raise status.bad_request(
                f"the object provided is unrecognized (must be of type {kind}):"
                f" {error.why} ({summarize_data(request.body)})"
            ) from None
        scope.empties = getattr(strict, "empties", ())
        errors = [*duplicates, *strict]
        if duplicates and strict:
            errors = in_order_of_text(request.body, errors)
        report_strict(errors, scope, api_version, kind)
        strategy.set_defaults(obj)
        keep_reset(sent, obj)
        if "metadata" not in obj or obj["metadata"] is None:
            obj["metadata"] = {}
        log_request_object(obj)
        return obj

    async def track(
        self,
        live: Object | None,
        new: Object,
        scope: RequestScope,
        api_version: str = "",
    ) -> None:
        """Book the fields that are new to the request's manager."""
        book = partial(
            update_managed_fields,
            manager=scope.manager,
            api_version=api_version or scope.resource.api_version,
            subresource=scope.subresource,
            now=self.environment.clock.timestamp(),
            type_=scope.strategy.type,
            reset_fields=scope.strategy.get_reset_fields(scope.subresource),
            conversions=conversions_from(scope.resource),
            empties=scope.empties,
        )
        await beside(scope.size, book, live, new)

    def unsupported_patch(self, content_type: str) -> status.StatusError:
        """What is said of a patch of a type that the resource does not take."""
        return status.failure(
            415, "UnsupportedMediaType", "415: Unsupported Media Type", {}
        )

    def answer(
        self,
        request: Request,
        scope: RequestScope,
        cached: Cached,
        accepted: Accepted | None,
        code: int = 200,
    ) -> Response:
        """One object, in the form that was asked for."""
        if accepted is None:  # in process: the object itself
            return Response(code, obj=cached.obj)
        if accepted.kind:
            include = request.param("includeObject") or "Metadata"
            now = self.environment.clock.now()
            obj = converted(
                accepted,
                scope.resource,
                [cached.obj],
                None,
                now=now,
                include=include,
                strategy=scope.strategy,
            )
            return Response(code, {"Content-Type": accepted.media_type}, obj=obj)
        if accepted.media_type == JSON and cached.revision:
            return Response(code, {"Content-Type": JSON}, body=cached.json + b"\n")
        return Response(code, obj=cached.obj)

    def answer_scale(
        self,
        request: Request,
        scope: RequestScope,
        scale: Object,
        accepted: Accepted | None,
    ) -> Response:
        """A Scale, whose columns are its own."""
        scale_scope = replace(scope, strategy=strategy_for(VERSION, KIND))
        return self.answer(request, scale_scope, Cached("", scale, 0), accepted)


def form(request: Request, *, tables: bool = True) -> Accepted | None:
    """The negotiated form; None for callers that take objects. Checked before anything
    is written. `tables`: whether the objects have columns. Upstream:
    `RequestScope.AllowsMediaTypeTransform`.
    """
    return None if request.accepts_object else negotiate(request, tables=tables)


def report_strict(
    strict: list[str], scope: RequestScope, api_version: str, kind: str
) -> None:
    """Unknown and duplicate fields of an object that was read as this kind: ignored,
    warned about, or refused with 400.
    """
    if not strict or scope.field_validation == "Ignore":
        return
    if scope.field_validation == "Strict":
        why = f"strict decoding error: {', '.join(strict)}"
        raise CannotBeHandledError(kind, api_version, kind, why)
    scope.warnings.extend(strict)
