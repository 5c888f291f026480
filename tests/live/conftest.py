"""The live cluster of this folder's tests.

With `LIFECYCLE_CLUSTER` set (`make live`) it is the real kind cluster. Otherwise an embedded cluster stands in for it, behind a
kubeconfig whose context is called `kind-lifecycle`: the same code path, sockets and all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.inspector import LiveCluster, runner
from lifecycle.inspector.live import ALLOWED_CONTEXT
from tests.conftest import RECORDINGS, find_kubectl


@pytest.fixture(scope="session")
def is_real() -> bool:
    """Whether a real kind cluster is asked."""
    return os.environ.get("LIFECYCLE_CLUSTER", "") in ("kind", ALLOWED_CONTEXT)


@pytest.fixture(scope="session")
def kubeconfig(is_real: bool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str | None]:
    """The kubeconfig's path; None: kubectl's own rules."""
    if is_real:
        yield None
        return
    path = tmp_path_factory.mktemp("live") / "config"
    with BackgroundCluster(ClusterConfig(like=RECORDINGS / "kind-1.36.2", latency=0.1)) as running:
        assert running.cluster is not None
        running.cluster.write_kubeconfig(path, ALLOWED_CONTEXT)
        yield str(path)


@pytest.fixture
def pause(is_real: bool, monkeypatch: pytest.MonkeyPatch) -> float:
    """Seconds to wait for trailing events."""
    if is_real:
        return 2.0
    monkeypatch.setattr(runner, "POLL", 0.02)
    return 0.2


@pytest.fixture
def connect(kubeconfig: str | None) -> Iterator[Callable[[], LiveCluster]]:
    """Makes connections; checks afterwards that no namespace was left behind."""

    def namespaces() -> set[str]:
        with LiveCluster(config_file=kubeconfig) as cluster:
            items = cluster.client.CoreV1Api().list_namespace().items
            return {item.metadata.name for item in items if item.metadata.deletion_timestamp is None}

    before = namespaces()
    yield lambda: LiveCluster(config_file=kubeconfig)
    assert namespaces() == before


@pytest.fixture
def kubectl_on_path(is_real: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Put the fetched kubectl on the PATH, where there is one."""
    binary = find_kubectl("1.36")
    if is_real or binary is None:
        return False
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kubectl").symlink_to(binary)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("HOME", str(tmp_path))
    return True
