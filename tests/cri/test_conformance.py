"""The conformance suite, put to every runtime there is: one event loop and one runtime per kind, each check a test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cri.conformance import CHECKS, NEEDS_PROCESSES, Subject, run_check
from tests.conftest import unavailable
from tests.cri.subjects import SUBJECTS, why_not


class Running:
    """A runtime that lives in a loop of its own, on a thread."""

    def __init__(self, name: str, where: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._context: Any = SUBJECTS[name](where)
        try:
            self.subject: Subject = self.run(self._context.__aenter__())
        except BaseException:
            self._stop()
            raise

    def run(self, work: Any, timeout: float = 30) -> Any:
        future: Future[Any] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(timeout)

    def close(self) -> None:
        try:
            self.run(self._context.__aexit__(None, None, None))
        finally:
            self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@pytest.fixture(scope="module", params=list(SUBJECTS))
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    if not request.param.startswith("hollow") and why_not():
        unavailable(why_not())
    made = Running(request.param, tmp_path_factory.mktemp(request.param.replace(" ", "-")))
    yield made
    made.close()


@pytest.mark.parametrize("name", list(CHECKS))
def test_conformance(running: Running, name: str) -> None:
    if name in NEEDS_PROCESSES and not running.subject.processes:
        return  # it runs no programs, and does not claim to
    running.run(run_check(name, running.subject))
