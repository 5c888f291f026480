"""What is served of one definition: for each version a resource, a strategy, a cache
and a registry.

All versions share the keys in the store. Each has a cache of its own, which reads the
stored version into its own. The conversion `None` only changes `apiVersion`, so that
what the stored version's schema does not have is lost; with `Webhook`, somebody else is
asked. When a definition changes, everything here is thrown
away and made anew; who watches, begins again.

Upstream: `apiextensions-apiserver/pkg/apiserver/customresource_handler.go` (`crdInfo`,
`getOrCreateServingInfoFor`, `tearDown`),
`pkg/apiserver/conversion/{converter,nop_converter}.go`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lifecycle.api.custom_resources import resource_of, storage_version
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import beside, size_of
from lifecycle.api.resources import Resource
from lifecycle.apiserver.apiextensions.conversion_webhook import WebhookConverter
from lifecycle.apiserver.apiextensions.converting_cacher import ConvertingCacher
from lifecycle.apiserver.apiextensions.strategy import CustomResourceRules
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.storage.cacher.cached_object import Cached
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver


class CustomResourceStore(ResourceStore):
    """The registry of one version."""

    def __init__(
        self,
        resource: Resource,
        environment: Environment,
        strategy: Strategy,
        kept_as: str,
        converter: WebhookConverter | None,
        from_storage: Callable[[Object], Object],
    ) -> None:
        super().__init__(resource, environment, strategy)
        self._kept_as = kept_as
        self._converter = converter
        self._from_storage = from_storage
        self._converted: dict[int, Object] = {}

    async def _write(
        self, key: str, obj: Object, expected: int, size: int
    ) -> Cached | None:
        """See `ResourceStore`; before, a webhook is asked for the version that is
        stored. Raises ConversionError.
        """
        if self._converter is None:
            return await super()._write(key, obj, expected, size)
        (self._converted[id(obj)],) = await self._converter.convert(
            [obj], self._kept_as
        )
        try:
            return await super()._write(key, obj, expected, size)
        finally:
            self._converted.pop(id(obj), None)

    def as_written(self, obj: Object) -> Object:
        """See `ResourceStore`: what the schema of the stored version does not know is
        not read again.
        """
        if self._converter is not None or obj["apiVersion"] == self._kept_as:
            return obj
        return self._from_storage(deepcopy(self.to_storage(obj)))

    async def settle(self) -> None:
        """Before anything is read: what a webhook has to convert is converted, and what
        is large is read. Raises ConversionError, StoreError.
        """
        await self.cacher.settle()

    def to_storage(self, obj: Object) -> Object:
        """In the storage version."""
        if self._converter is not None:
            return self._converted[id(obj)]
        return (
            obj
            if obj["apiVersion"] == self._kept_as
            else {**obj, "apiVersion": self._kept_as}
        )


@dataclass(slots=True)
class ServedVersion:
    """One version of a definition as it is served."""

    resource: Resource
    store: CustomResourceStore
    environment: Environment
    source: Object


class Served:
    """One definition as it is served. `await start()` before use, `await stop()` when
    it has changed or gone.
    """

    def __init__(
        self, definition: Object, environment: Environment, resolver: ServiceResolver
    ) -> None:
        self.definition = definition
        converter = None
        if (definition["spec"].get("conversion") or {}).get("strategy") == "Webhook":
            converter = WebhookConverter(definition, resolver, environment.names)
        self._environment, self._converter = environment, converter
        self._kept_as = f"{definition['spec']['group']}/{storage_version(definition)}"
        self.versions: dict[str, ServedVersion] = {}

    @property
    def identity(self) -> Any:
        """What must not change, or all is made anew."""
        return identity_of(self.definition)

    async def start(self) -> None:
        """Make and fill the caches, one version after the other: there may be
        thousands, and others have their turn between them. Raises StoreError.
        """
        versions = self.definition["spec"]["versions"]
        kept = await self._rules(next(each for each in versions if each.get("storage")))
        try:
            for version in versions:
                if version.get("served"):
                    is_kept = version.get("storage")
                    rules = kept if is_kept else await self._rules(version)
                    served = self._serve(version, rules, kept)
                    self.versions[version["name"]] = served
                    await served.store.cacher.start()
                    await asyncio.sleep(0)
        except BaseException:  # whoever asked may have gone meanwhile
            await self.stop()
            raise

    async def _rules(self, version: Object) -> CustomResourceRules:
        return await beside(
            size_of(version), CustomResourceRules, self.definition, version
        )

    def _serve(
        self, version: Object, rules: CustomResourceRules, kept: CustomResourceRules
    ) -> ServedVersion:
        environment, converter = self._environment, self._converter
        row, strategy = resource_of(self.definition, version), rules.strategy
        from_storage = (
            rules.from_storage
            if converter is not None or rules is kept
            else partial(_through, kept, rules)
        )
        selectable_fields = strategy.field_labels.selectable_fields
        basis = (environment.store, row, selectable_fields, from_storage)
        cacher = (
            Cacher(*basis) if converter is None else ConvertingCacher(*basis, converter)
        )
        own = replace(environment, cachers={(row.group, row.plural): cacher})
        store = CustomResourceStore(
            row, own, strategy, self._kept_as, converter, from_storage
        )
        return ServedVersion(row, store, own, version)

    async def stop(self) -> None:
        """End all watches."""
        for version in self.versions.values():
            await version.store.cacher.stop()

    def freed(self) -> list[asyncio.Future[None]]:
        """Of a stopped one: when what it held is freed."""
        caches = (version.store.cacher for version in self.versions.values())
        return [cacher.freed for cacher in caches if cacher.freed is not None]


def _through(
    kept: CustomResourceRules, rules: CustomResourceRules, obj: Object
) -> Object:
    """A stored object in a version that it is not stored in, without a webhook: read by
    the schema of the stored version, which completes it, and pruned by the other one's.
    Upstream: `schemaCoercingDecoder`, `schemaCoercingConverter`. Changes the object.
    """
    return rules.renamed(kept.from_storage(obj))


def identity_of(definition: Object) -> tuple[Any, ...]:
    """Uid, specification and accepted names."""
    accepted = (definition.get("status") or {}).get("acceptedNames")
    return definition["metadata"]["uid"], definition["spec"], accepted
