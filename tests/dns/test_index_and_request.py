"""A name taken apart, and by what Services and slices are found."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.dns.request_name import InvalidRequest, RequestName, parse_request, trim_zone
from lifecycle.dns.service_index import (
    Address,
    ServiceIndex,
    address_label,
    ready_addresses,
    service_ips,
    service_of_slice,
    slice_ips,
)

ZONE = "cluster.local."


@pytest.mark.parametrize(
    ("before", "request_name"),
    [
        ("", RequestName()),
        ("svc.", RequestName()),
        ("pod.", RequestName()),
        ("ns.svc.", RequestName("svc", "ns", "")),
        ("web.ns.svc.", RequestName("svc", "ns", "web")),
        ("10-0-0-1.ns.pod.", RequestName("pod", "ns", "10-0-0-1")),
        ("a.web.ns.svc.", RequestName("svc", "ns", "web", endpoint="a")),
        ("_http._tcp.web.ns.svc.", RequestName("svc", "ns", "web", port="http", protocol="tcp")),
        ("http.tcp.web.ns.svc.", RequestName("svc", "ns", "web", port="http", protocol="tcp")),
    ],
)
def test_a_name_says_kind_namespace_service_and_endpoint_or_port(before: str, request_name: RequestName) -> None:
    assert parse_request(before + ZONE, ZONE) == request_name


@pytest.mark.parametrize("before", ["x.", "web.ns.other.", "a.b.c.web.ns.svc."])
def test_what_is_none_of_these_is_refused(before: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_request(before + ZONE, ZONE)


def test_the_zone_is_cut_off_at_a_dot() -> None:
    assert trim_zone(ZONE, ZONE) == ""
    assert trim_zone(f"a.b.{ZONE}", ZONE) == "a.b"
    with pytest.raises(ValueError, match=r"^acluster\.local\. is not in cluster\.local\.$"):
        trim_zone(f"a{ZONE}", ZONE)


@pytest.mark.parametrize(
    ("spec", "ips"),
    [
        ({}, ()),
        ({"clusterIP": ""}, ()),
        ({"clusterIP": "None", "clusterIPs": ["None"]}, ()),
        ({"clusterIP": "10.0.0.1"}, ("10.0.0.1",)),
        ({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1", "fd00::1"]}, ("10.0.0.1", "fd00::1")),
    ],
)
def test_a_service_is_found_by_its_cluster_ips(spec: Object, ips: tuple[str, ...]) -> None:
    assert service_ips({"spec": spec}) == ips


def slice_of(service: str | None, *endpoints: Object, name: str = "s") -> dict[str, Any]:
    labels = {} if service is None else {"labels": {"kubernetes.io/service-name": service}}
    return {"metadata": {"namespace": "ns", "name": name, **labels}, "endpoints": list(endpoints)}


def test_a_slice_gives_the_addresses_of_its_ready_endpoints() -> None:
    whole = slice_of(
        "web",
        {"addresses": ["10.1.0.1", "10.1.0.2"]},
        {"addresses": ["10.1.0.3"], "conditions": {"ready": False}},
        {"addresses": ["fd00::"], "conditions": {"ready": True}, "hostname": "named"},
        {"addresses": ["fd00::"], "conditions": None},
        {"addresses": None},
    )
    assert list(ready_addresses(whole)) == [
        Address("10.1.0.1", "10-1-0-1"), Address("10.1.0.2", "10-1-0-2"), Address("fd00::", "named"),
        Address("fd00::", "fd00--0"),
    ]  # fmt: skip
    assert slice_ips(whole) == ("10.1.0.1", "10.1.0.2", "fd00::", "fd00::")
    assert list(ready_addresses({"metadata": {}, "endpoints": None})) == []
    assert [address_label(ip) for ip in ("10.0.0.1", "fd00::1", "fd00::")] == ["10-0-0-1", "fd00--1", "fd00--0"]


def test_the_index_finds_by_name_by_address_and_by_service() -> None:
    service = {"metadata": {"namespace": "ns", "name": "web"}, "spec": {"clusterIP": "10.0.0.1"}}
    mine = slice_of("web", {"addresses": ["10.1.0.1"]}, name="a")
    nobodys = slice_of(None, {"addresses": ["10.1.0.2"]}, name="b")
    index = ServiceIndex.of([service], [mine, nobodys], ["ns"], 7)
    assert index.modified == 7
    assert ServiceIndex.of([], [], []).modified == 0
    assert (index.namespace_exists("ns"), index.namespace_exists("other")) == (True, False)
    assert (index.service("ns", "web"), index.service("other", "web")) == (service, None)
    assert (index.service_by_ip("10.0.0.1"), index.service_by_ip("10.1.0.1")) == (service, None)
    assert (index.slices_of("ns", "web"), index.slices_of("ns", "other")) == ([mine], [])
    assert (index.slices_with("10.1.0.2"), index.slices_with("10.0.0.1")) == ([nobodys], [])
    assert (service_of_slice(mine), service_of_slice(nobodys)) == (("ns/web",), ())
