"""Disks that are full, kernels that refuse, children that live: what is taken back, and what is said."""

from __future__ import annotations

import asyncio
import builtins
import ipaddress
import json
import os
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cni.config import NetworkConfigList, plugin_conf_from
from lifecycle.cni.errors import CNIError
from lifecycle.cni.libcni import CNIConfig
from lifecycle.cni.plugins.host_local.disk_store import DiskStore
from lifecycle.cni.result_cache import RuntimeConf
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.sandbox import pause, pod_sandboxes
from lifecycle.cri.sandbox.runtime import SandboxRuntime

NO_SPACE = OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("answers", "buried"),
    [([(5, 0), (6, 9), (0, 0)], 2), ([(5, 0)], 1), ([(0, 0)], 0), ([], 0), ([(5, 0), (6, 0), (7, 0)], 3)],
)
def test_the_dead_are_buried_and_the_living_left_alone(
    answers: list[tuple[int, int]], buried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0: there are children, and they live; nothing more: there is none."""
    left = list(answers)

    def waitpid(pid: int, options: int) -> tuple[int, int]:
        assert (pid, options) == (-1, os.WNOHANG)
        if not left:
            raise ChildProcessError
        return left.pop(0)

    monkeypatch.setattr(os, "waitpid", waitpid)
    assert pause.reap() == buried


def test_an_address_that_could_not_be_written_down_is_nobodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, address = DiskStore("net", str(tmp_path)), ipaddress.ip_address("10.1.0.7")
    real = builtins.open

    def full(file: Any, *rest: Any, **more: Any) -> Any:
        if isinstance(file, int):
            os.close(file)
            raise NO_SPACE
        return real(file, *rest, **more)

    with store:
        with monkeypatch.context() as patch:
            patch.setattr(builtins, "open", full)
            with pytest.raises(OSError, match=r"No space left on device$"):
                store.reserve("c", "eth0", address, "0")
        assert store.reserve("c", "eth0", address, "0") is True
        assert store.reserve("d", "eth0", address, "0") is False


def _add(cache: Path, tmp_path: Path) -> Any:
    class Played(CNIConfig):
        async def _exec(self, *_: Any) -> str:
            return '{"cniVersion":"1.0.0","ips":[{"address":"10.1.0.7/24"}]}'

    (tmp_path / "p").touch(mode=0o755)
    text = '{"cniVersion":"1.0.0","name":"net","plugins":[{"type":"p"}]}'
    network = NetworkConfigList("net", "1.0.0", [plugin_conf_from('{"type":"p"}')], text)
    config = Played([tmp_path], cache)
    return asyncio.run(config.add_network_list(network, RuntimeConf("c1", "/ns", "eth0"))), config


def test_what_a_network_answered_is_kept_for_the_end_of_the_container(tmp_path: Path) -> None:
    result, _ = _add(tmp_path / "cache", tmp_path)
    [kept] = (tmp_path / "cache" / "results").iterdir()
    assert kept.name == "net-c1-eth0"
    assert result["ips"][0]["address"] in kept.read_text()


def test_where_it_cannot_be_kept_the_container_is_not_in_the_network(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    with pytest.raises(CNIError, match=r'^failed to set network "net" cached result: '):
        _add(tmp_path / "cache", tmp_path)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (
            OSError(1, "Operation not permitted"),
            'rpc error: code = Unknown desc = failed to create network namespace for sandbox "',
        ),
        (RuntimeError("no"), 'rpc error: code = Unknown desc = failed to create network namespace for sandbox "'),
        (RuntimeServiceError("rpc error: as it is"), "rpc error: as it is"),
    ],
    ids=["a kernel", "a program", "somebody who knows the words"],
)
def test_a_sandbox_that_cannot_be_made_leaves_nothing_and_says_why(
    failure: Exception, said: str, tmp_path: Path
) -> None:
    class Refused(SandboxRuntime):
        async def _make_namespaces(self, sandbox: Any) -> Any:
            raise failure

    async def main() -> str:
        runtime = Refused(tmp_path / "sandbox")
        config = PodSandboxConfig(PodSandboxMetadata("p", "u", "ns", 0))
        with pytest.raises(RuntimeServiceError) as refused:
            await runtime.run_pod_sandbox(config)
        assert await runtime.list_pod_sandbox("") == []
        assert list((tmp_path / "sandbox" / "sandboxes").iterdir()) == []
        return str(refused.value)

    assert asyncio.run(main()).startswith(said)


@pytest.mark.parametrize("on_host", [False, True])
def test_a_sandbox_is_made_step_by_step_and_is_ready_when_its_process_runs(
    on_host: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pod of the host's network is connected to none. Whoever comes after a restart reads in its record that it is ready;
    and whoever listens hears of it after that. Upstream: containerd's `RunPodSandbox`.
    """
    steps = list[Any]()
    record: Any = None

    def states() -> str:
        [directory] = (tmp_path / "sandbox" / "sandboxes").iterdir()
        return str(json.loads((directory / "record.json").read_text())["state"])

    class Noting(SandboxRuntime):
        async def _make_namespaces(self, sandbox: Any) -> str:
            steps.append(("namespaces", sandbox.networked, states()))
            return "/users"

        async def _connect(self, sandbox: Any) -> None:
            steps.append("network")

        def _write_files(self, sandbox: Any) -> None:
            steps.append("files")

        def _watch(self, pid: int, ended: Any, what: Any) -> None:
            steps.append(("watched", pid, ended.__name__, what.pid, states()))

    async def launched(directory: Path, netns: str) -> tuple[int, int]:
        nonlocal record
        record = json.loads((directory / "config.json").read_text())
        assert json.loads((directory / "shim.json").read_text()) == {}
        steps.append(("launched", states()))
        return 4711, 4712

    monkeypatch.setattr(pod_sandboxes, "launch", launched)

    async def main() -> None:
        runtime = Noting(tmp_path / "sandbox")
        runtime.get_container_events(lambda event: steps.append((event.type.name, states())))
        options = {"network": "NODE"} if on_host else {}
        linux = {"security_context": {"namespace_options": options}}
        config = PodSandboxConfig(PodSandboxMetadata("p", "u", "ns", 0), linux=linux)
        sandbox_id = await runtime.run_pod_sandbox(config)
        [status] = await runtime.list_pod_sandbox("u")
        assert (status.id, status.state.name) == (sandbox_id, "READY")

    asyncio.run(main())
    ready, not_ready = "SANDBOX_READY", "SANDBOX_NOTREADY"
    assert steps == [
        ("namespaces", not on_host, not_ready),
        *([] if on_host else ["network"]),
        "files",
        ("launched", not_ready),
        ("watched", 4712, "_sandbox_ended", 4711, ready),
        ("CREATED", ready),
        ("STARTED", ready),
    ]
    users = [each for each in record["linux"]["namespaces"] if each["type"] == "user"]
    assert users in ([], [{"type": "user", "path": "/users"}])


def test_who_has_an_address_is_written_down_and_the_last_of_each_range_beside_it(tmp_path: Path) -> None:
    """Upstream: host-local's `backend/disk/backend.go` (`Reserve`)."""
    with DiskStore("net", str(tmp_path)) as store:
        given = [
            (" c1\n", "eth0", "10.1.0.7", "0", True),
            ("c2", "eth0", "10.1.0.7", "0", False),
            ("c2", "net1", "10.1.0.8", "0", True),
            ("c1", "eth0", "fd00::7", "1", True),
            ("c3", "eth0", "fd00::7", "1", False),
        ]
        for container, interface, address, of, taken in given:
            assert store.reserve(container, interface, ipaddress.ip_address(address), of) is taken
    files = {path.name: path.read_bytes() for path in (tmp_path / "net").iterdir() if path.name != "lock"}
    assert files == {
        "10.1.0.7": b"c1\r\neth0",
        "10.1.0.8": b"c2\r\nnet1",
        "fd00::7": b"c1\r\neth0",
        "last_reserved_ip.0": b"10.1.0.8",
        "last_reserved_ip.1": b"fd00::7",
    }
