"""What might go wrong in the control loops."""

from __future__ import annotations

from typing import Any

from lifecycle.api.resources import resource
from tests.claims.broken.breakage import Breakage, Wrapped, afterwards, constant, nothing

CHECKS = "agreements.claim_checks"


def _lists_first(get: Any) -> Any:
    async def later(self: Any, d: Any) -> Any:
        await self._client.list(self._replica_sets.resource, d["metadata"]["namespace"])
        return await get(self, d)

    return later


def _stamps_the_template(patch: Any) -> Any:
    async def later(self: Any, resource: Any, name: str, namespace: str, body: Any, **more: Any) -> Any:
        if "replicas" in body.get("spec", {}):
            stamp = {"metadata": {"annotations": {"size": str(body["spec"]["replicas"])}}}
            body = {"spec": {**body["spec"], "template": stamp}}
        return await patch(self, resource, name, namespace, body, **more)

    return later


def _clears_up(run: Any) -> Any:
    async def later(self: Any) -> None:
        client = self.informers.client
        for pod in (await client.list(resource("pods")))["items"]:
            await client.delete(resource("pods"), pod["metadata"]["name"], pod["metadata"]["namespace"])
        await run(self)

    return later


def _twice(process: Any) -> Any:
    def later(self: Any) -> None:
        process(self)
        for handlers in self._handlers:
            for obj in self.indexer.list():
                if handlers.update is not None:
                    handlers.update(obj, obj)

    return later


BREAKAGES = (
    Breakage(
        "a ReplicaSet begins with its Deployment's size",
        "controllers.deployment.sync.new_rs_new_replicas",
        lambda d, *_: d["spec"]["replicas"],
        ("deployment-controller-copies-pod-template-and-metadata",),
    ),
    Breakage(
        "a scaling is written into the template",
        "client.rest.Client.patch",
        Wrapped(_stamps_the_template),
        ("deployment-controller-new-replicaset-on-scale",),
    ),
    Breakage(
        "no Endpoints are written",
        "controllers.endpoints.endpoints_controller.EndpointsController._sync_service",
        nothing,
        ("endpoints-endpoint-object-created",),
    ),
    Breakage(
        "pods are given to the first set that fits",
        "controllers.pod_control.new_controller_ref",
        afterwards(lambda reference, *_: {**reference, "name": "one"}),
        ("garbage-collection-owner-reference-prevents-fights",),
    ),
    Breakage(
        "controllers begin by clearing up",
        "controllers.manager.ControllerManager.run",
        Wrapped(_clears_up),
        ("garbage-collection-topology-survives-controller-restart",),
    ),
    Breakage(
        "an informer tells of everything again, each time",
        "client.shared_informer.SharedInformer._process_deltas",
        Wrapped(_twice),
        ("informers-source-is-storage-events",),
    ),
    Breakage(
        "deletions are not heard",
        "client.shared_informer.SharedInformer.add_event_handler",
        Wrapped(lambda original: lambda self, add=None, update=None, delete=None: original(self, add, update, None)),
        ("deployment-controller-informer-callbacks",),
    ),
    Breakage(
        "the controller syncs nothing",
        "controllers.deployment.deployment_controller.DeploymentController._sync_deployment",
        nothing,
        (
            "deployment-controller-uses-work-queue-and-sync",
            "deployment-controller-reconciles-towards-spec",
            "deployment-controller-ownership-hierarchy",
            "deployment-controller-new-replicaset-on-image-change",
            "deployment-controller-creates-first-replicaset",
            "deployment-controller-cleans-up-old-replicasets",
        ),
    ),
    Breakage(
        "a scaling makes a new template",
        "controllers.deployment.sync.compute_hash",
        constant(""),
        ("deployment-controller-assigns-label-selector",),
    ),
    Breakage(
        "revisions begin at seven",
        "controllers.deployment.sync.max_revision",
        constant(6),
        ("deployment-controller-first-revision-is-one",),
    ),
    Breakage(
        "sets that nobody needs are kept",
        "controllers.deployment.deployment_control.DeploymentControl.cleanup_deployment",
        nothing,
        ("deployment-controller-cleans-up-old-replicasets",),
    ),
    Breakage(
        "the status is never written",
        "controllers.deployment.deployment_control.DeploymentControl.update_status",
        nothing,
        (
            "deployment-controller-updates-status",
            "deployment-controller-deployment-updated-for-progress-deadline",
            "deployment-controller-waits-in-a-loop-for-completion",
        ),
    ),
    Breakage(
        "complete is what is available",
        f"{CHECKS}.deployment_status.deployment_complete",
        lambda d, status: status["availableReplicas"] >= d["spec"]["replicas"],
        ("deployment-controller-definition-of-complete",),
    ),
    Breakage(
        "children carry no reference",
        "controllers.deployment.sync.new_controller_ref",
        afterwards(lambda reference, *_: {**reference, "blockOwnerDeletion": False, "kind": "DaemonSet"}),
        ("deployment-controller-ownership-hierarchy", "replicaset-controller-replicaset-has-deployment-owner"),
    ),
    Breakage(
        "three pods at once are enough",
        "controllers.replicaset.manage_replicas.BURST_REPLICAS",
        3,
        ("replicaset-controller-creates-missing-pods", "replicaset-controller-burst-count-always-matched"),
    ),
    Breakage(
        "a batch begins with all",
        f"{CHECKS}.replicaset_controller.SLOW_START_INITIAL_BATCH_SIZE",
        99,
        ("replicaset-controller-slow-start-batches",),
    ),
    Breakage(
        "no slow start",
        "controllers.replicaset.manage_replicas.SLOW_START_INITIAL_BATCH_SIZE",
        99,
        ("replicaset-controller-slow-start-limits-failing-creates",),
    ),
    Breakage(
        "pods are not missed",
        "controllers.replicaset.replica_set_controller.ReplicaSetController._delete_pod",
        constant(None),
        ("replicaset-controller-reacts-to-replicaset-and-pod-events",),
    ),
    Breakage(
        "the status forgets which generation it is of",
        "controllers.replicaset.replica_set_controller.update_replica_set_status",
        nothing,
        ("replicaset-controller-status-and-observed-generation",),
    ),
    Breakage(
        "orphans stay orphans",
        "controllers.controller_ref_manager.ControllerRefManager._adopt",
        nothing,
        (
            "garbage-collection-orphans-are-adopted",
            "garbage-collection-controllers-ignore-what-they-do-not-own",
            "garbage-collection-orphan-policy-keeps-children",
        ),
    ),
    Breakage(
        "children outlive their owner",
        "controllers.garbagecollector.garbage_collector.GarbageCollector._attempt_to_delete_item",
        nothing,
        ("garbage-collection-cascading-delete",),
    ),
    Breakage(
        "in the foreground nothing is waited for",
        "controllers.garbagecollector.graph.Node.blocking_dependents",
        constant([]),
        ("garbage-collection-cascading-delete",),
    ),
    Breakage(
        "orphans are deleted, too",
        "controllers.garbagecollector.garbage_collector.GarbageCollector._attempt_to_orphan",
        Wrapped(lambda orphan: lambda self, owner: self._remove_finalizer(owner, "orphan")),
        ("garbage-collection-orphan-policy-keeps-children",),
    ),
    Breakage(
        "two controllers are one too few",
        "apiserver.registry.rest.object_meta.validate_owner_references",
        constant([]),
        ("garbage-collection-adoption-race-has-one-winner",),
    ),
    Breakage(
        "children are listed, by their labels",
        "controllers.deployment.deployment_controller.DeploymentController._get_replica_sets_for_deployment",
        Wrapped(_lists_first),
        ("deployment-controller-finds-children-by-label-selector",),
    ),
    Breakage(
        "what is to be created is queued, too",
        "controllers.deployment.deployment_controller.DeploymentController._enqueue",
        Wrapped(lambda enqueue: lambda self, d: (enqueue(self, d), self._queue.add("create/it"))[0]),
        ("deployment-controller-queues-a-replicaset-create-request", "deployment-controller-uses-work-queue-and-sync"),
    ),
    Breakage(
        "there is no limit to history",
        "apiserver.registry.apps.deployment.set_default",
        Wrapped(
            lambda default: (
                lambda spec, key, value: None if key == "revisionHistoryLimit" else default(spec, key, value)
            )
        ),
        ("deployment-controller-history-limit-off-by-default",),
    ),
    Breakage(
        "no pod at all at once",
        "controllers.replicaset.manage_replicas.BURST_REPLICAS",
        0,
        ("wrap-up-one-command-three-pods", "wrap-up-objects-in-store"),
    ),
)
