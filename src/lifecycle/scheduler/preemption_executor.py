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

import asyncio

from lifecycle.api.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.scheduler.node_info import PodInfo
from lifecycle.scheduler.nominator import Nominator
from lifecycle.scheduler.plugins.default_preemption import Candidate
from lifecycle.scheduler.pod_conditions import condition_patch


class PreemptionExecutor:
    """Runs preemptions as tasks."""

    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        clock: Clock,
        scheduler_name: str,
        nominator: Nominator,
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._clock = clock
        self._scheduler_name = scheduler_name
        self._nominator = nominator
        self.tasks: set[asyncio.Task[None]] = set()

    def prepare(self, info: PodInfo, candidate: Candidate) -> None:
        """Start evicting the candidate's victims for a pod."""
        task = asyncio.get_running_loop().create_task(
            self._run(info, candidate), name=f"preemption for {info.key}"
        )
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _run(self, preemptor: PodInfo, candidate: Candidate) -> None:
        for other in self._nominator.on(candidate.node):
            if other.key != preemptor.key and other.priority < preemptor.priority:
                await self._clear_nomination(other)
        for victim in candidate.victims:
            try:
                await self._preempt_pod(preemptor, victim, candidate.node)
            except StatusError as error:
                if error.code != 404:
                    raise

    async def _clear_nomination(self, info: PodInfo) -> None:
        self._nominator.remove(info.key)
        metadata = info.pod["metadata"]
        try:
            await self._client.patch(
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
        self, preemptor: PodInfo, victim: PodInfo, node: str
    ) -> None:
        pod = victim.pod
        metadata = pod["metadata"]
        if metadata.get("deletionTimestamp"):
            return
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": (
                f"{self._scheduler_name}: preempting to accommodate a higher priority pod"
            ),
        }
        patch = condition_patch(pod, condition, self._clock.timestamp())
        if patch:
            await self._client.patch(
                resource("pods"),
                metadata["name"],
                metadata["namespace"],
                patch,
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
        await self._client.delete(
            resource("pods"), metadata["name"], metadata["namespace"]
        )
        message = f"Preempted by pod {preemptor.uid} on node {node}"
        self._recorder.event(
            {"kind": "Pod", "apiVersion": "v1", **pod}, "Normal", "Preempted", message
        )
