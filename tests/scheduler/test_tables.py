"""What the scheduler is told, and what it makes of it: configurations, events, conditions, case by case."""

# ruff: noqa: E501 - messages in full

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.config import (
    MULTI_POINT_DEFAULTS,
    PER_POINT,
    ConfigurationError,
    ExtenderConfig,
    Profile,
    SchedulerConfiguration,
    extender_config,
    merge_plugin_set,
    parse_configuration,
    with_ignored_resources,
)
from lifecycle.scheduler.event_handlers import EventHandlers
from lifecycle.scheduler.extender import HTTPExtender
from lifecycle.scheduler.failure_handler import NOTE_LENGTH_LIMIT, truncate_message
from lifecycle.scheduler.framework.events import node_events, pod_events
from lifecycle.scheduler.pod_conditions import condition_patch
from lifecycle.scheduler.profile import merged_registry, new_framework

API = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def test_the_default_plugins_and_their_weights_are_upstreams() -> None:
    """`pkg/scheduler/apis/config/v1/default_plugins.go`, without those that are not rebuilt."""
    weighed = {
        "TaintToleration": 3, "NodeAffinity": 2, "NodeResourcesFit": 1, "PodTopologySpread": 2, "InterPodAffinity": 2,
        "DynamicResources": 2, "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1,
    }  # fmt: skip
    assert {name: weight for name, weight in MULTI_POINT_DEFAULTS if weight} == weighed
    assert [name for name, _ in MULTI_POINT_DEFAULTS] == [
        "SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
        "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
        "InterPodAffinity", "DynamicResources", "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality",
        "DefaultBinder",
    ]  # fmt: skip
    assert SchedulerConfiguration() == parse_configuration(API)
    assert parse_configuration(API) == SchedulerConfiguration((Profile(),), (), 0, 1.0, 10.0)
    assert Profile() == Profile("default-scheduler", MULTI_POINT_DEFAULTS, {}, {}, None)
    assert ExtenderConfig("u") == ExtenderConfig("u", "", "", "", "", 1, 5.0, False, False, frozenset(), frozenset())


def test_a_configuration_that_says_everything() -> None:
    text = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 40
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
profiles:
- {}
- schedulerName: other
  percentageOfNodesToScore: 50
  plugins:
    multiPoint: {disabled: [{name: ImageLocality}], enabled: [{name: NodeAffinity, weight: 7}]}
    score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit}, {name: NodeAffinity, weight: 5}]}
    odd: {enabled: [{name: X}]}
  pluginConfig: [{name: NodeResourcesFit, args: {a: b}}, {name: ImageLocality}]
extenders: [{urlPrefix: "http://x/", filterVerb: f}]
"""
    found = parse_configuration(text)
    assert (found.percentage_of_nodes_to_score, found.pod_initial_backoff_seconds, found.pod_max_backoff_seconds) == (
        40,
        2,
        20,
    )
    assert found.extenders == (ExtenderConfig("http://x/", "f"),)
    assert extender_config({"urlPrefix": "u"}) == ExtenderConfig("u", "", "", "", "", 1, 5.0, False, False)
    plain, other = found.profiles
    assert plain == Profile()
    assert (other.scheduler_name, other.percentage_of_nodes_to_score) == ("other", 50)
    assert other.args == {"NodeResourcesFit": {"a": "b"}, "ImageLocality": {}}
    assert dict(other.multi_point)["NodeAffinity"] == 7
    assert "ImageLocality" not in dict(other.multi_point)
    assert other.points == {"score": (("NodeResourcesFit", 1), ("NodeAffinity", 5))}
    assert other.at("score") == other.points["score"]
    assert other.at("filter") == other.multi_point
    weights = other.score_weights()
    assert [weights[n] for n in ("NodeAffinity", "NodeResourcesFit", "NodeName", "TaintToleration")] == [5, 1, 1, 3]
    assert other.plugin_names() == tuple(name for name, _ in other.multi_point)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("[]", 'no kind "" is registered for version "kubescheduler.config.k8s.io/v1"'),
        ({}, 'no kind "" is registered for version "kubescheduler.config.k8s.io/v1"'),
        ({**API, "apiVersion": "x/v1"}, 'no kind "KubeSchedulerConfiguration" is registered for version "x/v1"'),
        ({"kind": API["kind"]}, 'no kind "KubeSchedulerConfiguration" is registered for version ""'),
        ({**API, "profiles": [{"schedulerName": n} for n in "aba"]}, 'profiles[2].schedulerName: Duplicate value: "a"'),
        ({**API, "percentageOfNodesToScore": -1}, "percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"),
        ({**API, "podInitialBackoffSeconds": -1}, "podInitialBackoffSeconds: Invalid value: -1: must be greater than 0"),
        ({**API, "podInitialBackoffSeconds": 11},
         "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds"),
        ({**API, "podMaxBackoffSeconds": 0.5},
         "podMaxBackoffSeconds: Invalid value: 0.5: must be greater than or equal to PodInitialBackoffSeconds"),
        ({**API, "extenders": [{"urlPrefix": "a", "bindVerb": "b"}] * 2},
         'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind'),
        ({**API, "extenders": [{"urlPrefix": "a", "prioritizeVerb": "p"}]},
         "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"),
        ({**API, "extenders": [{"urlPrefix": "a", "prioritizeVerb": "p", "weight": -2}]},
         "extenders[0].weight: Invalid value: -2: must have a positive weight applied to it"),
        ({**API, "extenders": [{"urlPrefix": "a", "filterVerb": "f"}, *({"urlPrefix": "b", "prioritizeVerb": "p", "weight": n} for n in (-3, 0))]},
         "[extenders[1].weight: Invalid value: -3: must have a positive weight applied to it, extenders[2].weight: Invalid value: 0: must have a positive weight applied to it]"),
        ({**API, "podInitialBackoffSeconds": 0, "podMaxBackoffSeconds": -1, "percentageOfNodesToScore": 101,
          "extenders": [{"urlPrefix": "a", "prioritizeVerb": "p", "weight": -3}]},
         "[percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], podInitialBackoffSeconds: Invalid value: 0: must be greater than 0, podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to PodInitialBackoffSeconds, extenders[0].weight: Invalid value: -3: must have a positive weight applied to it]"),
        ({**API, "extenders": [{"urlPrefix": "a", "managedResources": [{"name": "example.com/a"}] * 2},
                               {"urlPrefix": "b", "managedResources": [{"name": n} for n in ("example.com/a", "cpu", "a b")]}]},
         '[extenders[0].managedResources[1].name: Invalid value: "example.com/a": duplicate extender managed resource name, extenders[1].managedResources[0].name: Invalid value: "example.com/a": duplicate extender managed resource name, extenders[1].managedResources[1].name: Invalid value: "cpu": is an invalid extended resource name, extenders[1].managedResources[2].name: Invalid value: "a b": name part must consist of alphanumeric characters, \'-\', \'_\' or \'.\', and must start and end with an alphanumeric character (e.g. \'MyName\',  or \'my.name\',  or \'123-abc\', regex used for validation is \'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\')]'),
    ],
)  # fmt: skip
def test_configurations_that_cannot_be_used(document: Any, words: str) -> None:
    """What several extenders have wrong is what kube-scheduler 1.36.2 said of the same files."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole text is compared
        parse_configuration(document)
    assert str(refused.value) == words


@pytest.mark.parametrize(
    "change", [{"percentageOfNodesToScore": 0}, {"percentageOfNodesToScore": 100}, {"podInitialBackoffSeconds": 10},
               {"podInitialBackoffSeconds": 0.1}, {"podMaxBackoffSeconds": 1}, {"extenders": [{"urlPrefix": "a", "bindVerb": "b"}]}],
)  # fmt: skip
def test_what_is_just_possible(change: dict[str, Any]) -> None:
    parse_configuration({**API, **change})


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [(None, 5.0), ("100ms", 0.1), ("30s", 30.0), ("2m", 120.0), ("1.5s", 1.5), (3, 3.0), (0.5, 0.5)],
)
def test_how_long_an_extender_may_take(timeout: Any, seconds: float) -> None:
    assert extender_config({"urlPrefix": "u", "httpTimeout": timeout}).http_timeout == pytest.approx(seconds)


def test_an_extender_of_which_everything_is_said() -> None:
    entry = {
        "urlPrefix": "u", "filterVerb": "f", "prioritizeVerb": "p", "preemptVerb": "pre", "bindVerb": "b", "weight": 4,
        "nodeCacheCapable": True, "ignorable": True,
        "managedResources": [{"name": "a/b", "ignoredByScheduler": True}, {"name": "c/d"}],
    }  # fmt: skip
    config = extender_config(entry)
    assert config == ExtenderConfig(
        "u", "f", "p", "pre", "b", 4, 5.0, True, True, frozenset({"a/b", "c/d"}), frozenset({"a/b"})
    )
    extender = HTTPExtender(config)
    assert (extender.name, extender.ignorable, extender.is_binder, extender.supports_preemption) == (
        "u",
        True,
        True,
        True,
    )
    bare = HTTPExtender(ExtenderConfig("u"))
    assert (bare.ignorable, bare.is_binder, bare.supports_preemption) == (False, False, False)
    profiles = (Profile("a", args={"NodeResourcesFit": {"ignoredResources": ["x/y"], "k": 1}, "Z": {}}), Profile("b"))
    first, second = with_ignored_resources(SchedulerConfiguration(profiles, (config, ExtenderConfig("v"))))
    assert first.args == {"NodeResourcesFit": {"ignoredResources": ["x/y", "a/b"], "k": 1}, "Z": {}}
    assert second.args == {"NodeResourcesFit": {"ignoredResources": ["a/b"]}}
    assert with_ignored_resources(SchedulerConfiguration(profiles)) == list(profiles)


@pytest.mark.parametrize(
    ("container", "init", "asked"),
    [
        ({}, [], False), ({"resources": None}, [], False), ({"resources": {"requests": {"cpu": "1"}}}, [], False),
        ({"resources": {"requests": {"a/b": "1"}}}, [], True), ({"resources": {"limits": {"a/b": "1"}}}, [], True),
        ({}, [{"resources": {"requests": {"a/b": "1"}}}], True), ({}, None, False),
    ],
)  # fmt: skip
def test_an_extender_is_asked_for_pods_that_want_what_it_manages(container: Object, init: Any, asked: bool) -> None:
    pod = {"spec": {"containers": [{}, container], "initContainers": init}}
    assert HTTPExtender(ExtenderConfig("u", managed_resources=frozenset({"a/b"}))).is_interested(pod) is asked
    assert HTTPExtender(ExtenderConfig("u")).is_interested(pod)


@pytest.mark.parametrize(
    ("changes", "merged"),
    [
        ({}, (("A", 1), ("B", 2))), ({"disabled": [{"name": "A"}]}, (("B", 2),)), ({"disabled": [{"name": "*"}]}, ()),
        ({"enabled": [{"name": "A"}]}, (("A", 1), ("B", 2))), ({"enabled": [{"name": "A", "weight": 5}]}, (("A", 5), ("B", 2))),
        ({"enabled": [{"name": "C"}]}, (("A", 1), ("B", 2), ("C", 0))),
        ({"disabled": [{"name": "A"}], "enabled": [{"name": "A", "weight": 3}]}, (("B", 2), ("A", 3))),
        ({"disabled": [{"name": "*"}], "enabled": [{"name": "B"}, {"name": "A", "weight": 3}]}, (("B", 0), ("A", 3))),
        ({"disabled": None, "enabled": None}, (("A", 1), ("B", 2))),
    ],
)  # fmt: skip
def test_a_set_of_plugins_is_changed_in_place(changes: dict[str, Any], merged: tuple[tuple[str, int], ...]) -> None:
    assert merge_plugin_set((("A", 1), ("B", 2)), changes) == merged


@pytest.mark.parametrize(
    ("changes", "at_point"),
    [
        ({}, [("A", 1), ("B", 2)]), ({"disabled": [{"name": "A"}]}, [("B", 2)]), ({"disabled": [{"name": "*"}]}, []),
        ({"enabled": [{"name": "B", "weight": 7}]}, [("B", 7), ("A", 1)]), ({"enabled": [{"name": "C"}]}, [("A", 1), ("B", 2), ("C", 1)]),
        ({"enabled": [{"name": "C"}, {"name": "B"}]}, [("B", 1), ("A", 1), ("C", 1)]),
        ({"disabled": [{"name": "B"}], "enabled": [{"name": "B", "weight": 4}]}, [("A", 1), ("B", 4)]),
        ({"disabled": [{"name": "*"}], "enabled": [{"name": "B"}]}, [("B", 1)]),
    ],
)  # fmt: skip
def test_at_a_single_point_those_named_there_come_first(
    changes: dict[str, Any], at_point: list[tuple[str, int]]
) -> None:
    both = {"disabled": [{"name": "*"}], "enabled": [{"name": "A", "weight": 1}, {"name": "B", "weight": 2}]}
    for point in PER_POINT:
        plugins = {"multiPoint": both, point: changes}
        [profile] = parse_configuration({**API, "profiles": [{"plugins": plugins}]}).profiles
        assert list(profile.at(point)) == at_point
        assert all(profile.at(other) == (("A", 1), ("B", 2)) for other in PER_POINT if other != point)


def test_a_plugin_of_ones_own_has_a_name_of_its_own() -> None:
    with pytest.raises(ConfigurationError, match=r"^a plugin named NodeName already exists$"):
        merged_registry({"NodeName": lambda args, handle: None})  # type: ignore[dict-item,return-value]
    profile = Profile("mine", (("Mine", 0),))
    with pytest.raises(ConfigurationError) as refused:
        new_framework(profile)
    assert str(refused.value).startswith("initializing profiles: creating profile for scheduler name mine: ")


@pytest.mark.parametrize(("length", "kept"), [(0, 0), (1023, 1023), (1024, 1024), (1025, 1024), (5000, 1024)])
def test_an_event_holds_a_kilobyte(length: int, kept: int) -> None:
    text = truncate_message("x" * length)
    assert len(text) == kept
    assert text.endswith(" ...") == (length > 1024)
    assert text.rstrip(" .") == "x" * min(length, kept - 4 if length > 1024 else kept)
    assert NOTE_LENGTH_LIMIT == 1024


NO = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m"}


@pytest.mark.parametrize(
    ("status", "more", "patch"),
    [
        (None, None, {"conditions": [NO | {"lastTransitionTime": "now", "lastProbeTime": None}]}),
        ({"conditions": [NO | {"lastTransitionTime": "then"}]}, None, None),
        (
            {"conditions": [NO | {"lastTransitionTime": "then", "message": "old"}]}, None,
            {"conditions": [{"message": "m", "type": "PodScheduled"}], "$setElementOrder/conditions": [{"type": "PodScheduled"}]},
        ),
        (
            {"conditions": [{"type": "A"}, NO | {"lastTransitionTime": "then", "status": "True"}]}, None,
            {
                "conditions": [{"status": "False", "lastTransitionTime": "now", "type": "PodScheduled"}],
                "$setElementOrder/conditions": [{"type": "A"}, {"type": "PodScheduled"}],
            },
        ),
        (
            {"conditions": [{"type": "A"}]}, None,
            {
                "conditions": [NO | {"lastTransitionTime": "now", "lastProbeTime": None}],
                "$setElementOrder/conditions": [{"type": "A"}, {"type": "PodScheduled"}],
            },
        ),
        ({"conditions": [NO | {"lastTransitionTime": "then"}]}, {"nominatedNodeName": "n"}, {"nominatedNodeName": "n"}),
        ({"conditions": [NO | {"lastTransitionTime": "then"}], "nominatedNodeName": "n"}, {"nominatedNodeName": "n"}, None),
        (
            {"conditions": [NO | {"lastTransitionTime": "then"}], "nominatedNodeName": "n"}, {"nominatedNodeName": None},
            {"nominatedNodeName": None},
        ),
        ({"conditions": [NO | {"lastTransitionTime": "then"}]}, {"nominatedNodeName": None}, None),
    ],
)  # fmt: skip
def test_the_smallest_patch_that_sets_a_condition(status: Any, more: Any, patch: Any) -> None:
    pod = {"metadata": {"name": "p"}, **({} if status is None else {"status": status})}
    found = condition_patch(pod, NO, "now", more)
    for condition in (found.get("status") or {}).get("conditions", ()):
        condition.pop("observedGeneration", None)
    assert found == ({} if patch is None else {"status": patch})


def pod(uid: str = "u", node: str = "", phase: str = "", nominated: str = "", **spec: Any) -> Object:
    metadata = {"name": "p", "namespace": "ns", "uid": uid} | spec.pop("metadata", {})
    placed = {"nodeName": node} if node else {}
    return {
        "metadata": metadata, "spec": {"containers": [], **placed, **spec},
        "status": {k: v for k, v in (("phase", phase), ("nominatedNodeName", nominated)) if v},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (pod(), pod(), []), (pod(), pod(metadata={"labels": {"a": "b"}}), ["UpdatePodLabel"]),
        (pod(), pod(metadata={"labels": None}), []), (pod(), pod(tolerations=[{}]), ["UpdatePodToleration"]),
        (pod(tolerations=[{}]), pod(tolerations=[{}]), []),
        (pod(schedulingGates=[{"name": "g"}]), pod(), ["UpdatePodSchedulingGatesEliminated"]),
        (pod(), pod(schedulingGates=[{"name": "g"}]), []),
        (pod(schedulingGates=[{"name": "g"}, {"name": "h"}]), pod(schedulingGates=[{"name": "h"}]), []),
        (
            pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "2"}}}]),
            pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "1"}}}]), ["UpdatePodScaleDown"],
        ),
        (
            pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "1"}}}]),
            pod(containers=[{"name": "c", "resources": {"requests": {"cpu": "2"}}}]), [],
        ),
        (pod(), {**pod(), "status": {"resourceClaimStatuses": [{"name": "c"}]}}, ["UpdatePodGeneratedResourceClaim"]),
        (pod(), {**pod(), "status": None}, []),
    ],
)  # fmt: skip
def test_what_changed_in_a_pod(old: Object, new: Object, actions: list[str]) -> None:
    for kind in ("Pod", "AssignedPod"):
        assert [event.label for event in pod_events(kind, old, new)] == [f"{kind}{action}" for action in actions]


def node(labels: Any = None, allocatable: Any = None, images: Any = None, **spec: Any) -> Object:
    return {
        "metadata": {"name": "n", "labels": labels},
        "spec": spec,
        "status": {"allocatable": allocatable, "images": images},
    }


@pytest.mark.parametrize(
    ("old", "new", "actions", "cached"),
    [
        (node(), node(), [], False), (node(), node(labels={"a": "b"}), ["UpdateNodeLabel"], True),
        (node(), node(allocatable={"cpu": "1"}), ["UpdateNodeAllocatable"], True), (node(), node(taints=[{}]), ["UpdateNodeTaint"], True),
        (node(unschedulable=True), node(), ["UpdateNodeTaint"], True), (node(), node(unschedulable=True), [], True),
        (node(), node(images=[{}]), [], True), (node(), node(podCIDR="x"), [], True),
        (node(), {"metadata": {"name": "n", "labels": None}}, [], False),
        (node(unschedulable=True, taints=[{}]), node(labels={"a": "b"}, allocatable={}),
         ["UpdateNodeTaint", "UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint"], True),
    ],
)  # fmt: skip
def test_what_changed_in_a_node_and_whether_it_is_kept(
    old: Object, new: Object, actions: list[str], cached: bool
) -> None:
    assert [event.label for event in node_events(old, new)] == [f"Node{action}" for action in actions]
    told = Told()
    told.handlers.node_updated(old, new)
    assert told.log == [
        *(["cache add_node n"] if cached else []),
        *(f"queue move_all Node{action}" for action in actions),
    ]


class Told:
    """Cache, queue and nominator that write down what they are told."""

    def __init__(self, placed: bool = False, nominated: str = "", responsible: bool = True) -> None:
        self.log: list[str] = []
        self.conditions: list[Callable[[Any], bool] | None] = []
        self.placed, self.nominated = placed, nominated
        self.handlers = EventHandlers(
            _Part(self, "cache"), _Part(self, "queue"), _Part(self, "nominator"),  # type: ignore[arg-type]
            lambda pod: responsible, lambda uid: bool(self.log.append(f"reject {uid}")),  # type: ignore[func-returns-value]
        )  # fmt: skip


class _Part:
    def __init__(self, told: Told, name: str) -> None:
        self.told, self.name = told, name

    def __contains__(self, key: str) -> bool:
        assert key == "ns/p"
        return self.told.placed

    def nominated_node_of(self, key: str) -> str:
        assert key == "ns/p"
        return self.told.nominated

    def __getattr__(self, method: str) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            if method == "move_all":
                self.told.conditions.append(arguments[3] if len(arguments) > 3 else None)
                self.told.log.append(f"{self.name} move_all {arguments[0].label}")
                return
            words = [
                a if isinstance(a, str) else a["metadata"]["name"] if isinstance(a, dict) else a.key for a in arguments
            ]
            self.told.log.append(" ".join([self.name, method, *words]))

        return call


FORGET = "nominator delete_nominated_pod_if_exists ns/p"
ASSIGNED = ["cache add_pod p", "queue delete ns/p", FORGET, "queue move_all AssignedPodAdd"]


@pytest.mark.parametrize(
    ("setup", "old", "new", "log"),
    [
        ({}, None, pod(), [FORGET, "queue add p"]), ({}, None, pod(nominated="n"), ["nominator add_nominated_pod ns/p n", "queue add p"]),
        ({"responsible": False}, None, pod(), []), ({}, None, pod(metadata={"deletionTimestamp": "t"}), []),
        ({}, None, pod(node="n"), ASSIGNED), ({"responsible": False}, None, pod(node="n"), ASSIGNED),
        ({}, None, pod(phase="Succeeded"), []), ({}, None, pod(node="n", phase="Failed"), []),
        ({}, pod(), pod(phase="Failed"), ["queue delete ns/p", FORGET]),
        ({"placed": True}, pod(node="n"), pod(node="n", phase="Succeeded"),
         ["cache remove_pod p", "queue move_all AssignedPodDelete", "queue delete ns/p", FORGET]),
        ({}, pod(), pod(), [FORGET, "queue update p p"]), ({"responsible": False}, pod(), pod(), []),
        ({"placed": True}, pod(), pod(), []), ({}, pod("u"), pod("v"), ["queue delete ns/p", FORGET, "reject u", FORGET, "queue add p"]),
        ({"placed": True}, pod("u", node="n"), pod("v"),
         ["queue delete ns/p", FORGET, "reject u", "cache remove_pod p", "queue move_all AssignedPodDelete", FORGET, "queue add p"]),
        ({"nominated": "m"}, pod(), pod(), ["nominator add_nominated_pod ns/p m", "queue update p p"]),
        ({"nominated": "m"}, pod(nominated="n"), pod(), [FORGET, "queue update p p", "queue move_all AssignedPodDelete"]),
        ({}, pod(nominated="n"), pod(nominated="n"), ["nominator add_nominated_pod ns/p n", "queue update p p"]),
        ({}, pod(nominated="n"), pod(nominated="o"),
         ["nominator add_nominated_pod ns/p o", "queue update p p", "queue move_all AssignedPodDelete"]),
        ({}, pod(), pod(node="n"), ASSIGNED),
        ({}, pod(nominated="n"), pod(node="n"), ["queue move_all AssignedPodDelete", *ASSIGNED]),
        ({}, pod(node="n"), pod(node="n", metadata={"labels": {"a": "b"}}),
         ["cache update_pod p", "queue move_all AssignedPodUpdatePodLabel"]),
        ({}, pod(node="n"), pod(node="n"), ["cache update_pod p"]),
        ({"placed": True}, pod(node="n"), None,
         ["queue delete ns/p", FORGET, "reject u", "cache remove_pod p", "queue move_all AssignedPodDelete"]),
        ({}, pod(), None, ["queue delete ns/p", FORGET, "reject u"]), ({}, pod(node="n"), None, ["queue delete ns/p", FORGET, "reject u"]),
        ({}, pod(nominated="n"), None, ["queue delete ns/p", FORGET, "reject u", "queue move_all AssignedPodDelete"]),
    ],
)  # fmt: skip
def test_what_an_event_about_a_pod_does(setup: dict[str, Any], old: Any, new: Any, log: list[str]) -> None:
    told = Told(**setup)
    if old is None:
        told.handlers.pod_added(new)
    elif new is None:
        told.handlers.pod_deleted(old)
    else:
        told.handlers.pod_updated(old, new)
    assert told.log == log


def test_who_had_to_respect_a_nomination_is_who_is_not_more_important() -> None:
    from lifecycle.scheduler.framework.node_info import PodInfo

    told = Told()
    told.handlers.pod_deleted(pod(nominated="n", priority=5))
    (condition,) = told.conditions
    assert condition is not None
    assert [condition(PodInfo(pod(priority=priority))) for priority in (4, 5, 6)] == [True, True, False]


def test_the_other_events() -> None:
    told = Told()
    told.handlers.node_added(node())
    told.handlers.node_deleted(node())
    add, update, delete = told.handlers.other("CSINode")
    add(node())
    update(node(), node())
    delete(node())
    assert told.log == [
        "cache add_node n", "queue move_all NodeAdd", "cache remove_node n", "queue move_all NodeDelete",
        "queue move_all CSINodeAdd", "queue move_all CSINodeUpdate", "queue move_all CSINodeDelete",
    ]  # fmt: skip
