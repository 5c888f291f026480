"""What the kubelet's chapters say in words, of numbers, of orders and of what is missing, is so."""

from __future__ import annotations

import re
from inspect import signature

import pytest

from lifecycle.agreements.kubelet.pod_status import recorded
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.historical.kubelet.cpu_weight import cpu_shares_to_weight_linear
from lifecycle.inspector import open_recording
from lifecycle.kubelet.cm.cpumanager.cpu_manager import RECONCILE_PERIOD
from lifecycle.kubelet.cm.resource_config import cpu_shares_to_weight, milli_cpu_to_shares
from lifecycle.kubelet.config.file import FILE_CHECK_FREQUENCY
from lifecycle.kubelet.config.http import HTTP_CHECK_FREQUENCY
from lifecycle.kubelet.eviction.eviction_manager import MONITORING_INTERVAL
from lifecycle.kubelet.images.credentials import urls_match
from lifecycle.kubelet.images.image_gc_manager import FsStats, usage_percent
from lifecycle.kubelet.images.image_pull_manager import PullRecords
from lifecycle.kubelet.lifecycle.admit_handlers import default_handlers
from lifecycle.kubelet.lifecycle.interfaces import PodAdmitResult
from lifecycle.kubelet.pleg.generic import RELIST_PERIOD
from lifecycle.kubelet.pod_sync_status import State
from tests.conftest import ROOT

PAGES = {path.stem: path.read_text() for path in (ROOT / "book" / "kubelet").glob("*.md")}


def test_the_steps_are_numbered_as_they_are_taken() -> None:
    async def scene(node: OneNode) -> list[str]:
        await node.run_pod("web")
        return [step for step, _ in node.steps[:7]]

    told = re.findall(
        r"^(\d)\. (.*)$", PAGES["pod-sync"].partition("### The steps")[2].partition("## The code")[0], re.M
    )
    words = ["metrics", "status", "cgroup", "directories", "volumes", "pull secrets", "runtime"]
    assert [word in sentence for word, (_, sentence) in zip(words, told, strict=True)] == [True] * 7
    assert on_one_node(scene) == ["metrics", "status", "cgroups", "directories", "volumes", "pull secrets", "runtime"]


def test_files_and_urls_are_looked_at_as_often_as_the_picture_says() -> None:
    figure = (ROOT / "src" / "lifecycle" / "figures" / "pod_lifecycle.py").read_text()
    assert figure.count("every 20 s") == 2
    assert FILE_CHECK_FREQUENCY == HTTP_CHECK_FREQUENCY == 20


def test_a_worker_goes_one_way() -> None:
    assert "There is no way back." in PAGES["pod-sync"]

    async def scene(node: OneNode) -> tuple[State, State]:
        pod = await node.run_pod("web")
        workers, known = node.kubelet.pod_workers, node.kubelet.pods.get(pod["metadata"]["uid"])
        assert known is not None
        workers.kill_pod(pod["metadata"]["uid"])
        first = known.state
        workers.update_pod(pod)  # as if it were wanted again
        return first, known.state

    assert on_one_node(scene) == (State.TERMINATING, State.TERMINATING)


def test_handlers_are_asked_in_the_order_of_the_picture() -> None:
    handlers = default_handlers(lambda attributes: PodAdmitResult(True), allocate=lambda pod: ("", ""))
    order = [
        "eviction_handler",
        "SysctlAllowlist",
        "allocation_handler",
        "<lambda>",
        "apparmor_handler",
        "shutdown_handler",
    ]
    assert [name in handler.__qualname__ for name, handler in zip(order, handlers, strict=True)] == [True] * 6
    picture = PAGES["admission-and-cgroups"].partition("draw_admit_handlers(\n")[2].partition(")\n")[0]
    assert re.findall(r'^ +"([^"]+)":', picture, re.M) == [
        "pressure",
        "sysctls",
        "whole CPUs",
        "room and fit",
        "AppArmor",
        "shutdown",
    ]


@pytest.mark.parametrize(("milli", "shares"), [(1000, 1024), (500, 512), (10, 10), (150, 153), (0, 2)])
def test_the_weights_that_are_told(milli: int, shares: int) -> None:
    assert milli_cpu_to_shares(milli) == shares


def test_one_cpu_on_the_line_and_on_the_curve() -> None:
    assert "where the old one has 39" in PAGES["admission-and-cgroups"]
    assert (cpu_shares_to_weight_linear(1024), cpu_shares_to_weight(1024)) == (39, 100)


def test_the_path_of_an_entry_is_a_prefix_of_text() -> None:
    assert "`registry.example/team` also covers `registry.example/team2`" in PAGES["image-pull-secrets"]
    assert urls_match("registry.example/team", "registry.example/team2")
    assert not urls_match("*.example", "eu.registry.example/app")


def test_which_annotations_a_pod_sees_of_itself() -> None:
    async def scene(node: OneNode) -> str:
        items = [{"path": "all", "fieldRef": {"fieldPath": "metadata.annotations"}}]
        mount = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
        volumes = [{"name": "v", "downwardAPI": {"items": items}}]
        pod = await node.run_pod("web", volumes=volumes, container=mount)
        path = node.pod_directory(pod) / "volumes/kubernetes.io~downward-api/v/all"
        return path.read_text()

    assert "ours adds them to static pods only" in PAGES["volumes"]
    assert "kubernetes.io/config" not in on_one_node(scene)


def test_records_of_pulls_are_kept_in_memory() -> None:
    assert "The real one keeps its records on disk; ours keeps them in memory." in PAGES["image-pull-secrets"]
    assert not signature(PullRecords).parameters


def test_what_the_recording_does_not_have() -> None:
    assert "No pod of the recording has a pull secret" in PAGES["image-pull-secrets"]
    assert "No recorded pod had a PersistentVolumeClaim" in re.sub(r"\s+", " ", PAGES["volumes"])
    assert "No recorded pod was refused by its kubelet" in PAGES["admission-and-cgroups"]
    pods = [pod for versions in recorded(open_recording()).statuses.values() for pod in versions]
    assert len(pods) > 100
    volumes = [volume for pod in pods for volume in pod["spec"].get("volumes") or ()]
    assert not any(pod["spec"].get("imagePullSecrets") for pod in pods)
    assert volumes
    assert not any("persistentVolumeClaim" in volume for volume in volumes)
    assert {pod["status"].get("reason", "") for pod in pods} == {"", "DeadlineExceeded"}


def test_how_often_the_runtime_is_looked_at() -> None:
    assert "Once a second it lists everything" in PAGES["pleg"]
    assert RELIST_PERIOD == 1


def test_a_runtime_can_be_asked_in_the_four_ways_of_probes() -> None:
    assert "It has four ways." in PAGES["probes"]
    assert {"exec_sync", "http_get", "tcp_connect"} <= set(dir(Runtime))
    assert "grpc" in (ROOT / "src/lifecycle/kubelet/prober/prober.py").read_text()


def test_what_counts_as_85_percent() -> None:
    told = re.search(r"(\d+\.\d) percent taken count as (\d+)", PAGES["garbage-collection"])
    assert told is not None
    taken, counts_as = round(float(told[1]) * 10), int(told[2])
    assert usage_percent(FsStats(available=1000 - taken, capacity=1000)) == counts_as


def test_what_happens_every_ten_seconds() -> None:
    assert "the eviction manager, which looks every ten seconds" in PAGES["garbage-collection"]
    assert "goes through all containers every ten seconds" in PAGES["cpu-manager"]
    assert MONITORING_INTERVAL == RECONCILE_PERIOD == 10
