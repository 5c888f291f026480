"""Claims about the Deployment controller: what it hears, queues, asks and looks at."""

from __future__ import annotations

from functools import cache

from lifecycle.agreements.claim_checks.deployment_life import DEPLOYMENTS, life
from lifecycle.agreements.claim_checks.played_deployments import (
    a_named_deployment,
)
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.compare.claims import Partly, rebuilt
from lifecycle.controllers.deployment.deployment_controller import DeploymentController


@cache
def queued() -> tuple[bool, list[str]]:
    """Whether handlers for all three events are there, and what is in the queue after
    an add, twice.
    """

    async def scene(cluster: RehearsedCluster) -> tuple[bool, list[str]]:
        client = cluster.client("c")
        informers = SharedInformerFactory(client)
        controller = DeploymentController(
            client, informers, clock=Clock(), names=NameSource(1)
        )
        *_, handlers = informers.informer(DEPLOYMENTS)._handlers
        obj = a_named_deployment()
        add, update, delete = handlers.add, handlers.update, handlers.delete
        if add is None or update is None or delete is None:
            return False, []
        for _ in range(2):
            add(obj)
        keys = [await controller._queue.get() for _ in range(len(controller._queue))]
        return True, keys

    return rehearse(
        scene, nodes=1, without=frozenset({"controllers", "scheduler", "kubelet"})
    )


@rebuilt("deployment-controller-informer-callbacks")
def callbacks() -> bool:
    """One function each."""
    return queued()[0]


@rebuilt("deployment-controller-uses-work-queue-and-sync")
def queue() -> bool:
    """Two adds, one key; and what was queued came to a sync, or nothing would have been
    created.
    """
    return queued()[1] == ["default/web"] and bool(life().first)


@rebuilt("deployment-controller-reconciles-towards-spec")
def reconciles() -> bool:
    """Robbed of its ReplicaSet it makes another one, of the wanted size."""
    return life().after_loss == 1


@rebuilt("deployment-controller-finds-children-by-label-selector")
def lists() -> bool:
    """Whether it asked for any list beyond those its informers began with, one for each
    resource.
    """
    lists = [
        a.path
        for a in life().asked
        if a.method == "GET" and a.path.rpartition("/")[2] in ("replicasets", "pods")
    ]
    assert life().asked, "it asks for something"
    return any("/namespaces/" in path for path in lists) or len(lists) > len(set(lists))


@rebuilt("deployment-controller-queues-a-replicaset-create-request")
def queue_holds() -> bool:
    """Whether anything but the Deployment's key is ever queued."""
    keys = queued()[1]
    assert keys, "something is queued"
    return any(key != "default/web" for key in keys)


@rebuilt("deployment-controller-waits-in-a-loop-for-completion")
def waits() -> Partly:
    """It comes back until all is done; but while nothing happens it asks nothing, and
    looks at nothing, whatever is incomplete.
    """
    statuses = [
        a for a in life().asked if a.method == "PUT" and a.path.endswith("/status")
    ]
    return Partly(len(statuses) > 1, life().idle == 0 and life().looks <= 2)
