"""EndpointSlices with nobody else there: whose families, whose ports, what is written and what goes wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import TERMINATING, Alone, alone, refusing
from tests.controllers.pods_and_slices import pod, service

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.controllers.endpoints.endpoints_controller import EndpointsController
from lifecycle.controllers.endpointslice import reconciler
from lifecycle.controllers.endpointslice.endpointslice_controller import EndpointSliceController
from lifecycle.controllers.endpointslice.pod_endpoints import (
    address_types_for_service,
    endpoint_addresses,
    endpoint_ports,
    pod_to_endpoint,
)
from lifecycle.controllers.endpointslice.service_slices import in_order

SLICES, PODS, SERVICES, NODES = (
    resource(name) for name in ("endpointslices.discovery.k8s.io", "pods", "services", "nodes")
)
NODE = ("nodes", {"metadata": {"name": "node", "labels": {"topology.kubernetes.io/zone": "z"}}})
WEB = service({"port": 80, "targetPort": 8080, "name": "http"})


def labelled(number: int, **more: Any) -> tuple[str, Object]:
    body = pod(number, **more)
    return "pods", {**body, "metadata": {**body["metadata"], "labels": {"app": "web"}}}


def endpoints(stage: Alone) -> dict[str, list[str]]:
    """Address type → the addresses, of all slices."""
    found: dict[str, list[str]] = {}
    for each in stage.items("endpointslices.discovery.k8s.io"):
        mine = found.setdefault(each["addressType"], [])
        mine += [address for endpoint in each.get("endpoints") or () for address in endpoint["addresses"]]
    return {kind: sorted(addresses) for kind, addresses in found.items()}


@pytest.mark.parametrize(
    ("spec", "types"),
    [
        ({"ipFamilies": ["IPv6", "IPv4"]}, ["IPv6", "IPv4"]),
        ({"ipFamilies": None, "clusterIP": "10.96.0.9"}, ["IPv4"]),
        ({"ipFamilies": None, "clusterIP": "fd00::9"}, ["IPv6"]),
        ({"ipFamilies": None, "clusterIP": "None"}, ["IPv4", "IPv6"]),
        ({"ipFamilies": None, "clusterIP": ""}, ["IPv4", "IPv6"]),
    ],
)
def test_a_service_has_slices_of_its_families(spec: Object, types: list[str]) -> None:
    assert address_types_for_service(service(**spec)) == types


def test_an_endpoint_says_all_that_is_known_of_its_pod() -> None:
    node = NODE[1]
    body = pod(1, hostname="a", subdomain="web")
    assert pod_to_endpoint(body, node, WEB, "IPv4") == {
        "addresses": ["10.1.0.2"],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "hostname": "a",
        "targetRef": {"kind": "Pod", "namespace": "ns", "name": "web-1", "uid": "pod-1"},
        "nodeName": "node",
        "zone": "z",
    }
    nowhere = pod_to_endpoint(pod(1, nodeName=""), None, WEB, "IPv4")
    assert not {"nodeName", "zone", "hostname"} & set(nowhere)
    assert "zone" not in pod_to_endpoint(pod(1), {"metadata": {"name": "node"}}, WEB, "IPv4")


@pytest.mark.parametrize(
    ("ready", "going", "published", "conditions"),
    [
        (True, False, False, (True, True, False)),
        (False, False, False, (False, False, False)),
        (True, True, False, (False, True, True)),
        (False, False, True, (True, False, False)),
        (False, True, True, (True, False, True)),
    ],
)
def test_ready_serving_terminating(ready: bool, going: bool, published: bool, conditions: tuple[bool, ...]) -> None:
    body = pod(1)
    body["status"]["conditions"] = [{"type": "Ready", "status": str(ready)}]
    if going:
        body["metadata"]["deletionTimestamp"] = "now"
    found = pod_to_endpoint(body, None, service(publishNotReadyAddresses=published), "IPv4")["conditions"]
    assert (found["ready"], found["serving"], found["terminating"]) == conditions


def test_addresses_are_of_one_family_in_their_short_form() -> None:
    body = pod(1)
    body["status"]["podIPs"] = [{"ip": "10.1.0.2"}, {"ip": "FD00:0:0::2"}]
    assert endpoint_addresses(body, "IPv4") == ["10.1.0.2"]
    assert endpoint_addresses(body, "IPv6") == ["fd00::2"]
    assert endpoint_addresses({"metadata": {}}, "IPv4") == []


def test_ports_are_the_services_as_they_are_on_the_pod() -> None:
    ports = (
        {"port": 80, "name": "a", "targetPort": 8080, "appProtocol": "h2c"},
        {"port": 53, "protocol": "UDP"},
        {"port": 81, "targetPort": "nobody"},
    )
    assert endpoint_ports(service(*ports), pod(1)) == [
        {"name": "a", "protocol": "TCP", "port": 8080, "appProtocol": "h2c"},
        {"name": "", "protocol": "UDP", "port": 53},
    ]
    assert endpoint_ports(service(clusterIP="None"), pod(1)) == []


def test_pods_come_and_go_and_the_slices_with_them() -> None:
    async def main() -> None:
        async with alone(EndpointSliceController, NODE, ("services", WEB), labelled(1)) as stage:
            assert endpoints(stage) == {"IPv4": ["10.1.0.2"]}
            _, second = labelled(2)
            await stage.client.create(PODS, second, "ns")
            await asyncio.sleep(1)
            assert endpoints(stage) == {"IPv4": ["10.1.0.2", "10.1.0.3"]}
            await stage.client.delete(PODS, "web-1", "ns")
            await asyncio.sleep(1)
            assert endpoints(stage) == {"IPv4": ["10.1.0.3"]}
            assert len(stage.items("endpointslices.discovery.k8s.io")) == 1
            assert stage.told() == []

    run_virtual(main())


@pytest.mark.parametrize(
    ("make", "kind"), [(EndpointSliceController, "endpointslices.discovery.k8s.io"), (EndpointsController, "endpoints")]
)
@pytest.mark.parametrize(("size", "at_once"), [(200, True), (201, False), (999, False)])
def test_a_large_service_is_not_counted_again_for_every_pod(make: Any, kind: str, size: int, at_once: bool) -> None:
    def addresses(stage: Alone) -> int:
        return sum(
            len(part.get("addresses") or part.get("endpoints") or ())
            for each in stage.items(kind)
            for part in (each.get("subsets") or [each])
        )

    async def main() -> None:
        pods = [labelled(number) for number in range(size)]
        async with alone(make, NODE, ("services", WEB), *pods) as stage:
            await asyncio.sleep(5)
            assert addresses(stage) == size
            await stage.client.create(PODS, labelled(size)[1], "ns")
            await asyncio.sleep(0.9 * size * 200e-6 - 1e-3)
            assert addresses(stage) == size + at_once
            await asyncio.sleep(0.1 * size * 200e-6 + 2e-3)
            assert addresses(stage) == size + 1

    run_virtual(main())


def test_a_slice_that_somebody_else_changed_is_put_right_after_a_second() -> None:
    async def main() -> None:
        async with alone(EndpointSliceController, NODE, ("services", WEB), labelled(1)) as stage:
            (made,) = stage.items("endpointslices.discovery.k8s.io")
            # what counts generations here counts a spec
            await stage.client.update(SLICES, {**made, "endpoints": [], "spec": {"changed": True}})
            await asyncio.sleep(0.5)
            assert endpoints(stage) == {"IPv4": []}
            await asyncio.sleep(1)
            assert endpoints(stage) == {"IPv4": ["10.1.0.2"]}
            await stage.client.delete(SLICES, made["metadata"]["name"], "ns")
            await asyncio.sleep(2)

    run_virtual(main())


def test_services_without_a_selector_or_with_a_name_outside_are_somebody_elses() -> None:
    async def main() -> None:
        for spec in ({"selector": None}, {"selector": {}}, {"type": "ExternalName"}):
            async with alone(EndpointSliceController, NODE, ("services", service(**spec)), labelled(1)) as stage:
                assert stage.api.log == []

    run_virtual(main())


def test_a_pod_on_a_node_that_nobody_knows_is_left_out_and_told() -> None:
    async def main() -> None:
        async with alone(EndpointSliceController, ("services", WEB), labelled(1)) as stage:
            why = "skipping Pod web-1 for Service ns/web: Node node Not Found"
            text = f"Error updating Endpoint Slices for Service ns/web: {why}"
            assert ("Warning", "FailedToUpdateEndpointSlices", text) in stage.told()
            assert endpoints(stage) == {"IPv4": []}
            await stage.client.create(NODES, NODE[1], "")
            await asyncio.sleep(10)
            assert endpoints(stage) == {"IPv4": ["10.1.0.2"]}
        tolerant = service({"port": 80}, publishNotReadyAddresses=True)
        async with alone(EndpointSliceController, ("services", tolerant), labelled(1)) as stage:
            assert endpoints(stage) == {"IPv4": ["10.1.0.2"]}

    run_virtual(main())


def test_a_family_that_the_service_gave_up_has_no_slices_any_more() -> None:
    async def main() -> None:
        both = service({"port": 80}, ipFamilies=["IPv4", "IPv6"])
        async with alone(EndpointSliceController, NODE, ("services", both), labelled(1)) as stage:
            assert endpoints(stage) == {"IPv4": ["10.1.0.2"], "IPv6": []}
            six = next(s for s in stage.items("endpointslices.discovery.k8s.io") if s["addressType"] == "IPv6")
            name = six["metadata"]["name"]
            stage.api.refuse = refusing("DELETE", f"/{name}")
            (known,) = stage.items("services")
            await stage.client.update(SERVICES, {**known, "spec": {**known["spec"], "ipFamilies": ["IPv4"]}})
            await asyncio.sleep(0.5)
            why = f"error deleting {name} EndpointSlice for Service ns/web: no more"
            text = f"Error updating Endpoint Slices for Service ns/web: {why}"
            assert ("Warning", "FailedToUpdateEndpointSlices", text) in stage.told()
            stage.api.refuse = lambda request: None
            await asyncio.sleep(20)
            assert endpoints(stage) == {"IPv4": ["10.1.0.2"]}

    run_virtual(main())


def test_an_update_that_is_refused_is_told_and_tried_again() -> None:
    async def main() -> None:
        async with alone(EndpointSliceController, NODE, ("services", WEB), labelled(1)) as stage:
            (made,) = stage.items("endpointslices.discovery.k8s.io")
            name = made["metadata"]["name"]
            stage.api.refuse = refusing("PUT", f"/{name}")
            await stage.client.create(PODS, labelled(2)[1], "ns")
            await asyncio.sleep(0.5)
            why = f"failed to update {name} EndpointSlice for Service ns/web: no more"
            text = f"Error updating Endpoint Slices for Service ns/web: {why}"
            assert stage.told() == [("Warning", "FailedToUpdateEndpointSlices", text)]
            stage.api.refuse = lambda request: None
            await asyncio.sleep(20)
            assert endpoints(stage) == {"IPv4": ["10.1.0.2", "10.1.0.3"]}

    run_virtual(main())


def test_in_a_namespace_that_goes_away_the_other_slices_are_left() -> None:
    async def main() -> None:
        async with alone(EndpointSliceController, NODE, ("services", WEB), labelled(1)) as stage:
            stage.api.refuse = refusing("POST", "/endpointslices", TERMINATING)
            (known,) = stage.items("services")
            ports = [{"port": 81, "targetPort": 8081}, {"port": 80, "targetPort": 8080}]
            await stage.client.update(
                SERVICES, {**known, "spec": {**known["spec"], "ipFamilies": ["IPv4"], "ports": ports}}
            )
            await asyncio.sleep(5)
            assert stage.told() == []

    run_virtual(main())


def test_a_service_that_is_being_deleted_gets_no_new_slices() -> None:
    async def main() -> None:
        going = {**WEB, "metadata": {**WEB["metadata"], "deletionTimestamp": "now", "finalizers": ["wait"]}}
        async with alone(EndpointSliceController, NODE, ("services", going), labelled(1)) as stage:
            assert endpoints(stage) == {}

    run_virtual(main())


def test_other_ports_make_the_old_slice_the_new_one() -> None:
    async def main() -> None:
        async with alone(EndpointSliceController, NODE, ("services", WEB), labelled(1)) as stage:
            (made,) = stage.items("endpointslices.discovery.k8s.io")
            (known,) = stage.items("services")
            await stage.client.update(SERVICES, {**known, "spec": {**known["spec"], "ports": [{"port": 81}]}})
            await asyncio.sleep(1)
            (again,) = stage.items("endpointslices.discovery.k8s.io")
            assert again["metadata"]["uid"] == made["metadata"]["uid"]
            assert [port["port"] for port in again["ports"]] == [81]
            assert stage.writes("DELETE") == []

    run_virtual(main())


def test_a_slice_of_another_service_of_the_same_name_is_replaced() -> None:
    async def main() -> None:
        async with alone(EndpointSliceController, NODE, ("services", WEB), labelled(1)) as stage:
            (made,) = stage.items("endpointslices.discovery.k8s.io")
        reference = {**made["metadata"]["ownerReferences"][0], "uid": "one before"}
        old = {**made, "metadata": {**made["metadata"], "name": "old", "ownerReferences": [reference]}}
        objects = NODE, ("services", WEB), labelled(1), ("endpointslices.discovery.k8s.io", old)
        async with alone(EndpointSliceController, *objects) as stage:
            (left,) = stage.items("endpointslices.discovery.k8s.io")
            assert left["metadata"]["name"] != "old"
            assert endpoints(stage) == {"IPv4": ["10.1.0.2"]}

    run_virtual(main())


def test_ports_are_put_in_order_once_for_all_pods_that_have_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = []

    def noted(ports: list[Object]) -> list[Object]:
        ordered.append(len(ports))
        return in_order(ports)

    monkeypatch.setattr(reconciler, "in_order", noted)
    ports = [{"port": 80 + number, "targetPort": 8080, "name": f"p{number}"} for number in range(9)]

    async def main() -> dict[str, list[str]]:
        pods = [labelled(number) for number in range(20)]
        async with alone(EndpointSliceController, NODE, ("services", service(*ports)), *pods) as stage:
            await asyncio.sleep(3)
            return endpoints(stage)

    assert len(run_virtual(main())["IPv4"]) == 20
    assert ordered == [9]
