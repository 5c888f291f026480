"""Create: read, book the fields, let admission change, store.

Upstream: `apiserver/pkg/endpoints/handlers/create.go` (`createHandler`), v1.36.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.worker import beside
from lifecycle.api.resources import resource_for_kind
from lifecycle.apiserver.endpoints.handlers.rest import RestHandler, form
from lifecycle.apiserver.endpoints.options import check_write_options
from lifecycle.apiserver.registry.core.pod.binding import bind
from lifecycle.apiserver.registry.core.pod.eviction import evict
from lifecycle.apiserver.registry.metadata import (
    check_namespace,
    dedup_owner_references,
    wipe_object_meta,
)
from lifecycle.apiserver.registry.scope import RequestScope


async def create_resource(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """A new object."""
    resource = scope.resource
    review = rest.virtual.get((resource.group, resource.plural))
    accepted = form(request, tables=review is None)
    check_write_options(request, "CreateOptions")
    obj = await rest.read(request, scope, resource.api_version, resource.kind)
    check_namespace(obj, scope)
    await beside(scope.size, dedup_owner_references, obj, scope.warnings)
    wipe_object_meta(obj)
    await rest.track(None, obj, scope)
    admission = rest.admission(scope)
    await admission.admit(obj, None)
    if review is not None:
        answer = await review(request, obj, admission.validate)
        return Response(201, obj=answer, size=scope.size)
    created = await rest.store(scope).create(obj, scope, admission.validate)
    return rest.answer(request, scope, created, accepted, 201)


async def create_token(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """An answer of a virtual subresource: a token of a service account."""
    resource, row = scope.resource, scope.resource.subresource(scope.subresource)
    assert row is not None
    check_write_options(request, "CreateOptions")
    version = f"{row.group}/{row.version}" if row.group else row.version
    obj = await rest.read(request, scope, version, row.kind)
    check_namespace(obj, scope)
    await rest.track(None, obj, scope, version)
    # NodeRestriction holds kubelets to tokens of their own pods
    admission = rest.admission(scope)
    await admission.admit(obj, None)
    key = (resource.group, resource.plural, scope.subresource)
    made = await rest.virtual_subresources[key](request, obj, admission.validate)
    return Response(201, obj=made, size=scope.size)


async def create_binding(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """A pod's node. The pod is named by the URL, or by the binding that is posted to
    the collection. Upstream: `BindingREST`, `LegacyBindingREST`.
    """
    form(request)
    check_write_options(request, "CreateOptions")
    binding = await rest.read(request, scope, "v1", "Binding")
    check_namespace(binding, scope)
    if not scope.subresource:  # whoever posts to a collection has no say in its uids
        metadata = binding.get("metadata") or {}
        named = {key: value for key, value in metadata.items() if key != "uid"}
        binding = {**binding, "metadata": named}
    pod = resource_for_kind("v1", "Pod")
    assert pod is not None
    bound = RequestScope(
        resource=pod,
        namespace=scope.namespace,
        name=scope.name or (binding.get("metadata") or {}).get("name", ""),
        subresource="binding",
        user=scope.user,
        manager=scope.manager,
        dry_run=scope.dry_run,
        warnings=scope.warnings,
        options=scope.options,
    )
    # one that is posted to the collection is admitted as what it is
    admitted = bound if scope.subresource else replace(scope, name=bound.name)
    await rest.track(None, binding, admitted)
    admission = rest.admission(admitted)
    await admission.admit(binding, None)
    store = rest.stores["", "pods"]
    return Response(201, obj=await bind(store, bound, binding, admission.validate))


async def create_eviction(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """A pod's end, if its budget lets it go."""
    check_write_options(request, "CreateOptions")
    eviction = await rest.read(
        request, scope, "policy/v1", "Eviction", alias="policy/v1beta1"
    )
    check_namespace(eviction, scope)
    await rest.track(None, eviction, scope, "policy/v1")
    admission = rest.admission(scope)
    await admission.admit(eviction, None)
    budgets = rest.stores["policy", "poddisruptionbudgets"]
    answer = await evict(
        rest.store(scope), budgets, scope, eviction, admission.validate
    )
    return Response(201, obj=answer)
