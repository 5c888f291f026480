"""Who serves a request that has come through the chain: built-in resources, then custom
ones, then everything that is no resource.

Upstream: `apiserver/pkg/server/handler.go` (`director`), the delegation chain of
`cmd/kube-apiserver/app/server.go` (`CreateServerChain`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.status import failure
from lifecycle.apiserver.apiextensions.extensions import Extensions
from lifecycle.apiserver.non_resource import NonResourceHandler
from lifecycle.apiserver.non_resource.discovery import group_names
from lifecycle.apiserver.server.consistent_reads import needs_the_newest
from lifecycle.etcd.store import Store, StoreError


class Director:
    """Hands a request to the one who knows its path."""

    def __init__(
        self,
        store: Store,
        resources: Handler,
        extensions: Extensions,
        others: NonResourceHandler,
    ) -> None:
        self._store, self._remote = store, store.remote
        self._resources, self._extensions, self._others = resources, extensions, others

    async def __call__(self, request: Request) -> Response:
        """The answer. Raises StatusError for every refusal."""
        info = request.info
        if info is not None and info.is_resource_request:
            try:
                if self._remote and needs_the_newest(request, self._store.revision):
                    await self._store.catch_up()
                if not info.group or info.group in group_names():
                    return await self._resources(request)
                answer = await self._extensions.serve(request)
            except StoreError as error:
                raise failure(500, "", str(error)) from None
            if answer is not None:
                return answer
        return await self._others.serve(request)
