"""The sandbox runtime stops, crashes and comes back; and afterwards nothing of it is left on the machine."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxState
from lifecycle.cri.conformance import Subject
from lifecycle.cri.sandbox.cgroups import cpu_weight, directory_of, hierarchies
from lifecycle.cri.sandbox.clean import clean
from lifecycle.cri.sandbox.container_exec import MAX_SYNC_OUTPUT
from lifecycle.cri.sandbox.runtime import SandboxRuntime
from tests.conftest import unavailable
from tests.cri.subjects import cgroup_parent, registry, remove_cgroup_parent, sandbox_runtime, why_not


@pytest.fixture(autouse=True)
def _needs_linux() -> None:
    if why_not():
        unavailable(why_not())


def traces(where: Path) -> list[str]:
    """Processes, mounts and cgroups that name `where` or belong to this test's pods."""
    found = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(where) in line]
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit() and directory.name != str(os.getpid()):
            try:
                words = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(where / "sandbox") in words:
                found.append(words)
    parent = cgroup_parent().strip("/")
    found += [str(path) for tree in hierarchies().values() for path in Path(tree, parent).glob("*/")]
    return found


async def running_container(subject: Subject, script: str) -> tuple[str, str]:
    await subject.runtime.pull_image(subject.image)
    config = subject.sandbox_config("survivor")
    sandbox_id = await subject.sandbox(config)
    return sandbox_id, await subject.container(sandbox_id, config, script)


def test_what_runs_goes_on_while_the_runtime_is_away(tmp_path: Path) -> None:
    async def story() -> None:
        async with registry() as served, sandbox_runtime(tmp_path) as (first, network):
            subject = Subject(first, served.name("library/shell:1"), str(tmp_path / "logs"), cgroup_parent())
            sandbox_id, stays = await running_container(subject, "echo first; sleep 1000")
            config = subject.sandbox_config("second")
            other = await subject.sandbox(config)
            leaves = await subject.container(other, config, "sleep 0.2; exit 9")
            await first.close()
            await asyncio.sleep(0.5)  # meanwhile one of them ends
            second = SandboxRuntime(first.root, network)
            await second.recover()
            try:
                assert (await second.pod_sandbox_status(sandbox_id)).state is PodSandboxState.READY
                assert (await second.container_status(stays)).state is ContainerState.RUNNING
                gone = await second.container_status(leaves)
                assert (gone.state, gone.exit_code, gone.reason) == (ContainerState.EXITED, 9, "Error")
                assert (await second.exec_sync(stays, ("echo", "here"), 5)).stdout == "here\n"
                await second.stop_container(stays, 0)
                assert (await second.container_status(stays)).exit_code == 137
            finally:
                for status in await second.list_pod_sandbox():
                    await second.remove_pod_sandbox(status.id)
                await second.close()
                first._sandboxes.clear()
                first._containers.clear()
        remove_cgroup_parent()
        assert traces(tmp_path) == []

    asyncio.run(story())


CRASHES = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.cri.subjects import registry, cgroup_parent
from lifecycle.cri.conformance import Subject
from lifecycle.cri.sandbox.container_exec import MAX_SYNC_OUTPUT
from lifecycle.cri.sandbox.runtime import SandboxRuntime

async def story():
    where = Path(sys.argv[1])
    async with registry() as served:
        runtime = SandboxRuntime(where / "sandbox")
        await runtime.recover()
        subject = Subject(runtime, served.name("library/shell:1"), str(where / "logs"), sys.argv[2])
        await runtime.pull_image(subject.image)
        config = subject.sandbox_config("victim")
        sandbox = await subject.sandbox(config)
        await subject.container(sandbox, config, "sleep 1000")
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(story())
"""


def test_after_a_crash_clean_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CRASHES, str(tmp_path), cgroup_parent()]
    crashed = subprocess.run(command, cwd=Path(__file__).parent.parent.parent, timeout=60, capture_output=True)
    assert crashed.returncode == -signal.SIGKILL, crashed.stderr.decode()[-2000:]
    assert len(traces(tmp_path)) >= 6  # two mounts, two shims, two cgroups
    clean(tmp_path / "sandbox")
    remove_cgroup_parent()
    assert traces(tmp_path) == []


def test_a_network_that_fails_leaves_no_sandbox(tmp_path: Path) -> None:
    async def story() -> None:
        async with sandbox_runtime(tmp_path) as (runtime, network):

            async def fails(*_: object) -> list[str]:
                raise RuntimeError("no addresses left")

            network.add = fails  # type: ignore[method-assign]
            subject = Subject(runtime, "", str(tmp_path / "logs"), cgroup_parent())
            with pytest.raises(
                RuntimeServiceError,
                match=r"rpc error: code = Unknown desc = failed to setup network for sandbox .*: no addresses left$",
            ):
                await runtime.run_pod_sandbox(subject.sandbox_config("unconnected"))
            assert await runtime.list_pod_sandbox() == []
            assert traces(tmp_path) == []

    asyncio.run(story())
    remove_cgroup_parent()


def test_the_network_is_set_up_before_pause_and_taken_down_after_the_containers(tmp_path: Path) -> None:
    async def story() -> None:
        async with sandbox_runtime(tmp_path) as (runtime, network):
            subject = Subject(runtime, "", str(tmp_path / "logs"), cgroup_parent())
            sandbox_id = await subject.sandbox(subject.sandbox_config("connected"))
            status = await runtime.pod_sandbox_status(sandbox_id)
            assert status.ip.startswith(network.bridge.subnet.removesuffix("0/24"))
            await runtime.remove_pod_sandbox(sandbox_id)
            assert network.calls == ["ADD", "DEL"]

    asyncio.run(story())
    remove_cgroup_parent()


def test_slices_are_laid_out_as_systemd_does() -> None:
    path = "kubelet-kubepods-burstable-pod1_2.slice:cri-containerd:abc"
    slices = ["kubelet.slice", "kubelet-kubepods.slice", "kubelet-kubepods-burstable.slice"]
    expected = [*slices, "kubelet-kubepods-burstable-pod1_2.slice", "cri-containerd-abc.scope"]
    assert directory_of(path) == "/".join(expected)


@pytest.mark.parametrize(("shares", "weight"), [(0, 0), (2, 1), (1024, 100), (262144, 10000)])
def test_shares_become_weights(shares: int, weight: int) -> None:
    assert cpu_weight(shares) == weight


def test_a_scene_gets_a_range_that_nothing_left_behind_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that failed in its teardown may have left its bridge, and its route would swallow the next one's packets."""
    from tests.cri import bridge

    routes = tmp_path / "route"
    monkeypatch.setattr(bridge, "ROUTES", routes)
    routes.write_text("Iface\tDestination\n")
    first = bridge.Bridge(tmp_path)
    octet = int(first.subnet.split(".")[2])
    routes.write_text(f"Iface\tDestination\nlc1\t00{octet:02X}DE0A\n")  # as the kernel writes it
    second = bridge.Bridge(tmp_path)
    assert second.subnet != first.subnet
    assert first.name != bridge.Bridge(tmp_path / "other").name
    assert len(first.name) <= 15


def test_of_a_commands_output_no_more_is_kept_than_is_answered(tmp_path: Path) -> None:
    async def story() -> None:
        async with registry() as served, sandbox_runtime(tmp_path) as (runtime, _):
            subject = Subject(runtime, served.name("library/shell:1"), str(tmp_path / "logs"), cgroup_parent())
            _, container_id = await running_container(subject, "sleep 1000")
            tracemalloc.start()
            try:
                script = "head -c 200000000 /dev/zero; echo short >&2; exit 3"
                answer = await runtime.exec_sync(container_id, ("sh", "-c", script), 30)
                _, most = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert (answer.exit_code, len(answer.stdout), answer.stderr) == (3, MAX_SYNC_OUTPUT, "short\n")
            assert most < 5 * MAX_SYNC_OUTPUT
            # a child that lives on holds the pipe; the time is up all the same
            with pytest.raises(RuntimeServiceError, match=r"context deadline exceeded$"):
                await asyncio.wait_for(runtime.exec_sync(container_id, ("sh", "-c", "sleep 600 & wait"), 0.5), 60)

    asyncio.run(story())
    remove_cgroup_parent()
