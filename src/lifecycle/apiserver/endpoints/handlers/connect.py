"""Connections: exec, attach, port-forward, and the API server as a web proxy.

Admission is asked first, about the operation CONNECT and an object that says what the
connection is for; only then somebody looks whether there is such a pod at all.

Upstream: `apiserver/pkg/endpoints/handlers/rest.go` (`ConnectResource`), v1.36.
"""

from __future__ import annotations

from functools import partial

from lifecycle.api import status
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.apiserver.endpoints.connect_options import connect_options
from lifecycle.apiserver.endpoints.handlers.rest import RestHandler
from lifecycle.apiserver.endpoints.proxy import locate, proxy
from lifecycle.apiserver.registry.scope import RequestScope


async def connect_resource(
    rest: RestHandler, request: Request, scope: RequestScope, kind: str
) -> Response:
    """A connection, if admission has nothing against it. `kind` is that of its
    options. Raises StatusError.
    """
    info = request.info
    assert info is not None
    if "dryRun" in request.query:
        raise status.bad_request("dryRun is not supported")
    options = connect_options(kind, request.query, info)
    await rest.admission(scope).connect(options)
    if scope.subresource == "proxy":
        location = locate(
            scope.resource.plural, scope.namespace, scope.name, partial(_stored, rest)
        )
        path = options.get("path", "")
        return await proxy(request, location, rest.connector.nodes, path)
    pod = rest.store(scope).get(scope.namespace, scope.name)
    return await rest.connector.connect(request, pod.obj, scope.subresource, options)


def _stored(rest: RestHandler, plural: str, namespace: str, name: str) -> Object:
    """An object of the core group. Raises StatusError 404."""
    return rest.stores["", plural].get(namespace, name).obj
