"""The scheduling queue: who waits where, and whose turn is it?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from random import Random
from types import MappingProxyType
from typing import Any, cast

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.scheduler.backend.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.framework.plugins.priority_sort import PrioritySort
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.types import ClusterEvent, QueuedPodInfo

CONTRACT = """\
Queue(): a class. Each call is told the time `now`, in seconds, which never goes back.

add(now, name, priority): a new pod; it is active.
pop(now) -> name or None: the active pod with the highest priority; of equal ones the
        one that was put in first (when it came, or came back from its last attempt).
        If none is active: the pod on the bench ("backoff") whose time ends first, but
        none that came back because of an error.
refused(now, name, plugins): the pod that was taken comes back: these plugins said no.
        It is unschedulable.
failed(now, name): the pod that was taken comes back because of an error. It goes to the
        bench.
event(now, answers): something has happened. answers says, for some plugins, whether
        this could help: {"NodeAffinity": True}. A pod that is unschedulable leaves that
        place if one of the plugins that have refused it at its last attempt says True;
        plugins that are not in answers do not care. It goes to the bench until its time
        is over, or becomes active if that is so already.
places(now) -> {"active": [...], "backoff": [...], "unschedulable": [...]}, sorted.
The time on the bench counts from when the pod came back: 1 second after its first
refusal, 2 after the second, then 4, 8, and never more than 10. Errors count in the same
way, but only those in a row; as long as the last attempt was an error they alone count.
When its time is over a pod becomes active by itself."""

STARTER = '''\
class Queue:
    """One line."""

    def __init__(self):
        self.line = []

    def add(self, now, name, priority):
        self.line.append(name)

    def pop(self, now):
        return self.line.pop(0) if self.line else None

    def refused(self, now, name, plugins):
        self.line.append(name)

    def failed(self, now, name):
        self.line.append(name)

    def event(self, now, answers):
        pass

    def places(self, now):
        return {"active": sorted(self.line), "backoff": [], "unschedulable": []}
'''

SEED = 36
PLUGINS = ("NodeAffinity", "NodeResourcesFit", "TaintToleration")
ATTEMPT = 0.1
"""So many seconds after it was taken, a pod comes back."""
NEWS = ClusterEvent("Node", "Update")
ERROR = "error"
Step = tuple[str, float, Any, Any]
"""`("add", now, name, priority)`, `("pop", now, who refuses it or ERROR or None, 0)`,
`("event", now, answers, 0)`, `("places", now, 0, 0)`.
"""


def cases() -> Iterator[Case]:
    """Scenes for single rules, and lives of a few pods at random."""
    for name, steps in _scenes().items():
        yield _case("one rule", name, steps)
    for number in range(8):
        yield _case("lives", f"life {number}", list(_life(Random(SEED + number))))


def _scenes() -> dict[str, list[Step]]:
    fit, affinity, helped = ["NodeResourcesFit"], ["NodeAffinity"], _news(True)
    one: Step = ("add", 0, "one", 0)
    back: list[Step] = [one, ("pop", 2, fit, 0)]
    errors: list[Step] = [one]
    refusals: list[Step] = [one]
    for at in range(20, 140, 20):
        errors.append(("pop", at, ERROR, 0))
        refusals += [("pop", at, fit, 0), ("event", at + 0.5, helped, 0)]
        for seconds in (0.9, 1.9, 3.9, 7.9, 9.9, 10.2):
            errors.append(("places", at + seconds, 0, 0))
            refusals.append(("places", at + seconds, 0, 0))
    return {
        "by priority": [
            ("add", 0, "low", 0),
            ("add", 1, "high", 10),
            ("add", 2, "late", 10),
            *(("pop", at, None, 0) for at in (3, 4, 5, 6)),
        ],
        "back again, behind the others": [
            one,
            ("add", 1, "two", 0),
            ("pop", 2, fit, 0),
            ("event", 4, helped, 0),
            ("pop", 5, None, 0),
            ("pop", 6, None, 0),
        ],
        "refused": [*back, ("places", 100, 0, 0), ("pop", 101, None, 0)],
        "no help": [*back, ("event", 50, _news(False), 0), ("places", 60, 0, 0)],
        "others do not count": [*back, ("event", 50, {"NodeAffinity": True}, 0)],
        "help, later": [*back, ("event", 50, helped, 0)],
        "help at once": [*back, ("event", 2.5, helped, 0), ("places", 4, 0, 0)],
        "taken early": [*back, ("event", 2.5, helped, 0), ("pop", 2.6, None, 0)],
        "whose time ends first": [
            ("add", 0, "low", 0),
            ("pop", 1, fit, 0),
            ("add", 1.2, "high", 10),
            ("pop", 1.5, fit, 0),
            ("event", 1.8, helped, 0),
            ("pop", 1.9, None, 0),
        ],
        "two have refused": [
            one,
            ("pop", 2, [*affinity, *fit], 0),
            ("event", 50, helped, 0),
        ],
        "the last attempt counts": [
            *back,
            ("event", 50, helped, 0),
            ("pop", 51, affinity, 0),
            ("event", 90, helped, 0),
        ],
        "an error": [
            one,
            ("pop", 2, ERROR, 0),
            *(("pop", at, None, 0) for at in (2.5, 3.5)),
        ],
        "errors in a row": errors,
        "the bench grows": refusals,
    }


def _news(answer: bool) -> dict[str, bool]:
    return {"NodeResourcesFit": answer}


def _life(chance: Random) -> Iterator[Step]:
    """Some seconds of a few pods. No two things happen at the same time."""
    now, pods = 0.0, 0
    for number in range(30):
        now += chance.choice((0.3, 0.7, 1.1, 2.3)) + 0.001 * number
        dice = chance.random()
        if dice < 0.2 or pods < 3:
            pods += 1
            yield "add", now, f"pod-{pods}", chance.choice((0, 0, 10))
        elif dice < 0.65:
            plugins = sorted(chance.sample(PLUGINS, chance.choice((1, 1, 2))))
            yield "pop", now, chance.choice((ERROR, plugins, plugins, plugins)), 0
        else:
            told = chance.sample(PLUGINS, 2)
            yield "event", now, {one: chance.random() < 0.6 for one in told}, 0
        yield "places", now + 0.15, 0, 0


def _case(group: str, label: str, steps: list[Step]) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: _played(attempt, steps)  # noqa: E731
    expected = fast_json.loads(_expected(fast_json.dumps(steps)))
    return Case(group, label, expected, ask, steps)


def _played(make: Attempt, steps: list[Step]) -> dict[str, Any]:
    """What such a queue says at each step, and where all pods are at its end."""
    queue: Any = make()
    heard: dict[str, Any] = {}
    for what, now, one, other in steps:
        at = f"{now:.2f} s: {what}"
        if what == "add":
            queue.add(now, one, other)
        elif what == "event":
            queue.event(now, one)
        elif what == "places":
            heard[at] = queue.places(now)
        else:
            name = heard[at] = queue.pop(now)
            if name is not None and one == ERROR:
                queue.failed(now + ATTEMPT, name)
            elif name is not None and one is not None:
                queue.refused(now + ATTEMPT, name, one)
    heard["the end"] = queue.places(steps[-1][1] + 1)
    return heard


class _Ours:
    """The scheduler's queue. It lives on a loop's clock, so at each question all that
    has happened is played once more.
    """

    def __init__(self) -> None:
        self.history: list[tuple[str, float, Any, Any]] = []

    def __getattr__(self, what: str) -> Callable[..., Any]:
        if what.startswith("_"):
            raise AttributeError(what)
        return lambda now, one=None, other=None: self._ask(what, now, one, other)

    def _ask(self, what: str, now: float, one: Any, other: Any) -> Any:
        self.history.append((what, now, one, other))
        if what in ("pop", "places"):
            return on_virtual_time(_replayed(self.history))
        return None


async def _replayed(history: list[tuple[str, float, Any, Any]]) -> Any:
    loop, played = asyncio.get_running_loop(), _Played()
    begin, said = loop.time(), None
    for what, now, one, other in history:
        await asyncio.sleep(max(0.0, begin + now - loop.time()))
        said = getattr(played, what)(one, other)
    played.queue.close()
    return said


@cache
def _expected(steps: bytes) -> bytes:
    return fast_json.dumps(_played(_Ours, fast_json.loads(steps)))


class _Played:
    """The scheduler's queue behind the contract's verbs, on a running loop."""

    def __init__(self) -> None:
        framework = cast(Framework, _FewPlugins())
        self.queue = SchedulingQueue({"": framework}, Clock())
        self.taken: dict[str, QueuedPodInfo] = {}

    def add(self, name: str, priority: int) -> None:
        """A new pod."""
        metadata = {"name": name, "namespace": "default", "uid": name}
        spec = {"containers": [], "priority": priority}
        self.queue.add({"metadata": metadata, "spec": spec})

    def pop(self, *_: Any) -> str | None:
        """Whose turn it is."""
        queued = self.queue.try_pop()
        if queued is None:
            return None
        name: str = queued.info.pod["metadata"]["name"]
        self.taken[name] = queued
        return name

    def refused(self, name: str, plugins: list[str]) -> None:
        """Back, for these plugins' sake."""
        queued = self.taken.pop(name)
        queued.unschedulable_plugins = set(plugins)
        self.queue.add_unschedulable(queued)

    def failed(self, name: str, _: Any) -> None:
        """Back, for an error's."""
        self.queue.add_unschedulable(self.taken.pop(name))

    def event(self, answers: dict[str, bool], _: Any) -> None:
        """News."""
        self.queue.move_all(NEWS, None, {"answers": answers})

    def places(self, *_: Any) -> dict[str, list[str]]:
        """Who is where."""
        places = self.queue.pending_pods()
        return {
            place: sorted(key.partition("/")[2] for key in places[place])
            for place in ("active", "backoff", "unschedulable")
        }


class _FewPlugins:
    """A framework whose plugins' hints say what the event says they say."""

    profile_name = ""
    queue_sort_plugins = (PrioritySort(),)
    pre_enqueue_plugins: Mapping[str, Any] = MappingProxyType({})

    @property
    def hints(self) -> Mapping[str, Mapping[ClusterEvent, Any]]:
        """Upstream: `queueingHintMap`."""
        return {name: {NEWS: self._hint(name)} for name in PLUGINS}

    @staticmethod
    def _hint(name: str) -> Callable[[object, object, Object], bool]:
        return lambda _pod, _old, event: bool(event["answers"].get(name))


def ours() -> Attempt:
    """The book's."""
    return _Ours


EXERCISE = Exercise(
    "scheduling-queue",
    "The scheduling queue",
    CONTRACT,
    STARTER,
    "the book's own, which puts pods where the recorded scheduler put them",
    cases,
    ours,
    ("queue",),
)
