"""The generic registry: create and update for every resource.

All kinds go the same way. What a client sent is brought to its normal form and given
its defaults; the fields are booked to their manager; admission may change it (all of
this in `endpoints.handlers`); the strategy drops what the client may not set;
validation looks at what is left; then it is written. `rest.strategy` says what differs.

An update is a loop: take the stored object, work out the new one, write it unless
something happened meanwhile; then try again, if the client named no version itself.

Upstream: `registry/generic/registry/store.go` (`Create`, `Update`),
`registry/rest/{create,update}.go`, `storage/etcd3/store.go` (`GuaranteedUpdate`), v1.36
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from lifecycle.api import status
from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import beside
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource
from lifecycle.api.schema.empties import moved_along
from lifecycle.api.status import StatusError
from lifecycle.api.tracing import span
from lifecycle.apiserver.admission.chain import AdmissionChain
from lifecycle.apiserver.registry.admission import Validate
from lifecycle.apiserver.registry.metadata import (
    check_identity,
    check_no_revision,
    check_object_meta,
    check_revision,
    fill_object_meta,
    in_go_order,
    is_unchanged,
)
from lifecycle.apiserver.registry.preconditions import check_stored
from lifecycle.apiserver.registry.rest.create import before_create, canonicalize
from lifecycle.apiserver.registry.rest.sent_empties import causes_as_sent
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.rest.update import before_update, validate_update
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.shared_parts import Siblings, with_parts_of
from lifecycle.apiserver.storage.cacher.cached_object import Cached, Writing
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.etcd.codec import JSON, encode_value
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.lease_manager import LeaseManager
from lifecycle.etcd.store import RequestTooLargeError, Store

MAX_NAME_ATTEMPTS = 8
MAX_CONFLICTS = 30

Change = Callable[[Object | None], Awaitable[Object]]
"""Works out the new object (owned by the registry from then on) from the stored one
(shared), or None if there is none.
"""


@dataclass(slots=True)
class Environment:
    """What the registries of all resources share."""

    store: Store
    clock: Clock
    names: NameSource
    admission: AdmissionChain
    cachers: dict[tuple[str, str], Cacher]
    media_type: str = JSON  # of stored values
    encrypted: bool = False  # whether an unchanged value may have to be written anew
    leases: LeaseManager = field(init=False)

    def __post_init__(self) -> None:
        self.leases = LeaseManager(self.store)

    def cacher(self, resource: Resource) -> Cacher:
        """The watch cache of a resource."""
        return self.cachers[resource.store_key]


class ResourceStore:
    """The registry of one resource. Kinds that allocate or convert (Services, Events)
    fill in the hooks.
    """

    ttl = 0
    """How many seconds objects live; 0: until they are deleted."""

    def __init__(
        self, resource: Resource, environment: Environment, strategy: Strategy
    ) -> None:
        self.resource = resource
        self.environment = environment
        self.strategy = strategy
        self.cacher = environment.cacher(resource)
        self._siblings = Siblings()

    # -- reads -------------------------------------------------------------------------

    def lookup(self, namespace: str, name: str) -> Cached | None:
        """The newest version, as fresh as the store. Raises StatusError 500 for one
        that cannot be decrypted.
        """
        self.cacher.catch_up()
        key = registry_key(self.resource, namespace, name)
        self.cacher.unreadable.check(key)
        return self.cacher.get(key)

    def get(self, namespace: str, name: str) -> Cached:
        """The newest version. Raises StatusError 404."""
        cached = self.lookup(namespace, name)
        if cached is None:
            raise status.not_found(self.resource.plural, name, self.resource.group)
        return self._decorated(cached)

    @property
    def internal_group(self) -> str:
        """The group of the internal type, which refused objects are said to be of."""
        return self.resource.group

    # -- hooks -------------------------------------------------------------------------

    def begin_create(self, obj: Object, scope: RequestScope) -> None:
        """Allocate what a new object needs, before it is validated."""

    def validate_in_cluster(self, obj: Object) -> list[FieldError]:
        """What another object has to say about a new one, before its own rules."""
        return []

    def begin_update(self, new: Object, old: Object, scope: RequestScope) -> None:
        """Allocate or release what a changed object needs."""

    def undo(self, obj: Object) -> None:
        """A write did not happen: give back what `begin_create` took."""

    def to_storage(self, obj: Object) -> Object:
        """The object in the version it is stored in."""
        return obj

    def as_written(self, obj: Object) -> Object:
        """The object as it is read again once it is stored."""
        return obj

    def after_delete(self, obj: Object) -> None:
        """The object is gone: give back what it held."""

    def after_create(self, obj: Object) -> None:
        """The object is stored: finish what `begin_create` began."""

    def decorate(self, obj: Object) -> Object:
        """The object as it is shown; what is stored stays as it is."""
        return obj

    def marked_for_deletion(self, obj: Object) -> Object:
        """The object as it is at the first delete, before finalizers are looked at."""
        return obj

    # -- create ------------------------------------------------------------------------

    async def create(
        self, obj: Object, scope: RequestScope, validate: Validate
    ) -> Cached:
        """Store a new object. `obj` is in normal form, has its defaults and its managed
        fields, has passed mutating admission, and belongs to the registry. `validate`
        has the last word before it is written.
        """
        environment = self.environment
        fill_object_meta(obj, environment.clock, environment.names)
        metadata = obj["metadata"]
        generated = bool(metadata.get("generateName")) and not metadata.get("name")
        if generated:
            metadata["name"] = environment.names.generate_name(metadata["generateName"])
        elif self.strategy.names_itself and not metadata.get("name"):
            metadata["name"] = environment.names.uid()
        scope.warnings.extend(self.strategy.warnings_before_create(obj))
        # a Job takes labels from its own name, so the name comes first
        await beside(scope.size, before_create, self.strategy, obj)
        for attempt in range(MAX_NAME_ATTEMPTS):
            if generated and attempt:  # an attempt leaves other metadata behind
                obj["metadata"]["name"] = environment.names.generate_name(
                    obj["metadata"]["generateName"]
                )
            try:
                return await self._create_named(obj, scope, validate)
            except StatusError as error:
                taken = error.reason == "AlreadyExists"
                if not (generated and taken) or attempt == MAX_NAME_ATTEMPTS - 1:
                    raise
        raise AssertionError("the loop above returns or raises")

    async def _create_named(
        self, obj: Object, scope: RequestScope, validate: Validate
    ) -> Cached:
        resource, name = self.resource, obj["metadata"].get("name", "")
        strategy = self.strategy.in_version(scope.requested_version)
        self.begin_create(obj, scope)
        try:
            with span("apiserver", "validation"):
                in_cluster = self.validate_in_cluster(obj)
                causes = await beside(
                    scope.size,
                    causes_as_sent,
                    lambda: in_cluster + strategy.validate(obj),
                    scope.empties,
                )
            if causes:
                raise await self._invalid(obj, name, causes, scope)
            await beside(scope.size, check_object_meta, obj, resource)
            scope.warnings.extend(
                await beside(scope.size, self.strategy.warnings_on_create, obj)
            )
            await beside(scope.size, canonicalize, self.strategy, obj)
            await validate(obj, None)
            if not scope.dry_run:
                check_no_revision(obj)
            obj["metadata"] = in_go_order(obj["metadata"])
            key = registry_key(resource, scope.namespace, name)
            if scope.dry_run:
                # what could not be stored is refused in a dry run as well
                await beside(scope.size, encode_value, obj, JSON, scope.size)
                if self._holder(scope.namespace, name) is not None:
                    raise self._taken(obj, scope)
                self.undo(obj)
                return Cached(key, obj, 0)
            shared = self._siblings.shared(obj, scope.size)
            written = await self.write(key, shared, 0, scope.size)
            if written is None:
                raise self._taken(obj, scope)
            self.after_create(written.obj)
            return self._decorated(written)
        except BaseException:
            self.undo(obj)
            raise

    def _taken(self, obj: Object, scope: RequestScope) -> StatusError:
        """409 for a name that is taken. Upstream: the end of `Store.Create`,
        `rest.CheckGeneratedNameError`.
        """
        resource, name = self.resource, obj["metadata"]["name"]
        error = status.already_exists(resource.plural, name, resource.group)
        if obj["metadata"].get("generateName"):
            error.status["message"] += (
                ", the server was not able to generate a unique name for the object"
            )
            error.status["details"]["retryAfterSeconds"] = 1
        holder = self._holder(scope.namespace, name)
        if holder is not None and "deletionTimestamp" in holder.obj["metadata"]:
            error.status["message"] = f"object is being deleted: {error.message}"
        return error

    def _holder(self, namespace: str, name: str) -> Cached | None:
        """Who has a name, as far as that can be read."""
        self.cacher.catch_up()
        return self.cacher.get(registry_key(self.resource, namespace, name))

    def _decorated(self, cached: Cached) -> Cached:
        decorated = self.decorate(cached.obj)
        return (
            cached
            if decorated is cached.obj
            else Cached(cached.key, decorated, cached.revision)
        )

    # -- update ------------------------------------------------------------------------

    async def update(
        self,
        scope: RequestScope,
        change: Change,
        validate: Validate,
        *,
        create: bool | None = None,
        retry: bool = True,
        uid: str = "",
    ) -> tuple[Cached, bool]:
        """Replace an object by what `change` makes of it; the result and whether it was
        created. `validate` has the last word before it is written.

        `create` says whether an absent object may be created (None: as the kind
        allows). `retry=False` reports a lost race at once. `uid`: of the object that is
        meant. Raises StatusError 404, 409, 422.
        """
        resource = self.resource
        key = registry_key(resource, scope.namespace, scope.name)
        for _ in range(MAX_CONFLICTS):
            self.cacher.catch_up()
            self.cacher.unreadable.check(key)
            stored = self.cacher.get(key)
            if stored is None:
                if create is None:
                    create = self.strategy.allow_create_on_update
                if not create or scope.subresource:
                    raise status.not_found(resource.plural, scope.name, resource.group)
                check_stored({}, key, scope, uid)
                new = await change(None)
                check_identity(new, scope)
                check_revision(new["metadata"].pop("resourceVersion", None) or "0")
                return await self.create(new, scope, validate), True
            check_stored(stored.obj["metadata"], key, scope, uid)
            scope.size = max(scope.size, self.strategy.weighed(stored.size))
            new = await change(stored.obj)
            outcome = await self._replace(key, stored, new, scope, validate)
            if outcome is not None:
                return outcome, False
            if not retry:
                break
        raise status.conflict(resource.plural, scope.name, group=resource.group)

    async def _invalid(
        self, obj: Object, name: str, causes: list[Object], scope: RequestScope
    ) -> StatusError:
        kind, group = obj.get("kind") or self.resource.kind, self.internal_group
        return await beside(scope.size, status.invalid, kind, name, causes, group)

    async def _replace(
        self,
        key: str,
        stored: Cached,
        new: Object,
        scope: RequestScope,
        validate: Validate,
    ) -> Cached | None:
        """One attempt; None if somebody else wrote in between."""
        resource, old = self.resource, stored.obj
        metadata, old_metadata = new["metadata"], old["metadata"]
        resource_version = metadata.get("resourceVersion", "")
        if not resource_version or resource_version == "0":
            if not self.strategy.allow_unconditional_update:
                cause = {
                    "reason": "FieldValueInvalid",
                    "message": "Invalid value: 0: must be specified for an update",
                    "field": "metadata.resourceVersion",
                }
                raise status.invalid(
                    resource.plural, scope.name, [cause], resource.group
                )
        elif resource_version != old_metadata["resourceVersion"]:
            check_revision(resource_version)
            raise status.conflict(resource.plural, scope.name, group=resource.group)
        new["metadata"] = metadata = {
            **metadata,
            "uid": metadata.get("uid") or old_metadata["uid"],
            "creationTimestamp": old_metadata["creationTimestamp"],
            "resourceVersion": old_metadata["resourceVersion"],
        }
        await beside(scope.size, self._before_update, new, old, scope)
        self.begin_update(new, old, scope)
        strategy = self.strategy.in_version(scope.requested_version)
        with span("apiserver", "validation"):
            causes = await beside(
                scope.size,
                causes_as_sent,
                lambda: validate_update(strategy, new, old, scope.subresource),
                scope.empties,
            )
        if causes:
            raise await self._invalid(new, scope.name, causes, scope)
        warn = self.strategy.warnings_of_update(scope.subresource)
        scope.warnings.extend(await beside(scope.size, warn, new, old))
        await beside(scope.size, self.strategy.canonicalize, new)
        await validate(new, old)
        unchanged = await beside(scope.size, is_unchanged, new, old)
        if unchanged and not await self._is_stale(key):
            return stored
        new["metadata"] = in_go_order(new["metadata"])
        if self._finished_deleting(new):
            if not scope.dry_run and await self.erase(key, stored) is None:
                return None
            return Cached(key, new, stored.revision)
        if scope.dry_run:
            await beside(scope.size, encode_value, new, JSON, scope.size)
            return Cached(key, new, stored.revision)
        new = await beside(scope.size, with_parts_of, old, new)
        return await self.write(key, new, stored.revision, scope.size)

    async def _is_stale(self, key: str) -> bool:
        """Whether what is stored would be encrypted differently today. That is how keys
        are changed: everything is written again as it is. Upstream: `origState.stale`
        in `GuaranteedUpdate`.
        """
        if not self.environment.encrypted:
            return False
        kv = await self.environment.store.get(key)
        return kv is not None and kv.stale

    def _before_update(self, new: Object, old: Object, scope: RequestScope) -> None:
        sent = dict(new)
        strategy, subresource = self.strategy, scope.subresource
        empties = before_update(strategy, new, old, subresource, scope.empties)
        scope.empties = moved_along(empties, sent, new)

    def _finished_deleting(self, obj: Object) -> bool:
        """Whether a deleted object lost its last finalizer. Upstream:
        `ShouldDeleteDuringUpdate`.
        """
        metadata = obj["metadata"]
        return (
            "deletionTimestamp" in metadata
            and not metadata.get("finalizers")
            and metadata.get("deletionGracePeriodSeconds", 0) == 0
            and not self.strategy.is_held(obj)
        )

    # -- the store ---------------------------------------------------------------------

    async def write(
        self, key: str, obj: Object, expected: int, size: int = 0
    ) -> Cached | None:
        """Put an object on condition that the key is still at a revision (0: absent);
        None if it is not. `size`: bytes of its JSON, about, if there may be many.

        What is too large for the store is tried again without its managed fields, which
        may be the larger part of it. Upstream: `isTooLargeError` in
        `endpoints/handlers/rest.go` (which does not do so for an apply).
        """
        if "selfLink" in obj["metadata"]:  # nobody has one any more
            kept = {k: v for k, v in obj["metadata"].items() if k != "selfLink"}
            obj = {**obj, "metadata": kept}
        try:
            return await self._write(key, obj, expected, size)
        except RequestTooLargeError:
            metadata = dict(obj["metadata"])
            if metadata.pop("managedFields", None) is None:
                raise
        return await self._write(key, {**obj, "metadata": metadata}, expected, size)

    async def _write(
        self, key: str, obj: Object, expected: int, size: int
    ) -> Cached | None:
        stored = self.to_storage(obj)
        with span("apiserver", "storage"):
            media_type = self.environment.media_type
            value = await beside(size, encode_value, stored, media_type, size)
            known = value if stored is obj and media_type == JSON else None
            writing = Writing(
                key, value, lambda at: self._stamped(key, obj, at, known, len(value))
            )
            with span(
                "etcd", "txn", key=key, uid=obj["metadata"].get("uid", "")
            ) as recorded:
                if recorded is not None:
                    recorded.attributes["owner_uid"] = _controller_uid(obj)
                lease = (
                    await self.environment.leases.get_lease(self.ttl) if self.ttl else 0
                )
                return await self._put(writing, expected, lease)

    async def _put(self, writing: Writing, expected: int, lease: int) -> Cached | None:
        """The write itself. The watch cache is told before: it may hear of it first."""
        revision = None
        self.cacher.begin_write(writing)
        try:
            revision = await self.environment.store.put(
                writing.key, writing.value, expected=expected, lease=lease
            )
        finally:
            written = self.cacher.end_write(writing, revision)
        return written

    def _stamped(
        self, key: str, obj: Object, revision: int, known: bytes | None, size: int
    ) -> Cached:
        """What was written, as the revision made it. `known`: its JSON as stored."""
        shown = self.as_written(obj)
        metadata = {**shown["metadata"], "resourceVersion": str(revision)}
        shown = {**shown, "metadata": in_go_order(metadata)}
        return Cached(key, shown, revision, known, size)

    async def erase(self, key: str, stored: Cached) -> int | None:
        """Delete on condition that nothing happened since; the revision, or None."""
        with span("etcd", "txn", key=key, uid=stored.obj["metadata"].get("uid", "")):
            revision = await self.environment.store.delete(
                key, expected=stored.revision
            )
        if revision is not None:
            self.after_delete(stored.obj)
        return revision


def _controller_uid(obj: Object) -> str:
    """The uid of the owner that manages an object, or an empty string."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((owner["uid"] for owner in owners if owner.get("controller")), "")
