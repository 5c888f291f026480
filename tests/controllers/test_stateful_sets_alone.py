"""StatefulSets with nobody else there: claims, pods that end, revisions and their history."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import Alone, alone, refusing
from tests.controllers.test_refused_requests import LABELS, TEMPLATE, work

from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, conflict, failure
from lifecycle.client.retry import STEPS, WAIT
from lifecycle.controllers.statefulset.stateful_pods import stateful_pod
from lifecycle.controllers.statefulset.stateful_set_control import BURST_REPLICAS
from lifecycle.controllers.statefulset.stateful_set_controller import StatefulSetController

PODS, SETS, CLAIMS = resource("pods"), resource("statefulsets.apps"), resource("persistentvolumeclaims")
OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}


def stateful(**more: Any) -> tuple[str, Object]:
    return work("statefulsets.apps", **more)


def templates(*names: str) -> list[Object]:
    return [
        {"metadata": {"name": name, "labels": {"of": name}}, "spec": {"accessModes": ["ReadWriteOnce"]}}
        for name in names
    ]


def names(stage: Alone, kind: str = "pods") -> list[str]:
    return sorted(each["metadata"]["name"] for each in stage.items(kind))


async def ready(stage: Alone, name: str, phase: str = "Running") -> None:
    body = await stage.client.get(PODS, name, "ns")
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": stage.api.clock.timestamp()}
    status = {"phase": phase, "conditions": [condition]}
    await stage.client.update(PODS, {**body, "status": status}, subresource="status")
    await asyncio.sleep(0.1)


def status(stage: Alone) -> Object:
    (found,) = stage.items("statefulsets.apps")
    counts: Object = found["status"]
    return counts


def test_claims_come_before_the_pod_and_belong_to_the_set_by_name_only() -> None:
    async def main() -> None:
        async with alone(StatefulSetController, stateful(volumeClaimTemplates=templates("data", "log"))) as stage:
            assert names(stage, "persistentvolumeclaims") == ["data-web-0", "log-web-0"]
            data = next(
                each for each in stage.items("persistentvolumeclaims") if each["metadata"]["name"] == "data-web-0"
            )
            assert data["metadata"]["labels"] == {"of": "data", **LABELS}
            assert "ownerReferences" not in data["metadata"]
            assert data["spec"] == {"accessModes": ["ReadWriteOnce"]}
            (pod,) = stage.items("pods")
            claimed = {v["name"]: v["persistentVolumeClaim"]["claimName"] for v in pod["spec"]["volumes"]}
            assert claimed == {"data": "data-web-0", "log": "log-web-0"}
            assert {reason for _, reason, _ in stage.told()} == {"SuccessfulCreate"}
            assert [message for _, _, message in stage.told()] == [
                "Create Claim data-web-0 Pod web-0 in StatefulSet web success",
                "Create Claim log-web-0 Pod web-0 in StatefulSet web success",
                "Create Pod web-0 in StatefulSet web successful",
            ]

    run_virtual(main())


def test_without_its_claims_a_pod_is_not_made_and_both_are_told() -> None:
    """As the real controller told it, behind a quota for claims."""

    async def main() -> None:
        no_data = refusing("POST", "/persistentvolumeclaims")
        objects = [stateful(volumeClaimTemplates=templates("data", "log"))]
        async with alone(StatefulSetController, *objects, refuse=no_data) as stage:
            assert names(stage) == []
            said = {message for kind, reason, message in stage.told() if (kind, reason) == ("Warning", "FailedCreate")}
            assert said == {
                "Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: no more",
                "Create Claim log-web-0 for Pod web-0 in StatefulSet web failed error: no more",
                "Create Pod web-0 in StatefulSet web failed error: "
                "[failed to create PVC data-web-0: no more, failed to create PVC log-web-0: no more]",
            }
            stage.api.refuse = lambda request: None
            await asyncio.sleep(60)
            assert names(stage) == ["web-0"]

    run_virtual(main())


def test_a_claim_that_is_there_is_used_and_one_on_its_way_out_is_waited_for() -> None:
    async def main() -> None:
        meta: Object = {"name": "data-web-0", "namespace": "ns"}
        objects = [stateful(volumeClaimTemplates=templates("data"))]
        async with alone(StatefulSetController, *objects, ("persistentvolumeclaims", {"metadata": meta})) as stage:
            assert [message for _, _, message in stage.told()] == ["Create Pod web-0 in StatefulSet web successful"]
        going = {**meta, "deletionTimestamp": format_time(VIRTUAL_EPOCH), "finalizers": ["protected"]}
        async with alone(StatefulSetController, *objects, ("persistentvolumeclaims", {"metadata": going})) as stage:
            assert names(stage) == []
            text = "Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted"
            assert set(stage.told()) == {("Warning", "FailedCreate", text)}
            (claim,) = stage.items("persistentvolumeclaims")
            await stage.client.update(CLAIMS, {**claim, "metadata": {**claim["metadata"], "finalizers": []}})
            await asyncio.sleep(60)
            assert names(stage) == ["web-0"]

    run_virtual(main())


def test_a_claim_belongs_to_whom_the_policy_says() -> None:
    async def main() -> None:
        for policy, owners in (({}, []), ({"whenDeleted": "Delete"}, ["StatefulSet"]), ({"whenScaled": "Delete"}, [])):
            objects = [stateful(volumeClaimTemplates=templates("data"), persistentVolumeClaimRetentionPolicy=policy)]
            async with alone(StatefulSetController, *objects) as stage:
                await ready(stage, "web-0")
                (claim,) = stage.items("persistentvolumeclaims")
                assert [each["kind"] for each in claim["metadata"].get("ownerReferences") or ()] == owners
                (found,) = stage.items("statefulsets.apps")
                refuse = refusing("PUT", "/persistentvolumeclaims/data-web-0")
                stage.api.refuse = refuse
                other = {"whenDeleted": "Retain" if owners else "Delete", "whenScaled": "Retain"}
                spec = {**found["spec"], "persistentVolumeClaimRetentionPolicy": other}
                await stage.client.update(SETS, {**found, "spec": spec})
                await asyncio.sleep(1)
                text = (
                    "Update Pod web-0 in StatefulSet web failed error:"
                    " could not update claim data-web-0 for delete policy ownerRefs: no more"
                )
                assert ("Warning", "FailedUpdate", text) in stage.told()

    run_virtual(main())


@pytest.mark.parametrize("kind", ["pods", "persistentvolumeclaims"])
def test_who_writes_a_pod_or_its_claim_in_between_does_not_make_the_sync_fail(kind: str) -> None:
    """The claim's refusal is told, as upstream tells it; the pod's is not, as it is tried again."""
    row, asked, said = resource(kind), [], []

    async def main() -> None:
        async with alone(StatefulSetController, stateful(volumeClaimTemplates=templates("data"))) as stage:
            await ready(stage, "web-0")

            def somebody_is_quicker(request: Request) -> None:
                if request.method == "PUT" and request.path.endswith("/data-web-0") and not asked:
                    (stored,) = stage.items(kind)
                    meta = {**stored["metadata"], "annotations": {"by": "somebody"}}
                    stage.api.write("MODIFIED", row, {**stored, "metadata": meta})
                if request.method in ("GET", "PUT") and "web-0" in request.path:
                    asked.append(f"{request.method} {request.path.rpartition('/')[2]}")

            stage.api.refuse = somebody_is_quicker
            (found,) = stage.items("statefulsets.apps")
            delete = {"whenDeleted": "Delete", "whenScaled": "Retain"}
            await stage.client.update(
                SETS, {**found, "spec": {**found["spec"], "persistentVolumeClaimRetentionPolicy": delete}}
            )
            await asyncio.sleep(60)
            (claim,), (stored,) = stage.items("persistentvolumeclaims"), stage.items(kind)
            assert [each["kind"] for each in claim["metadata"]["ownerReferences"]] == ["StatefulSet"]
            assert stored["metadata"]["annotations"] == {"by": "somebody"}
            said.extend(each for each in stage.told() if each[1].endswith("Update"))

    run_virtual(main())
    done = ("Normal", "SuccessfulUpdate", "Update Pod web-0 in StatefulSet web successful")
    if kind == "pods":
        # what the second look at the claims finds is well, so nothing is left to be written
        assert asked == ["PUT data-web-0", "PUT web-0", "GET web-0", "GET data-web-0"]
        assert said == [done]
    else:
        assert asked == ["PUT data-web-0", "GET data-web-0", "PUT data-web-0", "PUT web-0"]
        assert [each[:2] for each in said] == [("Warning", "FailedUpdate"), done[:2]]
        assert "could not update claim data-web-0 for delete policy ownerRefs" in said[0][2]


def test_a_pod_that_somebody_always_writes_first_fails_at_last_and_is_told_once() -> None:
    async def main() -> None:
        async with alone(StatefulSetController, stateful(volumeClaimTemplates=templates("data"))) as stage:
            await ready(stage, "web-0")
            kept = stage.items("persistentvolumeclaims")[0]

            def always_quicker(request: Request) -> StatusError | None:
                if request.method != "PUT" or not request.path.endswith("/pods/web-0"):
                    return None
                stage.api.write("MODIFIED", CLAIMS, kept)  # the claim is as before, too
                return conflict("pods", "web-0")

            stage.api.refuse = always_quicker
            (found,) = stage.items("statefulsets.apps")
            spec = {**found["spec"], "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}
            await stage.client.update(SETS, {**found, "spec": spec})
            await asyncio.sleep((STEPS - 1) * WAIT + 0.005)
            assert len(stage.writes("PUT")) >= STEPS
            stage.api.refuse = lambda request: None
            assert [each[:2] for each in stage.told() if each[1] == "FailedUpdate"] == [("Warning", "FailedUpdate")]

    run_virtual(main())


def test_a_claim_that_somebody_else_controls_is_left_to_them() -> None:
    """What the set has written there itself is taken back, and said."""

    async def main() -> None:
        foreign = {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o", "controller": True}
        mine = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u"}
        text = (
            "PersistentVolumeClaim data-web-0 has a conflicting OwnerReference that acts as a manging controller,"
            " the retention policy is ignored for this claim"
        )
        for references, told in (([foreign], False), ([foreign, mine], True)):
            meta = {"name": "data-web-0", "namespace": "ns", "ownerReferences": references}
            delete = {"whenDeleted": "Delete"}
            objects = [stateful(volumeClaimTemplates=templates("data"), persistentVolumeClaimRetentionPolicy=delete)]
            async with alone(StatefulSetController, *objects, ("persistentvolumeclaims", {"metadata": meta})) as stage:
                await ready(stage, "web-0")
                await asyncio.sleep(1)
                (claim,) = stage.items("persistentvolumeclaims")
                assert claim["metadata"]["ownerReferences"] == [foreign]
                assert (("Warning", "ConflictingController", text) in stage.told()) is told

    run_virtual(main())


def test_a_pod_that_ended_is_made_again_under_its_name() -> None:
    async def main() -> None:
        for phase in ("Failed", "Succeeded"):
            async with alone(StatefulSetController, stateful()) as stage:
                (first,) = stage.items("pods")
                await ready(stage, "web-0", phase)
                await asyncio.sleep(1)
                (second,) = stage.items("pods")
                assert first["metadata"]["uid"] != second["metadata"]["uid"]
                assert ("Normal", "SuccessfulDelete", "Delete Pod web-0 in StatefulSet web successful") in stage.told()

    run_virtual(main())


def test_a_delete_that_is_refused_is_told_and_one_that_is_too_late_is_not() -> None:
    async def main() -> None:
        async with alone(StatefulSetController, stateful(replicas=2)) as stage:
            await ready(stage, "web-0")
            await ready(stage, "web-1")
            (found,) = stage.items("statefulsets.apps")
            stage.api.refuse = refusing("DELETE", "/pods/web-1")
            await stage.client.update(SETS, {**found, "spec": {**found["spec"], "replicas": 1}})
            await asyncio.sleep(1)
            said = ("Warning", "FailedDelete", "Delete Pod web-1 in StatefulSet web failed error: no more")
            assert said in stage.told()
            assert status(stage)["replicas"] == 2, "the status is written whatever was refused"
            count = len(stage.told())
            stage.api.refuse = refusing("DELETE", "/pods/web-1", failure(404, "NotFound", "gone"))
            await asyncio.sleep(5)
            assert len(stage.told()) == count

    run_virtual(main())


def test_the_next_pod_comes_when_this_one_has_been_ready_long_enough_by_the_clock_alone() -> None:
    async def main() -> None:
        async with alone(StatefulSetController, stateful(replicas=2, minReadySeconds=30)) as stage:
            await ready(stage, "web-0")
            await asyncio.sleep(28)
            assert (names(stage), status(stage).get("availableReplicas")) == (["web-0"], 0)
            assert status(stage)["readyReplicas"] == 1
            await asyncio.sleep(4)
            assert (names(stage), status(stage)["availableReplicas"]) == (["web-0", "web-1"], 1)

    run_virtual(main())


@pytest.mark.parametrize(("policy", "made"), [("OrderedReady", 1), ("Parallel", BURST_REPLICAS)])
def test_of_two_billion_pods_only_those_are_put_together_that_one_step_makes(
    policy: str, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    together: list[Any] = []

    def counted(*arguments: Any) -> Object:
        assert len(together) < made, "one too many"
        together.append(arguments)
        return stateful_pod(*arguments)

    monkeypatch.setattr("lifecycle.controllers.statefulset.stateful_set_control.stateful_pod", counted)

    async def main() -> None:
        _, set_ = stateful(replicas=2**31 - 1, podManagementPolicy=policy, ordinals={"start": 2**31 - 1})
        rule = {"metadata": {"name": "web-1"}, "data": {"spec": {"template": TEMPLATE}}}
        async with alone(StatefulSetController) as stage:
            taken = await stage.controller._control.step(
                {**set_, "kind": "StatefulSet", "apiVersion": "apps/v1"}, rule, rule, []
            )
            assert (len(names(stage)), taken) == (made, 0)

    run_virtual(main())


def test_a_set_that_is_being_deleted_makes_nothing() -> None:
    async def main() -> None:
        kind, body = stateful()
        body["metadata"] |= {"deletionTimestamp": format_time(VIRTUAL_EPOCH), "finalizers": ["wait"]}
        async with alone(StatefulSetController, (kind, body)) as stage:
            assert names(stage) == []

    run_virtual(main())


def revision(name: str, number: int, data: Object, owner: Object = OWNER) -> tuple[str, Object]:
    meta = {"name": name, "namespace": "ns", "labels": LABELS, "ownerReferences": [owner]}
    return "controllerrevisions.apps", {"metadata": meta, "data": data, "revision": number}


def test_a_name_of_a_revision_that_is_taken_makes_another_hash() -> None:
    async def main() -> None:
        async with alone(StatefulSetController, stateful()) as stage:
            (made,) = stage.items("controllerrevisions.apps")
        name, other = made["metadata"]["name"], {**OWNER, "uid": "other"}
        async with alone(StatefulSetController, stateful(), revision(name, 1, {"other": "data"}, other)) as stage:
            assert status(stage)["collisionCount"] == 1
            assert len(stage.items("controllerrevisions.apps")) == 2
            assert status(stage)["updateRevision"] != name
        async with alone(StatefulSetController, stateful(), revision(name, 1, made["data"], other)) as stage:
            assert status(stage)["collisionCount"] == 0
            assert status(stage)["updateRevision"] == name
        refuse = refusing("POST", "/controllerrevisions")
        async with alone(StatefulSetController, stateful(), refuse=refuse) as stage:
            assert names(stage) == []

    run_virtual(main())


def test_an_old_template_that_is_back_gets_the_next_number() -> None:
    async def main() -> None:
        async with alone(StatefulSetController, stateful()) as stage:
            (made,) = stage.items("controllerrevisions.apps")
        mine = revision(made["metadata"]["name"], 1, made["data"])
        later = revision("web-later", 4, {"spec": {"template": TEMPLATE}, "x": 1})
        async with alone(StatefulSetController, stateful(), mine, later) as stage:
            numbers = {each["metadata"]["name"]: each["revision"] for each in stage.items("controllerrevisions.apps")}
            assert numbers == {made["metadata"]["name"]: 5, "web-later": 4}
        async with alone(StatefulSetController, stateful(), mine) as stage:
            assert [each["revision"] for each in stage.items("controllerrevisions.apps")] == [1]

    run_virtual(main())


def test_history_beyond_its_limit_goes_unless_a_pod_or_the_status_has_it() -> None:
    async def main() -> None:
        olds = [revision(f"web-{n}", n, {"spec": {"template": TEMPLATE}, "n": n}) for n in range(1, 6)]
        kind, body = stateful(revisionHistoryLimit=1)
        body["status"] = {"currentRevision": "web-2", "currentReplicas": 1}
        meta = {
            "name": "web-0",
            "namespace": "ns",
            "labels": {**LABELS, "controller-revision-hash": "web-1"},
            "ownerReferences": [OWNER],
        }
        pod = ("pods", {"metadata": meta, "spec": {}, "status": {"phase": "Pending"}})
        async with alone(StatefulSetController, (kind, body), pod, *olds) as stage:
            newest = status(stage)["updateRevision"]
            assert set(names(stage, "controllerrevisions.apps")) == {"web-1", "web-2", "web-5", newest}
        async with alone(StatefulSetController, stateful(), pod, *olds) as stage:
            assert len(names(stage, "controllerrevisions.apps")) == 6, "ten are kept if nobody says otherwise"

    run_virtual(main())


def test_a_cache_that_has_not_seen_the_last_status_is_not_believed() -> None:
    async def main() -> None:
        async with alone(StatefulSetController, stateful()) as stage:
            (known,) = stage.items("statefulsets.apps")
            behind = {**known, "metadata": {**known["metadata"], "resourceVersion": "1"}, "status": {}}
            stage.controller._sets.indexer.set("ns/web", behind)
            before = len(stage.api.log)
            stage.controller._queue.add("ns/web")
            await asyncio.sleep(1)
            assert len(stage.api.log) == before
            stage.controller._sets.indexer.set("ns/web", known)
            await asyncio.sleep(60)
            assert len(stage.api.log) == before, "there was nothing to do"

    run_virtual(main())
