"""What users do and what goes wrong, drawn from a seed; parts can be left out, so that a failing scenario can be shrunk."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

WORKERS = ("lifecycle-worker", "lifecycle-worker2", "lifecycle-worker3")
NODES = 1 + len(WORKERS)
CONTROLLERS, SCHEDULER, KUBELETS = "controllers", "scheduler", tuple(f"kubelet {name}" for name in WORKERS)
COMPONENTS = (CONTROLLERS, SCHEDULER, *KUBELETS)
EVERYBODY = "everybody"

LONG = 400.0
"""Long enough that a silent node's pods are evicted: 40 s until it is missed, 300 s that every pod tolerates."""


@dataclass(frozen=True)
class Action:
    """A user does this `at` so many virtual seconds after the cluster was ready; `verb` names a method of `Users`."""

    at: float
    verb: str
    name: str
    arguments: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        words = " ".join(f"{key}={value}" for key, value in self.arguments)
        return f"{self.at:8.3f} s  {self.verb} {self.name} {words}".rstrip()


@dataclass(frozen=True)
class Fault:
    """This goes wrong, for `lasts` seconds. What `amount` is, its kind says.

    kill          `target` dies after `amount` more requests (0: at once), and is started again when the time is over
    refuse        a share `amount` of `target`'s requests gets `answer`, a status, before anything has happened
    lose          a share `amount` of `target`'s requests is done, but the answer gets lost
    drop          all watches of `target` end, at once and without a word
    delay         what `target`'s watches tell comes `amount` seconds late
    repeat        a share `amount` of what `target`'s watches tell is told twice
    skew          `target`'s clock is `amount` seconds ahead
    slow          the store takes `amount` seconds for each read and write
    unavailable   a share `amount` of the store's reads and writes fails; of these writes, half are done all the same
    full          the store takes no writes
    forget        the watch caches lose the store and are filled anew; the store forgets its past
    """

    at: float
    kind: str
    target: str
    lasts: float
    amount: float = 0.0
    answer: int = 0

    @property
    def ends(self) -> float:
        """When it is over."""
        return self.at + self.lasts

    def __str__(self) -> str:
        answer = f" {self.answer}" if self.answer else ""
        return f"{self.at:8.3f} s  {self.kind}{answer} {self.target} ({self.amount:g}) for {self.lasts:g} s"


@dataclass(frozen=True)
class Scenario:
    """What one seed says. Parts are known by their numbers: `a0`, `a1` … for actions, `f0` … for faults."""

    seed: int
    actions: tuple[tuple[str, Action], ...]
    faults: tuple[tuple[str, Fault], ...]

    @classmethod
    def draw(cls, seed: int) -> Scenario:
        """The scenario of a seed."""
        rng = random.Random(seed)
        actions = _Days(rng).actions(rng.randint(4, 14))
        faults = sorted((_fault(rng, actions) for _ in range(rng.randint(1, 7))), key=lambda fault: fault.at)
        return cls(
            seed,
            tuple((f"a{number}", action) for number, action in enumerate(actions)),
            tuple((f"f{number}", fault) for number, fault in enumerate(faults)),
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of all parts, faults first."""
        return tuple(name for name, _ in (*self.faults, *self.actions))

    def keeping(self, parts: Iterable[str]) -> Scenario:
        """Only these parts. Raises ValueError for one that there is not."""
        kept = set(parts)
        if unknown := kept - set(self.parts):
            raise ValueError(
                f"seed {self.seed} has no part {', '.join(sorted(unknown))}: it has {' '.join(self.parts)}"
            )
        return replace(
            self,
            actions=tuple(part for part in self.actions if part[0] in kept),
            faults=tuple(part for part in self.faults if part[0] in kept),
        )

    def without_faults(self) -> Scenario:
        """The same day, and nothing goes wrong."""
        return replace(self, faults=())

    @property
    def ends(self) -> float:
        """When the last action has begun and the last fault is over."""
        return max([0.0, *(action.at for _, action in self.actions), *(fault.ends for _, fault in self.faults)])

    def command(self) -> str:
        """What to type to play just this."""
        drawn = Scenario.draw(self.seed)
        parts = "" if drawn == self else f' KEEP="{" ".join(self.parts)}"'
        return f"make chaos N=1 SEED={self.seed}{parts}"

    def __str__(self) -> str:
        lines = [f"  {name:4}{part}" for name, part in sorted((*self.actions, *self.faults), key=lambda p: p[1].at)]
        return "\n".join([f"seed {self.seed}", *lines])


class _Days:
    """Draws what users do: each step makes sense after those before it."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._at = 0.0
        self._known: dict[str, str] = {}  # name: kind
        self._cordoned: set[str] = set()
        self._count = 0

    def actions(self, count: int) -> list[Action]:
        """So many, and at the end all nodes are as they were."""
        drawn = [self._create() for _ in range(self._rng.randint(1, 2))]
        while len(drawn) < count:
            drawn.append(self._next())
        return drawn

    def _action(self, verb: str, name: str, **arguments: Any) -> Action:
        action = Action(round(self._at, 3), verb, name, tuple(sorted(arguments.items())))
        self._at += self._rng.choice((0.0, 0.01, 0.1, 0.5, 2.0, 10.0, 30.0))
        return action

    def _next(self) -> Action:
        rng = self._rng
        scalable = [name for name, kind in self._known.items() if kind in ("deployment", "stateful_set")]
        rolling = [*scalable, *(name for name, kind in self._known.items() if kind == "daemon_set")]
        choices: list[tuple[int, Any]] = [
            (3 if len(self._known) < 4 else 1, self._create),
            (4 if scalable else 0, lambda: self._action("scale", rng.choice(scalable), replicas=rng.randint(0, 7))),
            (4 if rolling else 0, lambda: self._roll_out(rng.choice(rolling))),
            (2 if self._known else 0, lambda: self._delete(rng.choice(list(self._known)))),
            (2 if rolling else 0, lambda: self._action("delete_pod", rng.choice(rolling), index=rng.randint(0, 3))),
            (2, self._node),
        ]
        return rng.choices([make for _, make in choices], [weight for weight, _ in choices])[0]()  # type: ignore[no-any-return]

    def _create(self) -> Action:
        rng = self._rng
        kind = rng.choices(
            ("deployment", "stateful_set", "job", "daemon_set", "service", "disruption_budget"), (5, 3, 2, 1, 2, 1)
        )[0]
        if kind in ("service", "disruption_budget"):
            app = rng.choice([*(n for n in self._known), "web"])
            return self._action(kind, app)
        self._count += 1
        gone = [name for name in ("web", "db", "agent", "work") if name not in self._known]
        name = rng.choice(gone) if gone and rng.random() < 0.5 else f"{kind.split('_')[0]}{self._count}"
        self._known[name] = kind
        arguments: dict[str, Any] = {
            "probe": rng.random() < 0.3,
            "init": rng.random() < 0.2,
            "grace": rng.choice((0, 1, 30)),
        }
        if kind == "job":
            return self._action(
                kind, name, completions=rng.randint(1, 6), parallelism=rng.randint(1, 4), indexed=rng.random() < 0.4
            )
        if kind == "deployment":
            arguments["strategy"] = rng.choice(("25%", "1/0", "0/1", "2/1", "Recreate"))
            arguments["min_ready"] = rng.choice((0, 0, 0, 5))
        if kind == "stateful_set":
            arguments["parallel"] = rng.random() < 0.3
        if kind != "daemon_set":
            arguments["replicas"] = rng.randint(1, 6)
        return self._action(kind, name, **arguments)

    def _roll_out(self, name: str) -> Action:
        self._count += 1
        return self._action("roll_out", name, template=self._count)

    def _delete(self, name: str) -> Action:
        self._known.pop(name)
        return self._action("delete", name, propagation=self._rng.choice(("Background", "Foreground")))

    def _node(self) -> Action:
        rng = self._rng
        node = rng.choice(WORKERS)
        verb = rng.choice(("cordon", "drain", "uncordon", "taint", "untaint"))
        if verb == "taint":
            return self._action(verb, node, effect=rng.choice(("NoSchedule", "NoExecute")))
        return self._action(verb, node)


def _fault(rng: random.Random, actions: list[Action]) -> Fault:
    """Mostly near something that is being done: then there is something to disturb."""
    at = round(
        max(0.0, rng.choice(actions).at + rng.choice((-0.2, 0.0, 0.01, 0.05, 0.2, 1.0, 5.0)) + rng.random() / 10), 3
    )
    kind = rng.choices(
        ("kill", "refuse", "lose", "drop", "delay", "repeat", "skew", "slow", "unavailable", "full", "forget"),
        (6, 3, 3, 2, 2, 2, 1, 1, 2, 1, 2),
    )[0]
    target = rng.choice((*COMPONENTS, CONTROLLERS, CONTROLLERS))
    if kind in ("refuse", "lose", "drop", "delay", "repeat") and rng.random() < 0.3:
        target = EVERYBODY
    lasts = rng.choice((0.1, 1.0, 5.0, 20.0, 60.0))
    amount, answer = 0.0, 0
    match kind:
        case "kill":
            amount = rng.choice((0, 0, 1, 2, 3, 5, 8, 13))
            lasts = LONG if target in KUBELETS and rng.random() < 0.2 else lasts
        case "refuse":
            amount, answer = rng.choice((0.1, 0.5, 1.0)), rng.choice((409, 429, 500, 503, 504))
        case "lose":
            amount = rng.choice((0.1, 0.5, 1.0))
        case "delay":
            amount = rng.choice((0.05, 0.5, 3.0, 20.0))
        case "repeat":
            amount = rng.choice((0.2, 1.0))
        case "skew":
            amount = rng.choice((-60.0, -5.0, 5.0, 60.0))
        case "slow":
            amount, lasts = rng.choice((0.02, 0.2)), min(lasts, 20.0)
        case "unavailable":
            amount = rng.choice((0.1, 0.5, 1.0))
        case "drop" | "forget":
            lasts = 0.0
    if kind in ("slow", "unavailable", "full", "forget"):
        target = "store"
    return Fault(at, kind, target, lasts, float(amount), answer)
