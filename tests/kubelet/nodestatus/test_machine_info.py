"""What a node says of its machine and its runtime: asked for, not written down."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any
from uuid import RFC_4122, UUID

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.cluster.linux.machine_facts import machine_capacity
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.kubelet_node_status import Machine, NodeRegistration
from lifecycle.kubelet.nodestatus.machine_info import GOARCH, machine_info, paper_machine_info
from lifecycle.kubelet.nodestatus.setters import (
    initial_node,
    node_resources,
    node_status_has_changed,
    plain_version,
    runtime_features,
)
from lifecycle.kubelet.runtime_state import RuntimeState
from tests.kubelet.small_cluster import small_cluster


def test_a_real_node_says_what_its_machine_says(tmp_path: Path) -> None:
    for name, text in {
        "etc/os-release": 'ID=x\nPRETTY_NAME="Some Linux 7 (seven)"\n',
        "etc/machine-id": "0123456789abcdef\n",
        "proc/sys/kernel/random/boot_id": "b-1\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert machine_info(tmp_path) == {
        "machineID": "0123456789abcdef",
        "systemUUID": "0123456789abcdef",
        "bootID": "b-1",
        "kernelVersion": os.uname().release,
        "osImage": "Some Linux 7 (seven)",
        "architecture": GOARCH[os.uname().machine],
    }


def test_what_a_machine_does_not_say_is_left_empty(tmp_path: Path) -> None:
    info = machine_info(tmp_path)
    assert (info["osImage"], info["machineID"], info["bootID"]) == ("Linux", "", "")
    assert info.keys() == paper_machine_info().keys()


def test_what_nobody_can_be_asked_for_has_the_form_of_what_a_machine_says() -> None:
    """A boot's id is a random UUID, a machine's is one without its dashes; both are the same each time and not each other."""
    info = paper_machine_info()
    boot = UUID(info["bootID"])
    assert (str(boot), boot.version, boot.variant) == (info["bootID"], 4, RFC_4122)
    assert info["machineID"] == info["systemUUID"] == UUID(info["machineID"]).hex != boot.hex
    assert paper_machine_info() == info


def test_handlers_are_those_of_the_runtime() -> None:
    status = {
        "runtime_handlers": [{"name": ""}, {"name": "kata", "features": {"user_namespaces": True}}],
        "features": {"supplemental_groups_policy": True},
    }
    assert runtime_features(status) == {
        "runtimeHandlers": [
            {"name": "", "features": {"recursiveReadOnlyMounts": False, "userNamespaces": False}},
            {"name": "kata", "features": {"recursiveReadOnlyMounts": False, "userNamespaces": True}},
        ],
        "features": {"supplementalGroupsPolicy": True},
    }
    assert runtime_features({}) == {}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("v2.1.3", "2.1.3"),
        ("2.1.0-rc.1+abc", "2.1.0-rc.1+abc"),
        ("1.6.20~ds1", "1.6.20"),
        ("1.7", "1.7"),
        ("1.2.3.4", "1.2.3.4"),
        ("new", "Unknown"),
    ],
)
def test_of_a_runtimes_version_a_node_shows_what_is_a_version(said: str, shown: str) -> None:
    assert plain_version(said) == shown


def test_a_node_has_a_provider_only_if_somebody_says_so_and_its_own_architecture() -> None:
    assert "providerID" not in initial_node("n", {}, (), "", "")["spec"]
    node = initial_node("n", {}, (), "kind://n", "", "arm64")
    assert node["spec"]["providerID"] == "kind://n"
    assert node["metadata"]["labels"]["kubernetes.io/arch"] == "arm64"


def test_a_heartbeat_alone_is_no_news() -> None:
    def status(heartbeat: str, ready: str = "True", **fields: Any) -> dict[str, Any]:
        condition = {"type": "Ready", "status": ready, "lastHeartbeatTime": heartbeat}
        return {"conditions": [condition], "images": [], **fields}

    assert not node_status_has_changed(status("1"), status("2"))
    assert not node_status_has_changed({"conditions": status("1")["conditions"]}, status("2"))
    assert node_status_has_changed(status("1"), status("2", "False"))
    assert node_status_has_changed(status("1"), status("2", images=[{"names": ["a"]}]))


def test_a_node_with_a_real_runtime_tells_of_its_conditions_when_they_change() -> None:
    told: list[str] = []

    def event(kind: str, reason: str, message: str) -> None:
        told.append(f"{kind} {reason}: {message}")

    async def main() -> None:
        async with small_cluster(nodes=()) as cluster:
            client = cluster.client("kubelet", "system:node:n", ("system:nodes", "system:authenticated"))
            runtime, pressures = HollowRuntime(clock=cluster.clock), list[str]()
            machine = Machine("n", "192.0.2.1")
            node = NodeRegistration(
                client,
                machine,
                runtime,
                cluster.clock,
                asks_runtime=True,
                pressures=lambda: pressures,
                event=event,
            )
            await node.register()
            began = [line.partition(" ")[2].partition(":")[0] for line in told]
            assert began[:3] == ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"]
            told.clear()
            pressures.append("MemoryPressure")
            await node.report_status()
            await node.report_status()
        reason = "NodeHasInsufficientMemory"
        assert told == [f"Normal {reason}: Node n status is now: {reason}"]

    run_virtual(main())


def test_a_handler_can_do_what_the_runtime_says_of_it() -> None:
    state = RuntimeState()
    assert not state.supports_recursive_read_only_mounts()
    state.note({"runtime_handlers": [{"name": ""}, {"name": "new", "features": {"recursive_read_only_mounts": True}}]})
    assert not state.supports_recursive_read_only_mounts()
    assert state.supports_recursive_read_only_mounts("new")


def test_a_machines_capacity_is_measured(tmp_path: Path) -> None:
    for size, pages in ((2048, 3), (1048576, 0)):
        (tmp_path / f"hugepages-{size}kB").mkdir()
        (tmp_path / f"hugepages-{size}kB" / "nr_hugepages").write_text(f"{pages}\n")
    capacity = machine_capacity(tmp_path, tmp_path)
    disk = os.statvfs(tmp_path)
    assert capacity["ephemeral-storage"] == f"{disk.f_blocks * disk.f_frsize // 1024}Ki"
    assert (capacity["hugepages-2Mi"], capacity["hugepages-1Gi"]) == ("6Mi", "0")
    assert capacity["cpu"] == str(os.cpu_count())


FAKE, MORE = "example.com/fakecpu", "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("known", "capacity", "allocatable"),
    [
        ({}, {"cpu": "4"}, {"cpu": "3"}),
        ({"capacity": {"cpu": "2"}, "allocatable": {"cpu": "1"}}, {"cpu": "4"}, {"cpu": "3"}),
        ({"capacity": {"cpu": "4", FAKE: "7"}}, {"cpu": "4", FAKE: "7"}, {"cpu": "3", FAKE: "7"}),
        (
            {"capacity": {FAKE: "9"}, "allocatable": {FAKE: "7", MORE: "1"}},
            {"cpu": "4", FAKE: "9"},
            {"cpu": "3", FAKE: "9"},
        ),
        ({"allocatable": {"hugepages-2Mi": "0"}}, {"cpu": "4"}, {"cpu": "3", "hugepages-2Mi": "0"}),
    ],
)
def test_what_others_announce_of_a_node_is_kept_and_given_away(
    known: dict[str, Any], capacity: dict[str, str], allocatable: dict[str, str]
) -> None:
    assert node_resources(known, {"cpu": "4"}, {"cpu": "3"}) == (capacity, allocatable)


def test_a_resource_that_somebody_announces_outlives_the_kubelets_reports() -> None:
    async def main() -> list[tuple[str | None, str | None]]:
        async with small_cluster(nodes=("n",)) as cluster:
            seen = []

            async def announce(amount: str | None) -> None:
                patch = {"status": {"capacity": {FAKE: amount}}}
                await cluster.admin.patch(resource("nodes"), "n", "", patch, subresource="status")
                await asyncio.sleep(30)  # virtual: more than one report
                status = (await cluster.admin.get(resource("nodes"), "n"))["status"]
                seen.append((status["capacity"].get(FAKE), status["allocatable"].get(FAKE)))

            await announce("1k")
            await announce("2k")
            await announce(None)
            return seen

    assert run_virtual(main()) == [("1k", "1k"), ("2k", "2k"), (None, None)]
