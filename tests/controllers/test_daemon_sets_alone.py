"""DaemonSets with nobody else there: pods that fail, pods too many, nodes that are gone, revisions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import Alone, alone, refusing
from tests.controllers.test_refused_requests import LABELS, TEMPLATE, work

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.controllers.daemonset import daemon_set_controller
from lifecycle.controllers.daemonset.daemon_pods import node_should_run_daemon_pod
from lifecycle.controllers.daemonset.daemon_set_controller import BACKOFF_GC_INTERVAL, BACKOFF_MAX, DaemonSetController

PODS, SETS, SELECTED = resource("pods"), resource("daemonsets.apps"), {"matchLabels": LABELS}
OWNER = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "uid": "u", "controller": True}
READY = {"type": "Ready", "status": "True", "lastTransitionTime": format_time(VIRTUAL_EPOCH)}


def node(name: str = "a", **spec: Any) -> tuple[str, Object]:
    return "nodes", {"metadata": {"name": name}, "spec": spec}


def pod(name: str, on: str = "a", *, age: float = 60, bound: bool = True, **more: Any) -> tuple[str, Object]:
    """One of the DaemonSet's; not bound: it is only meant for its node."""
    meta = {
        "name": name,
        "namespace": "ns",
        "labels": {**LABELS, **more.pop("labels", {})},
        "ownerReferences": [OWNER],
        "creationTimestamp": format_time(VIRTUAL_EPOCH - age),
        **more.pop("metadata", {}),
    }
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}
    meant = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    spec = {"nodeName": on} if bound else {"affinity": {"nodeAffinity": meant}}
    return "pods", {"metadata": meta, "spec": spec, "status": {"phase": "Running", "conditions": [READY], **more}}


def names(stage: Alone) -> list[str]:
    return sorted(each["metadata"]["name"] for each in stage.items("pods"))


def daemons(**more: Any) -> tuple[str, Object]:
    return work("daemonsets.apps", **{"updateStrategy": {"type": "OnDelete"}, **more})


async def fail(stage: Alone, phase: str = "Failed") -> float:
    """The only pod ends; how many seconds later is another in its place?"""
    (running,) = stage.items("pods")
    begun = stage.api.clock.now()
    await stage.client.update(PODS, {**running, "status": {"phase": phase}}, subresource="status")
    uid = running["metadata"]["uid"]
    for _ in range(8000):
        if any(each["metadata"]["uid"] != uid for each in stage.items("pods")):
            break
        await asyncio.sleep(0.25)
    return float(stage.api.clock.now() - begun)


def test_a_pod_that_keeps_failing_is_replaced_ever_more_slowly() -> None:
    """Every failure doubles the wait before the next, up to a quarter of an hour."""

    async def main() -> None:
        async with alone(DaemonSetController, node(), daemons()) as stage:
            (first,) = names(stage)
            waits = [await fail(stage) for _ in range(13)]
            assert [round(wait) for wait in waits[:4]] == [0, 1, 2, 4]
            assert [round(wait) for wait in waits[-2:]] == [900, 900]
            said = f"Found failed daemon pod ns/{first} on node a, will try to kill it"
            assert ("Warning", "FailedDaemonPod", said) in stage.told()

    run_virtual(main())


@pytest.mark.parametrize("deleted", [False, True])
def test_failures_are_forgotten_with_their_set_or_when_they_are_long_ago(deleted: bool) -> None:
    async def main() -> None:
        async with alone(DaemonSetController, node(), daemons()) as stage:
            await fail(stage)
            failures = stage.controller._failures
            assert len(failures._entries) == 1
            if deleted:
                await stage.client.delete(SETS, "web", "ns")
                await asyncio.sleep(1)
            else:
                await asyncio.sleep(2 * BACKOFF_MAX - 10)
                assert len(failures._entries) == 1
                await asyncio.sleep(10 + BACKOFF_GC_INTERVAL)
            assert not failures._entries

    run_virtual(main())


def test_a_pod_that_ended_well_is_replaced_as_well() -> None:
    async def main() -> None:
        async with alone(DaemonSetController, node(), daemons()) as stage:
            (first,) = names(stage)
            assert await fail(stage, "Succeeded") < 1
            said = f"Found succeeded daemon pod ns/{first} on node a, will try to delete it"
            assert ("Normal", "SucceededDaemonPod", said) in stage.told()
            assert not any(kind == "Warning" for kind, _, _ in stage.told())

    run_virtual(main())


def test_of_two_on_a_node_the_older_stays() -> None:
    async def main() -> None:
        two = pod("old", age=100), pod("new", age=50), pod("other", "b"), pod("ended", age=200, phase="Failed")
        async with alone(DaemonSetController, node("a"), node("b"), daemons(), *two) as stage:
            assert names(stage) == ["old", "other"]

    run_virtual(main())


def test_with_a_surge_one_of_each_revision_stays() -> None:
    async def main() -> None:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
        async with alone(DaemonSetController, node(), daemons()) as stage:
            (made,) = stage.items("pods")
            revision = made["metadata"]["labels"]["controller-revision-hash"]
        new = {"controller-revision-hash": revision}
        pods = (
            pod("old-1", age=100),
            pod("old-2", age=90),
            pod("new-1", age=80, labels=new, conditions=[]),
            pod("new-2", age=70, labels=new, conditions=[]),
        )
        async with alone(DaemonSetController, node(), daemons(updateStrategy=strategy), *pods) as stage:
            assert names(stage) == ["new-1", "old-1"]

    run_virtual(main())


def test_who_was_meant_for_a_node_that_is_gone_goes() -> None:
    """One that has been there is somebody else's to remove."""

    async def main() -> None:
        pods = pod("here"), pod("waits", "gone", bound=False), pod("was", "gone")
        async with alone(DaemonSetController, node(), daemons(), *pods) as stage:
            assert names(stage) == ["here", "was"]

    run_virtual(main())


def test_a_pod_that_is_on_its_way_out_is_not_sent_away_again() -> None:
    async def main() -> None:
        going = {"deletionTimestamp": format_time(VIRTUAL_EPOCH), "finalizers": ["wait"]}
        pods = pod("here"), pod("going", metadata=going), pod("waits", "gone", bound=False, metadata=going)
        async with alone(DaemonSetController, node(), daemons(), *pods) as stage:
            assert stage.writes("DELETE") == []

    run_virtual(main())


@pytest.mark.parametrize(
    ("taint", "selector", "there", "left"),
    [
        (None, {}, True, 1),
        ({"key": "k", "effect": "NoExecute"}, {}, True, 0),
        ({"key": "k", "effect": "NoSchedule"}, {}, True, 1),
        ({"key": "k", "effect": "NoSchedule"}, {}, False, 0),
        ({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}, {}, False, 1),
        (None, {"disk": "ssd"}, True, 0),
        (None, {"disk": "ssd"}, False, 0),
    ],
)
def test_who_may_be_on_a_node_and_who_may_stay(taint: Object | None, selector: Object, there: bool, left: int) -> None:
    async def main() -> None:
        where = node(taints=[taint] if taint else [])
        template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "nodeSelector": selector}}  # type: ignore[dict-item]
        pods = [pod("there")] if there else []
        async with alone(DaemonSetController, where, daemons(template=template), *pods) as stage:
            assert len(names(stage)) == left
            (ds,) = stage.items("daemonsets.apps")
            counted = ds["status"]
            should = left == 1 and not (there and taint is not None)
            assert counted["desiredNumberScheduled"] == should

    run_virtual(main())


def test_a_node_that_comes_or_changes_is_looked_at() -> None:
    async def main() -> None:
        template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "nodeSelector": {"disk": "ssd"}}}  # type: ignore[dict-item]
        nodes = resource("nodes")
        async with alone(DaemonSetController, daemons(template=template)) as stage:
            asked: list[str] = []
            add = stage.controller._queue.add
            stage.controller._queue.add = lambda key: (asked.append(key), add(key))
            made = await stage.client.create(nodes, {"metadata": {"name": "a"}, "spec": {}}, "")
            await asyncio.sleep(0.1)
            assert asked == []
            labelled = await stage.client.update(
                nodes, {**made, "metadata": {**made["metadata"], "labels": {"disk": "ssd"}}}
            )
            await asyncio.sleep(0.1)
            assert asked[0] == "ns/web"
            assert len(names(stage)) == 1
            await asyncio.sleep(1)
            asked.clear()
            await stage.client.update(nodes, {**labelled, "status": {"beat": 1}}, subresource="status")
            await asyncio.sleep(0.1)
            assert asked == [], "a heartbeat"
            await stage.client.create(nodes, {"metadata": {"name": "b", "labels": {"disk": "ssd"}}, "spec": {}}, "")
            await asyncio.sleep(0.1)
            assert len(names(stage)) == 2

    run_virtual(main())


def test_a_node_is_looked_at_set_by_set_and_nobody_waits_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event's handler only says which node: each of hundreds of sets may have two hundred kilobytes to say about nodes."""
    by: list[bool] = []

    def judged(ds: Object, node: Object) -> Any:
        by.append(asyncio.current_task() is not None)
        return node_should_run_daemon_pod(ds, node)

    monkeypatch.setattr(daemon_set_controller, "node_should_run_daemon_pod", judged)

    async def main() -> None:
        nodes = resource("nodes")
        async with alone(DaemonSetController, daemons()) as stage:
            made = await stage.client.create(nodes, {"metadata": {"name": "a"}, "spec": {}}, "")
            await asyncio.sleep(1)
            by.clear()
            await stage.client.update(nodes, {**made, "metadata": {**made["metadata"], "labels": {"b": "c"}}})
            await asyncio.sleep(1)
            assert by
            assert all(by)

    run_virtual(main())


def test_a_pod_becomes_available_by_the_clock_alone() -> None:
    async def main() -> None:
        async with alone(DaemonSetController, node(), daemons(minReadySeconds=30)) as stage:
            (made,) = stage.items("pods")
            ready = {**READY, "lastTransitionTime": stage.api.clock.timestamp()}
            running = {"phase": "Running", "conditions": [ready]}
            await stage.client.update(PODS, {**made, "status": running}, subresource="status")
            await asyncio.sleep(29)
            assert "numberAvailable" not in stage.items("daemonsets.apps")[0]["status"]
            await asyncio.sleep(3)
            assert stage.items("daemonsets.apps")[0]["status"]["numberAvailable"] == 1

    run_virtual(main())


def test_a_delete_that_is_refused_is_told_and_tried_again() -> None:
    async def main() -> None:
        objects = node(), daemons(), pod("old", age=100), pod("new", age=50)
        async with alone(DaemonSetController, *objects, refuse=refusing("DELETE", "/pods/new")) as stage:
            await asyncio.sleep(1)
            assert ("Warning", "FailedDelete", "Error deleting: no more") in stage.told()
            assert len(stage.writes("DELETE")) > 1
            stage.api.refuse = lambda request: None
            await asyncio.sleep(30)
            assert names(stage) == ["old"]
        gone = failure(404, "NotFound", "gone")
        async with alone(DaemonSetController, *objects, refuse=refusing("DELETE", "/pods/new", gone)) as stage:
            assert not any(kind == "Warning" for kind, _, _ in stage.told())

    run_virtual(main())


def revision(
    name: str, number: int, data: Object, *, owner: Object | None = OWNER, **labels: str
) -> tuple[str, Object]:
    meta = {
        "name": name,
        "namespace": "ns",
        "labels": {**LABELS, **labels},
        "ownerReferences": [owner] if owner else [],
    }
    return "controllerrevisions.apps", {"metadata": meta, "data": data, "revision": number}


def test_a_name_of_a_revision_that_is_taken_makes_another_hash() -> None:
    async def main() -> None:
        async with alone(DaemonSetController, node(), daemons()) as stage:
            (made,) = stage.items("controllerrevisions.apps")
        name = made["metadata"]["name"]
        foreign = revision(name, 1, {"other": "data"}, owner={**OWNER, "uid": "other"})
        async with alone(DaemonSetController, node(), daemons(), foreign) as stage:
            await asyncio.sleep(5)
            (ds,) = stage.items("daemonsets.apps")
            assert ds["status"]["collisionCount"] == 1
            assert len(stage.items("controllerrevisions.apps")) == 2
            assert len(names(stage)) == 1
        same = revision(name, 1, made["data"], owner={**OWNER, "uid": "other"})
        async with alone(DaemonSetController, node(), daemons(), same) as stage:
            await asyncio.sleep(5)
            assert len(stage.items("controllerrevisions.apps")) == 1, "made before, and not seen yet"

    run_virtual(main())


def test_an_old_template_that_is_back_gets_the_next_number() -> None:
    async def main() -> None:
        async with alone(DaemonSetController, node(), daemons()) as stage:
            (made,) = stage.items("controllerrevisions.apps")
        name, label = made["metadata"]["name"], made["metadata"]["labels"]["controller-revision-hash"]
        mine = revision(name, 1, made["data"], **{"controller-revision-hash": label})
        async with alone(DaemonSetController, node(), daemons(), mine, revision("later", 4, {})) as stage:
            numbers = {each["metadata"]["name"]: each["revision"] for each in stage.items("controllerrevisions.apps")}
            assert numbers == {name: 5, "later": 4}
        async with alone(DaemonSetController, node(), daemons(), mine) as stage:
            assert stage.writes("PUT")[0][1].endswith("/status"), "the only one needs no other number"

    run_virtual(main())


def test_revisions_beyond_the_limit_go_unless_a_pod_has_them() -> None:
    async def main() -> None:
        olds = [revision(f"r{n}", n, {"n": n}, **{"controller-revision-hash": f"h{n}"}) for n in range(1, 6)]
        has = pod("there", labels={"controller-revision-hash": "h1"})
        async with alone(DaemonSetController, node(), daemons(revisionHistoryLimit=2), has, *olds) as stage:
            left = {each["metadata"]["name"] for each in stage.items("controllerrevisions.apps")}
            assert {name for name in left if name.startswith("r")} == {"r1", "r5"}
        async with alone(DaemonSetController, node(), daemons(), has, *olds) as stage:
            assert len(stage.items("controllerrevisions.apps")) == 6, "ten are kept if nobody says otherwise"

    run_virtual(main())


def test_a_daemon_set_that_is_deleted_or_gone_makes_nothing() -> None:
    async def main() -> None:
        kind, body = daemons()
        body["metadata"] |= {"deletionTimestamp": format_time(VIRTUAL_EPOCH), "finalizers": ["wait"]}
        async with alone(DaemonSetController, node(), (kind, body)) as stage:
            assert stage.api.log == []
            stage.controller._queue.add("ns/nobody")
            await asyncio.sleep(0.1)
            assert stage.api.log == []

    run_virtual(main())
