"""Sources: what counts as a change, which operation it becomes, and how static pods are made and shown."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.kubelet.config.apply_defaults import apply_defaults, decode_pods
from lifecycle.kubelet.config.config import PodConfig, operation_for
from lifecycle.kubelet.config.file import SourceFile
from lifecycle.kubelet.types.pod_update import API, FILE, PodOperation, PodUpdate
from tests.kubelet.small_cluster import small_cluster

MANIFEST = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers: [{name: c, image: "nginx:1.27"}]
"""


def pod(uid: str, **metadata: object) -> Object:
    return {"metadata": {"name": uid, "uid": uid, **metadata}, "spec": {"containers": [{"name": "c"}]}, "status": {}}


def test_what_each_change_becomes() -> None:
    known = pod("a", generation=1)
    assert operation_for(None, known) is PodOperation.ADD
    assert operation_for(known, pod("a", generation=1)) is None
    assert operation_for(known, {**known, "status": {"phase": "Running"}}) is PodOperation.RECONCILE
    assert operation_for(known, pod("a", generation=1, labels={"x": "y"})) is PodOperation.UPDATE
    assert operation_for(known, {**pod("a", generation=2), "spec": {"containers": []}}) is PodOperation.UPDATE
    assert operation_for(known, pod("a", generation=1, deletionTimestamp="now")) is PodOperation.DELETE
    assert operation_for(known, pod("a", generation=1, annotations={"kubernetes.io/config.seen": "x"})) is None
    assert operation_for(known, pod("a", generation=1, annotations={"mine": "x"})) is PodOperation.UPDATE


LISTS = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2), max_size=4), max_size=6)


@given(LISTS)
def test_following_the_operations_leads_to_the_last_list(lists: list[dict[str, int]]) -> None:
    config, seen = PodConfig(), {}
    received: list[PodUpdate] = []
    config.updates.receive(received.append)
    for wanted in lists:
        config.merge(API, [pod(uid, labels={"v": str(v)}) for uid, v in wanted.items()])
        for update in received:
            for each in update.pods:
                uid = each["metadata"]["uid"]
                assert (update.op is PodOperation.ADD) == (uid not in seen)
                if update.op is PodOperation.REMOVE:
                    del seen[uid]
                else:
                    seen[uid] = int(each["metadata"]["labels"]["v"])
        received.clear()
        assert seen == wanted


def test_sources_do_not_remove_each_others_pods_and_messages_wait_for_a_reader() -> None:
    config = PodConfig()
    config.merge(FILE, [pod("static")])
    config.merge(API, [pod("a")])
    config.merge(API, [])
    received: list[PodUpdate] = []
    config.updates.receive(received.append)
    assert [(u.op.value, u.source) for u in received] == [("ADD", "file"), ("ADD", "api"), ("REMOVE", "api")]
    assert config.seen_all_sources([API, FILE])


def test_a_static_pod_gets_the_nodes_name_a_uid_of_its_contents_and_tolerates_all() -> None:
    made = apply_defaults(decode_pods(MANIFEST.encode(), "f")[0], FILE, "/m/web.yaml", "Node-1", "now")
    again = apply_defaults(decode_pods(MANIFEST.encode(), "f")[0], FILE, "/m/web.yaml", "Node-1", "later")
    other = apply_defaults(decode_pods(MANIFEST.encode(), "f")[0], FILE, "/m/other.yaml", "Node-1", "now")
    assert made["metadata"]["name"] == "web-node-1"
    assert len(made["metadata"]["uid"]) == 32
    assert made["metadata"]["uid"] == again["metadata"]["uid"] != other["metadata"]["uid"]
    assert {"operator": "Exists", "effect": "NoExecute"} in made["spec"]["tolerations"]
    assert made["spec"]["containers"][0]["terminationMessagePath"] == "/dev/termination-log"


def test_a_manifest_is_read_as_go_reads_yaml_a_time_and_a_date_stay_texts() -> None:
    values = "[{name: WHEN, value: 2026-01-01}, {name: AT, value: 12:30}]"
    (made,) = decode_pods(MANIFEST.replace("name: c,", f"name: c, env: {values},").encode(), "f")
    assert [each["value"] for each in made["spec"]["containers"][0]["env"]] == ["2026-01-01", "12:30"]


@pytest.mark.parametrize("text", ["{", "kind: Service", "kind: Pod\nmetadata: {}"])
def test_rubbish_in_the_directory_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    (tmp_path / ".hidden.yaml").write_text(MANIFEST)
    (tmp_path / "good.yaml").write_text(MANIFEST)
    source = SourceFile(tmp_path, "n", lambda pods: None, Clock())
    assert [p["metadata"]["name"] for p in source.list_config()] == ["web-n"]


def test_a_change_in_the_directory_is_noticed_at_once(tmp_path: Path) -> None:
    lists: list[int] = []
    done = asyncio.Event()

    async def main() -> None:
        def send(pods: list[Object]) -> None:
            lists.append(len(pods))
            if len(lists) == 1:
                asyncio.get_running_loop().call_soon(lambda: (tmp_path / "web.yaml").write_text(MANIFEST))
            else:
                done.set()

        task = asyncio.create_task(SourceFile(tmp_path, "n", send, Clock(), period=60).run())
        await asyncio.wait_for(done.wait(), 60)
        task.cancel()

    asyncio.run(main())
    assert lists[:2] == [0, 1]


def test_a_static_pod_runs_and_its_mirror_is_drawn_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with small_cluster(nodes=("lifecycle-worker",)) as cluster:
            kubelet = cluster.kubelets["lifecycle-worker"]
            (tmp_path / "web.yaml").write_text(MANIFEST)
            source = SourceFile(
                tmp_path, "lifecycle-worker", lambda pods: kubelet.pod_config.merge(FILE, pods), Clock()
            )
            kubelet.pod_config.merge(FILE, source.list_config())
            await asyncio.sleep(5)
            mirror = await cluster.pod("web-lifecycle-worker")
            assert "kubernetes.io/config.mirror" in mirror["metadata"]["annotations"]
            assert mirror["metadata"]["ownerReferences"][0]["kind"] == "Node"
            assert [s.metadata.name for s in await cluster.runtimes["lifecycle-worker"].list_pod_sandbox()] == [
                "web-lifecycle-worker"
            ]
            kubelet.pod_config.merge(FILE, [])
            await asyncio.sleep(60)
            assert await cluster.pods("default") == {}
            assert await cluster.runtimes["lifecycle-worker"].list_pod_sandbox() == []

    run_virtual(main())


@pytest.mark.parametrize(
    ("old", "new", "operation"),
    [
        ({}, {}, None),
        ({}, {"status": {"phase": "Running"}}, PodOperation.RECONCILE),
        ({"status": None}, {"status": {}}, None),
        ({}, {"spec": {"nodeName": "n"}}, PodOperation.UPDATE),
        ({"generation": 1}, {"generation": 2, "spec": {"nodeName": "n"}}, PodOperation.UPDATE),
        (
            {"generation": 1},
            {"generation": 1, "spec": {"nodeName": "n"}},
            None,
        ),  # the API server says that it is the same
        ({"generation": 1}, {"spec": {"nodeName": "n"}}, PodOperation.UPDATE),
        ({"generation": 1}, {"generation": 2}, None),
        ({}, {"labels": {"a": "b"}}, PodOperation.UPDATE),
        ({"labels": None}, {"labels": {}}, None),
        ({}, {"annotations": {"a": "b"}}, PodOperation.UPDATE),
        ({"annotations": {"a": "b"}}, {"annotations": {"a": "c"}}, PodOperation.UPDATE),
        ({"annotations": {"a": "b"}}, {}, PodOperation.UPDATE),
        ({}, {"annotations": {"kubernetes.io/config.source": "api"}}, None),  # the kubelet's own note
        ({}, {"deletionTimestamp": "now"}, PodOperation.DELETE),
        (
            {"deletionTimestamp": "now"},
            {"deletionTimestamp": "now", "deletionGracePeriodSeconds": 1},
            PodOperation.DELETE,
        ),
        ({"deletionTimestamp": "now"}, {"deletionTimestamp": "now"}, None),
        ({}, {"resourceVersion": "7", "managedFields": []}, None),
    ],
)
def test_a_change_is_one_of_what_is_wanted_or_only_of_what_is_reported(old: Any, new: Any, operation: Any) -> None:
    def described(said: dict[str, Any]) -> Object:
        rest = {key: said[key] for key in ("spec", "status") if key in said}
        meta = {key: value for key, value in said.items() if key not in rest}
        return {"metadata": {"name": "p", **meta}, "spec": {}, **rest}

    assert operation_for(None, described(new)) is PodOperation.ADD
    assert operation_for(described(old), described(new)) is operation
