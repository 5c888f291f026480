"""Which of all spans belong to one request's journey.

A Deployment is one object in the request and nine or more at the end: a ReplicaSet,
pods, their bindings and statuses. The thread that holds them together is ownership. The
journey starts with a uid, adds every object whose controlling owner is already in (told
by `owner_uid`; where that is missing by the name, since a ReplicaSet's name begins with
its Deployment's and a pod's with its ReplicaSet's), and takes the spans that touched
one of them, with the spans inside those, and the request around those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.tracing import Span

STAGES: dict[str, tuple[str, ...]] = {
    "kubectl": (),
    "apiserver": (
        "request", "authentication", "audit", "impersonation", "flow control",
        "authorization", "decode", "mutating admission",
        "validation", "validating admission", "admission", "storage",
    ),
    "etcd": ("txn",),
    "deployment-controller": ("sync",),
    "replicaset-controller": ("sync",),
    "scheduler": ("schedule", "schedule_one", "bind"),
    "kubelet": ("sync_pod", "run_pod_sandbox", "start_container", "pull", "create",
    "start", "status"),
}  # fmt: skip
"""Components and stages in the order a request meets them."""

_KIND_OF = {
    "deployment-controller": "deployments",
    "replicaset-controller": "replicasets",
    "scheduler": "pods",
    "kubelet": "pods",
}


@dataclass(slots=True, frozen=True)
class Step:
    """One piece of work. `start` and `end` are seconds since the journey began; `depth`
    is 0 for a span inside no other of the journey.
    """

    component: str
    stage: str
    start: float
    end: float
    about: str = ""
    depth: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.end - self.start


@dataclass(slots=True, frozen=True)
class Journey:
    """All steps of one request, by start. `provenance` says whose clock this was."""

    title: str
    steps: tuple[Step, ...]
    provenance: str = "the embedded cluster"

    @property
    def duration(self) -> float:
        """Seconds from the first start to the last end."""
        return max((step.end for step in self.steps), default=0.0)

    def rows(self) -> list[tuple[str, str]]:
        """Component and stage of every row, in the order a request meets them; unknown
        ones after the known.
        """
        seen = dict.fromkeys((step.component, step.stage) for step in self.steps)
        return sorted(seen, key=_rank)

    def of(self, component: str, stage: str = "") -> list[Step]:
        """The steps of a component, or of one stage of it."""
        return [
            s for s in self.steps if s.component == component and stage in ("", s.stage)
        ]


def journey_of(spans: Iterable[Span], uid: str, *, title: str = "") -> Journey:
    """The journey of one object. Raises LookupError if no span speaks of the uid."""
    spans = sorted(spans, key=lambda span: span.start)
    family = _Family(uid)
    for _ in range(
        4
        # Deployment, ReplicaSet, Pod, and one to spare; each round may meet owners it
        # missed before
    ):
        if not sum([family.adopt(span) for span in spans]):
            break
    taken = {span.id for span in spans if family.knows(span)}
    if not taken:
        raise LookupError(f"no span speaks of uid {uid}")
    parents = {span.id: span.parent for span in spans}
    roots = _requests(spans)
    taken |= {
        root
        for span_id in taken
        for root in _ancestors(span_id, parents)
        if root in roots
    }
    included = [
        span
        for span in spans
        if span.id in taken or any(a in taken for a in _ancestors(span.id, parents))
    ]
    return _assemble(included, title or family.title(), parents)


class _Family:
    """The objects of a journey: uids, and storage keys to know them by where no uid is
    at hand.
    """

    def __init__(self, uid: str) -> None:
        self.uids = {uid}
        self.keys: dict[str, str] = {}

    def adopt(self, span: Span) -> bool:
        """Take in the object a span speaks of, if its owner (or itself) belongs
        already. True if that was news.
        """
        uid, owner, key = (
            str(span.attributes.get(name, "")) for name in ("uid", "owner_uid", "key")
        )
        belongs = (
            uid in self.uids
            or (owner and owner in self.uids)
            or (span.component == "etcd" and self._named_after(key))
        )
        if not belongs:
            return False
        news = bool(uid) and uid not in self.uids
        if uid:
            self.uids.add(uid)
        if key.startswith("/registry/") and key not in self.keys:
            self.keys[key] = uid
            news = True
        return news

    def _named_after(self, key: str) -> bool:
        resource, _, name = key.removeprefix("/registry/").partition("/")
        owners = {"replicasets": "deployments", "pods": "replicasets"}
        prefix = f"/registry/{owners.get(resource, '-')}/"
        return any(
            name.startswith(known.removeprefix(prefix) + "-")
            for known in self.keys
            if known.startswith(prefix)
        )

    def knows(self, span: Span) -> bool:
        """Whether a span touches a member."""
        if (
            span.attributes.get("uid") in self.uids
            or span.attributes.get("owner_uid") in self.uids
        ):
            return True
        key = str(span.attributes.get("key", ""))
        resource = _KIND_OF.get(span.component, "")
        return key in self.keys or (
            bool(resource) and f"/registry/{resource}/{key}" in self.keys
        )

    def title(self) -> str:
        """The first member's resource and name."""
        first = next(iter(self.keys), "")
        return first.removeprefix("/registry/") or f"uid {next(iter(self.uids))}"


def _requests(spans: Sequence[Span]) -> set[int]:
    """Spans that stand for a whole request or command: what is around a member belongs
    to the journey.
    """
    return {
        span.id
        for span in spans
        if span.component == "kubectl"
        or (span.component, span.name) == ("apiserver", "request")
    }


def _ancestors(span_id: int, parents: dict[int, int]) -> list[int]:
    ancestors = []
    while (span_id := parents.get(span_id, 0)) != 0:
        ancestors.append(span_id)
    return ancestors


def _assemble(spans: list[Span], title: str, parents: dict[int, int]) -> Journey:
    origin = min(span.start for span in spans)
    inside = {span.id for span in spans}
    steps = [
        Step(
            span.component,
            span.name,
            span.start - origin,
            span.end - origin,
            _about(span),
            sum(1 for ancestor in _ancestors(span.id, parents) if ancestor in inside),
            dict(span.attributes),
        )
        for span in sorted(spans, key=lambda span: (span.start, -span.end))
    ]
    return Journey(title, tuple(steps))


def _about(span: Span) -> str:
    """What a span says it is about: an object, an admission plugin, or what was
    requested.
    """
    attributes = span.attributes
    if "path" in attributes:
        return f"{attributes.get('method', '')} {attributes['path']}"
    return str(
        attributes.get("key")
        or attributes.get("plugin")
        or attributes.get("argv")
        or ""
    ).removeprefix("/registry/")


def _rank(row: tuple[str, str]) -> tuple[int, int, str, str]:
    component, stage = row
    components = list(STAGES)
    stages = STAGES.get(component, ())
    return (
        components.index(component) if component in STAGES else len(components),
        stages.index(stage) if stage in stages else len(stages),
        component,
        stage,
    )
