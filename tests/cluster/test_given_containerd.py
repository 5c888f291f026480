"""Somebody else's containerd: what a killed run leaves there is found again, and nothing of others is touched."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cluster.linux import clean, given_containerd, run_state
from lifecycle.cluster.linux.given_containerd import GivenContainerd
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.client import CriClient


class Containerd:
    """In its place: which sandboxes there are, by socket."""

    def __init__(self) -> None:
        self.sandboxes: dict[str, dict[str, dict[str, str]]] = {}
        self.deaf = False


@pytest.fixture
def containerd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Containerd:
    runs, there = tmp_path / "runs", Containerd()
    monkeypatch.setattr(run_state, "RUNS", runs)
    monkeypatch.setattr(clean, "RUNS", runs)
    monkeypatch.setattr(given_containerd, "check", lambda runtime: None)

    async def call(client: CriClient, method: str, request: Any = None, timeout: Any = None) -> dict[str, Any]:
        mine = there.sandboxes.setdefault(client._target.removeprefix("unix://"), {})
        if there.deaf:
            raise RuntimeServiceError("nobody listens")
        if method == "RunPodSandbox":
            mine[made := f"s{len(mine)}"] = dict(request["config"]["labels"])
            return {"pod_sandbox_id": made}
        if method == "ListPodSandbox":
            wanted = request["filter"]["label_selector"]
            return {"items": [{"id": name} for name, labels in mine.items() if wanted.items() <= labels.items()]}
        if method == "RemovePodSandbox":
            del mine[request["pod_sandbox_id"]]
        return {}

    monkeypatch.setattr(CriClient, "call", call)
    return there


def listening(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    return server


def test_the_pods_of_a_killed_run_are_found_in_the_containerd_that_they_are_in(
    containerd: Containerd, tmp_path: Path
) -> None:
    where = str(tmp_path / "their.sock")
    containerd.sandboxes[where] = {"others": {"app": "theirs"}}

    async def killed() -> run_state.Run:
        node = GivenContainerd([], where)
        await node.start()
        await node.runtime("n").run_pod_sandbox(PodSandboxConfig(PodSandboxMetadata("p", "u", "ns", 0)))
        assert node.run is not None
        return node.run  # and that is all: nobody stops it

    with listening(Path(where)):
        run = asyncio.run(killed())
        assert len(containerd.sandboxes[where]) == 2
        clean.clean(run)
    assert list(containerd.sandboxes[where]) == ["others"]
    assert not run.directory.exists()


def test_where_nobody_speaks_the_run_is_over_and_leaves_nothing(containerd: Containerd, tmp_path: Path) -> None:
    where = tmp_path / "their.sock"
    with pytest.raises(ValueError, match=r"^--runtime containerd:.*their\.sock: there is no socket there$"):
        asyncio.run(GivenContainerd([], str(where)).start())
    containerd.deaf = True
    with listening(where), pytest.raises(OSError, match=r"their\.sock: nobody speaks CRI there \(.*nobody listens\)$"):
        asyncio.run(GivenContainerd([], str(where)).start())
    assert not (tmp_path / "runs").exists()


def test_a_run_is_what_six_hexadecimal_digits_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything else below the directory or among the cgroups is somebody else's, and is never cleaned away."""
    (tree := tmp_path / "cgroup").mkdir()
    (directory := tmp_path / "runs").mkdir()
    for name in ("0a1b2c", "abcdex", "abcde", "abcdef0", "ABCDEF", ".abcdef.1"):
        (directory / name).mkdir()
    for name in ("lifecycle-fedcba", "lifecycle-0a1b2c", "lifecycle-system", "abcdef"):
        (tree / name).mkdir()
    monkeypatch.setattr(run_state, "RUNS", directory)
    monkeypatch.setattr(run_state, "cgroup_trees", lambda: [str(tree), str(tmp_path / "none")])
    assert [run.id for run in run_state.runs()] == ["0a1b2c", "fedcba"]
    monkeypatch.setattr(run_state, "RUNS", tmp_path / "nowhere")
    assert [run.id for run in run_state.runs()] == ["0a1b2c", "fedcba"]
