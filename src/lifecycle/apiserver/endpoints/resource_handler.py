"""The end of the handler chain: a verb on a resource becomes a call of its registry.

Everything before this stage looked at the request from outside. Here the body is read
for the first time, brought to its normal form, given its defaults, and handed on; and
what comes back is wrapped in the form the client asked for.

Upstream: `apiserver/pkg/endpoints/installer.go` (`registerResourceHandlers`),
`handlers/{create,get,update,patch,delete}.go`, v1.36. Left out: streaming lists.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from lifecycle.api import status
from lifecycle.api.managed_fields import update_managed_fields
from lifecycle.api.resources import Resource, find_resource
from lifecycle.api.tracing import span
from lifecycle.api.wire import Object, Request, RequestInfo, Response
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.audit.context import log_request_object
from lifecycle.apiserver.endpoints.bodies import parse_body, read_delete_options
from lifecycle.apiserver.endpoints.component_statuses import (
    get_component_status,
    list_component_statuses,
)
from lifecycle.apiserver.endpoints.connect import PodConnector
from lifecycle.apiserver.endpoints.conversion import converted
from lifecycle.apiserver.endpoints.deprecations import deprecation_warning
from lifecycle.apiserver.endpoints.lists import ListEndpoint
from lifecycle.apiserver.endpoints.negotiation import JSON, Accepted, negotiate
from lifecycle.apiserver.endpoints.options import (
    bool_option,
    check_patch_options,
    check_write_options,
)
from lifecycle.apiserver.endpoints.patch_bodies import parse_patch
from lifecycle.apiserver.endpoints.proxy import locate, proxy
from lifecycle.apiserver.endpoints.routes import check_route, no_such_resource
from lifecycle.apiserver.registry import scales
from lifecycle.apiserver.registry.authorization.reviews import Review
from lifecycle.apiserver.registry.core.pod.binding import bind
from lifecycle.apiserver.registry.core.pod.eviction import evict
from lifecycle.apiserver.registry.deletion import DeleteOptions, delete
from lifecycle.apiserver.registry.listing import parse_revision
from lifecycle.apiserver.registry.metadata import (
    AFTER_ADMISSION,
    check_identity,
    check_namespace,
    dedup_owner_references,
    keep_reset,
)
from lifecycle.apiserver.registry.patching import patch, report_strict
from lifecycle.apiserver.registry.rest.strategy import APPLY_PATCH, Strategy
from lifecycle.apiserver.registry.scope import RequestScope, scope_of
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.storage.cacher.cached_object import Cached

DELETE_COLLECTION_PAGE = 10_000

Endpoint = Callable[["ResourceHandler", Request, RequestScope], Awaitable[Response]]


CONNECTING = frozenset({"attach", "exec", "log", "portforward"})
"""Subresources that upstream answers by asking the kubelet over a connection of its
own.
"""


class ResourceHandler:
    """Serves every resource of discovery. `virtual` are resources that are answered but
    never stored.
    """

    def __init__(
        self,
        environment: Environment,
        stores: dict[tuple[str, str], ResourceStore],
        virtual: dict[tuple[str, str], Review],
        virtual_subresources: dict[tuple[str, str, str], Callable[..., Any]],
    ) -> None:
        self.environment = environment
        self.stores = stores
        self.virtual = virtual
        self.virtual_subresources = virtual_subresources
        self.lists = ListEndpoint(environment)
        self.connector = PodConnector({})

    async def __call__(self, request: Request) -> Response:
        """Answer a resource request. Raises StatusError for every refusal."""
        try:
            return await self._serve(request)
        except (RecursionError, TypeError) as error:
            if (
                isinstance(error, RecursionError)
                or str(error) == "Recursion limit reached"
            ):  # the latter is orjson's
                raise status.bad_request("exceeded max depth") from None
            raise

    async def _serve(self, request: Request) -> Response:
        info = request.info
        assert info is not None
        resource = self.find(info)
        if resource is None or info.path.startswith("//"):
            return no_such_resource(info)
        check_route(request.method, info, resource)
        scope = scope_of(request, resource, self.strategy(resource))
        warning = deprecation_warning(resource)
        if warning:
            request.warnings.append(warning)
        if info.subresource:
            return await self._subresource(request, scope)
        if info.verb not in resource.verbs or len(info.parts) > 2:
            raise (
                status.method_not_allowed()
                if len(info.parts) <= 2
                else status.generic_not_found()
            )
        endpoint = _VERBS.get(info.verb)
        # a name belongs to get, update, patch and delete, and to nothing else; a list
        # of one name is still a list
        if (
            endpoint is None
            or (info.verb in ("update", "patch", "delete") and not info.name)
            or (info.verb == "create" and info.name)
        ):
            raise status.method_not_allowed()
        if resource.plural == "componentstatuses":
            found = (
                get_component_status(info.name)
                if info.verb == "get"
                else list_component_statuses()
            )
            return Response(200, obj=found)
        return await endpoint(self, request, scope)

    def find(self, info: RequestInfo) -> Resource | None:
        """The resource that a URL names, if it is served here."""
        return find_resource(info.group, info.version, info.resource)

    def strategy(self, resource: Resource) -> Strategy:
        """The rules of the resource's kind: its registry's, if it has one."""
        store = self.stores.get(resource.store_key)
        if store is not None and store.resource is resource:
            return store.strategy
        return strategy_for(resource.api_version, resource.kind)

    def store(self, scope: RequestScope) -> ResourceStore:
        """The registry of the scope's resource."""
        store = self.stores.get(scope.resource.store_key)
        if (
            store is None or store.resource is not scope.resource
        ):  # a version that is published but not kept here
            raise status.generic_not_found()
        return store

    def _stored(self, plural: str, namespace: str, name: str) -> Object:
        """An object of the core group. Raises StatusError 404."""
        return self.stores["", plural].get(namespace, name).obj

    # -- verbs -------------------------------------------------------------------------

    async def get(self, request: Request, scope: RequestScope) -> Response:
        """One object."""
        accepted = _form(request)
        wanted = request.param("resourceVersion")
        if wanted not in ("", "0"):
            current = self.environment.store.revision
            if parse_revision(wanted) > current:
                raise status.too_large_resource_version(int(wanted), current)
        return self._answer(
            request, scope, self.store(scope).get(scope.namespace, scope.name), accepted
        )

    async def list_or_watch(self, request: Request, scope: RequestScope) -> Response:
        """A list, or a stream of changes."""
        return await self.lists.serve(request, scope)

    async def create(self, request: Request, scope: RequestScope) -> Response:
        """A new object."""
        accepted = _form(request)
        check_write_options(request, "CreateOptions")
        review = self.virtual.get((scope.resource.group, scope.resource.plural))
        obj = self._read(
            request, scope, scope.resource.api_version, scope.resource.kind
        )
        if review is not None:
            self._track(None, obj, scope)
            return Response(201, obj=await review(request, obj))
        if (scope.resource.group, scope.resource.plural) == ("", "bindings"):
            return await self._bind(request, scope, obj)
        check_namespace(obj, scope)
        dedup_owner_references(obj, scope.warnings)
        self._track(None, obj, scope)
        created = await self.store(scope).create(obj, scope)
        return self._answer(request, scope, created, accepted, 201)

    async def update(self, request: Request, scope: RequestScope) -> Response:
        """A whole new version of an object."""
        accepted = _form(request)
        check_write_options(request, "UpdateOptions")
        obj = self._read(
            request, scope, scope.resource.api_version, scope.resource.kind
        )
        check_identity(obj, scope)
        dedup_owner_references(obj, scope.warnings)
        named_version = bool(obj["metadata"].get("resourceVersion"))

        async def change(live: Object | None) -> Object:
            new = {**obj, "metadata": dict(obj["metadata"])}
            self._track(live, new, scope)
            if live is not None:
                await self._admit(scope, new, live)
            return new

        uid = obj["metadata"].get("uid", "")
        cached, created = await self.store(scope).update(
            scope, change, retry=not named_version, uid=uid
        )
        return self._answer(request, scope, cached, accepted, 201 if created else 200)

    async def patch(self, request: Request, scope: RequestScope) -> Response:
        """A change described by a patch."""
        accepted = _form(request)
        content_type, (recipe, found), force = self._recipe(request, scope)
        cached, created = await patch(
            self.store(scope), scope, content_type, recipe, found, force=force
        )
        return self._answer(request, scope, cached, accepted, 201 if created else 200)

    async def delete(self, request: Request, scope: RequestScope) -> Response:
        """One object less, sooner or later."""
        accepted = _form(request)
        answer, gone = await delete(self.store(scope), scope, _options(request, scope))
        if answer["kind"] == "Status" or gone is None:
            return Response(200, obj=answer)
        return self._answer(request, scope, Cached("", answer, 0), accepted)

    async def delete_collection(
        self, request: Request, scope: RequestScope
    ) -> Response:
        """Everything that the selectors match."""
        accepted = _form(request)
        page = await self.lists.page(request, scope, DELETE_COLLECTION_PAGE)
        options = _options(request, scope)
        for row in page.rows:
            name = row.obj["metadata"]["name"]
            one = RequestScope(
                scope.resource,
                row.obj["metadata"].get("namespace", ""),
                name,
                "",
                scope.user,
                scope.manager,
                scope.dry_run,
                strategy=scope.strategy,
            )
            try:
                await delete(self.store(scope), one, options)
            except status.StatusError as error:
                if error.reason != "NotFound":
                    raise
        return self.lists.answer(request, scope, page, accepted)

    # -- subresources ------------------------------------------------------------------

    async def _subresource(self, request: Request, scope: RequestScope) -> Response:
        info = request.info
        assert info is not None
        resource, name = scope.resource, scope.subresource
        row = resource.subresource(name)
        if row is None or (len(info.parts) > 3 and name != "proxy"):
            raise status.generic_not_found()
        if info.verb not in row.verbs and name != "proxy":
            raise status.method_not_allowed()
        virtual = self.virtual_subresources.get((resource.group, resource.plural, name))
        if virtual is not None:
            version = f"{row.group}/{row.version}" if row.group else row.version
            obj = self._read(request, scope, version, row.kind)
            check_namespace(obj, scope)
            self._track(None, obj, scope, version)
            await self._admit(
                scope, obj, None
            )  # NodeRestriction holds kubelets to tokens of their own pods
            return Response(201, obj=virtual(request, obj))
        if name == "scale":
            return await self._scale(request, scope)
        if (resource.plural, name) == ("pods", "binding"):
            return await self._bind(
                request, scope, self._read(request, scope, "v1", "Binding")
            )
        if (resource.plural, name) == ("pods", "eviction"):
            eviction = self._read(
                request, scope, "policy/v1", "Eviction", alias="policy/v1beta1"
            )
            check_namespace(eviction, scope)
            budgets = self.stores["policy", "poddisruptionbudgets"]
            return Response(
                201, obj=await evict(self.store(scope), budgets, scope, eviction)
            )
        if name == "proxy":
            location = locate(
                resource.plural, scope.namespace, scope.name, self._stored
            )
            return await proxy(request, location, self.connector.nodes)
        if name in CONNECTING:
            pod = self.store(scope).get(scope.namespace, scope.name)
            return await self.connector.connect(request, pod.obj, name)
        if row.kind == resource.kind and info.verb in ("get", "update", "patch"):
            return await _VERBS[info.verb](self, request, scope)
        raise status.method_not_allowed()

    async def _scale(self, request: Request, scope: RequestScope) -> Response:
        store, verb = self.store(scope), request.info.verb if request.info else ""
        accepted = _form(request)
        if verb == "get":
            scale = scales.get_scale(store, scope)
        elif verb == "update":
            new = self._read(request, scope, scales.VERSION, scales.KIND)
            scale = await scales.update_scale(store, scope, new)
        else:
            content_type, (recipe, _), force = self._recipe(request, scope)
            scale = await scales.patch_scale(
                store, scope, content_type, recipe, force=force
            )
        answered = replace(scope, strategy=strategy_for(scales.VERSION, scales.KIND))
        return self._answer(request, answered, Cached("", scale, 0), accepted)

    async def _bind(
        self, request: Request, scope: RequestScope, binding: Object
    ) -> Response:
        check_namespace(binding, scope)
        pod = find_resource("", "v1", "pods")
        assert pod is not None
        name = scope.name or (binding.get("metadata") or {}).get("name", "")
        bound = RequestScope(
            pod,
            scope.namespace,
            name,
            "binding",
            scope.user,
            scope.manager,
            scope.dry_run,
        )
        return Response(201, obj=await bind(self.stores["", "pods"], bound, binding))

    # -- bodies and answers ------------------------------------------------------------

    def _read(
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
            check = scope.field_validation != "Ignore"
            sent, duplicates = parse_body(request, kind, duplicates=check)
            if (
                alias
                and isinstance(sent, dict)
                and (sent.get("apiVersion"), sent.get("kind")) == (alias, kind)
            ):
                sent = {**sent, "apiVersion": api_version}
            strategy = scope.strategy
            if kind != scope.resource.kind:  # of a subresource: a Scale, a Binding …
                strategy = strategy_for(api_version, kind)
            obj, strict = strategy.decode(sent, api_version, kind)
            report_strict([*duplicates, *strict], scope)
            strategy.set_defaults(obj)
            keep_reset(sent, obj)
        if "metadata" not in obj or obj["metadata"] is None:
            obj["metadata"] = {}
        log_request_object(obj)
        return obj

    def _track(
        self,
        live: Object | None,
        new: Object,
        scope: RequestScope,
        api_version: str = "",
    ) -> None:
        update_managed_fields(
            live, new, manager=scope.manager,
            api_version=api_version or scope.resource.api_version,
            subresource=scope.subresource, now=self.environment.clock.timestamp(),
            type_=scope.strategy.type,
        )  # fmt: skip

    async def _admit(
        self, scope: RequestScope, new: Object, live: Object | None
    ) -> None:
        attributes = Attributes(
            UPDATE if live is not None else CREATE, scope.resource, scope.subresource,
            scope.namespace, scope.name,
            new, live, scope.options, scope.user, scope.dry_run, scope.warnings,
        )  # fmt: skip
        await self.environment.admission.admit(attributes)
        dedup_owner_references(new, scope.warnings, AFTER_ADMISSION)

    def _recipe(
        self, request: Request, scope: RequestScope
    ) -> tuple[str, tuple[Any, list[str]], bool]:
        content_type = request.headers.get("content-type", "").partition(";")[0].strip()
        if content_type not in scope.strategy.patch_types:
            raise self.unsupported_patch(content_type)
        force = bool(bool_option(request, "force"))
        check_patch_options(request, apply=content_type == APPLY_PATCH)
        if request.obj is not None:
            return content_type, (request.obj, []), force
        try:
            return content_type, parse_patch(content_type, request.body), force
        except status.StatusError:
            if (
                content_type != APPLY_PATCH
            ):  # a patch is read once there is something to patch
                self.store(scope).get(scope.namespace, scope.name)
            raise

    def unsupported_patch(self, content_type: str) -> status.StatusError:
        """What is said of a patch of a type that the resource does not take."""
        return status.failure(
            415, "UnsupportedMediaType", "415: Unsupported Media Type", {}
        )

    def _answer(
        self,
        request: Request,
        scope: RequestScope,
        cached: Cached,
        accepted: Accepted | None,
        code: int = 200,
    ) -> Response:
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


def _form(request: Request) -> Accepted | None:
    """The negotiated form; None for callers that take objects. Checked before anything
    is written.
    """
    return None if request.accepts_object else negotiate(request)


def _options(request: Request, scope: RequestScope) -> DeleteOptions:
    options = read_delete_options(request)
    preconditions = options.get("preconditions") or {}
    scope.dry_run = bool(options.get("dryRun"))
    return DeleteOptions(
        grace=options.get("gracePeriodSeconds"),
        propagation=options.get("propagationPolicy") or "",
        orphan_dependents=options.get("orphanDependents"),
        uid=preconditions.get("uid", ""),
        resource_version=preconditions.get("resourceVersion", ""),
    )


_VERBS: dict[str, Endpoint] = {
    "get": ResourceHandler.get,
    "list": ResourceHandler.list_or_watch,
    "watch": ResourceHandler.list_or_watch,
    "create": ResourceHandler.create,
    "update": ResourceHandler.update,
    "patch": ResourceHandler.patch,
    "delete": ResourceHandler.delete,
    "deletecollection": ResourceHandler.delete_collection,
}


def storable(resource: Resource) -> bool:
    """Whether objects of a resource are kept at all."""
    return "list" in resource.verbs and "create" in resource.verbs
