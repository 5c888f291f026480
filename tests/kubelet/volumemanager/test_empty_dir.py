"""How large a directory in memory may get, and what becomes of one that was not finished."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.volume.empty_dir import NotedMounter, memory_size, set_up, tear_down

Mi = 1 << 20


def limited(*limits: str, init: tuple[str, ...] = (), **spec: Any) -> Object:
    """A pod whose containers have these limits; empty: none."""

    def containers(kind: str, limits: tuple[str, ...]) -> list[Object]:
        return [
            {"name": f"{kind}{n}", "resources": {"limits": {"memory": limit}} if limit else {}}
            for n, limit in enumerate(limits)
        ]

    metadata = {"name": "p", "namespace": "n", "uid": "u"}
    return {
        "metadata": metadata,
        "spec": {"containers": containers("c", limits), "initContainers": containers("i", init), **spec},
    }


POD_LEVEL: Any = {"resources": {"limits": {"memory": "32Mi"}}}


@pytest.mark.parametrize(
    ("pod", "size_limit", "node", "size"),
    [
        (limited("64Mi"), None, 1024 * Mi, 64 * Mi),
        (limited("64Mi", "16Mi"), None, 1024 * Mi, 80 * Mi),
        (limited("64Mi", ""), None, 1024 * Mi, 1024 * Mi),
        (limited("64Mi", init=("",)), None, 1024 * Mi, 1024 * Mi),
        (limited("64Mi", init=("96Mi",)), None, 1024 * Mi, 96 * Mi),
        (limited("64Mi", "", **POD_LEVEL), None, 1024 * Mi, 32 * Mi),
        (limited("64Mi"), "8Mi", 1024 * Mi, 8 * Mi),
        (limited("64Mi"), "80Mi", 1024 * Mi, 64 * Mi),
        (limited("64Mi"), "0", 1024 * Mi, 64 * Mi),
        (limited("2Gi"), None, 1024 * Mi, 1024 * Mi),
        (limited("64Mi"), None, 0, 64 * Mi),
        (limited(""), "8Mi", 0, 8 * Mi),
        (limited(""), None, 0, 0),
    ],
)
def test_it_is_as_large_as_the_least_of_all_that_is_said(
    pod: Object, size_limit: str | None, node: int, size: int
) -> None:
    assert memory_size(pod, size_limit, node) == size


def test_one_that_was_begun_and_not_finished_is_mounted_and_one_that_is_done_is_left_alone(tmp_path: Path) -> None:
    path, meta, mounter = tmp_path / "v", tmp_path / "meta", NotedMounter()
    path.mkdir()
    set_up(path, meta, "Memory", Mi, mounter)
    assert mounter.tmpfs == {path: Mi}
    path.chmod(0o700)
    set_up(path, meta, "Memory", 2 * Mi, mounter)
    assert (mounter.tmpfs, path.stat().st_mode & 0o777) == ({path: Mi}, 0o700)
    tear_down(path, meta, mounter)
    tear_down(path, meta, mounter)
    assert (mounter.tmpfs, list(tmp_path.iterdir())) == ({}, [])
