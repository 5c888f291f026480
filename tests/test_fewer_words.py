"""A worker keeps to itself what prints nothing, and tells everything else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.fewer_words import SHORT, is_heard, speak_less

FINE: dict[str, Any] = {"when": "setup", "outcome": "passed", "duration": 0.001, "sections": [], "user_properties": []}


@pytest.mark.parametrize(
    "data",
    [
        {"when": "call"},
        {"outcome": "failed"},
        {"outcome": "skipped"},
        {"outcome": "rerun"},
        {"when": "teardown", "outcome": "failed"},
        {"duration": SHORT},
        {"sections": [["Captured stdout setup", "said"]]},
        {"user_properties": [["a", 1]]},
    ],
    ids=str,
)
def test_what_is_asked_for_is_told(data: dict[str, Any]) -> None:
    assert is_heard("testreport", {"data": FINE | data})


@pytest.mark.parametrize("name", ["logfinish", "runtest_protocol_complete", "collectreport", "warning_recorded"])
def test_other_events_are_told(name: str) -> None:
    assert is_heard(name, {})


def test_that_all_is_well_so_far_is_not_told() -> None:
    assert not is_heard("testreport", {"data": FINE})
    assert not is_heard("testreport", {"data": FINE | {"when": "teardown"}})
    assert not is_heard("logstart", {"nodeid": "a"})


class WorkerInteractor:
    """As xdist has one in each worker, by this name."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def sendevent(self, name: str, **words: Any) -> None:
        self.told.append(name)


@pytest.mark.parametrize(
    ("verbose", "xmlpath", "told"),
    [(-1, None, ["logfinish"]), (0, None, ["logstart", "logfinish"]), (-1, "a.xml", ["logstart", "logfinish"])],
)
def test_a_worker_speaks_less_unless_more_is_asked_for(verbose: int, xmlpath: str | None, told: list[str]) -> None:
    worker = WorkerInteractor()
    plugins = SimpleNamespace(get_plugins=lambda: {worker, object()})
    option = SimpleNamespace(verbose=verbose, xmlpath=xmlpath)
    speak_less(SimpleNamespace(pluginmanager=plugins, option=option))  # type: ignore[arg-type]
    for name in ("logstart", "logfinish"):
        worker.sendevent(name, nodeid="a")
    assert worker.told == told


def test_a_real_worker_is_found_by_its_name(pytestconfig: pytest.Config) -> None:
    """And speaks less already, in a quiet run."""
    from xdist import remote

    assert remote.WorkerInteractor.__name__ == WorkerInteractor.__name__
    for plugin in pytestconfig.pluginmanager.get_plugins():
        if type(plugin).__name__ == WorkerInteractor.__name__:
            assert ("sendevent" in vars(plugin)) == (pytestconfig.option.verbose < 0)
