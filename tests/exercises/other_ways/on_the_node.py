"""Attempts at what a kubelet does with the containers of its node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def pleg_relist(slip: str) -> Callable[..., Any]:
    """A ladder of states; whoever climbs tells of each rung that matters."""
    words = {"running": "ContainerStarted", "exited": "ContainerDied", "gone": "ContainerRemoved"}
    if slip == "created is news":
        words["created"] = "ContainerStarted"

    class Pleg:
        def __init__(self) -> None:
            self.before: dict[str, str] = {}

        def relist(self, containers: dict[str, str]) -> list[list[str]]:
            told = []
            first, then = (containers, self.before) if slip == "the new ones first" else (self.before, containers)
            for name in {**first, **then}:
                now = containers.get(name, "gone")
                was = self.before.get(name, "")
                if now == was or (now == "gone" and slip == "who is gone is forgotten"):
                    continue
                if now == "exited" and not was and slip == "over was never seen":
                    continue
                if now == "gone" and was != "exited" and slip != "gone is one event":
                    told.append([name, words["exited"]])
                if now in words:
                    told.append([name, words[now]])
            self.before = {**self.before, **containers} if slip == "gone is told again" else dict(containers)
            return told

    return Pleg
