"""The tests of the official client's dynamic half, as its authors publish them, against our cluster."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest
from tests.clients.pinned import KUBERNETES, source
from tests.clients.suites import run_suite

NO_BETA = "it asks for apiextensions.k8s.io/v1beta1, which no server has had since 1.22"
NOT_OURS = {
    "test_cluster_custom_resources": NO_BETA,
    "test_namespaced_custom_resources": NO_BETA,
    "test_async_namespaced_custom_resources": NO_BETA,
    "test_cache_decoder_resource_and_subresource": "it compares two objects of a class that knows no equality",
}
"""What fails against any server of today, and why."""


@pytest.mark.real
def test_its_own_dynamic_suite_passes(lifecycle_cluster: ClusterUnderTest, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    shutil.copytree(source(KUBERNETES) / "kubernetes", suite / "kubernetes")
    stand_in = suite / "kubernetes" / "e2e_test"
    stand_in.mkdir()
    (stand_in / "__init__.py").touch()
    shutil.copy(Path(__file__).parent / "e2e_base_stand_in.py", stand_in / "base.py")
    report = run_suite(
        suite,
        "kubernetes/dynamic/test_client.py",
        "kubernetes/dynamic/test_discovery.py",
        packages=[],
        environ={"KUBECONFIG": str(lifecycle_cluster.kubeconfig)},
        seconds=200,
    )
    assert report.unexplained(NOT_OURS) == {}
    assert NOT_OURS.keys() <= report.failed.keys()  # a reason that is none any more goes
    assert report.passed >= 10
