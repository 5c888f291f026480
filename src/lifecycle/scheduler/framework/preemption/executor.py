"""Carrying out a preemption: victims are told, deleted and reported.

Each victim first gets the condition `DisruptionTarget`, so that whoever owns it knows
that it did not fail, and is then deleted. A less important pod that the node was kept
for loses its nomination: it should look elsewhere. Upstream does all this beside the
scheduling loop (since v1.33): the preemptor is kept out of the queue meanwhile, and the
deletion of the last victim brings it back. If telling fails, it comes back at once; so
it does when a victim was gone already, for the news of that may have come while the
preemptor was still kept out.

Upstream: `pkg/scheduler/framework/preemption/executor.go` (`prepareCandidateAsync`,
`PreemptPod`, `IsPodRunningPreemption`, `getLowerPriorityNominatedPods`), v1.36.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.store import Store
from lifecycle.scheduler.framework.handle import Candidate, Handle
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.pod_conditions import condition_patch

log = logging.getLogger(__name__)


def _is_gone(error: Exception) -> bool:
    return isinstance(error, StatusError) and error.code == 404


class Executor:
    """Runs a plugin's preemptions as tasks. Without a client nobody is evicted."""

    def __init__(self, plugin_name: str, handle: Handle) -> None:
        self._plugin_name = plugin_name
        self._handle = handle
        self._tasks = BackgroundTasks()
        self._running: dict[str, PodInfo | None] = {}
        """Uid of the preemptor → the last victim, once it is only about that one; also
        when it has been told already and only the news of that is on its way: until
        then the cache counts the victim, and a try would be in vain.
        """
        self._waiting_for: dict[str, set[str]] = {}
        """Key of such a last victim → uids of preemptors."""
        self._pods: Store | None = None
        """The pods as this process has heard of them."""
        if handle.informers is not None:
            informer = handle.informers.informer(resource("pods"))
            self._pods = informer.indexer
            # heard here before the queue hears of it: plugins are made first
            informer.add_event_handler(update=self._heard, delete=self._heard)

    async def close(self) -> None:
        """Stop what is under way."""
        await self._tasks.stop()

    def prepare(self, info: PodInfo, candidate: Candidate) -> None:
        """Start evicting the candidate's victims for a pod."""
        client = self._handle.client
        victims = [
            victim
            for victim in candidate.victims
            if not victim.pod["metadata"].get("deletionTimestamp")
        ]
        if client is not None and victims:
            self._running[info.uid] = None
            work = self._run(client, info, victims, candidate.node)
            self._tasks.start(work, f"preemption for {info.key}")

    def is_pod_running_preemption(self, uid: str) -> bool:
        """Whether victims of the pod are still being told. Of the last one the news may
        be here before the answer: then it is told.
        """
        return uid in self._running

    @property
    def running(self) -> Collection[str]:
        """Uids of all these pods."""
        return self._running.keys()

    def _heard(self, pod: Object, newer: Object | None = None) -> None:
        """Of a pod that changed or is gone. Who waited for nothing else waits no more:
        thousands may wait, so nobody looks after each of them at each change.
        """
        if not self._waiting_for:
            return
        metadata = pod["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        for uid in tuple(self._waiting_for.get(key, ())):
            last = self._running.get(uid)
            if last is None or last.key != key:
                self._forget(key, uid)  # it has begun anew
            elif self._is_seen_going(last):
                self._over(uid)

    def _wait_for(self, uid: str, last: PodInfo) -> None:
        if self._is_seen_going(last):
            self._over(uid)
        else:
            self._running[uid] = last
            self._waiting_for.setdefault(last.key, set()).add(uid)

    def _over(self, uid: str) -> None:
        last = self._running.pop(uid, None)
        if last is not None:
            self._forget(last.key, uid)

    def _forget(self, victim: str, uid: str) -> None:
        waiting = self._waiting_for.get(victim, set())
        waiting.discard(uid)
        if not waiting:
            self._waiting_for.pop(victim, None)

    def _is_seen_going(self, victim: PodInfo) -> bool:
        if self._pods is None:
            return False
        now = self._pods.get_by_key(victim.key)
        if now is None:
            return True
        if now["metadata"]["uid"] != victim.uid:
            return True  # another one of its name
        return bool(now["metadata"].get("deletionTimestamp"))

    async def _run(
        self, client: Client, preemptor: PodInfo, victims: list[PodInfo], node: str
    ) -> None:
        ok, deleted, news_is_coming = True, False, False
        try:
            nominated = self._handle.nominator.nominated_pods_for_node(node)
            for other in nominated:
                if other.key != preemptor.key and other.priority < preemptor.priority:
                    ok = await self._clear_nomination(client, other) and ok
            for victim in victims:
                if victim is victims[-1]:
                    self._wait_for(preemptor.uid, victim)
                try:
                    deleted = await self._preempt_pod(client, preemptor, victim, node)
                except (StatusError, OSError) as error:
                    log.debug("%s not preempted: %s", victim.key, error)
                    ok = False
                    if not _is_gone(error):
                        break
            news_is_coming = ok and deleted and self._pods is not None
        finally:
            if not news_is_coming:
                self._over(preemptor.uid)
        if not ok:
            self._handle.pod_activator.activate(preemptor.key)

    async def _clear_nomination(self, client: Client, info: PodInfo) -> bool:
        """Whether it could be said, or did not need to."""
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
        except (StatusError, OSError) as error:
            return _is_gone(error)
        return True

    async def _preempt_pod(
        self, client: Client, preemptor: PodInfo, victim: PodInfo, node: str
    ) -> bool:
        """Have the victim go; whether by a deletion. Raises StatusError, OSError."""
        pod = victim.pod
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
        return waiting is None

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
