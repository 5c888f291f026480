"""Which pods stand behind a Service, on which port, and which of their changes it is told of."""

from __future__ import annotations

from typing import Any

import pytest
from tests.controllers.pods_and_slices import pod, service

from lifecycle.api.http.wire import Object
from lifecycle.client.indexer import Indexer
from lifecycle.controllers.endpoints.endpoints_controller import (
    endpoint_address,
    endpoint_subsets,
    is_unchanged,
    new_endpoints,
)
from lifecycle.controllers.service_pods import (
    ServicePodEvents,
    find_port,
    is_service_ip_set,
    pods_for_service,
    should_pod_be_in_endpoints,
    should_set_hostname,
    target_reference,
)


def with_ports(*ports: Object, **more: Any) -> Object:
    return pod(1, containers=[{"name": "c", "ports": list(ports)}], **more)


def named(name: str, port: int, **more: Any) -> Object:
    return {"name": name, "containerPort": port, **more}


@pytest.mark.parametrize(
    ("service_port", "found"),
    [
        ({"port": 80, "targetPort": 8080}, 8080),
        ({"port": 80}, 80),
        ({"port": 80, "targetPort": "web"}, 8000),  # TCP, whichever stands first
        ({"port": 80, "targetPort": "web", "protocol": "TCP"}, 8000),
        ({"port": 80, "targetPort": "web", "protocol": "UDP"}, 5353),
        ({"port": 80, "targetPort": "other"}, 9000),
        ({"port": 80, "targetPort": "other", "protocol": "UDP"}, None),
        ({"port": 80, "targetPort": "nobody"}, None),
    ],
)
def test_a_port_is_found_by_its_name_and_its_protocol(service_port: Object, found: int | None) -> None:
    body = with_ports(
        named("web", 5353, protocol="UDP"), named("web", 8000), named("other", 9000, protocol="TCP"), named("web", 1)
    )
    assert find_port(body, service_port) == found


def test_sidecars_have_ports_and_what_runs_once_has_none() -> None:
    once = {"name": "i", "ports": [named("web", 1)]}
    sidecar = {"name": "s", "restartPolicy": "Always", "ports": [named("web", 2)]}
    port = {"port": 80, "targetPort": "web"}
    assert find_port(with_ports(initContainers=[once]), port) is None
    assert find_port(with_ports(initContainers=[once, sidecar]), port) == 2
    assert find_port(with_ports(named("web", 3), initContainers=[sidecar]), port) == 3


def changed(body: Object, *, meta: Object | None = None, spec: Object | None = None, **status: Any) -> Object:
    return {
        "metadata": {**body["metadata"], "resourceVersion": "2", **(meta or {})},
        "spec": {**body["spec"], **(spec or {})},
        "status": {**body["status"], **status},
    }


class _Events:
    """An informer's events, given by hand."""

    def __init__(self, *services: Object) -> None:
        self.indexer = Indexer()
        for each in services:
            self.indexer.set(f"{each['metadata']['namespace']}/{each['metadata']['name']}", each)
        self.handlers: dict[str, Any] = {}

    def add_event_handler(self, **handlers: Any) -> None:
        self.handlers = handlers


def a_service(name: str, **selector: str) -> Object:
    body = service(selector=selector)
    return {**body, "metadata": {**body["metadata"], "name": name}}


def told(old: Object, new: Object, *services: Object) -> list[str]:
    """The keys of the Services that are looked at again."""
    keys: list[str] = []
    events: Any = _Events(*services)
    ServicePodEvents(events, events, keys.append)
    events.handlers["update"](old, new)
    return sorted(keys)


WEB, API, BOTH = a_service("web", app="web"), a_service("api", app="api"), a_service("both", tier="front")
OLD = pod(1)
OLD["metadata"]["labels"] = {"app": "web", "tier": "front"}


@pytest.mark.parametrize(
    ("new", "keys"),
    [
        (changed(OLD), []),
        (changed(OLD, meta={"annotations": {"a": "b"}}), []),
        (changed(OLD, phase="Succeeded"), []),  # readiness follows, and is what counts
        (changed(OLD, conditions=[{"type": "Ready", "status": "False"}]), ["ns/both", "ns/web"]),
        (changed(OLD, podIPs=[{"ip": "10.9.9.9"}]), ["ns/both", "ns/web"]),
        (changed(OLD, meta={"deletionTimestamp": "now"}), ["ns/both", "ns/web"]),
        (changed(OLD, spec={"hostname": "a"}), ["ns/both", "ns/web"]),
        (changed(OLD, spec={"subdomain": "a"}), ["ns/both", "ns/web"]),
        (changed(OLD, meta={"labels": {"app": "web", "tier": "back"}}), ["ns/both"]),
        (changed(OLD, meta={"labels": {"app": "api", "tier": "front"}}), ["ns/api", "ns/web"]),
        (changed(OLD, meta={"labels": {"app": "web", "tier": "front", "more": "yes"}}), []),
        (
            changed(OLD, meta={"labels": {"app": "api", "tier": "front"}}, podIPs=[]),
            ["ns/api", "ns/both", "ns/web"],
        ),
        (changed(OLD, meta={"resourceVersion": "1", "deletionTimestamp": "now"}), []),  # seen already
    ],
)
def test_a_service_is_told_of_what_an_endpoint_shows(new: Object, keys: list[str]) -> None:
    assert told(OLD, new, WEB, API, BOTH) == keys


def test_a_pod_that_comes_or_goes_concerns_those_that_select_it() -> None:
    keys: list[str] = []
    elsewhere = {**WEB, "metadata": {**WEB["metadata"], "namespace": "other"}}
    nobodys = a_service("nobodys")
    events: Any = _Events(WEB, API, elsewhere, nobodys)
    ServicePodEvents(events, events, keys.append)
    events.handlers["add"](OLD)
    events.handlers["delete"](OLD)
    assert keys == ["ns/web", "ns/web"]
    pods = Indexer()
    pods.set("ns/web-1", OLD)
    pods.set("other/web-1", {**OLD, "metadata": {**OLD["metadata"], "namespace": "other"}})
    pods.set("ns/web-2", pod(2))
    assert pods_for_service(pods, WEB) == [OLD]


@pytest.mark.parametrize(
    ("body", "now", "tolerant"),
    [
        (pod(1), True, True),
        (changed(pod(1), phase="Failed"), False, False),
        (changed(pod(1), phase="Succeeded"), False, False),
        (changed(pod(1), podIP="", podIPs=[]), False, False),
        (changed(pod(1), podIP=""), True, True),
        (changed(pod(1), podIPs=[]), True, True),
        (changed(pod(1), meta={"deletionTimestamp": "now"}), False, True),
        ({"metadata": {"name": "p"}}, False, False),
    ],
)
def test_who_may_be_an_endpoint(body: Object, now: bool, tolerant: bool) -> None:
    assert should_pod_be_in_endpoints(body, include_terminating=False) is now
    assert should_pod_be_in_endpoints(body, include_terminating=True) is tolerant


def test_a_host_name_below_the_service_needs_the_services_subdomain() -> None:
    assert should_set_hostname(pod(1, hostname="a", subdomain="web"), WEB)
    assert not should_set_hostname(pod(1, hostname="a", subdomain="other"), WEB)
    assert not should_set_hostname(pod(1, subdomain="web"), WEB)
    assert not should_set_hostname(pod(1, hostname="a"), WEB)
    assert endpoint_address(WEB, pod(1, hostname="a", subdomain="web"))["hostname"] == "a"  # type: ignore[index]


def test_an_address_is_of_the_services_first_family() -> None:
    both = changed(pod(1), podIP="10.1.0.2", podIPs=[{"ip": "10.1.0.2"}, {"ip": "fd00::2"}])
    only4, none = pod(1), changed(pod(1), podIP="", podIPs=[])
    six = service(ipFamilies=["IPv6", "IPv4"])
    four = service(ipFamilies=["IPv4", "IPv6"])
    before_families = service(ipFamilies=None)
    assert [(endpoint_address(each, both) or {}).get("ip") for each in (four, six, before_families)] == [
        "10.1.0.2",
        "fd00::2",
        "10.1.0.2",
    ]
    assert endpoint_address(six, only4) is None
    assert endpoint_address(four, none) is None
    assert endpoint_address(four, changed(pod(1), podIPs=None)) == {
        "ip": "10.1.0.2",
        "nodeName": "node",
        "targetRef": {"kind": "Pod", "namespace": "ns", "name": "web-1", "uid": "pod-1"},
    }
    assert "nodeName" not in (endpoint_address(four, pod(1, nodeName="")) or {})
    assert target_reference(only4)["kind"] == "Pod"


def test_addresses_are_ready_or_not_and_a_service_can_tolerate_both() -> None:
    waiting = changed(pod(2), conditions=[{"type": "Ready", "status": "False"}])
    web = service(
        {"name": "http", "port": 80, "targetPort": 8080, "appProtocol": "h2c"}, {"port": 81, "protocol": "UDP"}
    )
    (subset,) = endpoint_subsets(web, [pod(1), waiting])
    assert [a["ip"] for a in subset["addresses"]] == ["10.1.0.2"]
    assert [a["ip"] for a in subset["notReadyAddresses"]] == ["10.1.0.3"]
    assert sorted(subset["ports"], key=lambda port: int(port["port"])) == [
        {"port": 81, "protocol": "UDP"},
        {"name": "http", "port": 8080, "protocol": "TCP", "appProtocol": "h2c"},
    ]
    (subset,) = endpoint_subsets(service({"port": 80}, publishNotReadyAddresses=True), [pod(1), waiting])
    assert [a["ip"] for a in subset["addresses"]] == ["10.1.0.2", "10.1.0.3"]
    assert "notReadyAddresses" not in subset


def test_without_ports_only_a_headless_service_has_endpoints() -> None:
    (subset,) = endpoint_subsets(service(clusterIP="None"), [pod(1)])
    assert "ports" not in subset
    assert endpoint_subsets(service(), [pod(1)]) == []
    assert endpoint_subsets(service({"port": 80, "targetPort": "nobody"}), [pod(1)]) == []
    assert endpoint_subsets(service({"port": 80}, ipFamilies=["IPv6"]), [pod(1)]) == []
    assert [is_service_ip_set(service(clusterIP=ip)) for ip in ("", "None", "10.96.0.1")] == [False, False, True]


HEADLESS, MANAGED = "service.kubernetes.io/headless", "endpoints.kubernetes.io/managed-by"
TRIGGER, OVER = "endpoints.kubernetes.io/last-change-trigger-time", "endpoints.kubernetes.io/over-capacity"


def test_endpoints_carry_the_services_labels_and_when_it_changed() -> None:
    web = service({"port": 80})
    web["metadata"]["labels"] = {"a": "b", HEADLESS: "somebody's"}
    new, truncated = new_endpoints(web, [pod(1)], None, "now")
    assert not truncated
    assert new["metadata"] == {
        "name": "web",
        "labels": {"a": "b", MANAGED: "endpoint-controller"},
        "annotations": {TRIGGER: "now"},
    }
    quiet, _ = new_endpoints(web, [], new, "")
    assert "annotations" not in quiet["metadata"]
    assert "subsets" not in quiet
    headless, _ = new_endpoints(service(clusterIP="None"), [], None, "")
    assert headless["metadata"]["labels"] == {MANAGED: "endpoint-controller", HEADLESS: ""}


def test_more_than_a_thousand_are_said_to_be_cut() -> None:
    crowd = [pod(number) for number in range(1001)]
    new, truncated = new_endpoints(service({"port": 80}), crowd, None, "")
    assert truncated
    assert new["metadata"]["annotations"] == {OVER: "truncated"}
    again, truncated = new_endpoints(service({"port": 80}), crowd[:1000], new, "")
    assert not truncated
    assert "annotations" not in again["metadata"]


def test_endpoints_that_say_the_same_are_not_written_again() -> None:
    web = service({"port": 80})
    web["metadata"]["labels"] = {"a": "b", HEADLESS: "x"}
    now, _ = new_endpoints(web, [pod(1)], None, "then")
    later, _ = new_endpoints(web, [pod(1)], None, "now")
    more, _ = new_endpoints(web, [pod(1), pod(2)], None, "now")
    assert is_unchanged(now, later, web, truncated=False)
    assert not is_unchanged(now, later, web, truncated=True)
    assert not is_unchanged(now, more, web, truncated=False)
    assert not is_unchanged(now, later, service({"port": 80}), truncated=False)
    foreign = {**now, "metadata": {**now["metadata"], "labels": {"a": "b"}}}
    assert not is_unchanged(foreign, later, web, truncated=False)
    cut = {**now, "metadata": {**now["metadata"], "annotations": {OVER: "truncated"}}}
    assert not is_unchanged(cut, later, web, truncated=False)
