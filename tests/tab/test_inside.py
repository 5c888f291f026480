"""How the tests in a tab tell what is missing from what is broken, and choose among many cases."""

from __future__ import annotations

import types
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.tab import inside

THERE = {"__file__": inside.TESTS + "api/test_x.py"}


def test_a_test_may_name_what_is_missing_and_is_told_when_it_uses_it() -> None:
    socket = inside.import_for_tests("socket", THERE)
    annotation = list[socket.socket]
    assert annotation
    with pytest.raises(inside.NotHereError, match="sockets"):
        socket.socket()
    with pytest.raises(inside.NotHereError, match="processes"):
        inside.import_for_tests("subprocess", THERE, None, ("run",)).run.anything()
    with pytest.raises(inside.NotHereError, match="the library no_such_library"):
        inside.import_for_tests("no_such_library.part", THERE, None, ("x",)).x()
    assert inside.import_for_tests("subprocess", THERE, None, ("CompletedProcess",)).CompletedProcess[str]


def test_whoever_is_no_test_imports_as_ever() -> None:
    import socket

    assert inside.import_for_tests("socket", {"__file__": "/book/lifecycle/dns/sockets.py"}) is socket
    with pytest.raises(ModuleNotFoundError):
        inside.import_for_tests("no_such_library", {"__file__": "/book/lifecycle/api/x.py"})


@pytest.mark.parametrize(
    ("error", "told", "reason"),
    [
        (inside.NotHereError("sockets"), "", "sockets"),
        (ExceptionGroup("g", [inside.NotHereError("threads")]), "", "threads"),
        (RuntimeError("can't start new thread"), "", "threads"),
        (ModuleNotFoundError("No module named 'aiohttp'", name="aiohttp"), "", "the library aiohttp"),
        (FileNotFoundError(2, "no", "/proc/self/x"), "", "a kernel"),
        (AssertionError(), "this needs the Python library cryptography, which", "the library cryptography"),
        (AssertionError(), "RuntimeError: WebAssembly stack switching not supported", "a loop on real time"),
        (AssertionError(), "assert 1 == 2", None),
        (ModuleNotFoundError("No module named 'lifecycl'", name="lifecycl"), "assert", None),
    ],
)
def test_what_is_missing_is_told_from_what_is_broken(error: BaseException, told: str, reason: str | None) -> None:
    assert inside.missing(error, told) == reason
    assert reason is None or reason in inside.REASONS


def test_on_a_machine_the_reasons_do_not_hold() -> None:
    assert {"an alarm", "processes", "threads", "cryptography", "aiohttp"} <= set(inside.untrue())


def item(nodeid: str, test: Any = None) -> Any:
    return SimpleNamespace(nodeid=nodeid, obj=test)


def asked(items: list[Any]) -> list[str]:
    counts = inside.InATab()
    before = len(items)
    counts.pytest_collection_modifyitems(None, items)  # type: ignore[arg-type]
    assert counts.left_out == before - len(items)
    return [each.nodeid for each in items]


def test_of_many_cases_a_few_are_asked_evenly_chosen() -> None:
    few = ["t/a.py::test_one", *(f"t/a.py::test_few[{i}]" for i in range(inside.MOST_CASES))]
    many = [item(f"t/a.py::test_many[{i}]") for i in range(20)]
    assert asked([*map(item, few), *many]) == [
        *few,
        *(f"t/a.py::test_many[{i}]" for i in range(0, 20, -(-20 // inside.MOST_CASES))),
    ]
    long = [item(f"{inside.ONE_CASE[0]}::test_x[{i}]") for i in range(7)]
    assert asked(long) == [f"{inside.ONE_CASE[0]}::test_x[0]"]


def test_of_a_file_that_takes_long_every_third_test_is_asked() -> None:
    long = [f"{inside.EVERY_THIRD[0]}::test_{i}" for i in range(7)]
    assert asked([*map(item, long)]) == long[::3]


@pytest.mark.parametrize("path", [*inside.ONE_CASE, *inside.EVERY_THIRD])
def test_a_file_that_takes_long_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_of_a_property_a_few_examples_are_asked() -> None:
    ran = []

    @settings(max_examples=50)
    @given(st.integers())
    def prop(number: int) -> None:
        ran.append(number)

    asked([item("t/a.py::test_p", prop)])
    prop()
    assert 1 <= len(ran) <= inside.EXAMPLES


def test_what_only_an_alarm_would_end_is_not_begun() -> None:
    counts = inside.InATab()
    items = [item(inside.ENDLESS[1] + "[rbac]"), item("t/a.py::test_one")]
    counts.pytest_collection_modifyitems(None, items)  # type: ignore[arg-type]
    assert [each.nodeid for each in items] == ["t/a.py::test_one"]
    assert counts.missing[inside.AN_ALARM] == [inside.ENDLESS[1] + "[rbac]"]


@pytest.mark.parametrize("nodeid", [*inside.ENDLESS, *inside.LISTED])
def test_what_is_listed_is_there(nodeid: str) -> None:
    path, _, name = nodeid.partition("::")
    assert f"def {name.partition('[')[0]}(" in (ROOT / path).read_text()


def test_modules_that_are_missing_are_modules() -> None:
    assert isinstance(inside.import_for_tests("ssl", THERE), types.ModuleType)
