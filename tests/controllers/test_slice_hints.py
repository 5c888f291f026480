"""Hints in slices: by zone shares, by closeness, and taken away again.

Upstream: `endpointslice/topologycache/*_test.go`, `trafficdist/trafficdist_test.go`, `reconciler_test.go` (`TestReconcileTopology`,
`TestReconcile_TrafficDistribution`), v1.36, restated.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.controllers.pods_and_slices import pod, service, stored

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.indexer import Indexer
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.endpointslice.endpointslice_tracker import EndpointSliceTracker
from lifecycle.controllers.endpointslice.reconciler import Reconciler
from lifecycle.controllers.endpointslice.slice_changes import Changes
from lifecycle.controllers.endpointslice.topology_allocation import (
    Allocation,
    allocate,
    giving_and_receiving_zones,
    hints_by_zone,
)
from lifecycle.controllers.endpointslice.topology_cache import TopologyCache

ZONE = "topology.kubernetes.io/zone"
ZONES = ("zone-a", "zone-b", "zone-c")
AUTO = "service.kubernetes.io/topology-mode"
OLD_AUTO = "service.kubernetes.io/topology-aware-hints"


def node(name: str, zone: str = "", cpu: str = "100m", ready: str = "True", **labels: str) -> Object:
    where = {ZONE: zone} if zone else {}
    status = {"conditions": [{"type": "Ready", "status": ready}], "allocatable": {"cpu": cpu}}
    return {"metadata": {"name": name, "labels": {**labels, **where}}, "status": status}


NODES = [node(f"{zone}-{n}", zone) for zone in ZONES for n in range(10)]


class Bench:
    """A reconciler that writes nothing, with what it remembers of zones."""

    def __init__(self, nodes: Sequence[Object] = NODES) -> None:
        index = Indexer()
        for one in nodes:
            index.set(one["metadata"]["name"], one)
        topology = TopologyCache(lambda: nodes)
        self._reconciler = Reconciler(None, index, EndpointSliceTracker(), topology)  # type: ignore[arg-type]

    def __call__(self, svc: Object, pods: Sequence[Object], existing: Sequence[Object] = ()) -> Changes:
        changes, missing = self._reconciler.reconcile_by_address_type(svc, pods, existing, "IPv4")
        assert not missing
        return changes


def web(annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    svc = service({"port": 80, "targetPort": 80, "name": ""}, **spec)
    svc["metadata"]["annotations"] = annotations or {}
    return svc


def pods_in(where: str) -> list[Object]:
    """`aab`: two pods in zone-a, one in zone-b, each on a node of its own."""
    seen: Counter[str] = Counter()
    found = []
    for number, letter in enumerate(where):
        found.append(pod(number + 1, nodeName=f"zone-{letter}-{seen[letter]}"))
        seen[letter] += 1
    return found


def hinted(slices: Sequence[Object], kind: str = "forZones") -> Counter[str]:
    """How many endpoints are hinted for what."""
    hints = [(e.get("hints") or {}).get(kind) or () for s in slices for e in s["endpoints"]]
    return Counter(hint["name"] for one in hints for hint in one)


def lent(slices: Sequence[Object]) -> int:
    return sum(e["hints"]["forZones"][0]["name"] != e["zone"] for s in slices for e in s["endpoints"])


def told(changes: Changes) -> list[tuple[str, str, str]]:
    return [tuple(event) for event in changes.events]  # type: ignore[misc]


# -- the annotation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "shares", "crossing"),
    [
        ("ccc", {"zone-a": 1, "zone-b": 1, "zone-c": 1}, 2),  # two of the three are lent
        ("aabbb", None, 0),  # zone-c cannot have its share without overload for somebody
        ("aabbcc", {"zone-a": 2, "zone-b": 2, "zone-c": 2}, 0),
        ("aacc" + "aabbb", {"zone-a": 3, "zone-b": 3, "zone-c": 3}, 1),
        ("aacc", None, 0),
    ],
)
def test_zones_get_endpoints_as_they_have_cpus(where: str, shares: dict[str, int] | None, crossing: int) -> None:
    bench = Bench()
    if shares is None and len(where) == 5:
        assert allocate(dict.fromkeys(ZONES, 1 / 3), 5) is None
    changes = bench(web({AUTO: "Auto"}), pods_in(where))
    if shares is None:
        assert hinted(changes.create) == {}
        [(kind, reason, message)] = told(changes)
        problem = "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold"
        assert message == f"{problem} ({len(where)} endpoints, 3 zones), addressType: IPv4"
        assert (kind, reason) == ("Warning", "TopologyAwareHintsDisabled")
        return
    assert hinted(changes.create) == shares
    assert lent(changes.create) == crossing
    assert told(changes) == [
        ("Normal", "TopologyAwareHintsEnabled", "Topology Aware Hints has been enabled, addressType: IPv4")
    ]


def test_the_annotation_goes_before_the_field_and_its_old_name_before_its_new_one() -> None:
    six = [
        pod(1, nodeName="zone-a-0"),
        *(pod(n, nodeName="zone-b-0") for n in (2, 3, 4)),
        *(pod(n, nodeName="zone-c-0") for n in (5, 6)),
    ]
    close = {"zone-a": 1, "zone-b": 3, "zone-c": 2}
    fair = dict.fromkeys(ZONES, 2)
    for asked, found in (
        ({AUTO: "Auto"}, fair),
        ({OLD_AUTO: "auto"}, fair),
        ({OLD_AUTO: "Disabled", AUTO: "Auto"}, close),
        ({AUTO: "aUto"}, close),
        ({}, close),
    ):
        assert hinted(Bench()(web(asked, trafficDistribution="PreferClose"), six).create) == found


def test_hints_that_are_no_longer_wanted_are_taken_away_and_it_is_told_once() -> None:
    bench = Bench()
    pods = pods_in("aabbcc")
    [made] = bench(web({AUTO: "Auto"}), pods).create
    kept = bench(web({AUTO: "Auto"}), pods, [stored(made)])
    assert (kept.update, kept.events, len(kept.unchanged)) == ([], [], 1)
    changes = bench(web(), pods, [stored(made)])
    assert hinted(changes.update) == {}
    assert told(changes) == [
        ("Warning", "TopologyAwareHintsDisabled", "Topology Aware Hints has been disabled, addressType: IPv4")
    ]
    again = bench(web(), pods, [stored(changes.update[0])])
    assert (again.update, again.events) == ([], [])


def test_what_is_wrong_with_the_nodes_or_the_endpoints_is_told() -> None:
    lame = [*NODES, node("lost")]
    cases = (
        (
            lame,
            pods_in("aabbcc"),
            "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes",
        ),
        (NODES, pods_in("ab"), "Insufficient number of endpoints (2 endpoints, 3 zones)"),
        (
            [*NODES, node("lost", ready="False")],
            [*pods_in("aabbc"), pod(9, nodeName="lost")],
            "One or more endpoints do not have a zone specified",
        ),
    )
    for nodes, pods, message in cases:
        changes = Bench(nodes)(web({AUTO: "Auto"}), pods)
        assert told(changes) == [("Warning", "TopologyAwareHintsDisabled", f"{message}, addressType: IPv4")]
        assert hinted(changes.create) == {}


CPUS = {
    "one zone": ([node("1", "a"), node("2", "a")], {}),
    "two zones": ([node("1", "a"), node("2", "b")], {"a": 0.5, "b": 0.5}),
    "one is not ready": ([node("1", "a", ready="False"), node("2", "b")], {}),
    "the control plane": ([node("1", "a"), node("2", "b", **{"node-role.kubernetes.io/control-plane": ""})], {}),
    "some do not count": ([node("1", "a"), node("2", "b"), node("3", "b", ready="Unknown")], {"a": 0.5, "b": 0.5}),
    "no CPUs": ([node("1", "a"), node("2", "b", cpu="0")], {}),
    "seven nodes": (
        [node(c, z, c) for z, c in (("a", "1"), ("a", "1000m"), ("a", "1"), ("a", "2"), ("b", "3"), ("b", "1500m"), ("c", "500m"))],
        {"a": 0.5, "b": 0.45, "c": 0.05},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CPUS)
def test_shares_of_cpus(case: str) -> None:
    nodes, shares = CPUS[case]
    cache = TopologyCache(lambda: nodes)
    assert cache.shares == shares


@pytest.mark.parametrize(
    ("desired", "hints", "giving", "receiving"),
    [
        ({"a": 1.2, "b": 1.1, "c": 1.0}, {"a": 1, "b": 1, "c": 1}, {}, {}),
        ({"a": 5.1, "b": 5.1, "c": 5.8}, {"a": 16}, {"a": 10}, {"b": 5, "c": 5}),
        ({"a": 5.0, "b": 5.6, "c": 5.4}, {"a": 16}, {"a": 11}, {"b": 6, "c": 5}),
        ({"a": 5.0, "b": 5.6, "c": 5.4}, {"b": 8, "c": 8}, {"b": 2, "c": 3}, {"a": 5}),
        ({"a": 5.0, "b": 5.0, "c": 5.0}, {"a": 6, "b": 6, "c": 6}, {}, {}),
        ({"a": -5.0, "b": -5.0}, {"a": 6, "b": 6}, {}, {}),
        ({"a": 5.0, "b": 5.0, "c": 5.0}, {"a": -40, "b": 20, "c": 20}, {"b": 15, "c": 15}, {"a": 30}),
        ({}, {}, {}, {}),
    ],
)
def test_who_lends_to_whom(desired: dict[str, float], hints: dict[str, int], giving: Any, receiving: Any) -> None:
    allocations = {zone: Allocation(0, 0, number) for zone, number in desired.items()}
    assert giving_and_receiving_zones(allocations, hints) == (giving, receiving)


@pytest.mark.parametrize(
    ("hints", "maximum", "already", "found"),
    [
        ([["a"]], {"a": 3}, {"a": 1}, {"a": 1}),
        ([["a"], ["b"], ["b"]], {"a": 3, "b": 3, "c": 3}, {"a": 1, "b": 1}, {"a": 1, "b": 2}),
        ([["elsewhere"]], {"a": 3}, {}, None),
        ([None], {"a": 3}, {}, None),
        ([[]], {"a": 3}, {}, None),
        ([["a"], ["a"]], {"a": 2}, {"a": 1}, None),
    ],
)
def test_hints_that_a_slice_may_keep(
    hints: list[Any], maximum: dict[str, int], already: dict[str, int], found: Any
) -> None:
    def one(zones: Any, ready: bool = True) -> Object:
        told = {} if zones is None else {"hints": {"forZones": [{"name": zone} for zone in zones]}}
        return {"conditions": {"ready": ready}, **told}

    allocations = {zone: Allocation(0, number, 0.0) for zone, number in maximum.items()}
    ends = [*map(one, hints), one(None, ready=False)]
    assert hints_by_zone({"endpoints": ends}, already, allocations) == found


@given(st.lists(st.integers(1, 20), min_size=2, max_size=5), st.integers(2, 60), st.data())
def test_lending_brings_every_zone_nearer_to_its_share(cpus: list[int], endpoints: int, data: st.DataObject) -> None:
    shares = {f"z{n}": cpu / sum(cpus) for n, cpu in enumerate(cpus)}
    allocations = allocate(shares, endpoints)
    if allocations is None:
        return
    assert all(
        endpoints * share <= minimum * 1.2 + 1e-9
        for share, (minimum, _, _) in zip(shares.values(), allocations.values())
    )
    before = Counter(data.draw(st.lists(st.sampled_from(sorted(shares)), min_size=endpoints, max_size=endpoints)))
    giving, receiving = giving_and_receiving_zones(allocations, before)
    assert giving.total() == receiving.total()
    assert not giving.keys() & receiving.keys()
    after = before - giving + receiving
    for zone, allocation in allocations.items():
        assert abs(after[zone] - allocation.desired) <= max(abs(before[zone] - allocation.desired), 0.5)


# -- the field ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["PreferClose", "PreferSameZone", "PreferSameNode"])
def test_close_endpoints_are_hinted_for_where_they_are(value: str) -> None:
    changes = Bench()(web(trafficDistribution=value), pods_in("abbbcc"))
    assert hinted(changes.create) == {"zone-a": 1, "zone-b": 3, "zone-c": 2}
    nodes = hinted(changes.create, "forNodes")
    assert nodes == ({p["spec"]["nodeName"]: 1 for p in pods_in("abbbcc")} if value == "PreferSameNode" else {})


def test_without_zones_there_are_hints_for_nodes_only() -> None:
    plain = [node("n1"), node("n2")]
    pods = [pod(1, nodeName="n1"), pod(2, nodeName="n2")]
    for value, kinds in (("PreferClose", set()), ("PreferSameNode", {"forNodes"})):
        [made] = Bench(plain)(web(trafficDistribution=value), pods).create
        assert {kind for e in made["endpoints"] for kind in e.get("hints") or ()} == kinds


def test_wrong_hints_are_put_right_and_those_of_unready_endpoints_left_alone() -> None:
    bench, svc, pods = Bench(), web(trafficDistribution="PreferSameZone"), pods_in("ab")
    pods[1]["status"]["conditions"][0]["status"] = "False"
    [made] = bench(svc, pods).create
    assert hinted([made]) == {"zone-a": 1}
    odd = stored(made)
    odd["endpoints"][1]["hints"] = {"forZones": [{"name": "zone-x"}]}
    assert bench(svc, pods, [odd]).update == []
    odd["endpoints"][0]["hints"] = {"forZones": [{"name": "zone-c"}]}
    assert hinted(bench(svc, pods, [odd]).update) == {"zone-a": 1, "zone-x": 1}
    for value in (None, "Unknown"):
        [bare] = bench(web(trafficDistribution=value), pods, [odd]).update
        assert hinted([bare]) == {}


# -- the whole way -----------------------------------------------------------------------------------------------------


def test_a_zone_that_grows_gets_more_endpoints() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        nodes, pods, services = resource("nodes"), resource("pods"), resource("services")
        for n, (zone, cpu) in enumerate((("a", "2"), ("b", "2"))):
            await client.create(nodes, node(f"n{n}", zone, cpu))
            await client.update(
                nodes,
                {**await client.get(nodes, f"n{n}"), "status": node("", zone, cpu)["status"]},
                subresource="status",
            )
        for n in range(6):
            one = pod(n, nodeName=f"n{n % 2}")
            meta = {"name": f"web-{n}", "labels": {"app": "web"}}
            made = {"metadata": meta, "spec": {"nodeName": f"n{n % 2}", "containers": [{"name": "c", "image": "i"}]}}
            await client.create(pods, made, "default")
            await client.update(
                pods, {**await client.get(pods, f"web-{n}", "default"), "status": one["status"]}, subresource="status"
            )
        meta = {"name": "web", "annotations": {AUTO: "Auto"}}
        await client.create(
            services, {"metadata": meta, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}, "default"
        )
        await asyncio.sleep(3)
        assert hinted(await _slices(cluster)) == {"a": 3, "b": 3}

        await client.create(nodes, node("n2", "a", "4"))
        await client.update(
            nodes, {**await client.get(nodes, "n2"), "status": node("", "a", "4")["status"]}, subresource="status"
        )
        await asyncio.sleep(3)
        assert hinted(await _slices(cluster)) == {"a": 4, "b": 2}

        await client.patch(nodes, "n1", "", {"metadata": {"labels": {ZONE: None}}})
        await asyncio.sleep(3)
        assert hinted(await _slices(cluster)) == {}
        events = {e["reason"]: e for e in await cluster.items("events")}
        assert events["TopologyAwareHintsEnabled"]["involvedObject"]["kind"] == "Service"
        assert events["TopologyAwareHintsDisabled"]["source"] == {"component": "endpoint-slice-controller"}

    rehearse(scene, without=("kubelet", "scheduler"))


async def _slices(cluster: RehearsedCluster) -> list[Object]:
    return [
        s for s in await cluster.items("endpointslices.discovery.k8s.io") if s["metadata"]["name"].startswith("web-")
    ]
