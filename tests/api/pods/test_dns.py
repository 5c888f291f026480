"""The resolver file of a pod, policy by policy."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.dns import DNSConfig, parse_resolv_conf, pod_dns

HOST = parse_resolv_conf(
    "# made by hand\nsearch corp.example.\nnameserver 192.0.2.53 # first\noptions ndots:0 rotate\n"
)


def _pod(**spec: Any) -> Object:
    return {"metadata": {"name": "p", "namespace": "shop"}, "spec": spec}


def _file(warnings: list[str] | None = None, dns: list[str] | None = None, **spec: Any) -> str:
    told = [] if warnings is None else warnings
    servers = ["10.96.0.10"] if dns is None else dns
    return pod_dns(_pod(**spec), HOST, cluster_dns=servers, warn=told.append).resolv_conf()


def test_cluster_first_searches_the_namespace_the_cluster_and_what_the_node_searches() -> None:
    assert _file() == (
        "search shop.svc.cluster.local svc.cluster.local cluster.local corp.example\n"
        "nameserver 10.96.0.10\n"
        "options ndots:5\n"
    )


def test_default_is_the_nodes_own() -> None:
    node = "search corp.example\nnameserver 192.0.2.53\noptions ndots:0 rotate\n"
    assert _file(dnsPolicy="Default") == node
    assert _file(dnsPolicy="ClusterFirst", hostNetwork=True) == node
    assert _file(dnsPolicy="ClusterFirstWithHostNet", hostNetwork=True) == _file()


def test_none_is_only_what_the_pod_says() -> None:
    config = {
        "nameservers": ["192.0.2.1"],
        "searches": ["a.example"],
        "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
    }
    assert _file(dnsPolicy="None", dnsConfig=config) == (
        "search a.example\nnameserver 192.0.2.1\noptions ndots:2 edns0\n"
    )


def test_what_the_pod_says_is_added_and_its_options_win() -> None:
    config = {
        "nameservers": ["10.96.0.10", "192.0.2.1"],
        "searches": ["a.example"],
        "options": [{"name": "ndots", "value": "1"}],
    }
    assert _file(dnsConfig=config) == (
        "search shop.svc.cluster.local svc.cluster.local cluster.local corp.example a.example\n"
        "nameserver 10.96.0.10\nnameserver 192.0.2.1\noptions ndots:1\n"
    )


def test_limits_cut_and_warn() -> None:
    warnings: list[str] = []
    config = {"nameservers": [f"192.0.2.{i}" for i in range(5)], "searches": [f"d{i}.example" for i in range(40)]}
    text = _file(warnings, dnsConfig=config)
    assert text.count("nameserver") == 3
    assert len(text.splitlines()[0].split()) == 33
    assert [w.partition(",")[0] for w in warnings] == [
        "Nameserver limits were exceeded",
        "Search Line limits were exceeded",
    ]
    long = {"searches": [f"{'x' * 60}.{i:03}.example" for i in range(30)] + ["y" * 300]}
    line = _file(warnings, dnsConfig=long).splitlines()[0]
    assert len(line) <= len("search ") + 2048
    assert "y" * 300 not in line


def test_without_cluster_dns_the_node_helps_out_and_the_pod_is_told() -> None:
    warnings: list[str] = []
    assert _file(warnings, dns=[]) == _file(dnsPolicy="Default")
    assert "kubelet does not have ClusterDNS IP configured" in warnings[0]


def test_an_empty_configuration_is_an_empty_file() -> None:
    assert DNSConfig().resolv_conf() == ""


def test_the_nodes_file_is_read_line_by_line_and_its_last_search_line_counts() -> None:
    text = (
        "; nameserver 192.0.2.9\n# nameserver 192.0.2.8\n\nnameserver\n  nameserver 192.0.2.1 extra\nnameserver 192.0.2.2\n"
        "search a.example. . b.example\nsearch c.example d.example.\ndomain x.example\n"
        "options ndots:2 rotate\noptions timeout:1 ndots:3"
    )
    assert parse_resolv_conf(text) == DNSConfig(
        ("192.0.2.1", "192.0.2.2"), ("c.example", "d.example"), ("ndots:3", "rotate", "timeout:1")
    )
    assert parse_resolv_conf("search .\n").searches == (".",)
    assert parse_resolv_conf("search a.example # b\n").searches == ("a.example", "#", "b"), "a comment is a whole line"
    assert parse_resolv_conf("search a.example\nsearch\n").searches == ()
    assert parse_resolv_conf("") == DNSConfig()


def test_a_file_has_only_the_lines_that_say_something() -> None:
    assert DNSConfig().resolv_conf() == ""
    assert DNSConfig(searches=("a", "b")).resolv_conf() == "search a b\n"
    assert DNSConfig(("1", "2"), (), ("x", "y")).resolv_conf() == "nameserver 1\nnameserver 2\noptions x y\n"
