"""Pods that nobody else will remove: on nodes that are gone, on nodes said to be out of
service, deleted before they got a node – and, beyond a number, those that have
finished.

Upstream: `pkg/controller/podgc/gc_controller.go` (`gcTerminated`, `gcOrphaned`,
`gcUnscheduledTerminating`, `gcTerminating`), v1.36.
"""

from __future__ import annotations

import asyncio
import logging

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import REQUEST_ERRORS, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.controllers.pod_conditions import disruption_target, patch_pod_status
from lifecycle.controllers.pod_readiness import is_pod_ready, is_pod_terminal

log = logging.getLogger(__name__)

GC_CHECK_PERIOD = 20.0
QUARANTINE = 40.0
"""Seconds that a node must be missed before its pods go: its object may just be
late.
"""
TERMINATED_POD_THRESHOLD = 12500
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


class PodGCController:
    """Looks around every 20 seconds; what it looks at is cached, so a look asks the
    server for nothing.
    """

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
        self._pods = informers.informer(resource("pods"))
        self._nodes = informers.informer(resource("nodes"))
        self.terminated_pod_threshold = TERMINATED_POD_THRESHOLD
        self._missing: dict[str, float] = {}

    async def run(self) -> None:
        """Work until cancelled."""
        await self._pods.wait_for_sync()
        await self._nodes.wait_for_sync()
        while True:
            try:
                await self.gc()
            except REQUEST_ERRORS as error:  # the next look sees what is left
                log.debug("pod garbage collection: %s", error)
            await asyncio.sleep(GC_CHECK_PERIOD)

    async def gc(self) -> None:
        """One look."""
        pods = self._pods.indexer.list()
        await self._terminated(pods)
        await self._orphaned(pods)
        for pod in pods:
            if "deletionTimestamp" not in pod["metadata"]:
                continue
            node = self._nodes.indexer.get_by_key(pod["spec"].get("nodeName", ""))
            if not pod["spec"].get("nodeName") or (
                node is not None and _out_of_service(node) and not is_pod_ready(node)
            ):
                await self._delete(pod)

    async def _terminated(self, pods: list[Object]) -> None:
        finished = [pod for pod in pods if is_pod_terminal(pod)]
        surplus = len(finished) - self.terminated_pod_threshold
        if self.terminated_pod_threshold <= 0 or surplus <= 0:
            return
        finished.sort(
            key=lambda pod: (
                (pod.get("status") or {}).get("reason") != "Evicted",
                pod["metadata"]["creationTimestamp"],
                pod["metadata"]["name"],
            )
        )
        for pod in finished[:surplus]:
            await self._delete(pod)

    async def _orphaned(self, pods: list[Object]) -> None:
        now = self._clock.now()
        names = {pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
        missing = {
            name for name in names if self._nodes.indexer.get_by_key(name) is None
        }
        self._missing = {name: self._missing.get(name, now) for name in missing}
        for name in [
            name for name, since in self._missing.items() if now - since >= QUARANTINE
        ]:
            try:
                await self._client.get(self._nodes.resource, name)
                continue  # it is there after all
            except StatusError as error:
                if error.code != 404:
                    continue
            for pod in pods:
                if pod["spec"].get("nodeName") == name:
                    await self._delete(pod, "PodGC: node no longer exists")

    async def _delete(self, pod: Object, message: str = "") -> None:
        meta = pod["metadata"]
        status: Object = {}
        if not is_pod_terminal(pod):  # nobody else will say that it did not end well
            status["phase"] = "Failed"
            if "generation" in meta:
                status["observedGeneration"] = meta["generation"]
            condition = (
                disruption_target(
                    pod, "DeletionByPodGC", message, self._clock.timestamp()
                )
                if message
                else None
            )
            if condition is not None:
                status["conditions"] = [condition]
        try:
            if status:
                await patch_pod_status(self._client, pod, status)
            await self._client.delete(
                self._pods.resource, meta["name"], meta["namespace"], grace_period=0
            )
        except StatusError as error:
            if error.code not in (404, 409):
                raise


def _out_of_service(node: Object) -> bool:
    return any(
        taint["key"] == OUT_OF_SERVICE
        for taint in (node.get("spec") or {}).get("taints") or ()
    )
