"""What every test may ask for: programs that are not Python, and the paths of the checkout."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

# how long an example takes is the machine's business, and measured in benchmarks
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "recordings"

THE_HOST = (
    "tests/cli/run/test_proxy_alone.py",
    "tests/cni/",
    "tests/cri/",
    "tests/cluster/test_linux_end_to_end.py",
    "tests/kubelet/test_with_real_runtime.py",
    "tests/live/test_real_kubelet.py",
    "tests/proxy/test_nftables.py",
    "tests/proxy/test_real_iptables.py",
    "labs/cni-and-pod-networking.ipynb",
    "labs/cri-and-pause.ipynb",
    "labs/inter-host-networking.ipynb",
    "labs/kube-proxy.ipynb",
)
"""Tests that make links, rules and containers on this machine; some look whether anything is left behind, so they take turns."""


class ByFile(LoadFileScheduling):
    """Workers share the tests file by file, so that a fixture is set up once; what is about the host goes to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return "the host" if nodeid.startswith(THE_HOST) else str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    """Called when there are workers (`pytest -n 2`)."""
    return ByFile(config, log)


def must_run() -> bool:
    """In CI a test that cannot run is a failure: the variable is set there."""
    return os.environ.get("LIFECYCLE_REQUIRE_ALL", "") not in ("", "0")


def unavailable(reason: str) -> None:
    """Skip with a reason, or fail where everything is required."""
    if must_run():
        pytest.fail(f"required here, but: {reason}")
    pytest.skip(reason)


def find_kubectl(minor: str) -> Path | None:
    """The kubectl of a minor version: fetched by `.ci/kubectl`, or the one on PATH if the version fits."""
    fetched = ROOT / ".tools" / f"kubectl-{minor}"
    return fetched if fetched.exists() else None


@pytest.fixture(params=["1.36", "1.32", "1.20"])
def kubectl_binary(request: pytest.FixtureRequest) -> Path:
    """Real kubectl, once per Debian release."""
    binary = find_kubectl(request.param)
    if binary is None:
        unavailable(f"kubectl {request.param} is not here (.ci/kubectl fetches it on Debian)")
    assert binary is not None
    return binary


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium with its driver."""
    browser = shutil.which("chromium")
    if not browser or not shutil.which("chromedriver"):
        unavailable("chromium and chromedriver are not installed")
    assert browser
    return browser
