"""Configurations and profiles."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from lifecycle.api.resources import resource
from lifecycle.scheduler.config import PER_POINT, ConfigurationError, merge_plugin_set, parse_configuration
from lifecycle.scheduler.profile import new_framework

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
    with pytest.raises(ConfigurationError, match=r'"Astrology" does not exist$'):
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


def test_the_points_of_a_profile_are_upstreams() -> None:
    assert PER_POINT == (
        "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind",
        "postBind",
    )  # fmt: skip
