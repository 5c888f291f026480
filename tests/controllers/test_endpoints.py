"""Pods behind a Service: shapes of upstream's own tests (`reconciler_test.go`, `endpoints_controller_test.go`), restated."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.indexer import Indexer
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.endpoints.endpoints_controller import truncate_endpoints
from lifecycle.controllers.endpointslice.endpointslice_tracker import EndpointSliceTracker
from lifecycle.controllers.endpointslice.reconciler import Changes, Reconciler

ENDPOINTS, SERVICES = resource("endpoints"), resource("services")
SLICES, PODS = resource("endpointslices.discovery.k8s.io"), resource("pods")


def service(*ports: Object, **spec: Any) -> Object:
    full = {"clusterIP": "10.96.0.9", "ipFamilies": ["IPv4"], "ports": list(ports), "selector": {"app": "web"}, **spec}
    return {"metadata": {"name": "web", "namespace": "ns", "uid": "service", "labels": {}}, "spec": full}


def pod(number: int, uid: str = "", **spec: Any) -> Object:
    meta = {"name": f"web-{number}", "namespace": "ns", "uid": uid or f"pod-{number}", "resourceVersion": "1"}
    ready = {"type": "Ready", "status": "True"}
    ip = f"10.1.{number // 250}.{number % 250 + 1}"
    status = {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [ready]}
    return {"metadata": meta, "spec": {"nodeName": "node", "containers": [{"name": "c"}], **spec}, "status": status}


def reconciled(service: Object, pods: Sequence[Object], existing: Sequence[Object] = ()) -> Changes:
    nodes = Indexer()
    nodes.set("node", {"metadata": {"name": "node"}})
    reconciler = Reconciler(None, nodes, EndpointSliceTracker())  # type: ignore[arg-type]  # nothing is written
    changes, missing = reconciler.reconcile_by_address_type(service, pods, existing, "IPv4")
    assert not missing
    return changes


def stored(made: Object, number: int = 1) -> Object:
    return {**made, "metadata": {**made["metadata"], "name": f"web-{number}", "uid": f"slice-{number}"}}


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
