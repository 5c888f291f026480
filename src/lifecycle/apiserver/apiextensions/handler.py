"""One handler for all custom resources.

Built-in resources have their routes from the start. For custom ones there is a single
handler that looks at the definitions when a request comes: is there one by the name
`<resource>.<group>`, are its names accepted, is the version served? Then the request
goes the way of all others, with the version's own strategy; otherwise it is passed on,
and ends in a 404.

Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`
(`crdHandler.ServeHTTP`, `defaultDeprecationWarning`), v1.36. Left out: waiting two
seconds before the first create (one server cannot be behind itself), deprecated
versions in metrics.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from lifecycle.api import fast_json, status
from lifecycle.api.conditions import is_condition_true
from lifecycle.api.http.wire import Object, Request, RequestInfo, Response
from lifecycle.api.resources import Resource
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.apiextensions.conversion_webhook import ConversionError
from lifecycle.apiserver.apiextensions.definitions import is_served
from lifecycle.apiserver.apiextensions.served import Served, ServedVersion, identity_of
from lifecycle.apiserver.apiextensions.strategy import PATCH_TYPES
from lifecycle.apiserver.endpoints.negotiation import JSON, PROTOBUF
from lifecycle.apiserver.endpoints.resource_handler import ResourceHandler
from lifecycle.apiserver.non_resource.served_groups import version_priority
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import Environment
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver

TERMINATING = "create not allowed while custom resource definition is terminating"
UNKNOWN_FORMAT = (
    "the body of the request was in an unknown format - accepted media types include:"
    " application/json, application/yaml"
)
ACROSS_NAMESPACES = ("list", "watch")

FindDefinition = Callable[[str], Object | None]


class VersionHandler(ResourceHandler):
    """Serves one version of one definition."""

    def __init__(self, served: ServedVersion) -> None:
        row = served.resource
        self._store = served.store
        super().__init__(served.environment, {(row.group, row.plural): served.store})
        self._row = row

    async def settle(self) -> None:
        """Before anything is read. Raises StatusError 500 if a conversion webhook does
        not do its part.
        """
        try:
            await self._store.settle()
        except ConversionError as error:
            raise status.failure(500, "", str(error)) from None

    def find(self, info: RequestInfo) -> Resource | None:
        """The version's resource."""
        return self._row

    async def __call__(self, request: Request) -> Response:
        """As for built-in kinds; but each item of a collection that was deleted says
        what it is.
        """
        if request.info is None or request.info.verb != "create":  # it reads nothing
            await self.settle()
        try:
            response = await super().__call__(request)
        except ConversionError as error:
            raise status.failure(500, "", str(error)) from None
        obj = response.obj
        if (
            obj is not None
            and "items" in obj
            and request.method == "DELETE"
            and not request.accepts_object
        ):
            return Response(
                response.status,
                {**response.headers, "Content-Type": JSON},
                body=fast_json.dumps(obj),
            )
        return response

    def unsupported_patch(self, content_type: str) -> status.StatusError:
        """415, with the types there are: a strategic merge patch needs merge keys, and
        only built-in kinds have them.
        """
        accepted = ", ".join(PATCH_TYPES)
        message = (
            "the body of the request was in an unknown format - accepted media types"
            f" include: {accepted}"
        )
        return status.failure(415, "UnsupportedMediaType", message)


class _NoCreates:
    """The admission chain of a definition that is being deleted: nothing new. Upstream:
    `forbidCreateAdmission`.
    """

    def __init__(self, environment: Environment) -> None:
        self._inner = environment.admission

    async def admit(self, attributes: Attributes) -> None:
        """Raises StatusError 403 for a create."""
        if attributes.operation == CREATE:
            name, row = attributes.name, attributes.resource
            raise status.forbidden(row.plural, name, TERMINATING, row.group)
        await self._inner.admit(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """As the chain behind."""
        await self._inner.validate(attributes)


class CustomResourceHandler:
    """Serves whatever definitions say. `find` looks a definition up by name, as fresh
    as the store; `resolver` the endpoints of a conversion webhook's Service.
    """

    def __init__(
        self, environment: Environment, find: FindDefinition, resolver: ServiceResolver
    ) -> None:
        self._environment = environment
        self._resolver = resolver
        self._find = find
        self._served: dict[str, Served] = {}
        self._handlers: dict[tuple[str, str], VersionHandler] = {}
        self._lock = asyncio.Lock()
        self._leaving: dict[str, list[asyncio.Future[None]]] = {}

    async def __call__(self, request: Request) -> Response | None:
        """The answer, or None for what no definition serves. Raises StatusError for
        refusals.
        """
        info = request.info
        assert info is not None
        if not info.group:
            return None
        definition = self._find(f"{info.resource}.{info.group}")
        if (
            definition is None
            or not is_served(definition)
            or not self._reaches(definition, info)
        ):
            return None
        handler = await self.handler_for(definition, info.version)
        if handler is None:
            return None
        version = next(
            v for v in definition["spec"]["versions"] if v["name"] == info.version
        )
        if version.get("deprecated"):
            request.warnings.append(
                version.get("deprecationWarning")
                or default_deprecation_warning(info.version, definition)
            )
        self._check_media_types(request)
        resource = handler.find(info)
        if info.subresource and (
            resource is None or resource.subresource(info.subresource) is None
        ):
            raise status.not_found(info.resource, info.name, info.group)
        return await handler(request)

    @staticmethod
    def _reaches(definition: Object, info: RequestInfo) -> bool:
        """Whether the path fits the definition's scope."""
        namespaced = definition["spec"]["scope"] == "Namespaced"
        if not namespaced:
            return not info.namespace
        return bool(info.namespace) or info.verb in ACROSS_NAMESPACES

    @staticmethod
    def _check_media_types(request: Request) -> None:
        """Custom resources have no protobuf form, but their bare metadata has. Raises
        StatusError 406, 415.
        """
        if request.accepts_object:
            return
        accept = request.headers.get("accept", "")
        if PROTOBUF in accept:
            left = [
                clause
                for clause in accept.split(",")
                if PROTOBUF not in clause or "as=PartialObject" in clause
            ]
            if not left:
                message = (
                    "only the following media types are accepted: application/json,"
                    " application/yaml"
                )
                raise status.failure(406, "NotAcceptable", message)
            request.headers = {**request.headers, "accept": ",".join(left)}
        content_type = request.headers.get("content-type", "").partition(";")[0].strip()
        if content_type == PROTOBUF and request.method in ("POST", "PUT"):
            raise status.failure(415, "UnsupportedMediaType", UNKNOWN_FORMAT)

    async def handler_for(
        self, definition: Object, version: str
    ) -> VersionHandler | None:
        """The handler of a version; what has changed is made anew. Raises
        StoreError.
        """
        name = definition["metadata"]["name"]
        async with self._lock:
            served = self._served.get(name)
            if served is None or served.identity != identity_of(definition):
                served = None
                await self._tear_down(name)
                # forty megabytes of objects take ten times as much: not twice
                for freed in self._leaving.pop(name, ()):
                    await freed
                served = Served(definition, self._environment, self._resolver)
                await served.start()
                self._served[name] = served
                for each, what in served.versions.items():
                    self._handlers[name, each] = VersionHandler(what)
        handler = self._handlers.get((name, version))
        if handler is not None:
            terminating = is_condition_true(definition, "Terminating")
            admission = (
                _NoCreates(self._environment)
                if terminating
                else self._environment.admission
            )
            if terminating or handler.environment.admission is not admission:
                handler.environment.admission = admission  # type: ignore[assignment]
        return handler

    def cachers(self) -> list[Cacher]:
        """Of each version that is served."""
        return [
            version.store.cacher
            for served in self._served.values()
            for version in served.versions.values()
        ]

    async def refresh(self, name: str, definition: Object | None) -> None:
        """A definition has changed or gone: end what was served of its old self."""
        async with self._lock:
            served = self._served.get(name)
            if served is not None and (
                definition is None or served.identity != identity_of(definition)
            ):
                await self._tear_down(name)
            if definition is None:
                self._leaving.pop(name, None)

    async def _tear_down(self, name: str) -> None:
        served = self._served.pop(name, None)
        for key in [key for key in self._handlers if key[0] == name]:
            del self._handlers[key]
        if served is not None:
            await served.stop()
            if freed := served.freed():
                self._leaving[name] = freed

    async def stop(self) -> None:
        """End everything."""
        for name in list(self._served):
            await self._tear_down(name)


def default_deprecation_warning(deprecated: str, definition: Object) -> str:
    """What is said of a deprecated version whose definition has no words of its own:
    use the newest one that is served and not deprecated, if it is newer.
    """
    spec = definition["spec"]
    group, kind = spec["group"], spec["names"]["kind"]
    newer = [
        version["name"]
        for version in spec["versions"]
        if version.get("served")
        and not version.get("deprecated")
        and version_priority(version["name"]) < version_priority(deprecated)
    ]
    warning = f"{group}/{deprecated} {kind} is deprecated"
    if newer:
        warning += f"; use {group}/{min(newer, key=version_priority)} {kind}"
    return warning


def scope_for(
    handler: VersionHandler, row: Resource, namespace: str, name: str
) -> RequestScope:
    """A scope for work of the server's own on custom resources."""
    kept = handler.stores[row.group, row.plural]
    return replace(RequestScope(row, namespace, name), strategy=kept.strategy)
