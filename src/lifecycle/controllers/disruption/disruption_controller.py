"""Keeps every disruption budget's status: how many of its pods may go now.

Who evicts (the eviction API) or preempts (the scheduler) only reads the number; it is
this controller that counts. A pod's new labels say whose it is now; that it has left
somebody is not noticed before something else happens there.

Upstream: `pkg/controller/disruption/disruption.go` (`DisruptionController`,
`updatePod`, `trySync`, `failSafe`), v1.36. Left out: that of several budgets of a pod
only one, whichever upstream finds first, hears of it; controllers known only by their
scale subresource; stale `DisruptionTarget` conditions.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_label_selector
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource, resource_for_kind
from lifecycle.client.events import EventRecorder
from lifecycle.client.kept_selectors import KeptSelectors
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.disruption.budget import (
    DELETION_TIMEOUT,
    NoControllerError,
    budget_status,
    count_healthy_pods,
    disrupted_pods,
    expected_pod_count,
    with_condition,
)
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owner_references import get_controller_of

_SCALABLE = {
    "ReplicaSet": "replicasets.apps",
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
    "ReplicationController": "replicationcontrollers",
}
UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be"
    " unmanaged. As a result, the status of the PDB cannot be calculated correctly,"
    " which may result in undefined behavior. To account for these pods please set"
    ' ".spec.minAvailable" field of the PDB to an integer value.'
)


class DisruptionController:
    """Counts for every budget whenever its pods change."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._clock = clock
        self._resource = resource("poddisruptionbudgets.policy")
        self._budgets = informers.informer(self._resource)
        self._selectors = KeptSelectors(self._budgets)
        self._pods = informers.informer(resource("pods"))
        self._scalable = {
            kind: informers.informer(resource(name)) for kind, name in _SCALABLE.items()
        }
        self._recorder = EventRecorder(client, "controllermanager", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._budgets.add_event_handler(
            add=lambda pdb: self._queue.add(meta_namespace_key(pdb)),
            update=lambda old, new: self._queue.add(meta_namespace_key(new)),
        )
        self._pods.add_event_handler(
            add=self._pod, update=lambda old, new: self._pod(new), delete=self._pod
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (self._budgets, self._pods, *self._scalable.values()):
                await informer.wait_for_sync()
            await run_workers(
                self._queue, self._sync, workers=1, name="disruption-controller"
            )
        finally:
            await self._recorder.stop()

    def _pod(self, pod: Object) -> None:
        for pdb in self._budgets.indexer.list_namespace(pod["metadata"]["namespace"]):
            if self._selectors.of(pdb).matches(pod["metadata"].get("labels")):
                self._queue.add(meta_namespace_key(pdb))

    def _scale_of(self, pod: Object, reference: Object) -> tuple[str, int] | None:
        """A ReplicaSet's size is its Deployment's, if it has one: in a rollout several
        share it. Raises ValueError for a kind that has no size. Upstream: `finders`;
        left out: the scales of custom resources.
        """
        informer = self._scalable.get(reference["kind"])
        row = resource_for_kind(reference["apiVersion"], reference["kind"])
        if informer is None and row is not None and not row.subresource("scale"):
            what = f"{row.plural}.{row.group}".rstrip(".")
            raise ValueError(f"{what} does not implement the scale subresource")
        namespace = pod["metadata"]["namespace"]
        owner = (
            informer.indexer.get_by_key(f"{namespace}/{reference['name']}")
            if informer is not None
            else None
        )
        if owner is None or owner["metadata"]["uid"] != reference["uid"]:
            return None
        above = get_controller_of(owner)
        if (
            reference["kind"] == "ReplicaSet"
            and above is not None
            and above["kind"] == "Deployment"
        ):
            return self._scale_of(owner, above)
        return owner["metadata"]["uid"], owner["spec"].get("replicas", 1)

    async def _sync(self, key: str) -> None:
        pdb = self._budgets.indexer.get_by_key(key)
        if pdb is None:
            return
        now = self._clock.now()
        selector = self._selectors.of(pdb)
        namespace = pdb["metadata"]["namespace"]
        pods = [
            p
            for p in self._pods.indexer.list_namespace(namespace)
            if selector.matches(p["metadata"].get("labels"))
        ]
        if not pods:
            self._recorder.event(pdb, "Normal", "NoPods", "No matching pods found")
        try:
            expected, desired, unmanaged = expected_pod_count(pdb, pods, self._scale_of)
        except (NoControllerError, ValueError) as error:
            await self._fail_safe(pdb, str(error), now)
            return
        if unmanaged:
            self._recorder.event(
                pdb,
                "Warning",
                "UnmanagedPods",
                UNMANAGED.format(
                    selector=go_label_selector(pdb["spec"].get("selector"))
                ),
            )
        waiting, late = disrupted_pods(pdb, pods, now)
        for pod in late:
            name = pdb["metadata"]["namespace"]
            message = (
                f"Pod was expected by PDB {name}/{name} to be deleted but it wasn't"
            )
            self._recorder.event(pod, "Warning", "NotDeleted", message)
        healthy = count_healthy_pods(pods, waiting)
        await self._write(
            pdb, budget_status(pdb, healthy, desired, expected, waiting, now)
        )
        if waiting:
            self._queue.add_after(
                key, min(map(parse_time, waiting.values())) + DELETION_TIMEOUT - now + 1
            )

    async def _fail_safe(self, pdb: Object, message: str, now: float) -> None:
        """What cannot be counted allows nothing."""
        text = f"Failed to calculate the number of expected pods: {message}"
        self._recorder.event(pdb, "Warning", "CalculateExpectedPodCountFailed", text)
        defaults = {"currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
        status = {**defaults, **(pdb.get("status") or {}), "disruptionsAllowed": 0}
        observed = status.get("observedGeneration", 0)  # this one was not understood
        failed = with_condition(
            status, pdb, "False", "SyncFailed", message, now, observed
        )
        await self._write(pdb, failed)

    async def _write(self, pdb: Object, status: Object) -> None:
        if status != (pdb.get("status") or {}):
            await self._client.update(
                self._resource,
                {**mutable_copy(pdb), "status": status},
                subresource="status",
            )
