"""How tests are shared out among workers: what is long is begun first, what is about the host stays together, what is apart may part."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from tests.sharing_out import (
    BESIDE_KUBECTL,
    BY_TABLE,
    BY_TEST,
    HOST_LABS,
    LONG,
    THE_HOST,
    WAITING,
    ByFile,
    LongestFirst,
    Numbered,
)


class Sharing(ByFile):
    def __init__(self) -> None:  # no workers are needed to ask where a test belongs
        pass


@pytest.mark.parametrize("path", [path for path in (*THE_HOST, *LONG, *BY_TEST, BY_TABLE) if "/" in path])
def test_what_is_named_is_there(path: str) -> None:
    assert list(ROOT.glob(f"{path}*"))


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
        ("tests/api/pods/test_qos.py::test_a[x]", "tests/api/pods/test_qos.py"),
        ("tests/cri/test_wire.py::test_a", "the host"),
        (f"tests/notebooks/test_labs_ask.py::test_a{HOST_LABS[0]}", "the host"),
        ("tests/notebooks/test_labs_ask.py::test_a[probes]", "tests/notebooks/test_labs_ask.py::test_a[probes]"),
        ("tests/kubectl/test_explain.py::test_a", "kubectl's two"),
        (f"{BY_TABLE}::test_a[dns_agreement-another name]", f"{BY_TABLE} dns_agreement"),
        (f"{BY_TABLE}::test_b[dns_agreement]", f"{BY_TABLE} dns_agreement"),
    ],
)
def test_what_belongs_together_goes_to_one_worker(nodeid: str, scope: str) -> None:
    assert Sharing()._split_scope(nodeid) == scope


def test_who_asks_the_cluster_with_two_kubectls_goes_to_one_worker() -> None:
    """It is made for one file after the other as long as nothing else comes between them."""
    files = (ROOT / "tests/kubectl").glob("test_*.py")
    assert [str(file.relative_to(ROOT)) for file in sorted(files) if "both: Both" in file.read_text()] == sorted(
        BESIDE_KUBECTL
    )


def test_a_test_is_found_where_it_stands_first() -> None:
    numbered = Numbered(["a", "b", "a"])
    assert [numbered.index("a"), numbered.index("b"), numbered == ["a", "b", "a"]] == [0, 1, True]
    with pytest.raises(ValueError, match=r"c$"):
        numbered.index("c")


class Node:
    """A worker that is told what to run. `sent`: what it was told."""

    shutting_down = False

    def __init__(self) -> None:
        self.sent: list[list[int]] = []
        self.gateway = SimpleNamespace(id="gw")

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.sent.append(numbers)

    def shutdown(self) -> None:
        self.shutting_down = True


def test_what_is_done_is_not_counted_again_and_everything_is_given_out(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig.option, "tx", ["popen"])
    tests = [f"tests/{name}.py::test_{number}" for name in ("one", "two", "three", "four") for number in range(3)]
    sharing = ByFile(pytestconfig, None)
    node = Node()
    sharing.add_node(node)
    sharing.add_node_collection(node, tests)
    sharing.schedule()
    done = []
    while len(done) < sum(map(len, node.sent)):
        for number in [number for numbers in node.sent for number in numbers][len(done) :]:
            sharing.mark_test_complete(node, number)
            done.append(number)
            assert sum(map(len, sharing.assigned_work[node].values())) < 9
    assert sorted(done) == list(range(len(tests)))
    assert sharing.assigned_work[node] == {}
    assert node.shutting_down
    assert sharing.tests_finished
    assert sharing.remove_node(node) is None


def given_out(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, workers: int, tests: list[str]
) -> list[list[str]]:
    """What each worker runs at first, all of which is still to be done."""
    monkeypatch.setattr(pytestconfig.option, "tx", ["popen"] * workers)
    sharing = ByFile(pytestconfig, None)
    nodes = [Node() for _ in range(workers)]
    for node in nodes:
        sharing.add_node(node)
        sharing.add_node_collection(node, tests)
    sharing.schedule()
    return [[tests[number] for numbers in node.sent for number in numbers] for node in nodes]


@pytest.mark.parametrize(("workers", "wait"), [(1, 1), (2, 1), (3, 2), (4, 2), (6, 3)])
def test_one_half_of_the_workers_waits_at_most(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, workers: int, wait: int
) -> None:
    some = [f"tests/live/{name}.py::test_{number}" for name in "abcdefgh" for number in range(3)]
    others = [f"tests/api/{name}.py::test_{number}" for name in "abcdefgh" for number in range(3)]
    first = given_out(pytestconfig, monkeypatch, workers, [*some, *others])
    assert sum(any(test.startswith(WAITING) for test in tests) for tests in first) == wait


def test_where_only_waiting_is_left_all_wait(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    some = [f"tests/live/{name}.py::test_{number}" for name in "abcd" for number in range(3)]
    assert all(given_out(pytestconfig, monkeypatch, 4, some))
