"""Pods behind a Service: shapes of upstream's own tests (`reconciler_test.go`, `endpoints_controller_test.go`), restated."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from tests.controllers.pods_and_slices import pod, service, stored
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.indexer import Indexer
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.endpoints.endpoints_controller import (
    is_unchanged,
    new_endpoints,
    truncate_endpoints,
)
from lifecycle.controllers.endpointslice.endpointslice_tracker import EndpointSliceTracker
from lifecycle.controllers.endpointslice.reconciler import Reconciler
from lifecycle.controllers.endpointslice.slice_changes import Changes

ENDPOINTS, SERVICES = resource("endpoints"), resource("services")
SLICES, PODS = resource("endpointslices.discovery.k8s.io"), resource("pods")


def reconciled(service: Object, pods: Sequence[Object], existing: Sequence[Object] = ()) -> Changes:
    nodes = Indexer()
    nodes.set("node", {"metadata": {"name": "node"}})
    reconciler = Reconciler(None, nodes, EndpointSliceTracker())  # type: ignore[arg-type]  # nothing is written
    changes, missing = reconciler.reconcile_by_address_type(service, pods, existing, "IPv4")
    assert not missing
    return changes


def test_a_headless_service_without_ports_fills_the_slice_that_stood_for_none() -> None:
    headless = service(clusterIP="None")
    (placeholder,) = reconciled(headless, []).create
    changes = reconciled(headless, [pod(1), pod(2)], [stored(placeholder)])
    assert (len(changes.create), len(changes.delete)) == (0, 0)
    (updated,) = changes.update
    assert (updated["metadata"]["name"], len(updated["endpoints"])) == ("web-1", 2)


def test_a_pod_that_comes_back_under_its_name_and_address_keeps_its_place() -> None:
    web = service({"port": 80, "targetPort": 8080})
    (made,) = reconciled(web, [pod(1), pod(2)]).create
    changes = reconciled(web, [pod(1, uid="born again"), pod(2)], [stored(made)])
    assert (len(changes.create), len(changes.delete)) == (0, 0)
    (updated,) = changes.update
    assert [e["targetRef"]["uid"] for e in updated["endpoints"]] == ["born again", "pod-2"]


@pytest.mark.parametrize(("pods", "sizes"), [(99, [99]), (100, [100]), (250, [100, 100, 50])])
def test_a_slice_holds_a_hundred(pods: int, sizes: list[int]) -> None:
    made = reconciled(service({"port": 80, "targetPort": 80}), [pod(n) for n in range(pods)]).create
    assert [len(one["endpoints"]) for one in made] == sizes


def test_more_pods_first_fill_the_fullest_slice_that_has_room_for_all_of_them() -> None:
    """Sixty and seventy are taken; twenty-five more go where seventy are, thirty-five where sixty are, forty-five into a new one."""
    web = service({"port": 80, "targetPort": 80})
    parts = [[pod(n) for n in range(60)], [pod(n) for n in range(100, 170)]]
    existing = [stored(reconciled(web, part).create[0], n) for n, part in enumerate(parts)]
    for more, where in ((25, ["web-1"]), (35, ["web-0"]), (45, [])):
        everybody = [*parts[0], *parts[1], *(pod(n) for n in range(300, 300 + more))]
        changes = reconciled(web, everybody, existing)
        assert [one["metadata"]["name"] for one in changes.update] == where
        assert [len(one["endpoints"]) for one in changes.create] == ([] if where else [more])


def test_a_named_port_that_differs_from_pod_to_pod_makes_a_slice_each() -> None:
    def with_port(number: int, port: int) -> Object:
        container = {"name": "c", "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}]}
        return pod(number, containers=[container])

    ports = (
        {"name": "a", "port": 80, "targetPort": "http", "protocol": "TCP"},
        {"name": "b", "port": 81, "targetPort": 81},
    )
    made = reconciled(service(*ports), [with_port(1, 8080), with_port(2, 8080), with_port(3, 9090), pod(4)]).create
    told = sorted((len(one["endpoints"]), sorted(port["port"] for port in one["ports"])) for one in made)
    assert told == [(1, [81]), (1, [81, 9090]), (2, [81, 8080])]


def subset(ready: int, not_ready: int, port: int) -> Object:
    return {
        "addresses": [{"ip": f"1.{n}"} for n in range(ready)],
        "notReadyAddresses": [{"ip": f"2.{n}"} for n in range(not_ready)],
        "ports": [{"port": port}],
    }


@pytest.mark.parametrize(
    ("sizes", "left"),
    [
        ([(700, 300)], None),
        ([(1500, 500)], [(1000, 0)]),
        ([(900, 300)], [(900, 100)]),
        ([(1000, 10), (200, 5)], [(834, 0), (166, 0)]),
        ([(400, 300), (300, 300)], [(400, 150), (300, 150)]),
        ([(999, 1), (0, 9), (0, 90)], [(999, 1)]),
    ],
)
def test_more_than_a_thousand_addresses_are_cut_in_proportion(
    sizes: list[tuple[int, int]], left: list[tuple[int, int]] | None
) -> None:
    subsets = [subset(*size, port=number) for number, size in enumerate(sizes)]
    cut, truncated = truncate_endpoints(subsets)
    assert truncated == (left is not None)
    told = [(len(s.get("addresses", ())), len(s.get("notReadyAddresses", ()))) for s in cut]
    assert told == (left or sizes)


def test_an_external_name_gets_no_endpoints_even_with_a_selector() -> None:
    async def scene(cluster: RehearsedCluster) -> list[int]:
        client = cluster.client("me")
        away = {"type": "ExternalName", "externalName": "example.com", "selector": {"app": "web"}}
        await client.create(SERVICES, {"metadata": {"name": "away"}, "spec": away}, "default")
        await asyncio.sleep(2)
        found = [(await client.list(kind, "default"))["items"] for kind in (ENDPOINTS, SLICES)]
        return [sum(one["metadata"]["name"].startswith("away") for one in items) for items in found]

    assert rehearse(scene, without=("kubelet", "scheduler")) == [0, 0]


WEB = service({"port": 80, "targetPort": 80})


def test_a_new_port_packs_the_endpoints_anew() -> None:
    """Ten slices of thirty stay as they are, until all of them have to be written."""
    pods = [pod(n) for n in range(300)]
    existing = [stored(reconciled(WEB, pods[n : n + 30]).create[0], n) for n in range(0, 300, 30)]
    kept = reconciled(WEB, pods, existing)
    assert [*kept.create, *kept.update, *kept.delete] == []
    api = FakeAPI()
    asyncio.run(_finalized(api, service({"port": 80, "targetPort": 81}), pods, existing))
    assert Counter(method for _, method, _, _ in api.log) == {"PUT": 3, "DELETE": 7}
    assert [len(s["endpoints"]) for s in api.objects.values()] == [100, 100, 100]


def test_slices_that_are_written_anyway_are_filled_first_the_fullest_before_others() -> None:
    many, few = [pod(n) for n in range(80)], [pod(n) for n in range(100, 120)]
    existing = [stored(reconciled(WEB, part).create[0], n) for n, part in enumerate((few, many))]
    for one in (many[0], few[0]):
        one["status"]["conditions"][0]["status"] = "False"
    changes = reconciled(WEB, [*few, *many, *(pod(n) for n in range(200, 215))], existing)
    assert sorted(len(one["endpoints"]) for one in changes.update) == [20, 95]
    assert not changes.create


@pytest.mark.parametrize(
    ("published", "known", "found"),
    [(False, {"n0"}, {"n0"}), (True, {"n0"}, {"n0", "n1"}), (True, set(), {"n0", "n1"}), (False, set(), set())],
)
def test_a_pod_on_a_node_that_nobody_knows(published: bool, known: set[str], found: set[str]) -> None:
    svc = service({"port": 80, "targetPort": 80}, publishNotReadyAddresses=published)
    pods = [pod(n, nodeName=f"n{n}") for n in (0, 1)]
    nodes = Indexer()
    for name in known:
        nodes.set(name, {"metadata": {"name": name}})
    reconciler = Reconciler(None, nodes, EndpointSliceTracker())  # type: ignore[arg-type]
    changes, missing = reconciler.reconcile_by_address_type(svc, pods, [], "IPv4")
    assert {e["nodeName"] for one in changes.create for e in one["endpoints"] or ()} == found
    lost = sorted({"n0", "n1"} - found)
    assert missing == [f"skipping Pod web-{n[1]} for Service ns/web: Node {n} Not Found" for n in lost]


def test_a_slice_of_an_earlier_service_of_that_name_is_not_reused() -> None:
    (made,) = reconciled(WEB, [pod(1)]).create
    alien = stored(made)
    alien["metadata"]["ownerReferences"][0]["uid"] = "earlier"
    changes = reconciled(WEB, [pod(1)], [alien])
    assert (len(changes.create), changes.update, changes.delete) == (1, [], [alien])
    api = FakeAPI()
    asyncio.run(_finalized(api, WEB, [pod(1)], [alien]))
    assert [method for _, method, _, _ in api.log] == ["POST", "DELETE"]


def test_for_a_service_that_is_being_deleted_nothing_is_made() -> None:
    going = {**WEB, "metadata": {**WEB["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    (made,) = reconciled(WEB, [pod(1)]).create
    for existing, methods in (([], []), ([stored(made)], ["PUT"])):
        api = FakeAPI()
        asyncio.run(_finalized(api, going, [pod(1), pod(2)], existing))
        assert [method for _, method, _, _ in api.log] == methods


async def _finalized(api: FakeAPI, svc: Object, pods: Sequence[Object], existing: Sequence[Object]) -> None:
    client = Client(api, "endpointslice-controller")
    for one in existing:
        await client.create(SLICES, one, "ns")
    api.log.clear()
    nodes = Indexer()
    nodes.set("node", {"metadata": {"name": "node"}})
    _, errors = await Reconciler(client, nodes, EndpointSliceTracker()).reconcile(svc, pods, existing, "")
    assert errors == []


def test_labels_follow_the_service_except_those_that_say_whose_a_slice_is() -> None:
    (made,) = reconciled(WEB, [pod(1)]).create
    labelled = {**WEB, "metadata": {**WEB["metadata"], "labels": {"a": "b"}}}
    (updated,) = reconciled(labelled, [pod(1)], [stored(made)]).update
    assert {**made["metadata"]["labels"], "a": "b"} == updated["metadata"]["labels"]
    reserved = dict.fromkeys(made["metadata"]["labels"], "mine") | {"service.kubernetes.io/headless": "mine"}
    stubborn = {**WEB, "metadata": {**WEB["metadata"], "labels": reserved}}
    assert reconciled(stubborn, [pod(1)], [stored(made)]).update == []


def test_both_families_and_an_address_in_an_odd_spelling() -> None:
    dual = service({"port": 80, "targetPort": 80}, ipFamilies=["IPv4", "IPv6"])
    one = pod(1)
    one["status"]["podIPs"] = [{"ip": "10.1.0.2"}, {"ip": "1234::5678:0000:0000:9abc:def0"}]
    nodes = Indexer()
    nodes.set("node", {"metadata": {"name": "node"}})
    reconciler = Reconciler(None, nodes, EndpointSliceTracker())  # type: ignore[arg-type]
    made = [reconciler.reconcile_by_address_type(dual, [one], [], family)[0].create[0] for family in ("IPv4", "IPv6")]
    assert [m["endpoints"][0]["addresses"] for m in made] == [["10.1.0.2"], ["1234::5678:0:0:9abc:def0"]]


def test_trouble_with_slices_is_told_at_the_service() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        labels = {"app": "web"}
        spec = {"nodeName": "nowhere", "containers": [{"name": "c", "image": "i"}]}
        await client.create(PODS, {"metadata": {"name": "web-0", "labels": labels}, "spec": spec}, "default")
        status = {**await client.get(PODS, "web-0", "default"), "status": pod(0)["status"]}
        await client.update(PODS, status, subresource="status")
        await client.create(
            SERVICES, {"metadata": {"name": "web"}, "spec": {"selector": labels, "ports": [{"port": 80}]}}, "default"
        )
        await asyncio.sleep(8)
        [event] = [e for e in await cluster.items("events") if e["reason"] == "FailedToUpdateEndpointSlices"]
        why = "skipping Pod web-0 for Service default/web: Node nowhere Not Found"
        assert event["message"] == f"Error updating Endpoint Slices for Service default/web: {why}"
        assert event["involvedObject"]["kind"] == "Service"
        assert event["count"] == 4  # at once, and after one, two and four seconds more

    rehearse(scene, without=("kubelet", "scheduler"))


def test_a_slice_that_somebody_deletes_comes_back_after_a_second() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        made = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
        await client.create(SERVICES, made, "default")
        await asyncio.sleep(2)

        async def slices() -> list[str]:
            found = (await client.list(SLICES, "default"))["items"]
            return [one["metadata"]["name"] for one in found if one["metadata"]["name"].startswith("web-")]

        [first] = await slices()
        await client.delete(SLICES, first, "default")
        await asyncio.sleep(0.5)
        assert await slices() == []  # somebody may not be done yet
        await asyncio.sleep(1)
        [second] = await slices()
        assert second != first

        # what we wrote and cannot see any more may be on its way: nothing is done until it comes, or for good
        away = {"metadata": {"labels": {"endpointslice.kubernetes.io/managed-by": "me"}}}
        await client.patch(SLICES, second, "default", away)
        await asyncio.sleep(3600)
        assert await slices() == [second]

    rehearse(scene, without=("kubelet", "scheduler"))


def test_endpoints_that_do_not_hold_everybody_say_so_until_they_do() -> None:
    pods = [pod(n) for n in range(1001)]
    full, truncated = new_endpoints(WEB, pods, None, "")
    assert truncated
    assert full["metadata"]["annotations"] == {"endpoints.kubernetes.io/over-capacity": "truncated"}
    assert sum(len(s["addresses"]) for s in full["subsets"]) == 1000
    fewer, truncated = new_endpoints(WEB, pods[:1000], full, "")
    assert not truncated
    assert "annotations" not in fewer["metadata"]
    # the thousand are the same ones, and still there is something to write
    assert not is_unchanged(full, fewer, WEB, truncated=False)
    assert is_unchanged(fewer, fewer, WEB, truncated=False)
    assert not is_unchanged(full, full, WEB, truncated=True)
