"""The ReplicaSet controller and the garbage collector held against the recorded
journey.

The audit log of the recorded cluster has every request of both, the recorded watch
every state of the objects they saw. So each recorded decision can be put to our code:
given this ReplicaSet and these pods, what would *we* have sent?

A controller looks at a cache that is a moment old, and the recording does not say how
old. Where the answer depends on it (statuses, victims), any state of the last
`LOOK_BACK` revisions before the write counts as what it may have seen.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from lifecycle.agreements.controllers.told_events import Telling, Told, compare_events
from lifecycle.agreements.recorded_journey import AGE_OF_CACHE, RecordedJourney
from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.resources import Resource, resource
from lifecycle.cluster.rehearsal import RehearsedCluster, on_virtual_time, rehearse
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import Comparison, compare
from lifecycle.controllers.owner_references import get_controller_of, new_controller_ref
from lifecycle.controllers.pod_control import PodControl, pod_from_template
from lifecycle.controllers.pod_readiness import is_pod_active, is_pod_terminating
from lifecycle.controllers.replicaset.slow_start_batch import slow_start_batch
from lifecycle.controllers.replicaset.status import calculate_status
from lifecycle.controllers.replicaset.victim_ranking import get_pods_to_delete
from lifecycle.inspector import Recording

VICTIMS = "each pod it chose to delete"
LOOK_BACK = 12
REPLICA_SETS, COLLECTOR = "replicaset-controller", "generic-garbage-collector"
SERVER_DEFAULTS = {"enableServiceLinks": True}
"""The audit log shows objects as the server decoded them, defaults included; a pod
template is stored without this one.
"""


def replica_set_agreement(recording: Recording) -> AgreementTable:
    """Owner references, pods, batches, statuses, victims, events, and what the garbage
    collector asked for.
    """
    journey = RecordedJourney(recording)
    created = len(journey.requests(REPLICA_SETS, "create", "/pods", 201))
    deleted = len(journey.requests(REPLICA_SETS, "delete", "/pods/", 200))
    table = AgreementTable(
        "ReplicaSets and ownership",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"The real controller made {created} pods and deleted {deleted}; from what"
            " it saw each time, ours was asked what it would have sent:"
            f" {table.outcome('kinds of requests')}."
        ),
        telling=VICTIMS,
    )
    for question, count, things, comparison in (
        ("owner reference of each new ReplicaSet", *_owner_references(journey)),
        ("each new pod, as it was posted", *_pods(journey)),
        ("sizes of the batches they came in", *_batches(journey)),
        ("each status it wrote", *_statuses(journey)),
        (VICTIMS, *_victims(journey)),
        ("each event it wrote", *_events(journey)),
        ("requests of the garbage collector", *_collected(journey)),
    ):
        table.add(
            "journey", question, f"{count} {things}", f"{count} {things}", comparison
        )
    return table


Answer = tuple[int, str, Comparison]
"""How many were compared, what they are, and the result."""


def _owner_references(journey: RecordedJourney) -> Answer:
    total, created = (
        Comparison(),
        journey.requests("deployment-controller", "create", "/replicasets", 201),
    )
    for event in created:
        [deployment] = journey.as_of(
            "deployments", int(event["responseObject"]["metadata"]["resourceVersion"])
        )
        recorded = event["responseObject"]["metadata"]
        total += compare(
            [new_controller_ref(deployment)],
            recorded["ownerReferences"],
            path=f"/{recorded['name']}",
        )
    return len(created), "ReplicaSets", total


def _parent(
    journey: RecordedJourney, event: Object, plural: str = "replicasets"
) -> Object:
    """The ReplicaSet of the pod that a request created or deleted, as it was before."""
    pod = event["responseObject"]["metadata"]
    uid = pod["ownerReferences"][0]["uid"]
    return next(
        r
        for r in journey.as_of(plural, int(pod["resourceVersion"]))
        if r["metadata"]["uid"] == uid
    )


def _pods(journey: RecordedJourney) -> Answer:
    total, created = (
        Comparison(),
        journey.requests(REPLICA_SETS, "create", "/pods", 201),
    )
    for event in created:
        parent = _parent(journey, event)
        ours = pod_from_template(parent["spec"]["template"], parent)
        ours["spec"] = {**ours["spec"], **SERVER_DEFAULTS}
        total += compare(
            ours,
            event["requestObject"],
            path=f"/{event['responseObject']['metadata']['name']}",
        )
    return len(created), "pods", total


def _batches(journey: RecordedJourney) -> Answer:
    """Creates of one sync, recognised by the status write that ends it; those that
    overlap in time are one batch.
    """
    syncs: list[list[tuple[str, str]]] = []
    current: dict[str, list[tuple[str, str]]] = {}
    for event in sorted(
        journey.requests(REPLICA_SETS), key=lambda e: str(e["requestReceivedTimestamp"])
    ):
        if event["verb"] == "create" and event["objectRef"]["resource"] == "pods":
            owner = event["requestObject"]["metadata"]["ownerReferences"][0]["name"]
            if owner not in current:
                syncs.append(current.setdefault(owner, []))
            current[owner].append(
                (event["requestReceivedTimestamp"], event["stageTimestamp"])
            )
        elif event["verb"] == "update":
            current.pop(event["objectRef"]["name"], None)
    recorded = []
    for creates in syncs:
        sizes: list[int] = []
        end = ""
        for received, finished in creates:
            if received < end:
                sizes[-1] += 1
                end = min(end, finished)
            else:
                sizes.append(1)
                end = finished
        recorded.append(sizes)
    ours = [on_virtual_time(_batch_sizes(len(creates))) for creates in syncs]
    return len(syncs), "syncs", compare(ours, recorded)


async def _batch_sizes(count: int) -> list[int]:
    """The sizes of the batches in which `slow_start_batch` creates so many."""
    moments: list[float] = []

    async def create() -> None:
        moments.append(asyncio.get_running_loop().time())
        await asyncio.sleep(1)

    await slow_start_batch(count, 1, create)
    return list(Counter(moments).values())


def _statuses(journey: RecordedJourney) -> Answer:
    total, written = (
        Comparison(),
        journey.requests(REPLICA_SETS, "update", "/status", 200),
    )
    for event in written:
        rs = event["requestObject"]
        meta = rs["metadata"]
        recorded = {
            key: value
            for key, value in rs["status"].items()
            if key != "observedGeneration"
        }
        newest = int(event["responseObject"]["metadata"]["resourceVersion"])
        possible: list[Object] = []
        oldest = int(meta["resourceVersion"]) - LOOK_BACK
        for revision in range(newest, oldest - 1, -1):
            mine = [
                pod
                for pod in journey.as_of("pods", revision)
                if _owner(pod) == meta["uid"]
            ]
            active = list(filter(is_pod_active, mine))
            possible.append(
                calculate_status(
                    {**rs, "status": {}},
                    active,
                    sum(map(is_pod_terminating, mine)),
                    None,
                    0.0,
                )
            )
        ours = possible[0]
        if recorded != ours and recorded in possible:
            ours = recorded
            total.freedoms[AGE_OF_CACHE] += 1
        total += compare(
            ours, recorded, path=f"/{meta['name']} {event['requestReceivedTimestamp']}"
        )
    return len(written), "statuses", total


def _victims(journey: RecordedJourney) -> Answer:
    total, deleted = (
        Comparison(),
        journey.requests(REPLICA_SETS, "delete", "/pods/", 200),
    )
    for event in deleted:
        name, gone = event["objectRef"]["name"], event["responseObject"]["metadata"]
        owner, now = (
            gone["ownerReferences"][0]["uid"],
            parse_time(event["requestReceivedTimestamp"]),
        )
        ours: Any = "nobody"
        newest = int(gone["resourceVersion"])
        for revision in range(newest, newest - LOOK_BACK - 1, -1):
            pods = [
                pod
                for pod in journey.as_of("pods", revision)
                if "deletionTimestamp" not in pod["metadata"]
            ]
            mine = [pod for pod in pods if _owner(pod) == owner]
            rs = next(
                r
                for r in journey.as_of("replicasets", revision)
                if r["metadata"]["uid"] == owner
            )
            surplus = len(mine) - rs["spec"]["replicas"]
            if surplus > 0:
                chosen = [
                    pod["metadata"]["name"]
                    for pod in get_pods_to_delete(mine, pods, surplus, now)
                ]
                ours = name if name in chosen else chosen[0]
            if ours == name:
                total.freedoms[AGE_OF_CACHE] += revision != newest
                break
        total += compare(ours, name, path=f"/{event['requestReceivedTimestamp']}")
    return len(deleted), "pods", total


def _owner(pod: Object) -> str:
    reference = get_controller_of(pod)
    return str(reference["uid"]) if reference else ""


class _Answers:
    """A client of a `PodControl` whose requests all succeed, as recorded."""

    def __init__(self, created: Object) -> None:
        self.created = created

    async def create(self, row: Resource, obj: Object, namespace: str) -> Object:
        return self.created

    async def delete(self, row: Resource, name: str, namespace: str) -> Object:
        return {}


def _events(journey: RecordedJourney) -> Answer:
    """What `PodControl` says of each create and delete."""
    acts = journey.requests(REPLICA_SETS, "create", "/pods", 201) + journey.requests(
        REPLICA_SETS, "delete", "/pods/", 200
    )
    count, comparison = compare_events(
        journey,
        REPLICA_SETS,
        "replicasets",
        (Told.of(act, _told(journey, act)) for act in acts),
    )
    return count, "events", comparison


def _told(journey: RecordedJourney, act: Object) -> list[Object]:
    client: Any = _Answers(act["responseObject"])
    telling = Telling(REPLICA_SETS)
    control = PodControl(client, cast(Any, telling))
    parent = _parent(journey, act)
    namespace = parent["metadata"]["namespace"]
    if act["verb"] == "create":
        on_virtual_time(control.create_pod(fast_json.dumps({}), namespace, parent))
    else:
        name = act["objectRef"]["name"]
        on_virtual_time(control.delete_pod(name, namespace, parent))
    return telling.events


def _collected(journey: RecordedJourney) -> Answer:
    """Our collector plays the end of the journey: a Deployment with two ReplicaSets and
    a Service are deleted.
    """
    recorded = [
        (
            event["verb"],
            event["objectRef"]["resource"],
            event.get("requestObject") or {},
        )
        for event in journey.requests(COLLECTOR)
    ]
    verbs = {"GET": "get", "DELETE": "delete", "PATCH": "patch"}
    ours = [
        (verbs[asked.method], asked.path.split("/")[-2], asked.body or {})
        for asked in rehearse(_end_of_the_journey)
    ]
    return len(recorded), "requests", compare(_summed_up(ours), _summed_up(recorded))


def _summed_up(requests: Iterable[tuple[str, str, Object]]) -> dict[str, int]:
    """How often each kind of request was made; a delete with its policy and what it
    made conditional.
    """
    kinds = Counter[str]()
    for verb, plural, options in requests:
        policy = options.get("propagationPolicy", "")
        conditions = " and ".join(sorted(options.get("preconditions", ())))
        kinds[
            " ".join(
                filter(
                    None,
                    (verb, plural, policy, conditions and f"if {conditions} match"),
                )
            )
        ] += 1
    return dict(kinds)


async def _end_of_the_journey(cluster: RehearsedCluster) -> list[Any]:
    user, labels = cluster.client("kubectl"), {"app": "nginx"}
    template: Object = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "nginx", "image": "nginx:1"}]},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    deployments, services = resource("deployments.apps"), resource("services")
    deployment: Object = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "nginx"},
        "spec": spec,
    }
    await user.create(deployments, deployment, "default")
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "nginx"},
    }
    service["spec"] = {"selector": labels, "ports": [{"port": 80}]}
    await user.create(services, service, "default")
    await asyncio.sleep(30)
    changed = {
        "spec": {
            "template": {
                "spec": {"containers": [{"name": "nginx", "image": "nginx:2"}]}
            }
        }
    }
    await user.patch(deployments, "nginx", "default", changed)
    await asyncio.sleep(60)
    before = len(cluster.requests(COLLECTOR))
    await user.delete(deployments, "nginx", "default", propagation="Background")
    await user.delete(services, "nginx", "default", propagation="Background")
    await asyncio.sleep(60)
    return cluster.requests(COLLECTOR)[before:]
