"""The part of the server that CustomResourceDefinitions make: put together.

Upstream: `apiextensions-apiserver/pkg/apiserver/apiserver.go` (`CompletedConfig.New`),
v1.36. There it is a server of its own in the delegation chain, behind the built-in
resources; here it is asked when no built-in resource fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.conditions import is_condition_true
from lifecycle.api.custom_resources import resource_of
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.worker import beside, size_of
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.apiextensions.controllers import DefinitionControllers
from lifecycle.apiserver.apiextensions.definitions import FINALIZER, is_served
from lifecycle.apiserver.apiextensions.handler import CustomResourceHandler, scope_for
from lifecycle.apiserver.apiextensions.openapi import document
from lifecycle.apiserver.managedfields import update_managed_fields
from lifecycle.apiserver.non_resource.served_groups import version_priority
from lifecycle.apiserver.registry.admission import RequestAdmission, validate_all
from lifecycle.apiserver.registry.deletion import DeleteOptions, delete
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.storage.cache_reader import CacheReader
from lifecycle.apiserver.storage.cacher.cache_watcher import CacheWatcher, Criteria
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.apiserver.storage.object_reader import KindReader, ObjectReader
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver

DOCUMENTS, LONGEST_PARTS = 256, 32 * 1024
"""How many documents are remembered, and from how many bytes of definitions on none
is: one takes twice as many, and seventy thousand bytes more.
"""


MANAGER = "kube-apiserver"
"""Who writes what the controllers have found out."""


class Extensions:
    """Custom resources, and the controllers of their definitions. `resolver` finds the
    Services of conversion webhooks. `await start()` once
    the caches are filled.
    """

    def __init__(
        self,
        environment: Environment,
        definitions: ResourceStore,
        reader: ObjectReader,
        resolver: ServiceResolver,
    ) -> None:
        self._store = definitions
        self._row = resource("customresourcedefinitions.apiextensions.k8s.io")
        self.handler = CustomResourceHandler(environment, self._find, resolver)
        self.controllers = DefinitionControllers(self, environment.clock)
        self._rows: tuple[int, list[Resource]] = (-1, [])
        self._kinds: tuple[list[Resource], dict[tuple[str, str], Resource]] = ([], {})

    async def start(self) -> None:
        """Begin to follow the definitions."""
        self.controllers.start(self._watch)

    async def stop(self) -> None:
        """End the controllers and all watches of custom resources."""
        await self.controllers.stop()
        await self.handler.stop()

    def _watch(self) -> CacheWatcher:
        return self._store.cacher.watch(Criteria(), None, initial=True, bookmarks=False)

    def _find(self, name: str) -> Object | None:
        cached = self._store.lookup("", name)
        return cached.obj if cached is not None else None

    # -- what is served: `non_resource.served_groups.ServedGroups` ---------------------

    @property
    def version(self) -> int:
        """Changes whenever anything below may have changed."""
        self._store.cacher.catch_up()
        return self._store.cacher.version

    def resources(self) -> list[Resource]:
        """A row for every version of every definition whose names are accepted, group
        by group, the preferred version first.
        """
        if self._rows[0] != self.version:
            rows = [
                resource_of(definition, version)
                for definition in self.all()
                if is_served(definition)
                and is_condition_true(definition, "Established")
                for version in definition["spec"]["versions"]
                if version.get("served")
            ]
            rows.sort(
                key=lambda row: (row.group, version_priority(row.version), row.plural)
            )
            self._rows = self.version, rows
        return self._rows[1]

    def openapi(self) -> dict[str, bytes]:
        """See `ServedGroups`."""
        by_path: dict[str, list[tuple[Object, Object]]] = {}
        for definition in self.all():
            if not is_condition_true(definition, "Established"):
                continue
            for version in definition["spec"]["versions"]:
                if version.get("served"):
                    path = f"apis/{definition['spec']['group']}/{version['name']}"
                    by_path.setdefault(path, []).append((_told(definition), version))
        return {path: fast_json.dumps(parts) for path, parts in by_path.items()}

    def openapi_document(self, parts: bytes) -> bytes:
        """See `ServedGroups`."""
        return _document(parts)

    def cachers(self) -> list[Cacher]:
        """The caches of all custom resources that anybody has asked for."""
        return self.handler.cachers()

    async def serve(self, request: Request) -> Response | None:
        """The answer to a request for a custom resource; None if there is none such."""
        return await self.handler(request)

    async def reader_of(self, api_version: str, kind: str) -> KindReader | None:
        """Who reads the objects of a custom kind; None if no definition has it."""
        rows = self.resources()
        if self._kinds[0] is not rows:
            self._kinds = rows, {(row.api_version, row.kind): row for row in rows}
        row = self._kinds[1].get((api_version, kind))
        if row is None:
            return None
        definition = self._find(f"{row.plural}.{row.group}")
        if definition is None:
            return None
        handler = await self.handler.handler_for(definition, row.version)
        if handler is None:
            return None
        return KindReader(row, CacheReader(handler.environment.cachers))

    # -- what the controllers ask for: `controllers.Definitions` -----------------------

    def all(self) -> Iterable[Object]:
        """See `Definitions`."""
        self._store.cacher.catch_up()
        return [cached.obj for cached in self._store.cacher.ordered()]

    async def update_status(self, definition: Object) -> Object:
        """See `Definitions`."""
        return await self._write(definition, "status")

    async def remove_finalizer(self, definition: Object) -> None:
        """See `Definitions`."""
        metadata = definition["metadata"]
        left = [name for name in metadata.get("finalizers") or () if name != FINALIZER]
        await self._write(
            {**definition, "metadata": {**metadata, "finalizers": left}}, ""
        )

    async def _write(self, definition: Object, subresource: str) -> Object:
        scope = RequestScope(
            self._row,
            "",
            definition["metadata"]["name"],
            subresource,
            manager=MANAGER,
            strategy=self._store.strategy,
            size=size_of(definition),
        )
        book = partial(
            update_managed_fields,
            manager=scope.manager,
            api_version=self._row.api_version,
            subresource=subresource,
            now=self._store.environment.clock.timestamp(),
            reset_fields=scope.strategy.get_reset_fields(subresource),
        )

        async def change(live: Object | None) -> Object:
            new = {**definition, "metadata": dict(definition["metadata"])}
            await beside(scope.size, book, live, new)
            return new

        admission = RequestAdmission(self._store.environment.admission, scope)
        written, _ = await self._store.update(
            scope, change, admission.validate, create=False, retry=False
        )
        return written.obj

    async def empty(self, definition: Object) -> int:
        """See `Definitions`: deletes in the background, with all rules of a delete;
        counts what finalizers still hold.
        """
        for version in sorted(
            definition["spec"]["versions"],
            key=lambda version: not version.get("storage"),
        ):
            handler = await self.handler.handler_for(definition, version["name"])
            if handler is not None:
                break
        else:
            return 0
        row = resource_of(definition, version)
        store = handler.stores[row.group, row.plural]
        await handler.settle()
        store.cacher.catch_up()
        for cached in list(store.cacher.ordered()):
            metadata = cached.obj["metadata"]
            scope = scope_for(
                handler, row, metadata.get("namespace", ""), metadata["name"]
            )
            try:
                await delete(store, scope, DeleteOptions(), validate_all)
            except StatusError as error:
                if error.code != 404:
                    raise
        store.cacher.catch_up()
        return len(store.cacher)

    async def refresh(self, name: str, definition: Object | None) -> None:
        """See `Definitions`."""
        await self.handler.refresh(name, definition)


def _told(definition: Object) -> Object:
    """What documents tell of a definition beside one version of it."""
    spec = definition["spec"]
    names = {key: spec["names"][key] for key in ("plural", "kind", "listKind")}
    told = {key: spec.get(key) for key in ("group", "scope", "preserveUnknownFields")}
    return {"spec": {**told, "names": names}}


@short_lru_cache(DOCUMENTS, LONGEST_PARTS)
def _document(parts: bytes) -> bytes:
    return fast_json.dumps(
        document(
            [(definition, version) for definition, version in fast_json.loads(parts)]
        )
    )
