"""The tests of kr8s, as its authors publish them, against our cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest
from tests.clients.pinned import KR8S, library, source
from tests.conftest import ROOT, find_kubectl

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
    report = tmp_path / "report.xml"
    subprocess.run(  # again if it fails, as in the authors' own CI
        [
            sys.executable,
            "-m",
            "pytest",
            "kr8s",
            "-q",
            "-p",
            "tests.clients.pytest_kind_stand_in",
            "-o",
            "addopts=",
            "--reruns=3",
            f"--junitxml={report}",
        ],
        cwd=suite,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": f"{suite}:{library(*KR8S)}:{ROOT}",
            "KUBECONFIG": str(lifecycle_cluster.kubeconfig),
            "KUBECTL": str(find_kubectl("1.36")),
        },
        stdout=subprocess.DEVNULL,
        timeout=580,
    )
    cases = list(ET.parse(report).iter("testcase"))
    failed = {
        str(case.get("name")): case
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    }
    assert len(cases) > 280
    assert {name: why(case) for name, case in failed.items() if name not in NOT_OURS | BY_CHANCE} == {}
    assert NOT_OURS.keys() <= failed.keys()  # a reason that is none any more goes


def why(case: ET.Element) -> str:
    """The message of what went wrong."""
    return str(next(child for child in case if child.tag in ("failure", "error")).get("message"))
