"""The scheduler: takes pods without a node from the queue, one at a time, and gives
each a node.

    informers → event handlers → cache and queue → schedule_one, pod by pod

`Scheduler.new` puts the parts together; what happens to a pod is in `schedule_one.py`.

Upstream: `pkg/scheduler/scheduler.go` (`Scheduler`, `New`, `Run`), v1.36. Left out:
leader election (see `client.leader_election`), the client's limit of 50 requests a
second, which would make 10,000 pods take 200 s.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Self

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.version import user_agent
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.backend.queue.pod_activator import PodActivator
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.config import (
    DEFAULT_SCHEDULER_NAME,
    SchedulerConfiguration,
    with_ignored_resources,
)
from lifecycle.scheduler.event_handlers import EventHandlers, add_all_event_handlers
from lifecycle.scheduler.extender import HTTPExtender
from lifecycle.scheduler.failure_handler import FailureHandler
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.runtime.options import Options, Registry
from lifecycle.scheduler.framework.runtime.waiting_pods_map import WaitingPodsMap
from lifecycle.scheduler.informers import SchedulerInformers
from lifecycle.scheduler.profile import check_queue_sort, new_framework
from lifecycle.scheduler.schedule_one import ScheduleOne
from lifecycle.scheduler.schedule_pod import Algorithm

USER = "system:kube-scheduler"
USER_AGENT = user_agent("kube-scheduler", "scheduler")
"""Who the scheduler's client should say it is."""

PODS_BEFORE_YIELD = 8
"""Decisions in a row before other tasks get their turn."""

TURN = 0.01
"""Seconds of decisions after which they get it all the same. On virtual time, which
stands still meanwhile, never.
"""


class Scheduler:
    """Schedules pods whose `schedulerName` is that of one of its profiles. Made by
    `Scheduler.new`.
    """

    def __init__(
        self,
        client: Client,
        informers: SchedulerInformers,
        profiles: Mapping[str, Framework],
        cache: Cache,
        queue: SchedulingQueue,
        nominator: Nominator,
        extenders: list[HTTPExtender],
        waiting_pods: WaitingPodsMap,
        schedule_one: ScheduleOne,
        tasks: BackgroundTasks,
    ) -> None:
        self._client = client
        self._informers = informers
        self.profiles = profiles
        self.cache = cache
        self.queue = queue
        self.nominator = nominator
        self.extenders = extenders
        self._waiting_pods = waiting_pods
        self._schedule_one = schedule_one
        self._tasks = tasks

    @classmethod
    def new(
        cls,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        rng_seed: int | None = None,
        batch: bool = True,
        configuration: SchedulerConfiguration | None = None,
        out_of_tree: Registry | None = None,
    ) -> Self:
        """A scheduler that is ready to run. `rng_seed` makes the choice among equals
        repeatable; `out_of_tree` are plugins of one's own, by name. `batch=False` takes
        the plain path for every pod (see `schedule_pod.py`). Raises ConfigurationError.
        """
        configuration = configuration or SchedulerConfiguration()
        watched = SchedulerInformers(informers)
        listers, nominator, waiting = watched.listers(), Nominator(), WaitingPodsMap()
        activator = PodActivator()
        # those that may fail come last
        configs = sorted(configuration.extenders, key=lambda config: config.ignorable)
        extenders = [HTTPExtender(config) for config in configs]
        profiles: dict[str, Framework] = {}
        for profile in with_ignored_resources(configuration):
            name = profile.scheduler_name
            options = Options(
                listers=listers,
                nominator=nominator,
                pod_activator=activator,
                client=client,
                informers=informers,
                event_recorder=EventRecorder(client, name, clock=clock),
                clock=clock,
                waiting_pods=waiting,
                extenders=extenders,
            )
            profiles[name] = new_framework(profile, options, out_of_tree)
        check_queue_sort(profiles.values())
        queue = SchedulingQueue(
            profiles,
            clock,
            initial_backoff=configuration.pod_initial_backoff_seconds,
            max_backoff=configuration.pod_max_backoff_seconds,
        )
        activator.subscribe(queue.activate)
        cache, snapshot = Cache(), Snapshot()
        rng = random.Random(rng_seed)
        algorithms = {
            name: Algorithm(
                framework,
                snapshot,
                rng=rng,
                batch=batch,
                percentage_of_nodes_to_score=(
                    configuration.percentage_of_nodes_to_score
                ),
                extended=any(c.filter_verb or c.prioritize_verb for c in configs),
            )
            for name, framework in profiles.items()
        }
        tasks = BackgroundTasks()
        failures = FailureHandler(client, watched.pods, queue, nominator, clock, tasks)
        schedule_one = ScheduleOne(
            algorithms, cache, queue, nominator, extenders, failures, tasks
        )
        return cls(
            client,
            watched,
            profiles,
            cache,
            queue,
            nominator,
            extenders,
            waiting,
            schedule_one,
            tasks,
        )

    @staticmethod
    def _profile_of(pod: Object) -> str:
        return pod["spec"].get("schedulerName") or DEFAULT_SCHEDULER_NAME

    def _responsible_for_pod(self, pod: Object) -> bool:
        return self._profile_of(pod) in self.profiles

    async def run(self) -> None:
        """Schedule until cancelled."""
        handlers = EventHandlers(
            self.cache,
            self.queue,
            self.nominator,
            self._responsible_for_pod,
            self._waiting_pods.reject,
        )
        try:
            await add_all_event_handlers(self._informers, handlers)
            in_a_row, loop = 0, asyncio.get_running_loop()
            began = loop.time()
            while True:
                queued = self.queue.try_pop()
                if queued is None:
                    queued = await self.queue.pop()
                    in_a_row, began = 0, loop.time()
                elif in_a_row >= PODS_BEFORE_YIELD or loop.time() - began > TURN:
                    await asyncio.sleep(0)
                    in_a_row, began = 0, loop.time()
                in_a_row += 1
                profile = self._profile_of(queued.info.pod)
                await self._schedule_one.schedule_one(profile, queued)
        finally:
            await self._stop()

    async def _stop(self) -> None:
        self.queue.close()
        await self._tasks.stop()
        for framework in self.profiles.values():
            await framework.close()
        for extender in self.extenders:
            await extender.close()
        for framework in self.profiles.values():
            if framework.event_recorder is not None:
                await framework.event_recorder.stop()
