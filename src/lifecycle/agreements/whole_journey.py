"""The whole journey held against the recorded one: `kubectl create deployment nginx`,
followed through our cluster, and through the recorded cluster's audit log.

Ours is sorted out of the spans that all stages emit, theirs out of all requests that
were logged; both follow the thread of ownership. Compared are the moments that both
must pass, in their order; what is written, and how often where only one number can be
right; and what kubectl says. Times are not: they are another machine's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.cluster.follow import Followed, follow
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.inspector import Recording
from lifecycle.inspector.transcript import parse_transcript
from lifecycle.trace.journey import Journey
from lifecycle.trace.milestones import MILESTONES
from lifecycle.trace.recorded import recorded_journey

MOMENTS, WRITES, PRINTED = "moments, in their order", "writes", "kubectl's own word"
KUBELET, READY = "the first word from a kubelet", "all pods are ready"
WATCH = "watch"  # who says that all are ready; nothing is written for that
_KINDS = {"deployments": "Deployment", "replicasets": "ReplicaSet", "pods": "Pod"}
_PATH = re.compile(r"/namespaces/[^/]+/(\w+)(?:/[^/]+)?(?:/(\w+))?$")
_ASIDE = ("events", "serviceaccounts")
"""Written on the way, and no part of the family."""


def moments(journey: Journey) -> dict[str, list[str]]:
    """The milestones that were reached, in the order in which they were. A kubelet may
    have its first word while other pods are still without a node, so of that it is only
    said what it came before.
    """
    reached = {name: when(journey) for name, when in MILESTONES.items()}
    times = {name: time for name, time in reached.items() if time is not None}
    order = sorted(times, key=lambda name: times[name])
    first = times.get(KUBELET)
    return {
        "one after the other": [name for name in order if name != KUBELET],
        "after a kubelet's first word": [
            name
            for name in order
            if first is not None and name == READY and first < times[name]
        ],
    }


def counted(stages: Iterable[str]) -> dict[str, int]:
    """How often each kind of write; of statuses only that there was one: how many there
    are depends on what falls into one look.
    """
    counts: dict[str, int] = {}
    for stage in stages:
        counts[stage] = 1 if "status" in stage else counts.get(stage, 0) + 1
    return dict(sorted(counts.items()))


def our_writes(journey: Journey) -> list[str]:
    """What was written for the Deployment, named as in a recorded journey."""
    stages = []
    for step in journey.of("apiserver", "request"):
        method, path = step.attributes["method"], step.attributes["path"]
        place = _PATH.search(path)
        resource, subresource = place.groups() if place else (path, "")
        if method == "GET" or step.attributes["code"] >= 400 or resource in _ASIDE:
            continue
        kind = _KINDS.get(resource, resource)
        if subresource == "binding":
            stages.append("bind")
        elif subresource == "status":
            stages.append("status" if kind == "Pod" else f"status of {kind}")
        else:
            verb = {"POST": "create", "PUT": "update", "DELETE": "delete"}.get(method)
            stages.append(f"{verb or 'patch'} {kind}")
    return stages


def whole_journey_agreement(
    recording: Recording, followed: Followed | None = None
) -> AgreementTable:
    """Three rows. `followed`: a command of ours that was followed already; None: the
    usual one is, over HTTPS, as fast as this machine is.
    """
    followed = followed or on_a_loop(follow())
    theirs = recorded_journey(recording.path)
    written = [step for step in theirs.steps if step.component != WATCH]
    typed = (recording.path / "kubectl" / "01-create.txt").read_text()
    table = AgreementTable(
        "The whole journey",
        followed.journey.provenance,
        f"recording {recording.provenance}",
        lambda table: (
            f"One command, followed through a real cluster's {len(written)} writes"
            f" and through the {len(followed.journey.steps)} steps of ours: what has to"
            f" come one after the other, what is written, what is said;"
            f" {table.outcome('rows')}."
        ),
    )
    ours, real = moments(followed.journey), moments(theirs)
    here, there = (" · ".join(side["one after the other"]) for side in (ours, real))
    table.add("journey", MOMENTS, here, there, compare(ours, real))
    mine = counted(our_writes(followed.journey))
    others = counted(step.stage for step in written if step.attributes["code"] < 400)
    table.add("journey", WRITES, _told(mine), _told(others), compare(mine, others))
    word, recorded = followed.printed, parse_transcript(typed).out.rstrip() + "\n"
    table.add("journey", PRINTED, word, recorded, compare(word, recorded))
    return table


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} × {what}" for what, count in counts.items())
