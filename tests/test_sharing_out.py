"""How tests are shared out among workers: what is long is begun first, what is about the host stays together, what is apart may part."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.sharing_out import BY_TABLE, BY_TEST, HOST_LABS, LONG, THE_HOST, ByFile, LongestFirst


class Sharing(ByFile):
    def __init__(self) -> None:  # no workers are needed to ask where a test belongs
        pass


@pytest.mark.parametrize("path", [path for path in (*THE_HOST, *LONG, *BY_TEST, BY_TABLE) if path != "the host"])
def test_what_is_named_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_longest_is_begun_first_and_the_others_in_their_order() -> None:
    queue = LongestFirst()
    for scope in ("tests/api/a.py", "tests/mutants/test_mutants.py::x", "tests/dns/b.py", "the host", "tests/tab/c.py"):
        queue[scope] = {}
    assert [queue.popitem(last=False)[0] for _ in range(5)] == [
        "the host",
        "tests/tab/c.py",
        "tests/mutants/test_mutants.py::x",
        "tests/api/a.py",
        "tests/dns/b.py",
    ]


@pytest.mark.parametrize(
    ("nodeid", "scope"),
    [
        ("tests/api/test_qos.py::test_a[x]", "tests/api/test_qos.py"),
        ("tests/cri/test_wire.py::test_a", "the host"),
        (f"tests/notebooks/test_labs_ask.py::test_a{HOST_LABS[0]}", "the host"),
        ("tests/notebooks/test_labs_ask.py::test_a[probes]", "tests/notebooks/test_labs_ask.py::test_a[probes]"),
        (f"{BY_TABLE}::test_a[dns_agreement-another name]", f"{BY_TABLE} dns_agreement"),
        (f"{BY_TABLE}::test_b[dns_agreement]", f"{BY_TABLE} dns_agreement"),
    ],
)
def test_what_belongs_together_goes_to_one_worker(nodeid: str, scope: str) -> None:
    assert Sharing()._split_scope(nodeid) == scope
