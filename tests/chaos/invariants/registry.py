"""How invariants are told of changes, and what they may ask of the world."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from tests.chaos.history import WORKLOADS, Change, History

PHASES = ("Pending", "Running", "Succeeded", "Failed")
TERMINAL = ("Succeeded", "Failed")
HALF_A_MINUTE = 30.0
DECIDING = 2.0
"""Seconds from a look to the last write that it leads to, at most, on a slow store."""


@dataclass
class World:
    """All objects as they were before a change, and what is remembered of them."""

    objects: dict[str, dict[str, Object]] = field(default_factory=lambda: defaultdict(dict))
    """By row and key."""
    versions: dict[str, list[Object]] = field(default_factory=lambda: defaultdict(list))
    """All versions of workloads, by uid."""
    uids: dict[str, str] = field(default_factory=dict)
    """The key of every uid there ever was."""
    addresses: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Every address that a pod ever had, by its uid."""
    was_ready: dict[str, float] = field(default_factory=dict)
    """When a pod was last ready, by its key."""
    since: dict[str, set[tuple[str, str, str]]] = field(default_factory=lambda: defaultdict(set))
    """Every condition that a pod ever had, by its uid: type, status, since when."""
    doubtful: dict[str, int] = field(default_factory=dict)
    told: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    revision: int = 0

    def live_pods(self, owner: str) -> list[Object]:
        """Those of an owner's uid that have not ended and are not about to."""
        return [pod for pod in self.objects["pods"].values() if is_active(pod) and controller_uid(pod) == owner]

    def believed(self, row: str, uid: str, at: float) -> list[Object | None]:
        """The versions of a workload that its controller may have gone by when it decided on what came to be `at`; None: it may
        not have known it yet.
        """
        told = self.told_by(row, at - DECIDING)
        versions: list[Object | None] = [None, *self.versions[uid]]
        while len(versions) > 1 and int(versions[1]["metadata"]["resourceVersion"]) <= told:  # type: ignore[index]
            versions.pop(0)
        return versions

    def told_by(self, row: str, at: float) -> int:
        """Of which revision the controllers had heard; of all, where nothing else is known."""
        told = self.told.get(row)
        if not told:
            return self.revision
        index = bisect_right(told, at, key=lambda entry: entry[0])
        return told[index - 1][1] if index else 0

    def apply(self, change: Change) -> None:
        """Now it has happened."""
        obj, at = change.obj, change.at
        uid = obj["metadata"]["uid"]
        self.revision = change.revision
        self.uids[uid] = change.key
        if change.kind == "DELETED":
            self.objects[change.row].pop(change.key, None)
            return
        self.objects[change.row][change.key] = obj
        if change.row in WORKLOADS:
            self.versions[uid].append(obj)
        if change.row == "pods":
            self.addresses[uid].update(address["ip"] for address in obj["status"].get("podIPs") or ())
            for each in obj["status"].get("conditions") or ():
                self.since[uid].add((each["type"], each["status"], str(each.get("lastTransitionTime"))))
            if is_ready(obj) or (change.before is not None and is_ready(change.before)):
                self.was_ready[change.key] = at


Check = Callable[[Change, World], Iterator[str]]
INVARIANTS: dict[str, Check] = {}


def invariant(*rows: str, kinds: tuple[str, ...] = ("ADDED", "MODIFIED", "DELETED")) -> Callable[[Check], Check]:
    """Register one that is about these rows (none: all) and these kinds of events."""

    def register(check: Check) -> Check:
        def applies(change: Change, world: World) -> Iterator[str]:
            if (not rows or change.row in rows) and change.kind in kinds:
                yield from check(change, world)

        INVARIANTS[check.__name__] = applies
        return check

    return register


@dataclass(frozen=True)
class Violation:
    """An invariant, what broke it, and when."""

    invariant: str
    change: Change
    message: str

    def __str__(self) -> str:
        change = self.change
        return f"{self.invariant}: {change.kind} {change.key} at {change.at:.3f} s, revision {change.revision}: {self.message}"


def broken(history: History) -> Iterator[Violation]:
    """Put every change to every invariant."""
    world = World(doubtful=history.doubtful, told=history.told)
    for change in history.changes:
        for name, check in INVARIANTS.items():
            for message in check(change, world):
                yield Violation(name, change, message)
        world.apply(change)


def is_active(pod: Object) -> bool:
    """Upstream: `controller.IsPodActive`."""
    return pod["status"].get("phase") not in TERMINAL and "deletionTimestamp" not in pod["metadata"]


def is_ready(pod: Object) -> bool:
    """Whether its condition says so."""
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions") or ())


def controller_of(obj: Object) -> Object | None:
    """The owner reference of its controller."""
    return next((each for each in obj["metadata"].get("ownerReferences") or () if each.get("controller")), None)


def controller_uid(obj: Object) -> str:
    """Empty if nobody controls it."""
    owner = controller_of(obj)
    return owner["uid"] if owner else ""


def containers(pod: Object) -> Iterator[tuple[str, Object]]:
    """The statuses of all, by kind and name."""
    for kind in ("initContainerStatuses", "containerStatuses"):
        for status in pod["status"].get(kind) or ():
            yield f"{kind}/{status['name']}", status


def most(versions: list[Object | None], name: str) -> int:
    return max((version["spec"].get(name, 1) for version in versions if version is not None), default=0)


def share(value: int | str | None, of: int, *, up: bool) -> int:
    """An IntOrString of so many. Upstream: `intstr.GetScaledValueFromIntOrPercent`."""
    if isinstance(value, str):
        share = int(value.rstrip("%")) * of
        return -(-share // 100) if up else share // 100
    return value or 0
