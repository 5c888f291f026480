"""The short cut for pods of one kind gives the answers of the plain path."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.batch.equivalence import Equivalence
from lifecycle.scheduler.batch.opportunistic_batch import OpportunisticBatch
from lifecycle.scheduler.config import MULTI_POINT_DEFAULTS, Profile
from lifecycle.scheduler.framework import steps
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import FilterPlugin
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.node_resources_fit import NodeResourcesFit
from lifecycle.scheduler.framework.plugins.registry import IN_TREE_REGISTRY
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.runtime.options import Options
from lifecycle.scheduler.framework.status import PluginError, Status, as_status
from lifecycle.scheduler.framework.steps import NODES, at_once
from lifecycle.scheduler.framework.types import FitError
from lifecycle.scheduler.profile import new_framework
from tests.scheduler.cluster_model import Model, make_node, make_pod

ZONES = (None, "", "a", "x")
"""None: the node has no such label, which for spreading is as good as an empty one."""
TAINT = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
SOFT_TAINT = {"key": "slow", "effect": "PreferNoSchedule"}


@st.composite
def clusters(draw: st.DrawFn) -> list[Object]:
    nodes = []
    for i in range(draw(st.integers(1, 12))):
        zone = draw(st.sampled_from(ZONES))
        labels = {} if zone is None else {"topology.kubernetes.io/zone": zone}
        if draw(st.booleans()):
            labels["disk"] = "ssd"
        taints = draw(st.sampled_from([(), (), (TAINT,), (SOFT_TAINT,)]))
        cpu = draw(st.sampled_from(["500m", "1", "4"]))
        nodes.append(make_node(f"n{i}", labels=labels, taints=taints, cpu=cpu))
    return nodes


SELECTORS = st.sampled_from([{"matchLabels": {"app": "x"}}, {"matchLabels": {"app": "y"}}, {}, None])
TOPOLOGY_KEYS = st.sampled_from(["topology.kubernetes.io/zone", "kubernetes.io/hostname", "disk"])


@st.composite
def spread_constraints(draw: st.DrawFn) -> Object:
    return {
        "maxSkew": draw(st.integers(1, 2)),
        "topologyKey": draw(TOPOLOGY_KEYS),
        "whenUnsatisfiable": draw(st.sampled_from(["DoNotSchedule"] * 4 + ["ScheduleAnyway"])),
        "labelSelector": draw(SELECTORS),
        "minDomains": draw(st.sampled_from([None, None, 3])),
        "nodeTaintsPolicy": draw(st.sampled_from(["Honor", "Ignore"])),
    }


@st.composite
def inter_pod_affinities(draw: st.DrawFn) -> Object:
    def term() -> Object:
        return {"topologyKey": draw(TOPOLOGY_KEYS), "labelSelector": draw(SELECTORS)}

    made: Object = {}
    if draw(st.booleans()):
        made["requiredDuringSchedulingIgnoredDuringExecution"] = [term()]
    if draw(st.booleans()):
        weighted = {"weight": draw(st.sampled_from([1, 40])), "podAffinityTerm": term()}
        made["preferredDuringSchedulingIgnoredDuringExecution"] = [weighted]
    return made


@st.composite
def kinds_of_pods(draw: st.DrawFn) -> Object:
    spec: Object = {}
    if draw(st.booleans()):
        spec["nodeSelector"] = {"disk": "ssd"}
    if draw(st.booleans()):
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    if draw(st.booleans()):
        preference = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
        preferred = [{"weight": 10, "preference": preference}]
        spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    if draw(st.booleans()):
        spec["topologySpreadConstraints"] = draw(st.lists(spread_constraints(), min_size=1, max_size=2))
    for kind in draw(st.sets(st.sampled_from(["podAffinity", "podAntiAffinity"]))):
        spec.setdefault("affinity", {})[kind] = draw(inter_pod_affinities())
    requests = draw(st.sampled_from([None, {"cpu": "100m"}, {"cpu": "300m", "memory": "1Gi"}]))
    labels = draw(st.sampled_from([{}, {"app": "x"}, {"app": "y"}]))
    return make_pod("kind", labels=labels, requests=requests, **spec)


def explained(model: Model, pod: Object) -> object:
    """Every plugin's score of every node, or why each of them is refused; without moving on."""
    start, rng = model.algorithm.next_start_node_index, model.algorithm._rng.getstate()
    try:
        return model.decide(pod).scores
    except FitError as error:
        diagnosis = error.diagnosis
        return str(error), diagnosis.node_to_status, diagnosis.unschedulable_plugins, diagnosis.pending_plugins
    finally:
        model.algorithm.next_start_node_index = start
        model.algorithm._rng.setstate(rng)


def test_a_plugin_that_nobody_knows_takes_the_plain_path_and_so_does_who_derives_from_one() -> None:
    class Yours(NodeResourcesFit):
        def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
            return int(info.pod["metadata"]["name"] == node.name) * 100  # no signature tells that

    registry = {**IN_TREE_REGISTRY, Yours.name: lambda args, handle: Yours()}
    nodes = [make_node(f"n{i}") for i in range(3)]
    model = Model(nodes, batch=True, framework=Framework(registry, Profile()))
    assert not OpportunisticBatch(model.framework).possible
    assert [model.place(make_pod(f"n{i}")) for i in (2, 0, 1)] == ["n2", "n0", "n1"]


@settings(max_examples=150, deadline=None)
@given(
    clusters(),
    st.lists(kinds_of_pods(), min_size=1, max_size=3),
    st.lists(st.integers(0, 2), max_size=25),
    st.integers(0, 5),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 2), st.integers(-1, 1)), max_size=3),
)
def test_short_cut_and_plain_path_agree(
    nodes: list[Object], kinds: list[Object], order: list[int], seed: int, kept: list[tuple[int, int, int]]
) -> None:
    """`kept`: nodes that wait for a pod of a kind, of less, the same or more importance than all others."""
    short, plain = Model(nodes, batch=True, seed=seed), Model(nodes, batch=False, seed=seed)
    for number, (node, kind, priority) in enumerate(kept):
        nominated = kinds[kind % len(kinds)]
        metadata = {**nominated["metadata"], "name": f"nominated{number}"}
        info = PodInfo({**nominated, "metadata": metadata, "spec": {**nominated["spec"], "priority": priority}})
        for model in (short, plain):
            model.nominator.add_nominated_pod(info, f"n{node}")
    for number, kind in enumerate(order):
        pod = kinds[kind % len(kinds)]
        pod = {**pod, "metadata": {**pod["metadata"], "name": f"p{number}", "uid": f"p{number}"}}
        assert explained(short, pod) == explained(plain, pod)
        assert short.place(pod) == plain.place(pod)
    assert short.algorithm.next_start_node_index == plain.algorithm.next_start_node_index


def test_they_agree_while_the_pods_image_arrives_on_node_after_node() -> None:
    def node(name: str, *images: str) -> Object:
        made = make_node(name, cpu="64")
        made["status"]["images"] = [{"names": [image], "sizeBytes": 900 << 20} for image in images]
        return made

    nodes = [node(f"n{i}") for i in range(40)]
    short, plain = Model(nodes, batch=True), Model(nodes, batch=False)
    for number in range(60):
        pod = make_pod(f"p{number}", labels={"app": "a"}, requests={"cpu": "200m"})
        pod["spec"]["containers"][0]["image"] = "big:1"
        assert explained(short, pod) == explained(plain, pod)
        host = short.place(pod)
        assert host == plain.place(pod)
        for model in (short, plain):
            model.cache.add_node(node(host, "big:1"))


def test_they_agree_while_nodes_and_pods_come_and_go_in_a_big_cluster() -> None:
    rng = random.Random(3)
    nodes = [make_node(f"n{i}", labels={"topology.kubernetes.io/zone": ZONES[i % 4]}) for i in range(150)]
    short, plain = Model(nodes, batch=True), Model(nodes, batch=False)
    placed: list[Object] = []
    for number in range(120):
        pod = make_pod(f"p{number}", labels={"app": f"a{number % 3}"}, requests={"cpu": "200m"})
        host = short.place(pod)
        assert host == plain.place(pod)
        placed.append({**pod, "spec": {**pod["spec"], "nodeName": host}})
        if number % 10 == 5:
            gone = placed.pop(rng.randrange(len(placed)))
            node = make_node(f"late{number}", cpu="64")
            for model in (short, plain):
                model.cache.remove_pod(gone)
                model.cache.add_node(node)
        if number % 25 == 20:
            for model in (short, plain):
                model.cache.remove_node(nodes[number])


ZONE, HOST, RACK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/rack"
BLUE: Object = {"matchLabels": {"color": "blue"}}


def term(key: str, selector: Object) -> Object:
    return {"topologyKey": key, "labelSelector": selector}


def required(kind: str, *terms: Object) -> Object:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def preferred(kind: str, selector: Object) -> Object:
    weighted = {"weight": 7, "podAffinityTerm": term(ZONE, selector)}
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}


SPREAD: Object = {"maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": BLUE}
ABOUT_OTHERS: dict[str, Object] = {
    "spread over zones": {"topologySpreadConstraints": [{**SPREAD, "topologyKey": ZONE}]},
    "spread over hosts": {"topologySpreadConstraints": [{**SPREAD, "topologyKey": HOST, "minDomains": 5}]},
    "near": {"affinity": required("podAffinity", term(ZONE, BLUE))},
    "far": {"affinity": required("podAntiAffinity", term(HOST, BLUE))},
    "rather near": {"affinity": preferred("podAffinity", BLUE)},
    "rather far": {"affinity": preferred("podAntiAffinity", BLUE)},
}


@pytest.mark.parametrize("kind", ABOUT_OTHERS)
def test_they_agree_about_pods_that_ask_for_others_while_nodes_move_and_pods_leave(kind: str) -> None:
    nodes = [make_node(f"n{i}", labels={ZONE: "abc"[i % 3]}, cpu="64") for i in range(130)]
    short, plain = Model(nodes, batch=True), Model(nodes, batch=False)
    placed: list[Object] = []
    for number in range(150):
        labels = {"color": "blue" if number % 5 else "red"}
        spec = ABOUT_OTHERS[kind] if number % 3 else {}
        pod = make_pod(f"p{number}", labels=labels, requests={"cpu": "200m"}, **spec)
        assert explained(short, pod) == explained(plain, pod)
        host = short.place(pod)
        assert host == plain.place(pod)
        if host.startswith("n"):
            placed.append({**pod, "spec": {**pod["spec"], "nodeName": host}})
        for model in (short, plain) if number % 10 == 5 else ():
            gone = placed[number // 10]  # one of the first, each once
            model.cache.remove_pod(gone)
            moved = gone["spec"]["nodeName"]
            model.cache.add_node(make_node(moved, labels={ZONE: "abcd"[number % 4]}, cpu="64"))
    assert len(placed) > 100
    assert any(e is not None and e.possible for e in short.algorithm._batch._equivalences.values())  # type: ignore[union-attr]


@pytest.mark.parametrize("key", [ZONE, RACK])
def test_they_agree_when_a_domain_has_no_node_any_more(key: str) -> None:
    """An empty zone that is there holds the others back; one that is gone does not. (Where a node's zone changes, its place
    among the others does, and all of them are looked at anew; a rack is any label.)
    """
    nodes = [make_node(f"n{i}", labels={key: "aabbc"[i]}) for i in range(5)]
    short, plain = Model(nodes, batch=True), Model(nodes, batch=False)
    spread: Object = {"topologySpreadConstraints": [{**SPREAD, "topologyKey": key}]}
    for model in (short, plain):
        model.cache.add_node(make_node("n4", labels={key: "c"}, pods="0"))  # where nobody fits
        hosts = [model.place(make_pod(f"p{i}", labels={"color": "blue"}, **spread)) for i in range(4)]
        assert not any("0/5" in host for host in hosts)
        assert "0/5" in model.place(make_pod("fifth", labels={"color": "blue"}, **spread))
        model.cache.add_node(make_node("n4", labels={key: "a"}, pods="0"))
    for number in range(6):
        pod = make_pod(f"q{number}", labels={"color": "blue"}, **spread)
        assert explained(short, pod) == explained(plain, pod)
        host = short.place(pod)
        assert host == plain.place(pod)
        assert "0/5" not in host


def test_pods_that_ask_for_others_look_at_one_node_each() -> None:
    model = Model([make_node(f"n{i}", labels={ZONE: "abc"[i % 3]}) for i in range(600)], batch=True)
    counting = Counting(next(p for p in model.framework.filter_plugins if p.name == NodeResourcesFit.name))
    for kind, spec in ABOUT_OTHERS.items():
        model.place(make_pod(f"first {kind}", labels={"color": "blue"}, **spec))
        model.place(make_pod(f"second {kind}", labels={"color": "blue"}, **spec))
        before = counting.calls
        for number in range(20):
            model.place(make_pod(f"{kind} {number}", labels={"color": "blue"}, **spec))
        assert counting.calls - before <= 21, kind


def test_nodes_that_differ_by_name_only_are_one_class_for_the_default_spreading() -> None:
    """However many hosts there are: for a Service's pods what counts is the zone, and how many of them are there already."""
    model = Model([make_node(f"n{i}", labels={ZONE: "abc"[i % 3]}) for i in range(90)], batch=True)
    for number in range(6):
        model.place(make_pod(f"p{number}", labels={"app": "web"}, requests={"cpu": "100m"}))
    assert model.algorithm._batch is not None
    (kind,) = filter(None, model.algorithm._batch._equivalences.values())
    assert kind.sizes.total() == 90
    assert len(+kind.sizes) == 6  # three zones, each with and without


@pytest.mark.parametrize("kind", [None, "spread over zones"])
def test_no_step_that_takes_long_looks_at_more_nodes_than_a_few(
    kind: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pod may have thousands of terms, each of which costs at each node: also when its kind is looked at as a whole."""
    monkeypatch.setattr(steps, "STEP", 0.0)
    model = Model([make_node(f"n{i}", labels={ZONE: "abc"[i % 3]}) for i in range(150)], batch=True)
    counting = Counting(next(p for p in model.framework.filter_plugins if p.name == NodeResourcesFit.name))
    spec = {} if kind is None else ABOUT_OTHERS[kind]
    for number in range(4):
        pod = make_pod(f"p{number}", labels={"color": "blue"}, requests={"cpu": "10m"}, **spec)
        model.cache.update_snapshot(model.snapshot)
        decision, before, most = model.algorithm.decide(CycleState(), PodInfo(pod)), counting.calls, 0
        while True:
            try:
                next(decision)
            except StopIteration as end:
                host = end.value.suggested_host
                break
            finally:
                most, before = max(most, counting.calls - before), counting.calls
        assert most <= NODES
        model.cache.assume_pod(PodInfo({**pod, "spec": {**pod["spec"], "nodeName": host}}))


@pytest.mark.parametrize("kind", ["spread over zones", "near", "far"])
def test_what_is_kept_of_a_node_holds_none_of_its_pods(kind: str) -> None:
    """A pod may have thousands of terms, and be gone long before nodes change."""
    model = Model([make_node(f"n{i}", labels={ZONE: "abc"[i % 3]}) for i in range(9)], batch=True)
    for number in range(9):
        model.place(make_pod(f"p{number}", labels={"color": "blue"}, **ABOUT_OTHERS[kind]))
    assert model.algorithm._batch is not None
    [equivalence] = filter(None, model.algorithm._batch._equivalences.values())
    assert equivalence._samples
    assert not any(node.pods or node.pods_with_affinity for node in equivalence._samples)


def test_terms_that_choose_namespaces_by_labels_are_not_shared() -> None:
    chosen = {**term(ZONE, BLUE), "namespaceSelector": {}}
    model = Model([make_node(f"n{i}", labels={ZONE: "a"}) for i in range(3)], batch=True)
    pod = make_pod("p", labels={"color": "blue"}, affinity=required("podAffinity", chosen))
    assert OpportunisticBatch(model.framework).sign_pod(PodInfo(pod), model.snapshot) is None


def test_a_node_that_is_kept_for_somebody_does_not_make_others_look_at_all_nodes() -> None:
    model = Model([make_node(f"n{i}") for i in range(600)], batch=True)
    model.nominator.add_nominated_pod(PodInfo(make_pod("important", priority=5)), "n3")
    counting = Counting(next(p for p in model.framework.filter_plugins if p.name == NodeResourcesFit.name))
    for number in range(2):
        model.place(make_pod(f"p{number}"))
    before = counting.calls
    for number in range(20):
        model.place(make_pod(f"q{number}"))
    assert counting.calls - before <= 20 * 3  # the one that changed, and the kept one with and without its pod


@pytest.mark.parametrize("first", [True, False], ids=["appears", "goes"])
def test_a_kept_node_is_asked_with_the_filters_that_concern_the_pod_now(first: bool) -> None:
    """What others want becomes a matter of this pod, or is none any more, between two decisions."""
    nodes = [make_node(f"n{i}", labels={ZONE: "ab"[i]}) for i in range(2)]
    away = required("podAntiAffinity", term(ZONE, BLUE))
    answers = []
    for batch in (True, False):
        model = Model(nodes, batch=batch)
        apart = make_pod("apart", affinity=required("podAntiAffinity", term(ZONE, {"matchLabels": {"x": "y"}})))
        other = make_pod("other", affinity=away, nodeName="n0")
        model.cache.add_pod({**apart, "spec": {**apart["spec"], "nodeName": "n0"}})
        if not first:
            model.cache.add_pod(other)
        awaited = PodInfo(make_pod("important", priority=5, affinity=away))
        told = [model.place(make_pod(f"blue-{i}", labels={"color": "blue"})) for i in range(3)]
        model.nominator.add_nominated_pod(awaited, "n1")
        (model.cache.add_pod if first else model.cache.remove_pod)(other)
        told += [model.place(make_pod(f"blue-{i}", labels={"color": "blue"})) for i in range(3, 6)]
        answers.append([host if "0/2" in host else "a node" for host in told])
    assert answers[0] == answers[1]


def test_nodes_that_have_room_but_for_whom_they_are_kept_are_told_with_that_reason() -> None:
    model = Model([make_node(f"n{i}", cpu="1") for i in range(2)], batch=True)
    for i in range(2):
        awaited = make_pod(f"important-{i}", requests={"cpu": "1"}, priority=5)
        model.nominator.add_nominated_pod(PodInfo(awaited), f"n{i}")
    for number in range(3):
        pod = make_pod(f"p{number}", requests={"cpu": "1"})
        assert model.place(pod) == "0/2 nodes are available: 2 Insufficient cpu."
    others = make_pod("other", requests={"cpu": "1"})
    model.nominator.delete_nominated_pod_if_exists("default/important-1")
    model.nominator.add_nominated_pod(PodInfo(make_pod("small", priority=5)), "n1")
    assert model.decide(others).suggested_host == "n1"
    model.nominator.add_nominated_pod(PodInfo(awaited), "n1")
    assert model.place(others) == "0/2 nodes are available: 2 Insufficient cpu."
    assert model.place(make_pod("most important", requests={"cpu": "1"}, priority=9)) in ("n0", "n1")


def test_where_a_profile_asks_about_others_first_the_first_reason_is_told_all_the_same() -> None:
    plugins = dict(MULTI_POINT_DEFAULTS)
    first = {"InterPodAffinity": plugins.pop("InterPodAffinity"), **plugins}
    framework = new_framework(Profile("mine", tuple(first.items())), Options(Listers(), Nominator()))
    model = Model([make_node(f"n{i}", cpu="1") for i in range(3)], batch=True, framework=framework)
    spec = ABOUT_OTHERS["near"]
    for number in range(3):
        pod = make_pod(f"p{number}", labels={"color": "red"}, requests={"cpu": "2"}, **spec)
        assert model.place(pod) == "0/3 nodes are available: 3 node(s) didn't match pod affinity rules."


def test_a_filter_that_fails_is_told_even_where_other_nodes_would_do() -> None:
    model = Model([make_node(f"n{i}") for i in range(6)], batch=True)
    plugin = next(p for p in model.framework.filter_plugins if p.name == NodeResourcesFit.name)
    plugin.filter = lambda state, info, node: as_status(PluginError("oh")) if node.name == "n5" else None  # type: ignore[method-assign]
    for number in range(3):
        with pytest.raises(PluginError, match=r'running "NodeResourcesFit" filter plugin: oh$'):
            model.place(make_pod(f"p{number}"))


def test_why_a_kind_of_pods_fits_nowhere_is_not_found_out_anew_for_each() -> None:
    model = Model([make_node(f"n{i}", cpu="1") for i in range(600)], batch=True)
    counting = Counting(next(p for p in model.framework.filter_plugins if p.name == NodeResourcesFit.name))
    answers = {model.place(make_pod(f"p{i}", requests={"cpu": "2"})) for i in range(20)}
    assert answers == {"0/600 nodes are available: 600 Insufficient cpu."}
    assert counting.calls == 2 * 600


def an_equivalence_with_a_refused_first_node(nodes: int) -> Equivalence:
    taint: Object = {"key": "control-plane", "effect": "NoSchedule"}
    model = Model([make_node("control-plane", taints=(taint,)), make_node("n1")], batch=True)
    model.place(make_pod("first"))
    second = PodInfo(make_pod("second"))
    equivalence = Equivalence(model.framework, second, model.snapshot)
    at_once(equivalence.evaluate(second, model.snapshot))
    refused, accepted = equivalence.keys
    equivalence.keys = [refused, *[accepted] * (nodes - 1)]
    return equivalence


def test_a_window_goes_round_and_leaves_out_who_is_refused() -> None:
    equivalence = an_equivalence_with_a_refused_first_node(401)
    assert equivalence.window(0, 100) == (list(range(1, 101)), 101)
    assert equivalence.window(390, 20) == ([*range(390, 401), *range(1, 10)], 21)


def test_a_window_takes_as_much_memory_among_many_nodes_as_among_few() -> None:
    peaks = []
    for nodes in (500, 50_000):
        equivalence = an_equivalence_with_a_refused_first_node(nodes)
        tracemalloc.start()
        equivalence.window(0, 100)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 10_000  # a place in a list is 8 bytes


class Counting:
    """A plugin's `filter`, and how many nodes it was asked about."""

    def __init__(self, plugin: FilterPlugin) -> None:
        self._filter = plugin.filter
        self.calls = 0
        plugin.filter = self  # type: ignore[method-assign]

    def __call__(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        self.calls += 1
        return self._filter(state, info, node)


def test_the_second_pod_of_a_kind_asks_about_every_node_and_each_later_one_about_the_one_that_changed() -> None:
    model = Model([make_node(f"n{i}") for i in range(1000)], batch=True)
    counting = Counting(next(p for p in model.framework.filter_plugins if p.name == NodeResourcesFit.name))
    model.place(make_pod("first", labels={"app": "a"}))
    assert counting.calls == 420  # as many as it needs
    model.place(make_pod("second", labels={"app": "a"}))
    assert counting.calls == 420 + 1000
    for number in range(300):
        model.place(make_pod(f"p{number}", labels={"app": "a"}))
    assert counting.calls == 420 + 1000 + 300


def on_nodes(*names: str) -> Object:
    """An affinity to nodes by their names, each in a requirement of its own, all of them of one term."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}
        }
    }


@pytest.mark.parametrize("names", [("n3",), ("n3", "n4")], ids=["one node is left", "none is left"])
def test_a_pod_whose_nodes_are_decided_before_any_is_looked_at_takes_the_plain_path(names: tuple[str, ...]) -> None:
    nodes = [make_node(f"n{i}") for i in range(8)]
    short, plain = Model(nodes, batch=True), Model(nodes, batch=False)
    for number in range(3):
        pod = make_pod(f"p{number}", affinity=on_nodes(*names))
        assert explained(short, pod) == explained(plain, pod)
        assert short.place(pod) == plain.place(pod)
        assert short.algorithm.next_start_node_index == plain.algorithm.next_start_node_index
    assert not Equivalence(short.framework, PodInfo(pod), short.snapshot).possible
