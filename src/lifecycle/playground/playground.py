"""The playground: a cluster, its time, a terminal and somebody who looks, as one thing
that a page can hold.

All calls return at once, and time stands still between them. What happened is asked for
with `news`, as JSON, so a page needs no other bridge.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.kubectl.completion import complete
from lifecycle.playground.breakable_cluster import BreakableCluster
from lifecycle.playground.hand_cranked_time import A_MOMENT, HandCrankedTime
from lifecycle.playground.observer import Observer
from lifecycle.playground.scenario import (
    LONGEST_LINE,
    Scenario,
    ScenarioError,
    Step,
    format_scenario,
)
from lifecycle.playground.terminal import Terminal

EXAMPLES = Path(__file__).with_name("examples")
"""Manifests that the terminal's folder begins with."""

BEFORE = "break", "cat", "clear", "edit", "help", "history", "kubectl", "ls", "mend"
LONGEST_WAIT = 600.0
"""Virtual seconds that *to the next change* may skip."""


class Playground:
    """`folder` holds the files of the terminal. Raises what a cluster's start raises.

    Containers take as long to start as they took on recorded nodes.
    """

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self._scenario = scenario
        self._typed: list[Step] = []
        self._to_type = list(scenario.steps)
        self._running: set[asyncio.Task[Any]] = set()
        self._said: list[dict[str, Any]] = []
        self._told_version = -1
        self._told_events = 0
        self._commands = 0
        self._time = HandCrankedTime()
        self._time.run(self._start(folder))
        self._began = self._time.now

    async def _start(self, folder: Path) -> None:
        shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
        config = ClusterConfig(
            nodes=self._scenario.nodes,
            seed=self._scenario.seed,
            https=False,
            latency="recorded",
        )
        self._cluster = BreakableCluster(config)
        await self._cluster.start()
        self._terminal = Terminal(self._cluster, folder)
        self._observer = Observer(self._cluster.client("playground"))
        await self._observer.start()

    @property
    def now(self) -> float:
        """Virtual seconds since the cluster was ready."""
        return self._time.now - self._began

    def advance(self, seconds: float = 0.0) -> None:
        """Let time pass; lines of the scenario are typed when they are due."""
        end = self.now + max(seconds, A_MOMENT)
        while self._to_type and self._to_type[0].at <= end:
            step = self._to_type.pop(0)
            if step.at > self.now:
                self._time.advance(step.at - self.now)
            self.enter(step.line)
        if end > self.now:
            self._time.advance(end - self.now)

    def to_next_change(self) -> None:
        """Let time pass until something looks different, or a line is due."""
        limit = LONGEST_WAIT
        if self._to_type:
            limit = min(limit, max(self._to_type[0].at - self.now, 0.0))
        self._time.run(self._observer.until_change(limit))
        self.advance()

    def enter(self, line: str) -> None:
        """Enter a line in the terminal; it runs as time passes."""
        number = self._commands = self._commands + 1
        if len(line) <= LONGEST_LINE:
            self._typed.append(Step(self.now, line))
        self._say(number, "in", line)

        async def run() -> None:
            code = await self._terminal.run(
                line, lambda kind, text: self._say(number, kind, text)
            )
            self._say(number, "end", str(code))

        task = self._time.start(run(), f"command {number}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        self._time.advance()

    def _say(self, command: int, kind: str, text: str) -> None:
        """A command prints; text of one kind in a row is one piece."""
        last = self._said[-1] if self._said else None
        if last and (last["command"], last["kind"]) == (command, kind):
            last["text"] += text
        else:
            self._said.append({"command": command, "kind": kind, "text": text})

    def interrupt(self) -> None:
        """Ctrl-C: what still runs ends."""
        for task in self._running:
            task.cancel()
        self._time.advance()

    def complete(self, line: str) -> str:
        """What the last word of a line could be, as a JSON list of whole words."""
        words = line.split(" ")
        *before, last = [word for word in words[:-1] if word] + [words[-1]]
        if not before:
            found = [word for word in BEFORE if word.startswith(last)]
        elif before[0] in ("kubectl", "k"):
            client = self._cluster.client("kubectl")
            found = self._time.run(complete(before[1:], last, client))
        elif before[0] in ("break", "mend"):
            parts = self._cluster.parts
            options = list(parts) if len(before) == 1 else parts.get(before[1], [])
            found = [word for word in options if word.startswith(last)]
        else:
            found = []
        return json.dumps(found)

    def news(self) -> str:
        """What happened since the last call, as JSON.

        `now`; `said`: what terminals print, by command; `running`: how many commands
        run; `events`: new ones; `picture`: see `Observer.picture`, absent if nothing
        changed; `broken`: what does not work, `kind name` each; `left`: the scenario's
        lines that are not typed yet.
        """
        said, self._said = self._said, []
        observer = self._observer
        news: dict[str, Any] = {
            "now": self.now,
            "said": said,
            "running": len(self._running),
            "left": len(self._to_type),
            "events": [
                {**event, "at": event["at"] - self._began}
                for event in observer.events.since(self._told_events)
            ],
        }
        self._told_events = observer.events.seen
        if observer.version != self._told_version or said:
            self._told_version = observer.version
            news["picture"] = self._time.run(self._picture())
        return json.dumps(news)

    async def _picture(self) -> dict[str, Any]:
        picture = self._observer.picture()
        for pod in picture["pods"]:
            pod["states"] = [
                [max(0.0, at - self._began), status, looks]
                for at, status, looks in pod["states"]
            ]
            if pod["end"] is not None:
                pod["end"] -= self._began
        picture["broken"] = sorted(f"{b.kind} {b.name}" for b in self._cluster.broken)
        picture["parts"] = self._cluster.parts
        return picture

    def address(self, speed: float) -> str:
        """Everything that was typed, as the part of an address after its `#`; empty if
        that is too much for an address.
        """
        scenario = self._scenario
        steps = tuple(self._typed)
        try:
            return format_scenario(
                Scenario(scenario.nodes, scenario.seed, speed, steps)
            )
        except ScenarioError:
            return ""

    def close(self) -> None:
        """The end: nothing goes on."""
        self.interrupt()
        self._time.run(self._end())
        self._time.close()

    async def _end(self) -> None:
        await self._observer.stop()
        await self._cluster.stop()
