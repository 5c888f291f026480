"""Attempts at scale, at comparing, at a thread and at a verdict."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any


def feasible_nodes(slip: str) -> Callable[..., Any]:
    """With fractions, and rounded at the end."""

    def enough(nodes: int, percentage: int) -> int:
        if nodes < 100 and slip != "a part of few":
            return nodes
        if not percentage:
            percentage = 50 - (-(-nodes // 125) if slip == "for every begun 125" else nodes // 125)
            if slip == "always half":
                percentage = 50
            percentage = max(percentage, 0 if slip == "no least percentage" else 5)
        part = Fraction(nodes * percentage, 100)
        found = -int(-part // 1) if slip == "rounded up" else int(part)
        return found if slip == "no least number" else max(found, 100)

    return enough


def journey_thread(slip: str) -> Callable[..., Any]:
    """Members first, until there are no more; then the spans around, then those inside."""

    def journey(spans: Any, uid: str) -> Any:
        members = {uid}
        while True:
            more = {span["uid"] for span in spans if span["uid"] and span["owner"] in members} - members
            if not more or slip == "nobody is owned":
                break
            members |= more
            if slip == "only what it owns itself":
                break
        by_id = {span["id"]: span for span in spans}

        def around(span: Any) -> Any:
            while span["parent"]:
                span = by_id[span["parent"]]
                yield span

        def is_request(span: Any) -> bool:
            if span["component"] == "kubectl":
                return slip != "kubectl does not count"
            return (span["component"], span["name"]) == ("apiserver", "request")

        taken = {span["id"] for span in spans if span["uid"] in members or span["owner"] in members}
        for number in list(taken):
            for outer in around(by_id[number]):
                if (is_request(outer) and slip != "no requests") or slip == "whatever is around":
                    taken.add(outer["id"])
                    if slip == "the nearest request":
                        break
        if slip == "nothing within":
            return sorted(taken)
        inside = {span["id"] for span in spans if any(outer["id"] in taken for outer in around(span))}
        if slip == "one floor down":
            inside = {span["id"] for span in spans if span["parent"] in taken}
        return sorted(taken | inside)

    return journey


def claim_verdicts(slip: str) -> Callable[..., Any]:
    """Silence first."""

    def contradicted(verdict: str, how: str, seen: Any, elsewhere: Any) -> bool:
        if not seen and slip != "silence speaks":
            return verdict == "partly" and slip == "partly needs a witness"
        held = all(seen) if how == "every" or slip == "always every" else any(seen)
        if slip == "always some":
            held = any(seen)
        if verdict == "partly":
            if slip == "here is enough":
                return not held
            return not (held and elsewhere)
        if elsewhere is not None and slip != "elsewhere does not matter":
            return True
        wanted = verdict == "holds" or (slip == "what changed may hold" and verdict == "changed" and held)
        return held != wanted

    return contradicted
