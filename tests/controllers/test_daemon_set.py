"""DaemonSets: the recorded ones' hashes, pods and status; nodes that come, change and go; rollouts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.conftest import RECORDINGS

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.daemonset.daemon_pods import daemon_pod
from lifecycle.controllers.daemonset.daemon_set_status import daemon_set_status
from lifecycle.controllers.daemonset.rolling_update import rolling_update
from lifecycle.controllers.history.revisions import new_revision, template_patch
from lifecycle.controllers.pod_readiness import is_pod_ready
from lifecycle.controllers.pod_template_hash import compute_hash
from lifecycle.inspector import Recording

SETS = resource("daemonsets.apps")


def recorded(path: str) -> list[Object]:
    exchanges = Recording(RECORDINGS / "kind-1.36.2").exchanges("objects")
    return next(e.response["items"] for e in exchanges if e.path == path)


def pods_of(ds: Object) -> list[Object]:
    uid = ds["metadata"]["uid"]
    return [p for p in recorded("/api/v1/pods") if (p["metadata"].get("ownerReferences") or [{}])[0].get("uid") == uid]


def test_hashes_pods_and_status_are_the_recorded_ones() -> None:
    nodes = recorded("/api/v1/nodes")
    sets = recorded("/apis/apps/v1/daemonsets")
    assert len(sets) == 2
    for given in sets:
        ds = {**given, "kind": "DaemonSet", "apiVersion": "apps/v1"}
        real = pods_of(ds)
        revision = compute_hash(ds["spec"]["template"])
        assert {p["metadata"]["labels"]["controller-revision-hash"] for p in real} == {revision}
        pods_on = {}
        for pod in real:
            node = pod["spec"]["nodeName"]
            pods_on[node] = [pod]
            ours = daemon_pod(ds, node, revision)
            assert ours["metadata"]["labels"] == pod["metadata"]["labels"]
            assert ours["metadata"]["ownerReferences"] == pod["metadata"]["ownerReferences"]
            assert ours["spec"]["affinity"] == pod["spec"]["affinity"]
            assert ours["spec"]["tolerations"] == pod["spec"]["tolerations"]
        assert daemon_set_status(ds, nodes, pods_on, revision, 2e9) == ds["status"]


def daemon(image: str = "nginx:1.27", strategy: Object | None = None, **spec: Any) -> Object:
    labels = {"app": "d"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}], **spec}}
    body: Object = {"selector": {"matchLabels": labels}, "template": template}
    if strategy:
        body["updateStrategy"] = strategy
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}, "spec": body}


async def where(cluster: RehearsedCluster) -> list[str]:
    return sorted(p["spec"].get("nodeName", "?") for p in await cluster.items("pods"))


def test_a_pod_for_every_node_that_should_have_one() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        await client.create(SETS, daemon(nodeSelector={"disk": "ssd"}), "default")
        await asyncio.sleep(5)
        assert await where(cluster) == []
        for name in ("lifecycle-worker", "lifecycle-worker2"):
            await client.patch(resource("nodes"), name, "", {"metadata": {"labels": {"disk": "ssd"}}})
        await asyncio.sleep(10)
        assert await where(cluster) == ["lifecycle-worker", "lifecycle-worker2"]
        await client.patch(resource("nodes"), "lifecycle-worker", "", {"metadata": {"labels": {"disk": None}}})
        await asyncio.sleep(60)
        assert await where(cluster) == ["lifecycle-worker2"]
        [pod] = await cluster.items("pods")
        await client.delete(resource("pods"), pod["metadata"]["name"], "default")
        await asyncio.sleep(60)
        assert await where(cluster) == ["lifecycle-worker2"]
        [ds] = await cluster.items("daemonsets.apps")
        assert (ds["status"]["desiredNumberScheduled"], ds["status"]["numberReady"]) == (1, 1)

    rehearse(scene)


def test_a_rollout_takes_one_node_after_the_other_and_keeps_history() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        await client.create(SETS, daemon(tolerations=[{"operator": "Exists"}]), "default")
        await asyncio.sleep(10)
        change = daemon("nginx:1.28", tolerations=[{"operator": "Exists"}])["spec"]["template"]
        await client.patch(SETS, "d", "default", {"spec": {"template": change}})
        lowest = 3
        for _ in range(600):
            await asyncio.sleep(0.1)
            [ds] = await cluster.items("daemonsets.apps")
            lowest = min(lowest, ds["status"].get("numberAvailable", 0))
        assert lowest == 2
        assert ds["status"]["updatedNumberScheduled"] == 3
        assert {p["spec"]["containers"][0]["image"] for p in await cluster.items("pods")} == {"nginx:1.28"}
        revisions = await cluster.items("controllerrevisions.apps")
        assert sorted(r["revision"] for r in revisions) == [1, 2]
        back = daemon(tolerations=[{"operator": "Exists"}])["spec"]["template"]
        await client.patch(SETS, "d", "default", {"spec": {"template": back}})
        await asyncio.sleep(100)
        assert sorted(r["revision"] for r in await cluster.items("controllerrevisions.apps")) == [2, 3]

    rehearse(scene, latency=0.1)


def test_with_a_surge_the_new_pod_comes_first() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        surge = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
        await client.create(SETS, daemon(strategy=surge), "default")
        await asyncio.sleep(10)
        await client.patch(SETS, "d", "default", {"spec": {"template": daemon("nginx:1.28")["spec"]["template"]}})
        lowest = 9
        for _ in range(300):
            await asyncio.sleep(0.5)
            ready = [p for p in await cluster.items("pods") if is_pod_ready(p)]
            lowest = min(lowest, len({p["spec"]["nodeName"] for p in ready}))
        assert lowest == 2
        assert {p["spec"]["containers"][0]["image"] for p in await cluster.items("pods")} == {"nginx:1.28"}
        assert len(await cluster.items("pods")) == 2

    rehearse(scene)


NOW = 1767225600.0


def test_a_revision_keeps_its_keys_in_order() -> None:
    """kubectl compares the bytes to tell whether a rollback would change anything."""
    ds = daemon()
    ds["metadata"] |= {"namespace": "default", "uid": "u"}
    template = ds["spec"]["template"]
    ds["spec"]["template"] = dict(sorted(template.items(), reverse=True))
    revision = new_revision(ds, template_patch(ds), 1, "abc", {})
    assert list(revision["data"]["spec"]["template"]) == sorted(["$patch", *template])


def on(node: str, revision: str, ready: bool = True, **meta: Any) -> Object:
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": "2025-12-31T00:00:00Z"}
    labels = {"controller-revision-hash": revision}
    return {
        "metadata": {"name": f"{node}-{revision}", "labels": labels, **meta},
        "spec": {"nodeName": node},
        "status": {"phase": "Running", "conditions": [condition]},
    }


@pytest.mark.parametrize(
    ("rolling", "pods", "deleted", "created"),
    [
        ({"maxUnavailable": 1}, [on("a", "1"), on("b", "1"), on("c", "1")], ["a-1"], []),
        ({"maxUnavailable": 2}, [on("a", "1"), on("b", "1"), on("c", "1")], ["a-1", "b-1"], []),
        ({"maxUnavailable": 1}, [on("a", "2", False), on("b", "1"), on("c", "1")], [], []),
        ({"maxUnavailable": 1}, [on("a", "1"), on("b", "1", False), on("c", "1")], ["b-1"], []),
        ({"maxUnavailable": 1}, [on("a", "1"), on("b", "1")], [], []),  # nobody is on c yet
        ({"maxUnavailable": 1}, [on("a", "1", deletionTimestamp="t"), on("b", "1"), on("c", "1")], [], []),
        # d should have no pod: its old one goes like any other when its turn comes
        ({"maxUnavailable": 1}, [on("a", "2"), on("b", "2"), on("c", "2"), on("d", "1")], ["d-1"], []),
        ({"maxUnavailable": "50%"}, [on(n, "1") for n in "abc"], ["a-1", "b-1"], []),  # 1.5, rounded up
        ({"maxSurge": 1}, [on("a", "1"), on("b", "1"), on("c", "1")], [], ["a"]),
        ({"maxSurge": 1}, [on("a", "1"), on("a", "2"), on("b", "1"), on("c", "1")], ["a-1"], ["b"]),
        ({"maxSurge": 1}, [on("a", "1"), on("a", "2", False), on("b", "1"), on("c", "1")], [], []),
        ({"maxSurge": 1}, [on("a", "1"), on("b", "1", False), on("c", "1", False)], [], ["b", "c", "a"]),
        ({"maxSurge": 1}, [on("a", "2"), on("b", "2"), on("d", "1")], [], []),  # d's is needed until c's is there
        ({"maxSurge": 1}, [on("a", "2"), on("b", "2"), on("c", "2"), on("d", "1")], ["d-1"], []),
        ({"maxSurge": 1}, [on("a", "2"), on("b", "2"), on("c", "2"), on("d", "1", False)], ["d-1"], []),
    ],
)
def test_one_step_of_a_rollout(rolling: Object, pods: list[Object], deleted: list[str], created: list[str]) -> None:
    template = {"spec": {"nodeSelector": {"runs": "yes"}, "containers": []}}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, **rolling}}
    ds = {"metadata": {"name": "d"}, "spec": {"template": template, "updateStrategy": strategy}}
    nodes = [{"metadata": {"name": n, "labels": {"runs": "no" if n == "d" else "yes"}}, "spec": {}} for n in "abcd"]
    by_node: dict[str, list[Object]] = {}
    for pod in pods:
        by_node.setdefault(pod["spec"]["nodeName"], []).append(pod)
    step = rolling_update(ds, nodes, by_node, "2", NOW)
    assert ([pod["metadata"]["name"] for pod in step[0]], list(step[1])) == (deleted, created)
