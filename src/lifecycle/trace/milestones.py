"""The moments that every journey of a Deployment has, whoever's clock it was measured
on.

Our spans tell what happened inside each stage; a real cluster's audit log tells when
requests came and were answered. Both show the same six milestones, so the two can stand
side by side.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lifecycle.trace.journey import Journey, Step
from lifecycle.trace.text import milliseconds


def _stored(journey: Journey, resource: str) -> list[float]:
    """When each object of a resource was first written: by the transaction, or by the
    answer to its creation.
    """
    first: dict[str, float] = {}
    for step in journey.of("etcd", "txn"):
        if step.about.startswith(f"{resource}/"):
            first.setdefault(step.about, step.end)
    kinds = {"deployments": "Deployment", "replicasets": "ReplicaSet", "pods": "Pod"}
    answered = [
        step.end for step in journey.steps if step.stage == f"create {kinds[resource]}"
    ]
    return list(first.values()) or answered


def _ends(steps: Iterable[Step]) -> list[float]:
    return [step.end for step in steps]


MILESTONES: dict[str, Callable[[Journey], float | None]] = {
    "the Deployment is stored": lambda j: min(_stored(j, "deployments"), default=None),
    "the ReplicaSet is stored": lambda j: min(_stored(j, "replicasets"), default=None),
    "the last pod is stored": lambda j: max(_stored(j, "pods"), default=None),
    "the last pod is bound to a node": lambda j: max(
        _ends(j.of("scheduler", "bind")), default=None
    ),
    "the first word from a kubelet": lambda j: min(
        _ends(j.of("kubelet", "status")), default=None
    ),
    "all pods are ready": lambda j: min(
        _ends(j.of("watch", "all pods ready")), default=None
    ),
}
"""Name → when it was reached (seconds since the journey began), or None if the journey
never got there.
"""


@dataclass(slots=True, frozen=True)
class Milestones:
    """Journeys side by side. Shows itself as a table."""

    journeys: tuple[Journey, ...]

    def reached(self) -> list[tuple[str, list[float | None]]]:
        """Each milestone, and when each journey reached it."""
        return [
            (name, [when(journey) for journey in self.journeys])
            for name, when in MILESTONES.items()
        ]

    def in_order(self) -> list[bool]:
        """For each journey, whether it reached all milestones in the order in which
        they stand.
        """
        columns = zip(*(times for _, times in self.reached()), strict=True)
        return [
            None not in column
            and list(column) == sorted(t for t in column if t is not None)
            for column in columns
        ]

    def __str__(self) -> str:
        lines = [
            f"{'':34}"
            + "".join(f"{journey.provenance:>44}" for journey in self.journeys)
        ]
        lines += [
            f"{name:34}" + "".join(f"{_format_seconds(t):>44}" for t in times)
            for name, times in self.reached()
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For a notebook."""
        head = "".join(
            f"<th>{html.escape(journey.provenance)}</th>" for journey in self.journeys
        )
        rows = "".join(
            f"<tr><td>{name}</td>"
            + "".join(
                f'<td style="text-align:right">{_format_seconds(t)}</td>' for t in times
            )
            + "</tr>"
            for name, times in self.reached()
        )
        return (
            '<div style="overflow-x:auto" tabindex="0">'
            f"<table><thead><tr><td></td>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div>"
        )


def _format_seconds(seconds: float | None) -> str:
    return "–" if seconds is None else milliseconds(seconds)


def side_by_side(*journeys: Journey) -> Milestones:
    """The milestones of several journeys."""
    return Milestones(journeys)
