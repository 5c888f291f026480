"""Predicates and priorities, chosen by a Policy: what an old file says, and that plugins decide the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.historical.scheduler.policy import GenericScheduler, PolicyError, parse_policy, plugins_of
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.steps import at_once
from lifecycle.scheduler.profile import new_framework
from tests.scheduler.cluster_model import make_node, make_pod

POLICY = {"kind": "Policy", "apiVersion": "v1"}


def test_a_policy_that_is_silent_means_the_defaults_and_an_empty_list_means_none() -> None:
    assert parse_policy(POLICY).predicates == ("CheckNodeUnschedulable", "GeneralPredicates", "PodToleratesNodeTaints")
    none = parse_policy({**POLICY, "predicates": [], "priorities": []})
    assert none.predicates == ("PodToleratesNodeTaints", "CheckNodeUnschedulable")  # not to be switched off
    assert none.priorities == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predicates": [{"name": "Luck"}]}, 'Invalid configuration: Predicate type not found for "Luck"'),
        ({"priorities": [{"name": "Luck", "weight": 1}]}, 'Invalid configuration: Priority type not found for "Luck"'),
        (
            {"priorities": [{"name": "EqualPriority"}]},
            "Priority EqualPriority should have a positive weight applied to it or it has overflown",
        ),
    ],
)
def test_a_policy_may_name_only_what_exists(change: Mapping[str, Any], message: str) -> None:
    with pytest.raises(PolicyError) as error:
        parse_policy({**POLICY, **change})
    assert str(error.value) == message


TAINTS = st.sampled_from([(), ({"key": "a", "effect": "NoSchedule"},), ({"key": "a", "effect": "PreferNoSchedule"},)])
NODES = st.lists(
    st.tuples(TAINTS, st.sampled_from(["1", "2", "8"]), st.sampled_from(["ssd", "hdd"]), st.booleans()),
    min_size=1,
    max_size=6,
)
PODS = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.just({"disk": "ssd"}),
        "tolerations": st.just([{"key": "a", "operator": "Exists"}]),
        "nodeName": st.just("n1"),
    },
)


@given(NODES, PODS, st.sampled_from(["100m", "1500m", "4"]), st.integers(0, 3))
def test_predicates_and_priorities_choose_as_their_plugins_do(
    shapes: list[Any], spec: dict[str, Any], cpu: str, running: int
) -> None:
    """The same policy, by the old functions and by the plugins it translates to."""
    text = {
        "priorities": [
            {"name": "LeastRequestedPriority", "weight": 2},
            {"name": "TaintTolerationPriority", "weight": 1},
        ]
    }
    policy = parse_policy({**POLICY, **text})
    nodes = []
    for number, (taints, size, disk, cordoned) in enumerate(shapes):
        node = make_node(f"n{number}", labels={"disk": disk}, taints=taints, cpu=size)
        if cordoned:
            node["spec"]["unschedulable"] = True
        info = NodeInfo(node)
        for other in range(min(running, number)):
            info.add_pod(PodInfo(make_pod(f"p{number}-{other}", requests={"cpu": "300m"})))
        nodes.append(info)
    pod = PodInfo(make_pod("new", requests={"cpu": cpu}, **spec))
    then = GenericScheduler(policy, highest=100)
    framework, snapshot, state = new_framework(plugins_of(policy)), Snapshot(), CycleState()
    snapshot.rebuild(nodes)
    framework.run_pre_filter_plugins(state, pod, snapshot)
    fit = [node for node in nodes if framework.run_filter_plugins(state, pod, node) is None]
    assert [node.name for node in then.find_nodes_that_fit(pod, nodes)[0]] == [node.name for node in fit]
    if len(fit) > 1:
        assert framework.run_pre_score_plugins(state, pod, fit, snapshot) is None
        table = at_once(framework.run_score_plugins(state, pod, fit))
        totals = [sum(column) for column in zip(*table.values(), strict=True)]
        now = [node.name for node, total in zip(fit, totals, strict=True) if total == max(totals)]
        assert then.best(pod, nodes) == now
