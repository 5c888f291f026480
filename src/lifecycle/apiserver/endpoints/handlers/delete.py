"""Delete: one object, or all that the selectors match.

Upstream: `apiserver/pkg/endpoints/handlers/delete.go` (`DeleteResource`,
`DeleteCollection`), v1.36.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import beside
from lifecycle.api.status import StatusError
from lifecycle.apiserver.audit.context import log_request_object
from lifecycle.apiserver.endpoints.bodies import read_delete_options
from lifecycle.apiserver.endpoints.handlers.rest import RestHandler, form
from lifecycle.apiserver.registry.deletion import DeleteOptions, delete
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.storage.cacher.cached_object import Cached

DELETE_COLLECTION_PAGE = 10_000
INTERNAL = "meta.k8s.io/__internal"
"""What the audit log says of options, whatever the client has said: upstream, what is
decoded has no version.
"""
TOLD = ("gracePeriodSeconds", "preconditions", "orphanDependents", "propagationPolicy")
"""Options that admission is told."""


async def delete_resource(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """One object less, sooner or later."""
    accepted = form(request)
    options = await _options(request, scope)
    validate = rest.admission(scope).validate_delete
    answer, gone = await delete(rest.store(scope), scope, options, validate)
    # whoever asked for its dependents is told that it is not done yet, nobody else
    code = 202 if not gone and options.orphan_dependents is False else 200
    if answer["kind"] == "Status":
        return Response(code, obj=answer)
    return rest.answer(request, scope, Cached("", answer, 0), accepted, code)


async def delete_collection(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """Everything that the selectors match."""
    accepted = form(request)
    page = await rest.lists.page(request, scope, DELETE_COLLECTION_PAGE)
    options = await _options(request, scope)
    pauses = Pauses()
    for row in page.rows:
        await pauses.pause()
        metadata = row.obj["metadata"]
        one = replace(
            scope, namespace=metadata.get("namespace", ""), name=metadata["name"]
        )
        # admission is told of the collection, whatever of it goes
        validate = rest.admission(scope).validate_delete
        try:
            await delete(rest.store(scope), one, options, validate)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
    return await rest.lists.answer(request, scope, page, accepted)


async def _options(request: Request, scope: RequestScope) -> DeleteOptions:
    options = await beside(scope.size, read_delete_options, request)
    if request.body:
        said = {key: value for key, value in options.items() if value is not None}
        log_request_object({**said, "kind": "DeleteOptions", "apiVersion": INTERNAL})
    preconditions = options.get("preconditions") or {}
    scope.dry_run = bool(options.get("dryRun"))
    told = {key: options.get(key) for key in TOLD}
    scope.options = {key: value for key, value in told.items() if value is not None}
    return DeleteOptions(
        grace=options.get("gracePeriodSeconds"),
        propagation=options.get("propagationPolicy") or "",
        orphan_dependents=options.get("orphanDependents"),
        uid=preconditions.get("uid", ""),
        resource_version=preconditions.get("resourceVersion", ""),
    )
