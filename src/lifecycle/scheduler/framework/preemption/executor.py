"""Carrying out a preemption: victims are told, deleted and reported.

Each victim first gets the condition `DisruptionTarget`, so that whoever owns it knows
that it did not fail, and is then deleted. A less important pod that the node was kept
for loses its nomination: it should look elsewhere. Upstream does all this beside the
scheduling loop (since v1.33): the preemptor waits in the queue meanwhile, and the
deletion of the last victim brings it back.

Upstream: `pkg/scheduler/framework/preemption/executor.go` (`prepareCandidateAsync`,
`PreemptPod`, `getLowerPriorityNominatedPods`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.scheduler.framework.handle import Candidate, Handle
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.pod_conditions import condition_patch


class Executor:
    """Runs a plugin's preemptions as tasks. Without a client nobody is evicted."""

    def __init__(self, plugin_name: str, handle: Handle) -> None:
        self._plugin_name = plugin_name
        self._handle = handle
        self._tasks = BackgroundTasks()

    async def close(self) -> None:
        """Stop what is under way."""
        await self._tasks.stop()

    def prepare(self, info: PodInfo, candidate: Candidate) -> None:
        """Start evicting the candidate's victims for a pod."""
        client = self._handle.client
        if client is not None:
            work = self._run(client, info, candidate)
            self._tasks.start(work, f"preemption for {info.key}")

    async def _run(
        self, client: Client, preemptor: PodInfo, candidate: Candidate
    ) -> None:
        nominated = self._handle.nominator.nominated_pods_for_node(candidate.node)
        for other in nominated:
            if other.key != preemptor.key and other.priority < preemptor.priority:
                await self._clear_nomination(client, other)
        for victim in candidate.victims:
            try:
                await self._preempt_pod(client, preemptor, victim, candidate.node)
            except StatusError as error:
                if error.code != 404:
                    raise

    async def _clear_nomination(self, client: Client, info: PodInfo) -> None:
        self._handle.nominator.delete_nominated_pod_if_exists(info.key)
        metadata = info.pod["metadata"]
        try:
            await client.patch(
                resource("pods"),
                metadata["name"],
                metadata["namespace"],
                {"status": {"nominatedNodeName": None}},
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
        except StatusError as error:
            if error.code != 404:
                raise

    async def _preempt_pod(
        self, client: Client, preemptor: PodInfo, victim: PodInfo, node: str
    ) -> None:
        pod = victim.pod
        if pod["metadata"].get("deletionTimestamp"):
            return
        waiting = self._handle.get_waiting_pod(victim.uid)
        if waiting is not None:  # it has not even been bound
            waiting.preempt(self._plugin_name, "preempted")
        else:
            await self._evict(client, pod)
        recorder = self._handle.event_recorder
        if recorder is not None:
            text = f"Preempted by pod {preemptor.uid} on node {node}"
            about = {"kind": "Pod", "apiVersion": "v1", **pod}
            recorder.event(about, "Normal", "Preempted", text)

    async def _evict(self, client: Client, pod: Object) -> None:
        metadata = pod["metadata"]
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": (
                f"{self._handle.profile_name}: preempting to accommodate a higher"
                " priority pod"
            ),
        }
        patch = condition_patch(pod, condition, self._handle.clock.timestamp())
        if patch:
            await client.patch(
                resource("pods"),
                metadata["name"],
                metadata["namespace"],
                patch,
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
        await client.delete(resource("pods"), metadata["name"], metadata["namespace"])
