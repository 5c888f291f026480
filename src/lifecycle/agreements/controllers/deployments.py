"""The deployment controller held against the recorded journey: every write it made, put
to our controller.

A sync is a function of what the caches hold: one Deployment, its ReplicaSets. The
recorded watch has every state of both, the audit log every request that the real
controller made of them, refused ones included. So our controller is given the cached
states and runs whole syncs; each recorded request must be among those that ours then
sends.

How old the caches were at that instant nobody recorded: any state of the last
`LOOK_BACK` revisions counts as what the controller may have seen. Times that it took
from its own clock are equal if they lie within `CLOCK` seconds before the request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from lifecycle.agreements.controllers.told_events import Telling, Told, compare_events
from lifecycle.agreements.recorded_journey import AGE_OF_CACHE, RecordedJourney
from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, format_time, parse_time
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource, resource
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import Comparison, compare
from lifecycle.controllers.deployment.deployment_control import DeploymentControl
from lifecycle.controllers.deployment.deployment_controller import DeploymentController
from lifecycle.controllers.deployment.deployment_util import POD_TEMPLATE_HASH
from lifecycle.controllers.deployment.revisions import revision as number_of
from lifecycle.controllers.pod_template_hash import compute_hash
from lifecycle.inspector import Recording
from lifecycle.kubectl.commands.rollout_history import (
    revision_to_restore,
    rollback_patch,
)

CONTROLLER = "deployment-controller"
LOOK_BACK = 14
CLOCK = 2.0
OWN_CLOCK = "times from a controller's own clock"
NEVER = format_time(0.0)
"""The hour on our controller's clock while it plays a sync: no recorded time can be
taken for it.
"""

Answer = tuple[str, str, Comparison]
"""Ours and theirs in short, and the result."""


class Write(NamedTuple):
    """A request of a sync. `target` is the plural, with the subresource if it has
    one.
    """

    verb: str
    target: str
    name: str
    body: Object


@dataclass(slots=True)
class Sync:
    """What one sync asked for and told, in order."""

    writes: list[Write] = field(default_factory=list)
    telling: Telling = field(default_factory=lambda: Telling(CONTROLLER))


class _Answering:
    """Stands in for a `Client`: every write succeeds and is kept."""

    def __init__(self, sync: Sync) -> None:
        self._sync = sync

    async def create(
        self, row: Resource, obj: Object, namespace: str = "", **_: Any
    ) -> Object:
        """Created as sent."""
        self._sync.writes.append(
            Write(
                "create",
                row.plural,
                obj["metadata"]["name"],
                fast_json.loads(fast_json.dumps(obj)),
            )
        )
        return {**obj, "metadata": {**obj["metadata"], "uid": "new"}}

    async def update(
        self, row: Resource, obj: Object, *, subresource: str = "", **_: Any
    ) -> Object:
        """Stored as sent."""
        target = f"{row.plural}/{subresource}" if subresource else row.plural
        self._sync.writes.append(
            Write(
                "update",
                target,
                obj["metadata"]["name"],
                fast_json.loads(fast_json.dumps(obj)),
            )
        )
        return obj

    async def delete(
        self, row: Resource, name: str, namespace: str = "", **_: Any
    ) -> Object:
        """Gone."""
        self._sync.writes.append(Write("delete", row.plural, name, {}))
        return {}


class _Then(Clock):
    """A clock that stands still where nothing was recorded."""

    def now(self) -> float:
        return 0.0


async def play_sync(deployment: Object, replica_sets: list[Object]) -> Sync:
    """One sync of our controller, whose caches hold exactly these objects."""
    sync = Sync()
    client, clock = cast(Any, _Answering(sync)), _Then()
    informers = SharedInformerFactory(client)
    controller = DeploymentController(
        client, informers, clock=clock, names=NameSource(1)
    )
    controller._control = DeploymentControl(client, cast(Any, sync.telling), clock)
    for plural, objects in (
        ("deployments.apps", [deployment]),
        ("replicasets.apps", replica_sets),
    ):
        for obj in objects:
            informers.informer(resource(plural)).indexer.set(
                meta_namespace_key(obj), obj
            )
    await controller._sync_deployment(meta_namespace_key(deployment))
    return sync


class _Played:
    """Syncs of recorded states, each played once."""

    def __init__(self, journey: RecordedJourney) -> None:
        self.journey = journey
        self._syncs: dict[tuple[str, ...], Sync] = {}
        self._newest = 0

    def candidates(self, event: Object) -> Iterator[Sync]:
        """Syncs of every pair of cache states that the controller may have seen when it
        made this request; the likeliest first.

        To be asked in the order of the requests: one that was refused has no revision
        of its own, so the newest before it is taken.
        """
        written = (
            (event.get("responseObject") or {})
            .get("metadata", {})
            .get("resourceVersion")
        )
        self._newest = max(self._newest, int(written)) if written else self._newest
        revisions = range(
            self._newest + (0 if written else LOOK_BACK), self._newest - LOOK_BACK, -1
        )
        written_to, sent = (
            event["objectRef"]["resource"],
            event["requestObject"]["metadata"].get("resourceVersion"),
        )
        seen: dict[str, dict[tuple[str, ...], list[Object]]] = {
            "deployments": {},
            "replicasets": {},
        }
        for plural, states in seen.items():
            for revision in revisions:
                objects = self.journey.as_of(plural, revision)
                versions = [obj["metadata"]["resourceVersion"] for obj in objects]
                if plural != written_to or not sent or sent in versions:
                    states.setdefault(tuple(versions), objects)
        for mine, deployments in seen["deployments"].items():
            for theirs, replica_sets in seen["replicasets"].items():
                key = (*mine, "/", *theirs)
                if deployments and key not in self._syncs:
                    self._syncs[key] = on_virtual_time(
                        play_sync(deployments[0], replica_sets)
                    )
                if deployments:
                    yield self._syncs[key]


def _in_order(
    journey: RecordedJourney, *parts: str, verbs: tuple[str, ...]
) -> list[Object]:
    events = [
        event
        for part in parts
        for verb in verbs
        for event in journey.requests(CONTROLLER, verb, part)
    ]
    return sorted(events, key=lambda event: str(event["requestReceivedTimestamp"]))


def deployment_agreement(recording: Recording) -> AgreementTable:
    """Hashes, new ReplicaSets, sizes and revisions, statuses, events, and what an undo
    sends.
    """
    journey = RecordedJourney(recording)
    table = AgreementTable(
        "Deployments",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"A Deployment was created, scaled, given a new image and put back; every"
            f" one of the {sum(count.total() for count, _ in writes.values())} writes"
            " that the real controller made of it on the way was asked of ours:"
            f" {table.outcome('kinds of answers')}."
        ),
        telling=QUESTIONS["update replicasets"],
    )
    table.add("recording", "pod-template-hash of every ReplicaSet", *_hashes(recording))
    played = _Played(journey)
    writes = {
        question: (Counter[str](), Comparison()) for question in QUESTIONS.values()
    }
    for event in _in_order(
        journey, "/replicasets", "/deployments/", verbs=("create", "update", "delete")
    ):
        reference = event["objectRef"]
        target = "/".join(
            filter(None, (reference["resource"], reference.get("subresource")))
        )
        count, comparison = writes[QUESTIONS[f"{event['verb']} {target}"]]
        count["refused" if event["responseStatus"]["code"] >= 300 else "granted"] += 1
        comparison += _write(played, event, target)
    for question, (count, comparison) in writes.items():
        requests = f"{count.total()} requests" + (
            f", {count['refused']} in vain" if count["refused"] else ""
        )
        table.add("journey", question, requests, requests, comparison)
    table.add("journey", "each event it wrote or raised", *_events(journey))
    table.add("journey", "the patch of kubectl rollout undo", *_undo(journey))
    return table


QUESTIONS = {
    "create replicasets": "each new ReplicaSet, as it was posted",
    "update replicasets": "each change of a size or revision",
    "update deployments/status": "each status it wrote",
}
"""What the controller writes, and how the table calls it. Anything else in a recording
is an error.
"""


def _hashes(recording: Recording) -> Answer:
    total, names = Comparison(), set[str]()
    for scenario in recording.scenarios():
        for exchange in recording.exchanges(scenario):
            response = exchange.response if isinstance(exchange.response, dict) else {}
            for obj in response.get("items") or [response]:
                template: Object = (
                    (obj.get("spec") or {}).get("template") or {}
                    if isinstance(obj, dict)
                    else {}
                )
                label = (
                    (obj["metadata"].get("labels") or {}).get(POD_TEMPLATE_HASH)
                    if template
                    else None
                )
                if (
                    not label
                    or obj["metadata"]["name"] in names
                    or not obj["metadata"]["name"].endswith(label)
                ):
                    continue
                names.add(obj["metadata"]["name"])
                meta = template["metadata"]
                labels = {
                    key: value
                    for key, value in meta["labels"].items()
                    if key != POD_TEMPLATE_HASH
                }
                ours = compute_hash(
                    {**template, "metadata": {**meta, "labels": labels}}
                )
                total += compare(ours, label, path=f"/{obj['metadata']['name']}")
    return f"{len(names)} hashes", f"{len(names)} hashes", total


def _write(played: _Played, event: Object, target: str) -> Comparison:
    """The recorded request beside the one of ours that comes closest."""
    recorded, moment = _timed(event)
    best: Comparison | None = None
    for number, sync in enumerate(played.candidates(event)):
        for write in sync.writes:
            if (write.verb, write.target, write.name) != (
                event["verb"],
                target,
                recorded["metadata"]["name"],
            ):
                continue
            result = compare(
                _dated(write.body, recorded, moment),
                recorded,
                path=f"/{event['requestReceivedTimestamp']}",
            )
            result.freedoms[AGE_OF_CACHE] += number > 0
            result.freedoms[OWN_CLOCK] += result.agrees and NEVER in str(write.body)
            if best is None or len(result.differences) < len(best.differences):
                best = result
            if result.agrees:
                return result
    return best or compare({}, recorded, path=f"/{event['requestReceivedTimestamp']}")


def _timed(event: Object) -> tuple[Object, float]:
    return event["requestObject"], parse_time(event["requestReceivedTimestamp"])


def _dated(ours: Any, recorded: Any, moment: float) -> Any:
    """Our document with each time that we took from our own clock replaced by the
    recorded one, if that was taken just before `moment`.
    """
    if isinstance(ours, dict) and isinstance(recorded, dict):
        return {
            key: _dated(value, recorded.get(key), moment) for key, value in ours.items()
        }
    if (
        isinstance(ours, list)
        and isinstance(recorded, list)
        and len(ours) == len(recorded)
    ):
        return [
            _dated(mine, theirs, moment)
            for mine, theirs in zip(ours, recorded, strict=True)
        ]
    if (
        ours == NEVER
        and isinstance(recorded, str)
        and 0.0 <= moment - parse_time(recorded) <= CLOCK
    ):
        return recorded
    return ours


def _events(journey: RecordedJourney) -> Answer:
    """What each change of a size calls for."""
    changes = _in_order(journey, "/replicasets", verbs=("create", "update"))
    count, comparison = compare_events(
        journey,
        CONTROLLER,
        "deployments",
        (Told.of(event, _told(journey, event)) for event in changes),
    )
    return f"{count} events", f"{count} events", comparison


def _told(journey: RecordedJourney, event: Object) -> list[Object]:
    """What our controller tells when this write of a ReplicaSet succeeds."""
    if event["responseStatus"]["code"] >= 300:
        return []
    rs: Object = event["responseObject"]
    revision = int(rs["metadata"]["resourceVersion"])
    before = {
        obj["metadata"]["name"]: obj for obj in journey.as_of("replicasets", revision)
    }.get(rs["metadata"]["name"])
    sync = Sync()
    control = DeploymentControl(
        cast(Any, _Answering(sync)), cast(Any, sync.telling), _Then()
    )
    [d] = journey.as_of("deployments", revision)
    on_virtual_time(
        control.scale_replica_set(
            before or {**rs, "spec": {**rs["spec"], "replicas": 0}},
            rs["spec"]["replicas"],
            d,
        )
    )
    return sync.telling.events


def _undo(journey: RecordedJourney) -> Answer:
    """What our kubectl would have sent to go back by one revision."""
    total, done = (
        Comparison(),
        (
            e
            for e in journey.recording.audit("journey")
            if e["stage"] == "ResponseComplete"
        ),
    )
    patches = [
        e
        for e in done
        if "/deployments/" in e["requestURI"]
        and isinstance(e.get("requestObject"), list)
    ]
    for event in patches:
        revision = int(event["responseObject"]["metadata"]["resourceVersion"])
        [d] = journey.as_of("deployments", revision)
        by_number = {number_of(rs): rs for rs in journey.as_of("replicasets", revision)}
        total += compare(
            rollback_patch(d, revision_to_restore(d, by_number, 0)),
            event["requestObject"],
        )
    return f"{len(patches)} patches", f"{len(patches)} patches", total
