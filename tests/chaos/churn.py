"""Hours of comings and goings on virtual time: does anything grow?

Every minute somebody creates, scales, rolls out or deletes something, and now and then a component is ended and begins again. At the
end of each hour everything is deleted, and when it is quiet, what the process holds is counted. What an hour leaves behind would be
there after each. Descriptors and tasks are the same from the first hour on. Memory fills at first: events live for an hour, the event
recorders keep 4,096 of what they have said, as upstream's do, and what a path means is kept of 4,096 paths; at this pace that takes a
day. So that a leak is not taken for that, these two bounds are lower here (`--bounds` says how low; 0 leaves them as they are).

`python -m tests.chaos.churn --hours 24` (`make churn HOURS=24`).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.apiserver.filters import request_info
from lifecycle.client import event_correlator
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.chaos.scenario import CONTROLLERS, KUBELETS, NODES, SCHEDULER, Action
from tests.chaos.users import NAMESPACE, Users

HOUR, STEP = 3600.0, 60.0
SETTLED = 1 / 6
"""So much of an hour nobody does anything: its end."""
NAMES = ("web", "shop", "mail", "work")
WORK = "work"
"""What begins like this is a Job, everything else a Deployment."""
WARM = 4
"""Hours until what has a bound is full."""
BOUNDS = 100
"""Entries that bounded caches have here."""
SHARE = 0.03
"""So much more at the end than when it was warm is not growth: what is kept for an hour differs from hour to hour."""


@dataclass(frozen=True)
class Pace:
    """How much goes on, and where: rounds of so many seconds (`length`), in them something every `step` seconds about one of
    `names`; a component that ends is away for up to `outage` seconds.
    """

    length: float = HOUR
    step: float = STEP
    outage: float = 20.0
    nodes: int = NODES
    names: tuple[str, ...] = NAMES


@dataclass(frozen=True)
class Sample:
    """What there is at the end of an hour: kilobytes in memory, Python's objects, open descriptors, asyncio's tasks, objects in the
    API, changes in the windows of the watch caches, and those of them that wait for somebody who watches.
    """

    hour: int
    kilobytes: int
    objects: int
    descriptors: int
    tasks: int
    stored: int
    changes: int = 0
    unread: int = 0

    def __str__(self) -> str:
        return (
            f"{self.hour:4} {self.kilobytes / 1024:9.1f} MiB {self.objects:9} objects {self.descriptors:4} descriptors"
            f" {self.tasks:4} tasks {self.stored:5} stored {self.changes:5} changes {self.unread} unread"
        )


def growth(samples: list[Sample]) -> list[str]:
    """What is more at the end than it was: than in the first hour, and of memory than when it was full; empty if nothing is."""
    first, last = samples[0], samples[-1]
    grown = [
        _more(name, first, last) for name in ("descriptors", "tasks") if getattr(last, name) > getattr(first, name)
    ]
    if len(samples) > WARM:
        warm = samples[WARM - 1]
        for name in ("kilobytes", "objects"):
            if getattr(last, name) > getattr(warm, name) * (1 + SHARE):
                grown.append(_more(name, warm, last))
    return grown


def _more(name: str, before: Sample, after: Sample) -> str:
    return f"{name}: {getattr(before, name)} after {before.hour} hours, {getattr(after, name)} after {after.hour}"


@contextmanager
def bounded(entries: int) -> Iterator[None]:
    """Caches that grow up to a bound have this one meanwhile; 0: their own."""
    places = ((event_correlator, "MAX_LRU_CACHE_ENTRIES"), (request_info, "CACHE_SIZE"))
    before = [(module, name, getattr(module, name)) for module, name in places]
    try:
        for module, name in places:
            if entries:
                setattr(module, name, entries)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


async def _sample(hour: int, cluster: Cluster) -> Sample:
    client = cluster.client("kubectl")
    kinds = ("pods", "deployments.apps", "replicasets.apps", "jobs.batch", "events")
    stored = sum([len((await client.list(resource(kind)))["items"]) for kind in kinds])
    gc.collect()
    cachers = cluster.server.cachers.values()
    return Sample(
        hour,
        _resident_kilobytes(),
        len(gc.get_objects()),
        len(os.listdir("/proc/self/fd")),
        len(asyncio.all_tasks()),
        stored,
        sum(len(cacher.window) for cacher in cachers),
        sum(watcher.unread for cacher in cachers for watcher in cacher.watchers()),
    )


def _resident_kilobytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def _action(rng: random.Random, there: dict[str, str], names: tuple[str, ...]) -> Action:
    name = rng.choice(names)
    kind = there.get(name)
    if kind is None:
        if name.startswith(WORK):
            there[name] = "job"
            arguments = (("completions", rng.randint(1, 6)), ("parallelism", 2), ("indexed", rng.random() < 0.5))
            return Action(0.0, "job", name, arguments)
        there[name] = "deployment"
        pods = (("grace", 1), ("init", rng.random() < 0.3), ("probe", rng.random() < 0.3))
        return Action(
            0.0, "deployment", name, (*pods, ("min_ready", 0), ("replicas", rng.randint(1, 5)), ("strategy", "1/0"))
        )
    chosen = rng.random()
    if kind == "deployment" and chosen < 0.4:
        return Action(0.0, "scale", name, (("replicas", rng.randint(0, 6)),))
    if kind == "deployment" and chosen < 0.7:
        return Action(0.0, "roll_out", name, (("template", rng.randint(1, 1000)),))
    del there[name]
    return Action(0.0, "delete", name, (("propagation", rng.choice(("Background", "Foreground"))),))


async def _round(cluster: Cluster, rng: random.Random, pace: Pace) -> None:
    loop = asyncio.get_running_loop()
    ends = loop.time() + pace.length
    users, there = Users(cluster.client("kubectl")), dict[str, str]()
    while loop.time() < ends - pace.length * SETTLED:
        await users.act(_action(rng, there, pace.names))
        if rng.random() < 0.05:
            component = rng.choice((CONTROLLERS, SCHEDULER, *KUBELETS))
            await cluster.stop_component(component)
            await asyncio.sleep(rng.uniform(0, pace.outage))
            cluster.start_component(component)
        await asyncio.sleep(rng.uniform(0, 2 * pace.step))
    for name in there:
        await users.act(Action(0.0, "delete", name, (("propagation", "Background"),)))
    await asyncio.sleep(max(0.0, ends - loop.time()))


async def come_and_go(
    rounds: int,
    seed: int = 1,
    report: Callable[[Sample], None] = lambda sample: None,
    enough: Callable[[], bool] = lambda: False,
    pace: Pace = Pace(),
) -> list[Sample]:
    """A sample for each round. `report` is told of each at once; no round begins when it was `enough`."""
    rng, samples = random.Random(seed), list[Sample]()
    cluster = Cluster(ClusterConfig(nodes=pace.nodes, seed=1, https=False, latency=0.1))
    try:
        await cluster.start()
        while len(samples) < rounds and not enough():
            await _round(cluster, rng, pace)
            samples.append(await _sample(len(samples) + 1, cluster))
            report(samples[-1])
        left = (await cluster.client("kubectl").list(resource("pods"), NAMESPACE))["items"]
        assert not left, [pod["metadata"]["name"] for pod in left]
    finally:
        await cluster.stop()
    return samples


def churn(
    hours: int,
    seed: int = 1,
    report: Callable[[Sample], None] = lambda sample: None,
    enough: Callable[[], bool] = lambda: False,
    length: float = HOUR,
) -> list[Sample]:
    """`come_and_go` on virtual time, for hours of `length` seconds."""
    return run_virtual(come_and_go(hours, seed, report, enough, Pace(length)))


def main(arguments: list[str] | None = None) -> int:
    """0: nothing grows; 1: something does."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.churn", description=__doc__)
    parser.add_argument("--hours", type=int, default=24, help="of virtual time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bounds", type=int, default=BOUNDS, help="entries of caches that have a bound; 0: their own")
    parser.add_argument("--seconds", type=float, default=3600, help="how long at most")
    options = parser.parse_args(arguments)
    if options.hours <= WARM:
        print(f"until {WARM} hours are over, memory is only shown", file=sys.stderr)
    began = time.monotonic()
    with bounded(options.bounds):
        samples = churn(
            options.hours,
            options.seed,
            lambda sample: print(f"{sample}  {time.monotonic() - began:6.0f} s", flush=True),
            lambda: time.monotonic() - began > options.seconds,
        )
    grown = growth(samples) if samples else []
    for line in grown:
        print(f"grows: {line}")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
