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


def probe_results(slip: str) -> Callable[..., Any]:
    """Each answer looks back at those before it."""

    def results(kind: str, probe: dict[str, int], answers: list[bool | None]) -> list[Any]:
        fails = 1 if slip == "the defaults are one" else 3
        needed = {True: probe.get("successThreshold", 1), False: probe.get("failureThreshold", fails)}
        if slip == "success needs one":
            needed[True] = 1
        if slip == "one is enough":
            needed = {True: 1, False: 1}
        heard: list[bool | None] = []
        told: list[Any] = []
        for number, answer in enumerate(answers):
            passed = False if answer is None and slip == "no answer is a no" else answer
            if passed is None:
                heard += [None] if slip == "no answer breaks it off" else []
                continue
            heard.append(passed)
            row = heard[-needed[passed] :]
            if len(row) < needed[passed] or set(row) != {passed}:
                continue
            if slip == "every answer counts once" and told and told[-1][1] == passed:
                continue
            told.append([number, passed])
            final = kind == "startup" or (kind == "liveness" and not passed)
            if slip == "readiness is final":
                final = final or not passed
            if final and slip != "nothing is final":
                break
        return told

    return results
