"""Every example of kopf at work against our cluster: its authors' end-to-end tests, as they publish them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lifecycle.pytest_plugin.cluster_under_test import ClusterUnderTest
from tests.clients.pinned import KOPF, library, source
from tests.clients.suites import run_suite
from tests.conftest import find_kubectl

BY_MACHINE = {
    "test_all_examples_are_runnable[17-admission]": "oscrypto, with which it makes its certificate, knows no OpenSSL from 3.0.10 on",
}
"""What passes or fails as the machine's libraries are, and why."""

UNASKED = ("-W", "ignore::pytest.PytestUnraisableExceptionWarning")
"""kopf ends its loop a moment after its session, so on a busy machine sockets of *its* are collected while they are closing; its
tests take that for a failure of whichever example is being run then."""


@pytest.mark.timeout(600)
@pytest.mark.real
def test_its_own_examples_run(lifecycle_cluster: ClusterUnderTest, tmp_path: Path) -> None:
    suite = tmp_path / "kopf"
    shutil.copytree(source(KOPF[0]), suite)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kubectl").symlink_to(str(find_kubectl("1.36")))  # what the tests call
    report = run_suite(
        suite,
        "tests/e2e",
        "--only-e2e",
        "--timeout=120",
        *UNASKED,
        packages=[library(*KOPF)],
        environ={
            "KUBECONFIG": str(lifecycle_cluster.kubeconfig),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        },
        seconds=580,
    )
    assert report.unexplained(BY_MACHINE) == {}
    assert report.passed >= 13
