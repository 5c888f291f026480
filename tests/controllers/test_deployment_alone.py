"""Deployments and their ReplicaSets with nobody else there: what is written at each turn of a roll-out, and what is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import NO_MORE, Alone, alone, refusing
from tests.controllers.test_refused_requests import LABELS, TEMPLATE, work

from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.controllers.deployment.deployment_controller import DeploymentController
from lifecycle.controllers.deployment.revisions import DESIRED_REPLICAS, MAX_REPLICAS, REVISION

DEPLOYMENTS, REPLICA_SETS = resource("deployments.apps"), resource("replicasets.apps")
OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": True}


def template(image: str) -> Object:
    return {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": image}]}}


def replica_set(
    name: str, replicas: int, image: str = "old", *, available: int | None = None, desired: int = 3, **more: Any
) -> tuple[str, Object]:
    """One of the Deployment's, as it is once it has been looked at."""
    hashed = {**LABELS, "pod-template-hash": name}
    annotations = {DESIRED_REPLICAS: str(desired), MAX_REPLICAS: str(desired + 1), REVISION: more.pop("revision", "1")}
    meta = {
        "name": name,
        "namespace": "ns",
        "uid": name,
        "generation": 1,
        "labels": hashed,
        "annotations": annotations,
        "ownerReferences": [OWNER],
        "creationTimestamp": format_time(VIRTUAL_EPOCH - 100 + ord(name[0]) % 50),
    }
    body = template(image)
    body = {**body, "metadata": {"labels": hashed}}
    counts = {"replicas": replicas, "availableReplicas": replicas if available is None else available}
    spec = {"replicas": replicas, "selector": {"matchLabels": hashed}, "template": body, **more.pop("spec", {})}
    status = {**counts, "readyReplicas": counts["availableReplicas"], "observedGeneration": 1, **more.pop("status", {})}
    return "replicasets.apps", {"metadata": {**meta, **more}, "spec": spec, "status": status}


def deployment(**spec: Any) -> tuple[str, Object]:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    return work("deployments.apps", template=template("new"), **{"strategy": rolling, **spec})


def sizes(stage: Alone) -> dict[str, int]:
    return {rs["metadata"]["name"]: rs["spec"]["replicas"] for rs in stage.items("replicasets.apps")}


def now(stage: Alone) -> Object:
    (found,) = stage.items("deployments.apps")
    return found


def condition(stage: Alone, kind: str) -> tuple[str, str, str] | None:
    for each in now(stage)["status"].get("conditions") or ():
        if each["type"] == kind:
            return each["status"], each["reason"], each["message"]
    return None


def revision(stage: Alone) -> str:
    """What was sent last; it travels with the status."""
    sent = [obj for _, _, path, obj in stage.api.log if path.endswith("/deployments/web/status")]
    return str(sent[-1]["metadata"]["annotations"][REVISION])


async def available(stage: Alone, name: str, count: int) -> None:
    """So many pods of a ReplicaSet are there."""
    rs = await stage.client.get(REPLICA_SETS, name, "ns")
    status = {**(rs.get("status") or {}), "replicas": rs["spec"]["replicas"], "availableReplicas": count}
    status |= {"readyReplicas": count, "observedGeneration": rs["metadata"]["generation"]}
    await stage.client.update(REPLICA_SETS, {**rs, "status": status}, subresource="status")
    await asyncio.sleep(0.1)


def new_of(stage: Alone) -> str:
    """The name of the one that has the new image."""
    return next(
        rs["metadata"]["name"]
        for rs in stage.items("replicasets.apps")
        if rs["spec"]["template"]["spec"]["containers"][0]["image"] == "new"
    )


def test_a_rolling_update_goes_step_by_step_and_each_is_written_down() -> None:
    async def main() -> None:
        async with alone(DeploymentController, deployment(), replica_set("old", 3)) as stage:
            new = new_of(stage)
            seen = [sizes(stage)]
            for count in (1, 2, 3):
                await available(stage, new, count)
                seen.append(sizes(stage))
                assert now(stage)["status"]["updatedReplicas"] == count
                assert now(stage)["status"]["availableReplicas"] == 3 + 1, "the old one has not been counted down yet"
                await available(stage, "old", 3 - count)
                seen.append(sizes(stage))
                assert now(stage)["status"]["availableReplicas"] == 3
            assert [(each["old"], each[new]) for each in seen] == [
                (3, 1),
                (2, 2),
                (2, 2),
                (1, 3),
                (1, 3),
                (0, 3),
                (0, 3),
            ]
            done = f'ReplicaSet "{new}" has successfully progressed.'
            assert condition(stage, "Progressing") == ("True", "NewReplicaSetAvailable", done)
            assert condition(stage, "Available") == (
                "True",
                "MinimumReplicasAvailable",
                "Deployment has minimum availability.",
            )
            assert revision(stage) == "2"
            assert [message for _, _, message in stage.told()] == [
                f"Scaled up replica set {new} from 0 to 1",
                "Scaled down replica set old from 3 to 2",
                f"Scaled up replica set {new} from 1 to 2",
                "Scaled down replica set old from 2 to 1",
                f"Scaled up replica set {new} from 2 to 3",
                "Scaled down replica set old from 1 to 0",
            ]
            assert {(kind, reason) for kind, reason, _ in stage.told()} == {("Normal", "ScalingReplicaSet")}

    run_virtual(main())


def test_old_pods_that_nobody_misses_go_first_and_the_oldest_are_looked_at_first() -> None:
    """Of five, three are available, and three must be: two go, and none that is available."""

    async def main() -> None:
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
        objects = [
            deployment(replicas=4, strategy=rolling),
            replica_set("a", 2, "a", available=1, desired=4),
            replica_set("b", 3, "b", available=2, desired=4),
        ]
        async with alone(DeploymentController, *objects) as stage:
            new = new_of(stage)
            assert sizes(stage) == {"a": 1, "b": 2, new: 2}
            assert [message for _, _, message in stage.told()][:2] == [
                "Scaled down replica set a from 2 to 1",
                "Scaled down replica set b from 3 to 2",
            ]

    run_virtual(main())


def test_a_scale_down_that_is_refused_leaves_the_status_to_be_written() -> None:
    async def main() -> None:
        only_old = refusing("PUT", "/replicasets/old")
        objects = deployment(), replica_set("old", 4), replica_set("new", 1, "new", available=0, revision="2")
        async with alone(DeploymentController, *objects, refuse=only_old) as stage:
            await available(stage, "new", 1)
            assert ("PUT", "/apis/apps/v1/namespaces/ns/replicasets/old") in stage.writes("PUT")
            assert now(stage)["status"]["updatedReplicas"] == 1
            assert sizes(stage)["old"] == 4

    run_virtual(main())


@pytest.mark.parametrize(
    ("wanted", "there", "left"),
    [(30, {}, 30), (None, {"minReadySeconds": 30}, 0), (5, {"minReadySeconds": 30}, 5), (None, {}, None)],
)
def test_how_long_a_pod_must_be_ready_goes_to_the_new_replica_set(
    wanted: int | None, there: Object, left: int | None
) -> None:
    async def main() -> None:
        spec = {} if wanted is None else {"minReadySeconds": wanted}
        objects = deployment(**spec), replica_set("new", 3, "new", spec=there)
        async with alone(DeploymentController, *objects) as stage:
            (rs,) = stage.items("replicasets.apps")
            assert rs["spec"].get("minReadySeconds") == left
            assert bool(
                stage.writes("PUT", "POST")[:1] == [("PUT", "/apis/apps/v1/namespaces/ns/replicasets/new")]
            ) is (wanted is not None or bool(there))

    run_virtual(main())


def test_a_new_replica_set_is_made_with_all_that_the_deployment_says() -> None:
    async def main() -> None:
        kind, body = deployment(minReadySeconds=7)
        body["metadata"]["annotations"] = {"team": "a"}
        async with alone(DeploymentController, (kind, body)) as stage:
            (rs,) = stage.items("replicasets.apps")
            assert rs["spec"]["minReadySeconds"] == 7
            assert rs["spec"]["replicas"] == 3
            hashed = rs["metadata"]["labels"]["pod-template-hash"]
            assert rs["metadata"]["name"] == f"web-{hashed}"
            assert rs["spec"]["selector"]["matchLabels"] == rs["spec"]["template"]["metadata"]["labels"]
            assert rs["spec"]["template"]["metadata"]["labels"] == {**LABELS, "pod-template-hash": hashed}
            assert rs["metadata"]["annotations"] == {
                "team": "a",
                DESIRED_REPLICAS: "3",
                MAX_REPLICAS: "4",
                REVISION: "1",
            }
            assert rs["metadata"]["ownerReferences"] == [{**OWNER, "blockOwnerDeletion": True}]
            assert condition(stage, "Progressing") == (
                "True",
                "NewReplicaSetCreated",
                f'Created new replica set "web-{hashed}"',
            )
            assert revision(stage) == "1"

    run_virtual(main())


def test_an_old_template_that_is_back_is_a_new_revision() -> None:
    async def main() -> None:
        objects = deployment(), replica_set("new", 0, "new", revision="1"), replica_set("old", 3, revision="2")
        async with alone(DeploymentController, *objects) as stage:
            new = next(rs for rs in stage.items("replicasets.apps") if rs["metadata"]["name"] == "new")
            assert new["metadata"]["annotations"][REVISION] == "3"
            assert new["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "1"
            assert revision(stage) == "3"
            assert sizes(stage) == {"new": 1, "old": 3}

    run_virtual(main())


def test_a_replica_set_that_is_there_unseen_is_taken_if_it_is_ours() -> None:
    """The cache is behind: the create says that it exists."""

    async def main() -> None:
        late = False

        def refuse(request: Request) -> Any:
            return NO_MORE if late and request.method == "PUT" and request.path.endswith("/status") else None

        async with alone(DeploymentController, deployment(), refuse=refuse) as stage:
            (made,) = stage.items("replicasets.apps")
            stage.controller._replica_sets.indexer.replace([])
            stage.controller._queue.add("ns/web")
            await asyncio.sleep(1)
            assert [rs["metadata"]["uid"] for rs in stage.items("replicasets.apps")] == [made["metadata"]["uid"]]
            assert "collisionCount" not in now(stage)["status"]
            assert len(stage.told()) == 1, "it was made once, and told once"

    run_virtual(main())


def test_a_name_that_somebody_else_took_makes_another_hash() -> None:
    async def main() -> None:
        async with alone(DeploymentController, deployment()) as stage:
            (made,) = stage.items("replicasets.apps")
        foreign = {**made, "metadata": {**made["metadata"], "ownerReferences": [{**OWNER, "uid": "other"}]}}
        async with alone(DeploymentController, deployment(), ("replicasets.apps", foreign)) as stage:
            await asyncio.sleep(5)
            assert now(stage)["status"]["collisionCount"] == 1
            assert len(sizes(stage)) == 2
            assert [kind for kind, _, _ in stage.told()] == ["Normal"], "a collision is no failure"

    run_virtual(main())


def test_a_failure_to_make_it_is_a_condition_until_it_is_made() -> None:
    async def main() -> None:
        async with alone(DeploymentController, deployment(), refuse=refusing("POST", "/replicasets")) as stage:
            await asyncio.sleep(1)
            status, reason, message = condition(stage, "Progressing") or ("", "", "")
            assert (status, reason) == ("False", "ReplicaSetCreateError")
            assert message.startswith('Failed to create new replica set "web-')
            assert message.endswith(": no more")
            stage.api.refuse = lambda request: None
            await asyncio.sleep(30)
            assert (condition(stage, "Progressing") or ())[:1] == ("True",)
        async with alone(
            DeploymentController, deployment(progressDeadlineSeconds=2**31 - 1), refuse=refusing("POST", "/replicasets")
        ) as stage:
            await asyncio.sleep(1)
            assert condition(stage, "Progressing") is None, "without a deadline nobody speaks of progress"
            assert stage.told()

    run_virtual(main())


def test_a_pause_is_told_and_stops_roll_outs_but_not_scaling() -> None:
    async def main() -> None:
        objects = deployment(paused=True, replicas=6), replica_set("a", 2, "a"), replica_set("b", 2, "b")
        async with alone(DeploymentController, *objects) as stage:
            assert condition(stage, "Progressing") == ("Unknown", "DeploymentPaused", "Deployment is paused")
            assert sizes(stage) == {"a": 3, "b": 4}, "a surge of one, and proportions"
            assert stage.writes("POST") == []
            paused = now(stage)
            await stage.client.update(DEPLOYMENTS, {**paused, "spec": {**paused["spec"], "paused": False}})
            await asyncio.sleep(0.1)
            said = [
                c
                for _, _, path, obj in stage.api.log
                if path.endswith("/deployments/web/status")
                for c in obj["status"].get("conditions", ())
                if c["type"] == "Progressing"
            ]
            assert ("Unknown", "DeploymentResumed", "Deployment is resumed") in [
                (c["status"], c["reason"], c["message"]) for c in said
            ]
            assert set(stage.writes("POST")) == {("POST", "/apis/apps/v1/namespaces/ns/replicasets")}

    run_virtual(main())


def test_scaling_in_the_middle_of_a_roll_out_keeps_proportions() -> None:
    """The sizes that ReplicaSets were last scaled for tell that the Deployment has another one now."""

    async def main() -> None:
        objects = (
            deployment(replicas=10),
            replica_set("old", 3, desired=4, available=3),
            replica_set("new", 2, "new", desired=4, available=2, revision="2"),
        )
        async with alone(DeploymentController, *objects) as stage:
            puts = [(path, obj["spec"]["replicas"]) for _, method, path, obj in stage.api.log if method == "PUT"]
            scaled = [(path.rpartition("/")[2], size) for path, size in puts if "/replicasets/" in path]
            assert set(scaled) == {("old", 7), ("new", 4)}
            for rs in stage.items("replicasets.apps"):
                assert rs["metadata"]["annotations"][DESIRED_REPLICAS] == "10"
                assert rs["metadata"]["annotations"][MAX_REPLICAS] == "11"

    run_virtual(main())


def test_an_old_replica_set_has_no_share_once_the_roll_out_is_over() -> None:
    async def main() -> None:
        objects = deployment(), replica_set("new", 3, "new", revision="2"), replica_set("old", 1, desired=2)
        async with alone(DeploymentController, *objects) as stage:
            assert sizes(stage) == {"new": 3, "old": 0}
            assert [message for _, _, message in stage.told()] == ["Scaled down replica set old from 1 to 0"]

    run_virtual(main())


def test_history_beyond_its_limit_goes_lowest_revision_first() -> None:
    async def main() -> None:
        objects = (
            deployment(revisionHistoryLimit=1),
            replica_set("new", 3, "new", revision="7"),
            replica_set("c", 0, "c", revision="4"),
            replica_set("a", 0, "a", revision="6"),
            replica_set("b", 0, "b", revision="5"),
            replica_set("e", 0, "e", revision="2", generation=2),  # nobody has looked at it since
        )
        async with alone(DeploymentController, *objects) as stage:
            assert set(sizes(stage)) == {"new", "a", "e"}

    run_virtual(main())


def test_without_a_limit_no_history_goes() -> None:
    async def main() -> None:
        for limit in ({}, {"revisionHistoryLimit": 2**31 - 1}, {"revisionHistoryLimit": 2}):
            objects = (
                deployment(**limit),
                replica_set("new", 3, "new", revision="9"),
                replica_set("a", 0, "a"),
                replica_set("b", 0, "b"),
            )
            async with alone(DeploymentController, *objects) as stage:
                assert len(sizes(stage)) == 3

    run_virtual(main())


def test_history_goes_while_a_deployment_is_paused_too() -> None:
    async def main() -> None:
        objects = (
            deployment(paused=True, revisionHistoryLimit=0),
            replica_set("a", 3, "new"),
            replica_set("b", 0, "b"),
            replica_set("c", 0, "c", status={"replicas": 1}),  # a pod of it is there still
        )
        async with alone(DeploymentController, *objects) as stage:
            assert set(sizes(stage)) == {"a", "c"}

    run_virtual(main())


def test_a_deployment_that_would_select_everything_is_refused() -> None:
    async def main() -> None:
        async with alone(DeploymentController, deployment(selector={})) as stage:
            said = "This deployment is selecting all pods. A non-empty selector is required."
            assert stage.told() == [("Warning", "SelectingAll", said)]
            assert now(stage)["status"] == {"observedGeneration": 1}
            assert stage.items("replicasets.apps") == []

    run_virtual(main())


def test_a_failure_of_a_replica_set_is_the_deployments() -> None:
    async def main() -> None:
        failed = {
            "type": "ReplicaFailure",
            "status": "True",
            "reason": "FailedCreate",
            "message": "quota",
            "lastTransitionTime": format_time(VIRTUAL_EPOCH),
        }
        objects = deployment(), replica_set("new", 3, "new", available=0, status={"conditions": [failed]})
        async with alone(DeploymentController, *objects) as stage:
            assert condition(stage, "ReplicaFailure") == ("True", "FailedCreate", "quota")
            rs = await stage.client.get(REPLICA_SETS, "new", "ns")
            healed = {**rs["status"], "conditions": [], "availableReplicas": 3}
            await stage.client.update(REPLICA_SETS, {**rs, "status": healed}, subresource="status")
            await asyncio.sleep(0.1)
            assert condition(stage, "ReplicaFailure") is None

    run_virtual(main())


def test_a_roll_out_that_stands_still_times_out_by_itself() -> None:
    async def main() -> None:
        objects = deployment(progressDeadlineSeconds=60), replica_set("new", 3, "new", available=0)
        async with alone(DeploymentController, *objects) as stage:
            await asyncio.sleep(55)
            assert (condition(stage, "Progressing") or ())[:1] == ("True",)
            await asyncio.sleep(10)
            message = 'ReplicaSet "new" has timed out progressing.'
            assert condition(stage, "Progressing") == ("False", "ProgressDeadlineExceeded", message)

    run_virtual(main())


@pytest.mark.parametrize(
    ("owners", "labels", "told"),
    [
        ([], LABELS, ["ns/web"]),  # nobody's: it may be adopted
        ([], {"app": "other"}, []),
        ([], {}, []),
        ([OWNER], {}, ["ns/web"]),
        ([{**OWNER, "uid": "one before"}], LABELS, []),
        ([{**OWNER, "kind": "Other"}], LABELS, []),
    ],
)
def test_whom_a_replica_set_that_comes_concerns(owners: list[Object], labels: Object, told: list[str]) -> None:
    async def main() -> None:
        async with alone(DeploymentController, deployment(paused=True)) as stage:
            asked: list[str] = []
            stage.controller._queue.add = asked.append
            meta = {"name": "rs", "labels": labels, "ownerReferences": owners}
            made = await stage.client.create(REPLICA_SETS, {"metadata": meta, "spec": {}}, "ns")
            await asyncio.sleep(0.1)
            assert asked == told
            asked.clear()
            await stage.client.update(REPLICA_SETS, {**made, "metadata": {**made["metadata"], "ownerReferences": []}})
            await asyncio.sleep(0.1)
            let_go = told if owners else []
            fits = ["ns/web"] if owners and labels == LABELS else []
            assert asked == [*let_go, *fits]

    run_virtual(main())
