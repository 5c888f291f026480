"""Whom a PodDisruptionBudget keeps from being pushed out, and for how long."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from tests.scheduler.cluster_model import make_node
from tests.scheduler.framework.preemption.test_preemption import Preempting, important, running


def test_a_broken_budget_weighs_more_than_any_priority_but_does_not_protect_for_ever() -> None:
    budget = {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["guarded"]}]}},
        "status": {"disruptionsAllowed": 0},
    }
    guarded, other = running("guarded", "n1", 1, "4"), running("other", "n2", 50, "4")
    scene = Preempting([make_node("n1"), make_node("n2")], [guarded, other], (budget,))
    assert scene.refuse(important())[0] == "n2"
    alone = Preempting([make_node("n1")], [guarded], (budget,))
    assert alone.refuse(important())[0] == "n1"
    assert alone.chosen[0].pdb_violations == 1


def test_no_budget_speaks_of_a_pod_without_labels() -> None:
    budget = {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}},
        "status": {"disruptionsAllowed": 0},
    }
    bare = running("bare", "n", 1, "4")
    bare["metadata"]["labels"] = {}
    scene = Preempting([make_node("n")], [bare], (budget,))
    assert scene.refuse(important())[0] == "n"
    assert scene.chosen[0].pdb_violations == 0


def test_a_budget_without_a_selector_speaks_of_nobody() -> None:
    everybody: Object = {
        "metadata": {"namespace": "default"},
        "spec": {"selector": {}},
        "status": {"disruptionsAllowed": 0},
    }
    pods = [running("g", "guarded", 1, "4"), running("f", "free", 5, "4")]
    scene = Preempting([make_node("guarded"), make_node("free")], pods, (everybody,))
    assert scene.refuse(important())[0] == "guarded"
    assert scene.chosen[0].pdb_violations == 0


@pytest.mark.parametrize(("allowed", "chosen"), [(0, "free"), (1, "free"), (2, "guarded")])
def test_a_budget_is_used_up_one_by_one(allowed: int, chosen: str) -> None:
    """Two must go on either node; those of the guarded one are less important, unless one of them is one too many."""
    budget: Object = {
        "metadata": {"namespace": "default"},
        "spec": {"selector": {"matchLabels": {"tier": "g"}}},
        "status": {"disruptionsAllowed": allowed},
    }
    pods = [running(f"g{i}", "guarded", 1, "2") for i in range(2)] + [
        running(f"f{i}", "free", 5, "2") for i in range(2)
    ]
    for pod in pods[:2]:
        pod["metadata"]["labels"] = {"tier": "g"}
    scene = Preempting([make_node("guarded"), make_node("free")], pods, (budget,))
    assert scene.refuse(important())[0] == chosen
