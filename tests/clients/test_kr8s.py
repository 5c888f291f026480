"""The tests of kr8s, as its authors publish them, against our cluster."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest
from tests.clients.pinned import KR8S, library, source
from tests.clients.suites import run_suite
from tests.conftest import find_kubectl

NOT_OURS = {
    "test_cast_to_from_kubernetes": "it reads kubernetes.client.models.v1_pod, which the official client has under another name since 36",
    "test_node_taint": "it takes for granted that the only taints of a node are its own: kind with several nodes taints its control plane",
}
"""What fails against any such cluster, and why."""

BY_CHANCE = {
    "test_api_timeout": "it gives /version ten microseconds; a server that is near has answered before the client looks at its clock",
}
"""What passes or fails as the machine's moments fall, and why."""


@pytest.mark.timeout(600)
@pytest.mark.real
def test_its_own_suite_passes(lifecycle_cluster: ClusterUnderTest, tmp_path: Path) -> None:
    suite = tmp_path / "kr8s"
    shutil.copytree(source(KR8S[0]), suite)
    (suite / "conftest.py").unlink()  # it starts kind
    report = run_suite(  # again if it fails, as in the authors' own CI
        suite,
        "kr8s",
        "-p",
        "tests.clients.pytest_kind_stand_in",
        "--reruns=3",
        packages=[library(*KR8S)],
        environ={"KUBECONFIG": str(lifecycle_cluster.kubeconfig), "KUBECTL": str(find_kubectl("1.36"))},
        seconds=580,
    )
    assert report.passed > 270
    assert report.unexplained(NOT_OURS | BY_CHANCE) == {}
    assert NOT_OURS.keys() <= report.failed.keys()  # a reason that is none any more goes
