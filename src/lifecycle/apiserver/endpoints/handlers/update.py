"""Update: a whole new version of an object, or of the Scale in it.

The registry may come back with a newer stored object and ask what becomes of that: the
fields are booked and admission is asked again each time.

Upstream: `apiserver/pkg/endpoints/handlers/update.go` (`UpdateResource`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.worker import beside
from lifecycle.api.schema.decode import CannotBeHandledError
from lifecycle.api.schema.empties import moved
from lifecycle.api.status import bad_request
from lifecycle.apiserver.endpoints.handlers.rest import RestHandler, form
from lifecycle.apiserver.endpoints.options import check_write_options
from lifecycle.apiserver.registry import scales
from lifecycle.apiserver.registry.metadata import (
    check_identity,
    dedup_owner_references,
)
from lifecycle.apiserver.registry.scope import RequestScope

UNKNOWN_SCALE = (
    'no kind is registered for the type v1.Scale in scheme "pkg/apiserver/'
    'customresource_handler.go:781"'
)
"""What is said of a Scale of a custom resource, whatever is wrong with it: where the
words for that are looked for, nobody knows the kind.
"""


async def update_resource(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """A whole new version of an object."""
    accepted = form(request)
    check_write_options(request, "UpdateOptions")
    obj = await rest.read(
        request, scope, scope.resource.api_version, scope.resource.kind
    )
    check_identity(obj, scope)
    await beside(scope.size, dedup_owner_references, obj, scope.warnings)
    unconditional = not obj["metadata"].get("resourceVersion")
    admission = rest.admission(scope)

    empties = scope.empties

    async def change(live: Object | None) -> Object:
        new = {**obj, "metadata": dict(obj["metadata"])}
        scope.empties = moved(empties, (obj, new), (obj["metadata"], new["metadata"]))
        await rest.track(live, new, scope)
        await admission.admit(new, live)
        return new

    uid = obj["metadata"].get("uid", "")
    cached, created = await rest.store(scope).update(
        scope, change, admission.validate, retry=unconditional, uid=uid
    )
    return rest.answer(request, scope, cached, accepted, 201 if created else 200)


async def update_scale(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """Another number of replicas."""
    accepted = form(request)
    check_write_options(request, "UpdateOptions")
    try:
        new = await rest.read(request, scope, scales.VERSION, scales.KIND)
    except CannotBeHandledError:
        if scope.strategy.scale is None:
            raise
        raise bad_request(UNKNOWN_SCALE) from None
    scale = await scales.update_scale(rest.store(scope), scope, new)
    return rest.answer_scale(request, scope, scale, accepted)
