"""One embedded cluster with sockets for all tests of this folder, and kubectl pointed at it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lifecycle
from lifecycle.cluster.background import BackgroundCluster

Kubectl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def cluster() -> Iterator[BackgroundCluster]:
    """Three nodes on the hollow runtime."""
    with lifecycle.up(nodes=3) as running:
        yield running


@pytest.fixture(scope="session")
def kubeconfig(cluster: BackgroundCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kubeconfig") / "config"
    assert cluster.cluster is not None
    cluster.cluster.write_kubeconfig(path)
    return path


@pytest.fixture
def namespace(cluster: BackgroundCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own, deleted afterwards."""
    from kubernetes import client as official

    core = official.CoreV1Api(cluster.api_client)
    made = core.create_namespace({"metadata": {"generateName": "test-"}})
    yield made.metadata.name
    core.delete_namespace(made.metadata.name)


@pytest.fixture(scope="session")
def discovered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kubectl keeps what it has found out about the cluster, as on a user's disk: the first command of each version finds it out."""
    return tmp_path_factory.mktemp("discovered")


@pytest.fixture
def kubectl(kubectl_binary: Path, kubeconfig: Path, namespace: str, tmp_path: Path, discovered: Path) -> Kubectl:
    """Real kubectl in the test's namespace: `kubectl("get", "pods")`. Fails the test if kubectl fails, unless `check=False`."""

    def run(
        *arguments: str, check: bool = True, stdin: str | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [
                kubectl_binary,
                "--kubeconfig",
                kubeconfig,
                "--namespace",
                namespace,
                "--cache-dir",
                discovered / kubectl_binary.name,
                *arguments,
            ],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, "HOME": str(tmp_path)},
            check=False,
        )
        if check:
            assert result.returncode == 0, f"kubectl {' '.join(arguments)}: {result.stdout}{result.stderr}"
        return result

    return run
