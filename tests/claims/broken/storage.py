"""What might go wrong between the create handler and the store, and with initializers."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from lifecycle.api.status import StatusError
from lifecycle.etcd.keys import registry_key
from lifecycle.historical.apiserver.server_with_initializers import create_server_with_initializers
from tests.claims.broken.breakage import Breakage, Wrapped, afterwards, constant

CHECKS = "agreements.claim_checks"


def _reads_again(create: Any) -> Any:
    async def later(self: Any, obj: Any, scope: Any, validate: Any) -> Any:
        made = await create(self, obj, scope, validate)
        await self.environment.store.get(made.key)
        return made

    return later


def _forgives(create: Any) -> Any:
    async def later(self: Any, obj: Any, scope: Any, validate: Any) -> Any:
        try:
            return await create(self, obj, scope, validate)
        except StatusError as error:
            if error.reason != "AlreadyExists":
                raise
            return self.lookup(scope.namespace, obj["metadata"]["name"])

    return later


def _key(store: Any, obj: Any, scope: Any) -> tuple[str]:
    return (registry_key(store.resource, scope.namespace, obj["metadata"].get("name", "")),)


BREAKAGES = (
    Breakage(
        "unknown versions are taken for known ones",
        "apiserver.endpoints.resource_handler.ResourceHandler.find",
        Wrapped(lambda find: lambda self, info: find(self, replace(info, version="v1"))),
        ("resource-handling-routes-registered-at-startup",),
    ),
    Breakage(
        "every request lands in the same handler",
        "apiserver.filters.request_info.METHOD_VERBS",
        {"POST": "create", "PUT": "update", "GET": "get", "HEAD": "get", "PATCH": "patch", "DELETE": "get"},
        ("resource-handling-method-and-path-choose-handler",),
    ),
    Breakage(
        "a POST is an update",
        "apiserver.filters.request_info.METHOD_VERBS",
        {"POST": "update", "PUT": "update", "GET": "get", "HEAD": "get", "PATCH": "patch", "DELETE": "delete"},
        ("resource-handling-post-reaches-create-handler",),
    ),
    Breakage(
        "nothing is validated",
        "apiserver.registry.store.ResourceStore._create_named",
        Wrapped(lambda named: lambda self, obj, scope, validate: self.write(*_key(self, obj, scope), obj, 0)),
        ("resource-handling-create-handler-decodes-and-validates",),
    ),
    Breakage(
        "the audit log is told nothing of the object",
        "apiserver.endpoints.handlers.rest.log_request_object",
        constant(None),
        ("resource-handling-performance-trace-and-audit",),
    ),
    Breakage(
        "the answer is what was sent",
        "apiserver.registry.store.ResourceStore.decorate",
        lambda self, obj: {**obj, "metadata": {**obj["metadata"], "resourceVersion": ""}},
        ("resource-handling-response-carries-persisted-object", "etcd-object-is-persisted"),
    ),
    Breakage(
        "keys know no kind",
        "etcd.keys.resource_prefix",
        constant("/registry/things"),
        ("etcd-key-is-namespace-slash-name",),
    ),
    Breakage(
        "another root is no other place",
        "etcd.prefixed.PrefixedStore._there",
        lambda self, key: key,
        ("etcd-key-layout-configurable",),
    ),
    Breakage(
        "who comes second is told that all is well",
        "apiserver.registry.store.ResourceStore.create",
        Wrapped(_forgives),
        ("etcd-create-errors-are-checked",),
    ),
    Breakage(
        "a name is made up once", "apiserver.registry.store.MAX_NAME_ATTEMPTS", 1, ("etcd-create-errors-are-checked",)
    ),
    Breakage(
        "what was written is read again",
        "apiserver.registry.store.ResourceStore.create",
        Wrapped(_reads_again),
        ("etcd-get-after-create",),
    ),
    Breakage(
        "nothing happens after a create",
        "apiserver.registry.store.ResourceStore._decorated",
        lambda self, cached: cached,
        ("etcd-post-create-hooks-and-decorator",),
    ),
    # -- initializers ---------------------------------------------------------------------------------------------------
    Breakage(
        "nobody is on the list",
        "historical.apiserver.initializers.Initializers.admit",
        constant(None),
        (
            "initializers-hide-object-until-finished",
            "initializers-block-scheduling-until-finished",
            "initializers-are-controllers-with-custom-logic",
            "initializers-name-added-to-pending-list",
            "initializers-run-in-sequence-and-remove-themselves",
            "initializers-include-uninitialized-parameter",
        ),
    ),
    Breakage(
        "any client sees what is not ready",
        "historical.apiserver.initializer_visibility.InitializerVisibility._read",
        Wrapped(lambda read: lambda self, request, include: read(self, request, True)),
        ("initializers-hide-object-until-finished", "initializers-include-uninitialized-parameter"),
    ),
    Breakage(
        "the gate is open",
        "agreements.apiserver.initializers.create_server_chain",
        create_server_with_initializers,
        ("initializers-enabled-by-default",),
    ),
    Breakage(
        "all initializers act at once",
        "historical.controllers.initializer_controller.InitializerController._is_next",
        lambda self, obj: any(
            each["name"] == self.name for each in (obj["metadata"].get("initializers") or {}).get("pending") or []
        ),
        ("initializers-run-in-sequence-and-remove-themselves",),
    ),
    # -- binding ----------------------------------------------------------------------------------------------------
    Breakage(
        "a binding changes nothing",
        "apiserver.registry.core.pod.binding.assign_pod",
        lambda pod, *_: pod,
        (
            "binding-sets-podscheduled-condition",
            "binding-sets-node-name-on-pod",
            "binding-merges-annotations-into-pod",
        ),
    ),
    # -- informers --------------------------------------------------------------------------------------------------
    Breakage(
        "deletions are not told",
        "client.shared_informer._call",
        Wrapped(lambda call: lambda handler, obj, *more: None),
        ("informers-deliver-create-update-delete",),
    ),
    Breakage(
        "a lister finds nothing",
        "client.listers.Lister.list",
        constant([]),
        ("informers-offer-list-and-get-helpers", "informers-reads-hit-a-local-cache"),
    ),
    Breakage(
        "everybody has an informer of his own",
        "client.shared_informer.SharedInformerFactory.informer",
        Wrapped(
            lambda informer: (
                lambda self, *arguments, **more: (self._informers.clear(), informer(self, *arguments, **more))[1]
            )
        ),
        ("informers-share-one-connection-and-cache",),
    ),
    Breakage(
        "every reader has a copy",
        "client.store.Store.get_by_key",
        afterwards(lambda obj, *_: copy.deepcopy(obj)),
        ("informers-are-threadsafe",),
    ),
    Breakage(
        "every handler has a copy",
        "client.shared_informer._call",
        Wrapped(lambda call: lambda handler, *objects: call(handler, *map(copy.deepcopy, objects))),
        ("informers-save-duplicate-serialization",),
    ),
    Breakage(
        "every initializer cares about everything",
        "historical.apiserver.initializers._matches",
        constant(True),
        ("initializers-configuration-kind",),
    ),
    Breakage(
        "somebody is always on the list",
        "historical.apiserver.initializers.Initializers.initializers_for",
        afterwards(lambda names, _, resource: names or ["nobody.example.com"] * (resource.plural == "configmaps")),
        ("initializers-none-configured-means-visible",),
    ),
)
