"""What every test may ask for: programs that are not Python, and the paths of the checkout."""

from __future__ import annotations

import gc
import importlib.util
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.fewer_words import speak_less
from tests.files_in_memory import use_memory
from tests.second_try import pytest_runtest_setup as pytest_runtest_setup
from tests.watchman import pytest_timeout_set_timer as pytest_timeout_set_timer

# how long an example takes is the machine's business, and measured in benchmarks
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# kubectl lives for a tenth of a second, a fifth of which it would spend on memory that its end gives back anyway
os.environ.setdefault("GOGC", "400")

use_memory(os.environ)

gc.disable()  # until all tests are collected: thousands of modules are loaded, and hardly anything is thrown away

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "recordings"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Called when there are workers (`pytest -n 2`)."""
    from tests.sharing_out import ByFile

    return ByFile(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """`-n auto` is more workers than there are cores: four parts in ten of the time they wait, for real programs and containers."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) + 2


def pytest_sessionstart(session: pytest.Session) -> None:
    """A worker does not tell what nobody asks."""
    speak_less(session.config)


def pytest_collection_finish() -> None:
    """What is here now stays until the end: the garbage collector need not look through it again and again, nor so often. Nor now:
    that would take a tenth of the time of the collection, and find little."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


SOME_KEYS = 12


@pytest.fixture(scope="session", autouse=True)
def _keys_from_a_bunch() -> Iterator[None]:
    """To make an RSA key takes longer than to start most of the servers that are given one. Each test process makes a bunch, and its
    servers take them in turn: no two that meet have the same. In a browser tab there are none."""
    if importlib.util.find_spec("cryptography") is None:
        yield
        return
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


def shared_state() -> dict[str, Any]:
    """What all tests of a process have in common and some of them change."""
    loggers = (logging.getLogger(), logging.getLogger("asyncio"), logging.getLogger("lifecycle"))
    return {
        "log levels": {logger.name: logger.level for logger in loggers},
        "the root logger's handlers": list(logging.getLogger().handlers),
        "the environment": {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"},
        "the working directory": Path.cwd(),
        "sys.path": list(sys.path),
    }


@pytest.fixture(scope="module", autouse=True)
def _shared_state_is_put_back() -> Iterator[None]:
    """Which file's tests come after this one's is chance: what one leaves behind would fail another only now and then."""
    before = shared_state()
    yield
    after = shared_state()
    assert after == before, {key: (before[key], after[key]) for key in before if before[key] != after[key]}


def children_are_watched() -> bool:
    """Whether what each test's children run is noted down (mutants/children.py): they are to be started by it then, and not forked from a
    process that an earlier test has started. A browser's tab has no children."""
    if sys.platform == "emscripten":
        return True
    with open(sys.executable, "rb") as interpreter:
        return interpreter.read(2) == b"#!"


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
