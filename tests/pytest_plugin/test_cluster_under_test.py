"""What a test does with its cluster, with an API server behind it that only keeps what it is given."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from lifecycle.api.resources import resource
from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest, KubectlFailed
from tests.pytest_plugin.fake_running import Running


@pytest.fixture
def running() -> Running:
    made = Running()
    made.api.write("ADDED", resource("namespaces"), {"metadata": {"name": "shop"}})
    return made


@pytest.fixture
def under_test(running: Running, tmp_path: Path) -> ClusterUnderTest:
    return ClusterUnderTest(running, tmp_path, "shop")  # type: ignore[arg-type]


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_the_kubeconfig_leads_to_the_namespace_and_is_its_owners(under_test: ClusterUnderTest, tmp_path: Path) -> None:
    assert under_test.kubeconfig == tmp_path / "kubeconfig"
    assert stat.S_IMODE(under_test.kubeconfig.stat().st_mode) == 0o600
    (context,) = yaml.safe_load(under_test.kubeconfig.read_text())["contexts"]
    assert context["context"] == {"cluster": "lifecycle", "user": "lifecycle", "namespace": "shop"}


def test_without_a_word_it_is_seen_from_the_namespace_default(running: Running, tmp_path: Path) -> None:
    assert ClusterUnderTest(running, tmp_path).namespace == "default"  # type: ignore[arg-type]


def test_the_address_and_the_official_clients_are_the_clusters(under_test: ClusterUnderTest) -> None:
    assert (under_test.url, under_test.api_client, under_test.client) == (
        "https://127.0.0.1:1",
        "their connection",
        "their classes",
    )


@pytest.mark.parametrize(
    "argv",
    [
        ("create configmap words --from-literal='a=1 2'",),
        ("create", "configmap", "words", "--from-literal=a=1 2"),
    ],
)
def test_a_command_is_one_text_as_a_shell_reads_it_or_its_words(
    running: Running, under_test: ClusterUnderTest, argv: tuple[str, ...]
) -> None:
    assert under_test.kubectl(*argv) == "configmap/words created\n"
    (kept,) = running.api.items(resource("configmaps"), "shop")
    assert kept["data"] == {"a": "1 2"}
    assert running.agents == {"kubectl"}


def test_a_command_that_names_a_namespace_is_asked_there(running: Running, under_test: ClusterUnderTest) -> None:
    under_test.kubectl("create configmap elsewhere -n bank")
    assert (running.names("configmaps", "bank"), running.names("configmaps", "shop")) == (["elsewhere"], [])


def test_a_command_reads_what_it_is_handed(running: Running, under_test: ClusterUnderTest) -> None:
    under_test.kubectl("create -f -", stdin=yaml.safe_dump(config_map("piped")))
    assert running.names("configmaps", "shop") == ["piped"]


def test_a_command_that_is_handed_nothing_reads_nothing(under_test: ClusterUnderTest) -> None:
    with pytest.raises(KubectlFailed, match=r"kubectl create -f -: error: no objects passed to create \(exit 1\)$"):
        under_test.kubectl("create -f -")


def test_a_failure_shows_the_command_as_a_shell_would_take_it(under_test: ClusterUnderTest) -> None:
    with pytest.raises(KubectlFailed) as failed:
        under_test.kubectl("get", "configmap", "no such", "-o", "name")
    assert failed.value.stderr == 'Error from server (NotFound): configmaps "no such" not found\n'
    assert str(failed.value) == f"kubectl get configmap 'no such' -o name: {failed.value.stderr.strip()} (exit 1)"


@pytest.mark.parametrize("as_what", ["text", "file", "folder", "objects"])
def test_several_objects_are_applied_and_come_back_in_their_order(
    running: Running, under_test: ClusterUnderTest, tmp_path: Path, as_what: str
) -> None:
    objects = [config_map("second", a="1"), config_map("first", b="2")]
    text = yaml.safe_dump_all(objects)
    file = tmp_path / "manifests" / "all.yaml"
    file.parent.mkdir()
    file.write_text(text)
    manifests: dict[str, Any] = {"text": text, "file": file, "folder": file.parent, "objects": objects}
    applied = under_test.apply(manifests[as_what])
    assert [(obj["metadata"]["name"], obj["data"]) for obj in applied] == [
        ("second", {"a": "1"}),
        ("first", {"b": "2"}),
    ]
    assert all(obj["metadata"]["resourceVersion"] for obj in applied)
    assert sorted(running.names("configmaps", "shop")) == ["first", "second"]


@pytest.mark.parametrize("as_what", ["text", "file", "object"])
def test_one_object_is_applied_and_comes_back_alone(under_test: ClusterUnderTest, tmp_path: Path, as_what: str) -> None:
    (file := tmp_path / "one.yaml").write_text(text := yaml.safe_dump(config_map("only")))
    manifests: dict[str, Any] = {"text": text, "file": file, "object": config_map("only")}
    (applied,) = under_test.apply(manifests[as_what])
    assert (applied["kind"], applied["metadata"]["name"]) == ("ConfigMap", "only")


def test_what_is_waited_for_comes_as_it_is(under_test: ClusterUnderTest) -> None:
    under_test.apply(config_map("there", a="1"))
    found = under_test.wait_for("cm/there")
    assert (found["kind"], found["apiVersion"], found["data"]) == ("ConfigMap", "v1", {"a": "1"})


def test_it_is_waited_for_half_a_minute(under_test: ClusterUnderTest) -> None:
    with pytest.raises(TimeoutError) as over:
        under_test.wait_for("cm/never")
    assert str(over.value) == (
        "configmaps/never in namespace shop did not come to 'create' within 30 s; it was never there"
    )


@pytest.mark.parametrize("what", ["cm", "cm,secrets"])
def test_only_one_object_is_waited_for(under_test: ClusterUnderTest, what: str) -> None:
    with pytest.raises(ValueError, match=f"^wait_for waits for one object, TYPE/NAME, not '{what}'$"):
        under_test.wait_for(what)
