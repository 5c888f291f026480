"""How the tests are shared out among workers, file by file and the longest first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

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

WAITING = (
    "the host",
    "tests/apiserver/test_attacks.py",
    "tests/live/",
    "tests/pytest_plugin/",
    "tests/cluster/test_hollow",
    "tests/cluster/test_kubectl",
    "tests/cluster/test_secrets_appear_nowhere.py",
    "tests/cluster/test_without_extras.py",
    "kubectl's two",
    "tests/faults/",
    "tests/cli/",
    "tests/differential/test_differential.py",
    "tests/book/test_commands_to_type.py",
)
"""Tests that mostly wait for other programs and for time to pass, which is not virtual there. One half of the workers may do so, and the
other half computes meanwhile: if all wait at once, the machine does nothing, and what they wait for comes later."""

LONG = (
    *WAITING,
    "tests/tab/",
    "tests/notebooks/test_labs_ask.py",
    "tests/agreements/test_every_row_can_go_red.py",
    "tests/mutants/",
    "tests/chaos/",
    "tests/cluster/",
    "tests/book/",
    "tests/compare/",
    "tests/claims/",
    "labs/",
)
"""What takes long is begun first, longest first: whoever is ready last keeps the others waiting. How long something takes cannot be
seen by the number of its tests, by which they would be sorted otherwise."""

BY_TEST = ("tests/notebooks/test_labs_ask.py", "tests/mutants/test_mutants.py", "tests/tab/test_rooms.py")
"""Long files whose tests have nothing in common that is expensive to make: each may go to another worker."""

BY_TABLE = "tests/agreements/test_every_row_can_go_red.py"
"""A long file in which the tests of one table share the table of unbroken components."""


BESIDE_KUBECTL = tuple(
    f"tests/kubectl/test_{name}.py"
    for name in (
        "beside_real_kubectl",
        "describe_beside_real_kubectl",
        "exec_beside_real_kubectl",
        "explain",
        "lines_beside_real_kubectl",
        "logs_beside_real_kubectl",
        "manifests_beside_real_kubectl",
        "nodes_beside_real_kubectl",
        "patch_beside_real_kubectl",
        "rarer_lines_beside_real_kubectl",
        "templates_beside_real_kubectl",
        "wait_beside_real_kubectl",
    )
)
"""Files that ask one cluster with pods in it (`both` in tests/kubectl/conftest.py), which goes when somebody else's turn comes."""


class LongestFirst(OrderedDict[str, dict[str, bool]]):
    """What is still to be given to a worker. `enough_wait`: it goes to one that had better compute."""

    enough_wait = False

    def popitem(self, last: bool = True) -> tuple[str, dict[str, bool]]:
        """The next one, whichever end is asked for."""
        scope = min(self, key=lambda scope: (self.enough_wait and scope.startswith(WAITING), place(scope)))
        return scope, self.pop(scope)


@cache
def place(scope: str) -> int:
    """Whose turn it is: among equals, those with more tests are there first."""
    return next((number for number, long in enumerate(LONG) if scope.startswith(long)), len(LONG))


class Numbered(list[str]):
    """Tests, each of which has its place looked up: xdist asks for the place of each of nineteen thousand."""

    def __init__(self, tests: Sequence[str]) -> None:
        super().__init__(tests)
        self._places = {test: number for number, test in reversed(list(enumerate(tests)))}

    def index(self, test: str, *_: Any) -> int:
        """Where it stands first. Raises ValueError if it does not."""
        if test not in self._places:
            raise ValueError(test)
        return self._places[test]


class ByFile(LoadFileScheduling):
    """Workers share the tests file by file, so that a fixture is set up once; what is about the host goes to one worker."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self.workqueue: LongestFirst = LongestFirst()

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """See `Numbered`."""
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Numbered(collection)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """What a worker is done with need not be counted again after each of its tests."""
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        work = self.assigned_work.get(node, {})
        if all(work.get(scope, {"not its own": False}).values()):
            del work[scope]

    def _assign_work_unit(self, node: Any) -> None:
        """See `WAITING`."""
        others = [work for other, work in self.assigned_work.items() if other is not node]
        waiting = sum(any(scope.startswith(WAITING) for scope in work) for work in others)
        self.workqueue.enough_wait = waiting >= len(self.assigned_work) / 2
        super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(THE_HOST) or (nodeid.startswith(BY_TEST) and nodeid.endswith(HOST_LABS)):
            return "the host"
        if nodeid.startswith(BESIDE_KUBECTL):
            return "kubectl's two"
        if nodeid.startswith(BY_TABLE):
            return f"{BY_TABLE} {nodeid.partition('[')[2].partition('-')[0].rstrip(']')}"
        return nodeid if nodeid.startswith(BY_TEST) else str(super()._split_scope(nodeid))
