"""Get, list, watch.

Upstream: `apiserver/pkg/endpoints/handlers/get.go` (`GetResource`, `ListResource`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api import status
from lifecycle.api.http.wire import Request, Response
from lifecycle.apiserver.endpoints.handlers.rest import RestHandler, form
from lifecycle.apiserver.registry import scales
from lifecycle.apiserver.registry.listing import parse_revision
from lifecycle.apiserver.registry.scope import RequestScope


async def get_resource(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """One object."""
    accepted = form(request)
    version = request.param("resourceVersion")
    if version not in ("", "0"):
        current = rest.environment.store.revision
        if parse_revision(version) > current:
            raise status.too_large_resource_version(int(version), current)
    cached = rest.store(scope).get(scope.namespace, scope.name)
    return rest.answer(request, scope, cached, accepted)


async def list_resource(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """A list, or a stream of changes."""
    return await rest.lists.serve(request, scope)


async def get_scale(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """The number of replicas."""
    accepted = form(request)
    scale = scales.get_scale(rest.store(scope), scope)
    return rest.answer_scale(request, scope, scale, accepted)


async def get_log(rest: RestHandler, request: Request, scope: RequestScope) -> Response:
    """What a container has written. Upstream: `LogREST`."""
    pod = rest.store(scope).get(scope.namespace, scope.name)
    return await rest.connector.log(request, pod.obj)
