"""Configurations, profiles, and the rules before plugins."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.resources import resource
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.config import ConfigurationError, merge_plugin_set, parse_configuration
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.historical.policy import GenericScheduler, PolicyError, parse_policy, plugins_of
from lifecycle.scheduler.profile import new_framework
from tests.scheduler.cluster_model import make_node, make_pod

API = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def test_a_configuration_without_profiles_has_the_default_one() -> None:
    [profile] = parse_configuration(API).profiles
    framework = new_framework(profile)
    weights = framework.score_plugin_weight
    assert profile.scheduler_name == "default-scheduler"
    assert weights["TaintToleration"] == 3
    assert weights["NodeAffinity"] == 2
    assert weights["NodeResourcesFit"] == 1


def test_plugins_are_disabled_reweighed_and_added_in_their_places() -> None:
    defaults = [("A", 1), ("B", 2), ("C", 3)]
    assert merge_plugin_set(defaults, {"disabled": [{"name": "B"}]}) == (("A", 1), ("C", 3))
    assert merge_plugin_set(defaults, {"enabled": [{"name": "B", "weight": 9}]}) == (("A", 1), ("B", 9), ("C", 3))
    changed = {"disabled": [{"name": "*"}], "enabled": [{"name": "C"}, {"name": "X", "weight": 5}]}
    assert merge_plugin_set(defaults, changed) == (("C", 0), ("X", 5))


def test_a_single_point_can_differ_from_the_others() -> None:
    score = {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit", "weight": 7}]}
    configuration = parse_configuration({**API, "profiles": [{"schedulerName": "packer", "plugins": {"score": score}}]})
    framework = new_framework(configuration.profiles[0])
    assert [(p.name, framework.score_plugin_weight[p.name]) for p in framework.score_plugins] == [
        ("NodeResourcesFit", 7)
    ]
    assert "TaintToleration" in {p.name for p in framework.filter_plugins}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"profiles": [{}, {}]}, 'profiles[1].schedulerName: Duplicate value: "default-scheduler"'),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
        ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"),
        ({"kind": "Policy"}, 'no kind "Policy" is registered for version "kubescheduler.config.k8s.io/v1"'),
    ],
)
def test_what_cannot_be_is_refused(change: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse_configuration({**API, **change})
    assert str(error.value) == message


def test_an_unknown_plugin_is_named() -> None:
    enabled = {"multiPoint": {"enabled": [{"name": "Astrology"}]}}
    profile = parse_configuration({**API, "profiles": [{"plugins": enabled}]}).profiles[0]
    with pytest.raises(ConfigurationError, match='"Astrology" does not exist'):
        new_framework(profile)


def test_two_profiles_of_one_process_decide_differently() -> None:
    from lifecycle.client.shared_informer import SharedInformerFactory
    from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
    from lifecycle.scheduler.scheduler import Scheduler

    packing = {
        "schedulerName": "packer",
        "plugins": {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}},
        "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}],
    }
    configuration = parse_configuration({**API, "profiles": [{"schedulerName": "default-scheduler"}, packing]})

    async def scene(cluster: RehearsedCluster) -> tuple[list[str], list[str]]:
        client = cluster.client("kube-scheduler")
        informers = SharedInformerFactory(client)
        scheduler = Scheduler.new(client, informers, clock=cluster.clock, rng_seed=1, configuration=configuration)
        informers.start()
        running = asyncio.create_task(scheduler.run())
        container = {"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
        for name in ("default-scheduler", "packer"):
            for number in range(4):
                pod = {
                    "kind": "Pod",
                    "apiVersion": "v1",
                    "metadata": {"name": f"{name[:4]}-{number}"},
                    "spec": {"schedulerName": name, "containers": [container]},
                }
                await client.create(resource("pods"), pod, "default")
                await asyncio.sleep(2)
        nodes: dict[str, list[str]] = {}
        for pod in await cluster.items("pods"):
            nodes.setdefault(pod["spec"]["schedulerName"], []).append(pod["spec"]["nodeName"])
        events = {e["source"]["component"] for e in await cluster.items("events") if e["reason"] == "Scheduled"}
        assert events == {"default-scheduler", "packer"}
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await informers.stop()
        return nodes["default-scheduler"], nodes["packer"]

    spread, packed = rehearse(scene, without=frozenset({"scheduler"}))
    assert len(set(spread)) == 2
    assert len(set(packed)) == 1


# -- the rules before plugins ------------------------------------------------------------------------------------------

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
    snapshot.rebuild(nodes, {})
    framework.run_pre_filter_plugins(state, pod, snapshot)
    fit = [node for node in nodes if framework.run_filter_plugins(state, pod, node) is None]
    assert [node.name for node in then.find_nodes_that_fit(pod, nodes)[0]] == [node.name for node in fit]
    if len(fit) > 1:
        assert framework.run_pre_score_plugins(state, pod, fit, snapshot) is None
        table = framework.run_score_plugins(state, pod, fit)
        totals = [sum(column) for column in zip(*table.values(), strict=True)]
        now = [node.name for node, total in zip(fit, totals, strict=True) if total == max(totals)]
        assert then.best(pod, nodes) == now
