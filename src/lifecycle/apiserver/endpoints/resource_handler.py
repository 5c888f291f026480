"""The end of the handler chain: a verb on a resource becomes a call of its registry.

Everything before this stage looked at the request from outside. The verb's handler
(`handlers/`) reads the body for the first time, brings it to its normal form, gives it
its defaults, has admission change it, and hands it on; and what comes back is wrapped
in the form the client asked for.

Upstream: `apiserver/pkg/endpoints/installer.go` (`registerResourceHandlers`), v1.36.
Left out: streaming lists.
"""

from __future__ import annotations

from lifecycle.api import status
from lifecycle.api.http.wire import Request, RequestInfo, Response
from lifecycle.api.resources import Resource, find_resource
from lifecycle.apiserver.endpoints.connect_options import CONNECTING
from lifecycle.apiserver.endpoints.handlers.bounded import Endpoint, bounded
from lifecycle.apiserver.endpoints.handlers.connect import connect_resource
from lifecycle.apiserver.endpoints.handlers.create import (
    create_binding,
    create_eviction,
    create_resource,
    create_token,
)
from lifecycle.apiserver.endpoints.handlers.delete import (
    delete_collection,
    delete_resource,
)
from lifecycle.apiserver.endpoints.handlers.get import (
    get_log,
    get_resource,
    get_scale,
    list_resource,
)
from lifecycle.apiserver.endpoints.handlers.patch import patch_resource, patch_scale
from lifecycle.apiserver.endpoints.handlers.rest import RestHandler
from lifecycle.apiserver.endpoints.handlers.update import (
    update_resource,
    update_scale,
)
from lifecycle.apiserver.endpoints.routes import check_route, no_such_resource
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.scope import RequestScope, scope_of
from lifecycle.apiserver.registry.strategies import strategy_for

VERBS: dict[str, Endpoint] = {
    "get": get_resource,
    "list": list_resource,
    "watch": list_resource,
    "create": bounded(create_resource),
    "update": bounded(update_resource),
    "patch": bounded(patch_resource),
    "delete": bounded(delete_resource),
    "deletecollection": delete_collection,
}
KIND_VERBS: dict[tuple[str, str], dict[str, Endpoint]] = {
    ("", "Binding"): {"create": bounded(create_binding)},
    ("policy", "Eviction"): {"create": bounded(create_eviction)},
    ("autoscaling", "Scale"): {
        "get": get_scale,
        "update": bounded(update_scale),
        "patch": bounded(patch_scale),
    },
}
"""Kinds, by group, that are not kept, be they a resource or the subresource of another
kind: what is done with them is done to something else. Upstream: the storages of
`pods/binding`, `bindings`, `pods/eviction` and `…/scale` (`BindingREST`,
`EvictionREST`, `ScaleREST`).
"""

CREATE_TOKEN = bounded(create_token)


class ResourceHandler(RestHandler):
    """Serves every resource of discovery."""

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
        if scope.strategy.deprecation:
            request.warnings.append(scope.strategy.deprecation)
        if info.subresource:
            return await self._subresource(request, scope)
        if info.verb not in resource.verbs or len(info.parts) > 2:
            raise (
                status.method_not_allowed()
                if len(info.parts) <= 2
                else status.generic_not_found()
            )
        verbs = KIND_VERBS.get((resource.group, resource.kind), VERBS)
        endpoint = verbs.get(info.verb)
        # a name belongs to get, update, patch and delete, and to nothing else; a list
        # of one name is still a list
        if (
            endpoint is None
            or (info.verb in ("update", "patch", "delete") and not info.name)
            or (info.verb == "create" and info.name)
        ):
            raise status.method_not_allowed()
        if scope.strategy.read is not None:
            return Response(200, obj=scope.strategy.read(info.name))
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

    async def _subresource(self, request: Request, scope: RequestScope) -> Response:
        info = request.info
        assert info is not None
        resource, name = scope.resource, scope.subresource
        row = resource.subresource(name)
        if row is None or (len(info.parts) > 3 and name != "proxy"):
            raise status.generic_not_found()
        if info.verb not in row.verbs and name != "proxy":
            raise status.method_not_allowed()
        if (resource.group, resource.plural, name) in self.virtual_subresources:
            return await CREATE_TOKEN(self, request, scope)
        verbs = KIND_VERBS.get((row.group, row.kind))
        if verbs is not None:
            return await verbs[info.verb](self, request, scope)
        if (row.group, name) == ("", "log"):
            return await get_log(self, request, scope)
        if row.group == "" and row.kind in CONNECTING:
            return await connect_resource(self, request, scope, row.kind)
        if row.kind == resource.kind and info.verb in ("get", "update", "patch"):
            return await VERBS[info.verb](self, request, scope)
        raise status.method_not_allowed()


def storable(resource: Resource) -> bool:
    """Whether objects of a resource are kept at all."""
    return "list" in resource.verbs and "create" in resource.verbs
