"""What every test may ask for: programs that are not Python, and the paths of the checkout."""

from __future__ import annotations

import os
import shutil
from collections import OrderedDict
from collections.abc import Iterator
from itertools import count
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


HOST_LABS = tuple(f"[{Path(path).stem}]" for path in THE_HOST if path.startswith("labs/"))
"""How tests are called that run a lab's cells in their own process."""

LONG = (
    "the host",
    "tests/tab/",
    "tests/notebooks/test_labs_ask.py",
    "tests/agreements/test_every_row_can_go_red.py",
    "tests/mutants/",
    "tests/live/",
    "tests/cluster/",
    "tests/faults/",
    "tests/book/",
    "tests/cli/",
    "tests/compare/",
    "tests/claims/",
    "labs/",
)
"""What takes long is begun first, longest first: whoever is ready last keeps the others waiting. How long something takes cannot be
seen by the number of its tests, by which they would be sorted otherwise."""

BY_TEST = ("tests/notebooks/test_labs_ask.py", "tests/mutants/test_mutants.py")
"""Long files whose tests have nothing in common that is expensive to make: each may go to another worker."""

BY_TABLE = "tests/agreements/test_every_row_can_go_red.py"
"""A long file in which the tests of one table share the table of unbroken components."""


class LongestFirst(OrderedDict[str, dict[str, bool]]):
    """What is still to be given to a worker."""

    def popitem(self, last: bool = True) -> tuple[str, dict[str, bool]]:
        """The next one, whichever end is asked for."""
        scope = min(self, key=place)
        return scope, self.pop(scope)


def place(scope: str) -> int:
    """Whose turn it is: among equals, those with more tests are there first."""
    return next((number for number, long in enumerate(LONG) if scope.startswith(long)), len(LONG))


class ByFile(LoadFileScheduling):
    """Workers share the tests file by file, so that a fixture is set up once; what is about the host goes to one worker."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self.workqueue = LongestFirst()

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(THE_HOST) or (nodeid.startswith(BY_TEST) and nodeid.endswith(HOST_LABS)):
            return "the host"
        if nodeid.startswith(BY_TABLE):
            return f"{BY_TABLE} {nodeid.partition('[')[2].partition('-')[0].rstrip(']')}"
        return nodeid if nodeid.startswith(BY_TEST) else str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    """Called when there are workers (`pytest -n 2`)."""
    return ByFile(config, log)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """`-n auto` is one worker more than there are cores: the one that has what is about the host mostly waits for containers."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) + 1


SOME_KEYS = 12


@pytest.fixture(scope="session", autouse=True)
def _keys_from_a_bunch() -> Iterator[None]:
    """To make an RSA key takes longer than to start most of the servers that are given one. Each test process makes a bunch, and its
    servers take them in turn: no two that meet have the same."""
    from cryptography.hazmat.primitives.asymmetric import rsa

    make, bunch, turn = rsa.generate_private_key, list[rsa.RSAPrivateKey](), count()

    def taken(public_exponent: int, key_size: int, backend: Any = None) -> rsa.RSAPrivateKey:
        if (public_exponent, key_size) != (65537, 2048):
            return make(public_exponent, key_size, backend)
        if len(bunch) < SOME_KEYS:
            bunch.append(make(public_exponent, key_size))
            return bunch[-1]
        return bunch[next(turn) % SOME_KEYS]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rsa, "generate_private_key", taken)
        yield


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
