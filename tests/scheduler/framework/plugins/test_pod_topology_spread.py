"""Spreading: which nodes and pods count. The questions are those of upstream's tests, the arithmetic is in comments."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_labels
from lifecycle.api.node_selector import required_node_affinity
from lifecycle.api.pods.taints import Tolerations
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.pod_topology_spread.constraints import Constraint, Inclusion
from lifecycle.scheduler.framework.plugins.pod_topology_spread.plugin import PodTopologySpread
from lifecycle.scheduler.framework.status import unresolvable
from tests.scheduler.cluster_model import make_node, make_pod, snapshot_of

HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
NODES = [
    make_node("a", labels={"zone": "a", "disk": "hdd"}),
    make_node("b", labels={"zone": "b", "disk": "hdd"}),
    make_node("tainted", labels={"zone": "c"}, taints=(TAINT,)),
    make_node("ssd", labels={"zone": "d", "disk": "ssd"}),
]
ALL = {"a", "b", "tainted", "ssd"}


def web(name: str, node: str, **labels: str) -> Object:
    return make_pod(name, labels={"app": "web", **labels}, nodeName=node)


def spreading(
    when: str = HARD, *, labels: dict[str, str] | None = None, spec: Object | None = None, **more: Any
) -> Object:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": {"app": "web"}},
        **more,
    }
    return make_pod("p", labels=labels or {"app": "web"}, topologySpreadConstraints=[constraint], **(spec or {}))


def fits(pod: Object, *placed: Object) -> set[str]:
    plugin, state, info = PodTopologySpread(), CycleState(), PodInfo(pod)
    snapshot = snapshot_of(NODES, list(placed))
    assert plugin.pre_filter(state, info, snapshot) == (None, None)
    return {node.name for node in snapshot.node_info_list if plugin.filter(state, info, node) is None}


IN_A_B = [web("w1", "a"), web("w2", "b")]
NOT_TAINTED = [*IN_A_B, web("w3", "ssd")]
EVERYWHERE = [*NOT_TAINTED, web("w4", "tainted")]
TOLERANT = {"tolerations": [{"key": "k", "operator": "Exists"}]}


def test_the_fullest_domain_may_not_exceed_the_emptiest_by_more_than_the_skew() -> None:
    # a and b: 1 + 1 - 0 = 2; the others: 0 + 1 - 0 = 1
    assert fits(spreading(), *IN_A_B) == {"tainted", "ssd"}
    assert fits(spreading(maxSkew=2), *IN_A_B) == ALL
    assert fits(spreading(), *EVERYWHERE) == ALL


def test_a_pod_that_does_not_match_itself_adds_nothing() -> None:
    assert fits(spreading(labels={"app": "db"}), *IN_A_B) == ALL  # 1 + 0 - 0


def test_pods_of_other_namespaces_and_pods_on_their_way_out_do_not_count() -> None:
    elsewhere, going = web("w1", "a"), web("w2", "b")
    elsewhere["metadata"]["namespace"] = "other"
    going["metadata"]["deletionTimestamp"] = "2026-11-21T00:00:00Z"
    assert fits(spreading(), elsewhere, going) == ALL


@pytest.mark.parametrize(
    ("more", "spec", "expected"),
    [
        ({}, {}, {"tainted"}),  # by default the tainted node's empty zone is the smallest
        ({"nodeTaintsPolicy": "Ignore"}, {}, {"tainted"}),
        ({"nodeTaintsPolicy": "Honor"}, {}, ALL),  # it does not count: 1 + 1 - 1; there itself: 0 + 1 - 1
        ({"nodeTaintsPolicy": "Honor"}, TOLERANT, {"tainted"}),
    ],
)
def test_whether_nodes_count_whose_taints_the_pod_does_not_tolerate(
    more: Object, spec: Object, expected: set[str]
) -> None:
    assert fits(spreading(spec=spec, **more), *NOT_TAINTED) == expected


@pytest.mark.parametrize(
    ("more", "spec", "expected"),
    [
        ({}, {"nodeSelector": {"disk": "hdd"}}, ALL),  # by default only a and b count: 1 + 1 - 1
        ({"nodeAffinityPolicy": "Honor"}, {"nodeSelector": {"disk": "hdd"}}, ALL),
        ({"nodeAffinityPolicy": "Ignore"}, {"nodeSelector": {"disk": "hdd"}}, {"tainted", "ssd"}),
        ({"nodeAffinityPolicy": "Honor"}, {}, {"tainted", "ssd"}),
    ],
)
def test_whether_nodes_count_that_the_pod_did_not_select(more: Object, spec: Object, expected: set[str]) -> None:
    assert fits(spreading(spec=spec, **more), *IN_A_B) == expected


@pytest.mark.parametrize(
    ("min_domains", "expected"),
    [(1, ALL), (4, ALL), (5, set())],  # a fifth domain that is not there counts as empty: 1 + 1 - 0
)
def test_fewer_domains_than_wanted_count_as_empty_ones(min_domains: int, expected: set[str]) -> None:
    assert fits(spreading(minDomains=min_domains), *EVERYWHERE) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([], {"b", "tainted", "ssd"}),
        (["hash"], ALL),  # the other pod is of another hash
        (["unheard of"], {"b", "tainted", "ssd"}),  # the pod has no such label: nothing is added
    ],
)
def test_match_label_keys_narrow_the_selector_to_the_pods_own_values(keys: list[str], expected: set[str]) -> None:
    pod = spreading(labels={"app": "web", "hash": "2"}, matchLabelKeys=keys)
    assert fits(pod, web("w", "a", hash="1")) == expected


def test_a_node_without_the_key_is_refused_for_good_and_its_pods_do_not_count() -> None:
    plugin, state, info = PodTopologySpread(), CycleState(), PodInfo(spreading())
    snapshot = snapshot_of([*NODES, make_node("nowhere")], [*EVERYWHERE, web("w5", "nowhere")])
    plugin.pre_filter(state, info, snapshot)
    nowhere = snapshot.node_info_map["nowhere"]
    text = "node(s) didn't match pod topology spread constraints (missing required label)"
    assert plugin.filter(state, info, nowhere) == unresolvable("PodTopologySpread", text)
    assert plugin.filter(state, info, snapshot.node_info_map["a"]) is None


@pytest.mark.parametrize(
    ("policy", "helped"),
    [("Ignore", True), ("Honor", False)],  # under Honor, what is on a tainted node never counted
)
def test_thinking_a_pod_away_follows_the_policies_too(policy: str, helped: bool) -> None:
    pods = [web("w1", "a"), web("w2", "tainted"), web("w3", "tainted")]
    # zones a and c are one here: 3 (Ignore) or 1 (Honor) pods, against none in b
    nodes = [make_node(n, labels={"zone": z}) for n, z in (("a", "a"), ("b", "b"))]
    nodes.append(make_node("tainted", labels={"zone": "a"}, taints=(TAINT,)))
    plugin, state = PodTopologySpread(), CycleState()
    info = PodInfo(spreading(maxSkew=3 if policy == "Ignore" else 1, nodeTaintsPolicy=policy))
    snapshot = snapshot_of(nodes, pods)
    plugin.pre_filter(state, info, snapshot)
    a, tainted = snapshot.node_info_map["a"], snapshot.node_info_map["tainted"]
    assert plugin.filter(state, info, a) is not None
    plugin.remove_pod(state, info, PodInfo(pods[1]), tainted)
    assert (plugin.filter(state, info, a) is None) is helped
    plugin.add_pod(state, info, PodInfo(pods[1]), tainted)
    assert plugin.filter(state, info, a) is not None


@pytest.mark.parametrize(
    ("policy", "scores"),
    [
        ("Ignore", [0, 100]),  # 2 pods · ln(2 + 2) = 2.77, so 3 against 0: 100 · (3 + 0 - 3) / 3, 100 · (3 + 0 - 0) / 3
        ("Honor", [100, 100]),
    ],
)
def test_the_policies_hold_for_scores(policy: str, scores: list[int]) -> None:
    nodes = [make_node(n, labels={"zone": z}) for n, z in (("a", "a"), ("b", "b"))]
    nodes.append(make_node("tainted", labels={"zone": "a"}, taints=(TAINT,)))
    snapshot = snapshot_of(nodes, [web("w1", "tainted"), web("w2", "tainted")])
    plugin, state, info = PodTopologySpread(), CycleState(), PodInfo(spreading(SOFT, nodeTaintsPolicy=policy))
    candidates = [snapshot.node_info_map[n] for n in ("a", "b")]
    assert plugin.pre_score(state, info, candidates, snapshot) is None
    raw = [plugin.score(state, info, node) for node in candidates]
    assert plugin.normalize_score(state, raw) == scores


TAINTED = make_node("n", labels={"disk": "ssd"}, taints=({"key": "k", "effect": "NoSchedule"},))
WANTS_TAPE = required_node_affinity({"nodeSelector": {"disk": "tape"}})


@pytest.mark.parametrize(
    ("policies", "required", "tolerations", "counts"),
    [
        ({}, None, [], True), ({}, WANTS_TAPE, [], False), ({"honor_affinity": False}, WANTS_TAPE, [], True),
        ({"honor_taints": True}, None, [], False), ({"honor_taints": True}, None, [{"operator": "Exists"}], True),
        ({"honor_taints": True, "honor_affinity": False}, WANTS_TAPE, [], False),
    ],
)  # fmt: skip
def test_whether_a_nodes_pods_count(policies: Any, required: Any, tolerations: list[Object], counts: bool) -> None:
    constraint = Constraint("zone", 1, selector_from_labels({"app": "web"}), **policies)
    assert constraint.counts(Inclusion(NodeInfo(TAINTED), required, Tolerations(tolerations))) is counts


def test_a_node_is_held_against_the_pods_affinity_once_for_all_its_constraints() -> None:
    asked: list[str] = []

    def required(name: str, labels: Any) -> bool:
        asked.append(name)
        return True

    inclusion = Inclusion(NodeInfo(TAINTED), required, Tolerations([]))
    constraint = Constraint("zone", 1, selector_from_labels({"app": "web"}))
    assert all(constraint.counts(inclusion) for _ in range(100))
    assert asked == ["n"]
