"""One Service of which everything is said, as both modes write it, line for line; and what stands there without any.

Upstream: `pkg/proxy/iptables/proxier_test.go` and `nftables/proxier_test.go` hold the whole text of many Services.
"""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.proxy.endpoints_map import Endpoint
from lifecycle.proxy.iptables.chains import JUMP_CHAINS, ServiceChains, endpoint_chain
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.nftables.base_rules import base_rules
from lifecycle.proxy.nftables.names import endpoint_name, service_name
from lifecycle.proxy.nftables.sync_proxy_rules import sync_proxy_rules
from lifecycle.proxy.service_port_name import ServicePortName
from tests.proxy.shapes import NODE, both_maps, endpoint, endpoint_slice, rules, service

NAME = ServicePortName("ns", "s", "", "TCP")
INGRESS = {"loadBalancer": {"ingress": [{"ip": "203.0.113.9"}]}}
RANGES = ["198.51.100.0/24", "172.19.0.0/16"]
HERE, THERE = endpoint("10.244.1.5", "here"), endpoint("10.244.2.6")


def everything_said(**changes: Any) -> Any:
    spec = {
        "type": "LoadBalancer", "node_port": 30009, "externalIPs": ["192.0.2.9"], "status": INGRESS,
        "loadBalancerSourceRanges": RANGES, "externalTrafficPolicy": "Local", "healthCheckNodePort": 30099,
        "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}},
    }  # fmt: skip
    return service("s", "10.96.0.9", **(spec | changes))


def shortened(text: str) -> list[str]:
    """Chains by what they are for, comments after `#`, and the protocol in a word."""
    chains = ServiceChains.of(NAME)
    names = {chains.cluster: "SVC", chains.local: "SVL", chains.external: "EXT", chains.firewall: "FW"}
    names |= {endpoint_chain(NAME, f"{ip}:8080"): end for ip, end in (("10.244.1.5", "SEP1"), ("10.244.2.6", "SEP2"))}
    for long, name in names.items():
        text = text.replace(long, name)
    for long, short in (
        ("-m comment --comment ", "# "),
        ("-m tcp -p tcp ", "tcp "),
        ("-m addrtype ", ""),
        ("-m conntrack ", ""),
    ):
        text = text.replace(long, short)
    return [line for line in text.splitlines() if line.startswith("-A")]


STANDING = [
    '-A KUBE-FORWARD --ctstate INVALID -m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j DROP',
    '-A KUBE-FORWARD # "kubernetes forwarding rules" -m mark --mark 0x004000/0x004000 -j ACCEPT',
    '-A KUBE-FORWARD # "kubernetes forwarding conntrack rule" --ctstate RELATED,ESTABLISHED -j ACCEPT',
    "-A KUBE-POSTROUTING -m mark ! --mark 0x004000/0x004000 -j RETURN", "-A KUBE-POSTROUTING -j MARK --xor-mark 0x004000",
    '-A KUBE-POSTROUTING # "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
    "-A KUBE-MARK-MASQ -j MARK --or-mark 0x004000",
]  # fmt: skip
GUARD = (
    '-A KUBE-FIREWALL # "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 ! --ctstate'
    " RELATED,ESTABLISHED,DNAT -j DROP"
)
LAST = (
    '-A KUBE-SERVICES # "kubernetes service nodeports; NOTE: this must be the last rule in this chain" --dst-type LOCAL'
)
LEADING = [
    '-A KUBE-PROXY-FIREWALL # "ns/s traffic not accepted by FW" tcp -d 203.0.113.9 --dport 80 -j DROP',
    '-A KUBE-NODEPORTS # "ns/s health check node port" tcp --dport 30099 -j ACCEPT',
    '-A KUBE-SERVICES # "ns/s cluster IP" tcp -d 10.96.0.9 --dport 80 -j SVC',
    '-A KUBE-SERVICES # "ns/s external IP" tcp -d 192.0.2.9 --dport 80 -j EXT',
    '-A KUBE-SERVICES # "ns/s loadbalancer IP" tcp -d 203.0.113.9 --dport 80 -j FW',
    "-A KUBE-NODEPORTS # ns/s tcp -d 127.0.0.0/8 --dport 30009 -m nfacct --nfacct-name localhost_nps_accepted_pkts -j EXT",
    "-A KUBE-NODEPORTS # ns/s tcp --dport 30009 -j EXT",
    '-A SVC # "ns/s cluster IP" tcp -d 10.96.0.9 --dport 80 ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ',
    '-A EXT # "pod traffic for ns/s external destinations" -s 10.244.0.0/16 -j SVC',
    '-A EXT # "masquerade LOCAL traffic for ns/s external destinations" --src-type LOCAL -j KUBE-MARK-MASQ',
    '-A EXT # "route LOCAL traffic for ns/s external destinations" --src-type LOCAL -j SVC',
    *[f'-A FW # "ns/s loadbalancer IP" -s {source} -j EXT' for source in (*RANGES, "203.0.113.9")],
    '-A FW # "other traffic to ns/s will be dropped by KUBE-PROXY-FIREWALL"',
]  # fmt: skip
NOBODY = [
    f'-A KUBE-EXTERNAL-SERVICES # "ns/s has no local endpoints" {way} -j DROP'
    for way in ("tcp -d 192.0.2.9 --dport 80", "tcp -d 203.0.113.9 --dport 80", "--dst-type LOCAL tcp --dport 30009")
]


def seen(chain: str, end: str, ip: str) -> str:
    return f'-A {chain} # "ns/s -> {ip}:8080" -m recent --name {end} --rcheck --seconds 60 --reap -j {end}'


def ends(end: str, ip: str) -> list[str]:
    return [
        f"-A {end} # ns/s -s {ip} -j KUBE-MARK-MASQ",
        f"-A {end} # ns/s -m recent --name {end} --set tcp -j DNAT --to-destination {ip}:8080",
    ]


def test_a_service_of_which_everything_is_said() -> None:
    lines = shortened(rules([everything_said()], [endpoint_slice("s", [HERE, THERE])]).text())
    assert sorted(lines) == sorted(
        [
            *STANDING, GUARD, *LEADING, f"{LAST} -j KUBE-NODEPORTS", "-A EXT -j SVL",
            seen("SVC", "SEP1", "10.244.1.5"), seen("SVC", "SEP2", "10.244.2.6"), seen("SVL", "SEP1", "10.244.1.5"),
            '-A SVC # "ns/s -> 10.244.1.5:8080" -m statistic --mode random --probability 0.5000000000 -j SEP1',
            '-A SVC # "ns/s -> 10.244.2.6:8080" -j SEP2', '-A SVL # "ns/s -> 10.244.1.5:8080" -j SEP1',
            *ends("SEP1", "10.244.1.5"), *ends("SEP2", "10.244.2.6"),
        ]
    )  # fmt: skip
    assert lines[-1] == f"{LAST} -j KUBE-NODEPORTS"


def test_the_same_where_nobody_is_on_this_node() -> None:
    lines = shortened(rules([everything_said()], [endpoint_slice("s", [THERE])]).text())
    assert sorted(lines) == sorted(
        [
            *STANDING, GUARD, *LEADING, *NOBODY, f"{LAST} -j KUBE-NODEPORTS", seen("SVC", "SEP2", "10.244.2.6"),
            '-A SVC # "ns/s -> 10.244.2.6:8080" -j SEP2', *ends("SEP2", "10.244.2.6"),
        ]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("config", "last"),
    [
        ({}, [f"{LAST} -j KUBE-NODEPORTS"]), ({"localhost_node_ports": False}, [f"{LAST} ! -d 127.0.0.0/8 -j KUBE-NODEPORTS"]),
        ({"node_port_addresses": ("172.19.0.0/16",)}, [f"{LAST.removesuffix(' --dst-type LOCAL')} -d 172.19.0.2 -j KUBE-NODEPORTS"]),
        (
            {"node_port_addresses": ("172.19.0.0/16", "127.0.0.0/8")},
            [f"{LAST.removesuffix(' --dst-type LOCAL')} -d {ip} -j KUBE-NODEPORTS" for ip in ("127.0.0.1", "172.19.0.2")],
        ),
        ({"node_port_addresses": ("192.0.2.0/24",)}, []),
    ],
)  # fmt: skip
def test_what_stands_there_without_any_service(config: dict[str, Any], last: list[str]) -> None:
    lines = shortened(rules([], [], config=ProxierConfig(**config)).text())
    guarded = config.get("localhost_node_ports", True) and config.get("node_port_addresses", ("127.",))[-1].startswith(
        "127."
    )
    assert sorted(lines) == sorted([*STANDING, *([GUARD] if guarded else []), *last])


def test_the_jumps_out_of_the_kernels_chains() -> None:
    new, portals = "-m conntrack --ctstate NEW ", "kubernetes service portals"
    assert [(jump.table, jump.source, jump.rule) for jump in JUMP_CHAINS] == [
        (table, source, f"{state}{f'-m comment --comment {chr(34)}{comment}{chr(34)} ' if comment else ''}-j {destination}")
        for table, source, state, comment, destination in (
            ("filter", "INPUT", new, "kubernetes externally-visible service portals", "KUBE-EXTERNAL-SERVICES"),
            ("filter", "FORWARD", new, "kubernetes externally-visible service portals", "KUBE-EXTERNAL-SERVICES"),
            ("filter", "INPUT", "", "kubernetes health check service ports", "KUBE-NODEPORTS"),
            ("filter", "FORWARD", new, portals, "KUBE-SERVICES"), ("filter", "OUTPUT", new, portals, "KUBE-SERVICES"),
            ("filter", "FORWARD", "", "kubernetes forwarding rules", "KUBE-FORWARD"),
            *[
                ("filter", source, new, "kubernetes load balancer firewall", "KUBE-PROXY-FIREWALL")
                for source in ("INPUT", "OUTPUT", "FORWARD")
            ],
            ("nat", "OUTPUT", "", portals, "KUBE-SERVICES"), ("nat", "PREROUTING", "", portals, "KUBE-SERVICES"),
            ("nat", "POSTROUTING", "", "kubernetes postrouting rules", "KUBE-POSTROUTING"),
            ("filter", "INPUT", "", "", "KUBE-FIREWALL"), ("filter", "OUTPUT", "", "", "KUBE-FIREWALL"),
        )
    ]  # fmt: skip


def test_the_service_in_the_nftables_mode() -> None:
    text = sync_proxy_rules(
        *both_maps([everything_said()], [endpoint_slice("s", [HERE, THERE])], NODE), NODE, ProxierConfig()
    )
    text = text.replace(service_name(NAME), "S").replace("ip kube-proxy ", "")
    for number, ip in ((1, "10.244.1.5"), (2, "10.244.2.6")):
        text = text.replace(endpoint_name(NAME, Endpoint(ip, 8080)), f"E{number}")
    standing = list(base_rules("IPv4", "0x004000", service_cidrs=["10.96.0.0/16"], node_port_ips=["172.19.0.2"]))
    own = text.splitlines()[len(standing) :]
    made = ["endpoint-E1", "endpoint-E2", "service-S", "service-local-S", "external-S", "firewall-S"]
    affinity = "type ipv4_addr ; flags dynamic,timeout ; timeout 60s ;"
    pods = "ip saddr 10.244.0.0/16"
    assert sorted(own) == sorted(
        [
            *[f"{what} chain {chain}" for chain in made for what in ("add", "flush")],
            *[f"add set affinity-E{n} {{ {affinity} }}" for n in (1, 2)],
            *[
                f"add rule endpoint-E{n} {rule}"
                for n, ip in ((1, "10.244.1.5"), (2, "10.244.2.6"))
                for rule in (
                    f"ip saddr {ip} jump mark-for-masquerade", f"update @affinity-E{n} {{ ip saddr }}",
                    f"meta l4proto tcp dnat to {ip}:8080",
                )
            ],
            "add rule service-S ip daddr 10.96.0.9 ip saddr != 10.244.0.0/16 jump mark-for-masquerade",
            *[f"add rule service-S ip saddr @affinity-E{n} goto endpoint-E{n}" for n in (1, 2)],
            "add rule service-S numgen random mod 2 vmap { 0 : goto endpoint-E1 , 1 : goto endpoint-E2 }",
            "add rule service-local-S ip saddr @affinity-E1 goto endpoint-E1",
            "add rule service-local-S numgen random mod 1 vmap { 0 : goto endpoint-E1 }",
            f'add rule external-S {pods} goto service-S comment "short-circuit pod traffic"',
            'add rule external-S fib saddr type local jump mark-for-masquerade comment "masquerade local traffic"',
            'add rule external-S fib saddr type local goto service-S comment "short-circuit local traffic"',
            "add rule external-S goto service-local-S",
            "add rule firewall-S ip saddr != { 198.51.100.0/24 , 172.19.0.0/16 , 203.0.113.9 } drop",
            "add element cluster-ips { 10.96.0.9 }", "add element service-ips { 10.96.0.9 . tcp . 80 : goto service-S }",
            "add element service-ips { 192.0.2.9 . tcp . 80 : goto external-S }",
            "add element service-ips { 203.0.113.9 . tcp . 80 : goto external-S }",
            "add element service-nodeports { tcp . 30009 : goto external-S }",
            "add element firewall-ips { 203.0.113.9 . tcp . 80 : goto firewall-S }",
        ]
    )  # fmt: skip


HOOKS = {
    "filter-prerouting-pre-dnat": "filter hook prerouting priority -110", "filter-output-pre-dnat": "filter hook output priority -110",
    **{f"filter-{hook}": f"filter hook {hook} priority 0" for hook in ("forward", "input", "output")},
    "nat-output": "nat hook output priority -100", "nat-postrouting": "nat hook postrouting priority 100",
    "nat-prerouting": "nat hook prerouting priority -100",
}  # fmt: skip
WITHOUT_HOOK = [
    "cluster-ips-check", "firewall-check", "mark-for-masquerade", "masquerading", "nodeport-endpoints-check", "services",
    "service-endpoints-check",
]  # fmt: skip
HELPER = 'comment "helper for @no-endpoint-services / @no-endpoint-nodeports"'


@pytest.mark.parametrize(
    ("family", "ip", "addr", "localhost"),
    [("IPv4", "ip", "ipv4_addr", "ip daddr != 127.0.0.0/8"), ("IPv6", "ip6", "ipv6_addr", "ip6 daddr != ::1")],
)
@pytest.mark.parametrize("named", [False, True])
def test_what_stands_in_the_table_of_nftables(family: str, ip: str, addr: str, localhost: str, named: bool) -> None:
    found = [
        line.replace(f"{ip} kube-proxy", "T")
        for line in base_rules(
            family, "0x4000", service_cidrs=["a", "b"] if named else [], node_port_ips=["n", "m"] if named else None
        )
    ]
    by_port = f"{addr} . inet_proto . inet_service : verdict"
    containers = [
        ("set", "cluster-ips", addr, "Active ClusterIPs"), ("set", "nodeport-ips", addr, "IPs that accept NodePort traffic"),
        ("map", "firewall-ips", by_port, "destinations that are subject to LoadBalancerSourceRanges"),
        ("map", "no-endpoint-nodeports", "inet_proto . inet_service : verdict",
         "vmap to drop or reject packets to service nodeports with no endpoints"),
        ("map", "no-endpoint-services", by_port, "vmap to drop or reject packets to services with no endpoints"),
        ("map", "service-ips", by_port, "ClusterIP, ExternalIP and LoadBalancer IP traffic"),
        ("map", "service-nodeports", "inet_proto . inet_service : verdict", "NodePort traffic"),
    ]  # fmt: skip
    where = f"{ip} daddr . meta l4proto . th dport vmap"
    node = f"{ip} daddr @nodeport-ips" if named else localhost
    at_node = node if named else f"fib daddr type local {localhost}"
    expected = [
        'add table T { comment "rules for kube-proxy" ; }',
        *[f"add chain T {chain} {{ type {hook} ; }}" for chain, hook in HOOKS.items()],
        *[f"add chain T {chain}" for chain in WITHOUT_HOOK], f"add chain T reject-chain {{ {HELPER} ; }}",
        *[f"flush chain T {chain}" for chain in (*HOOKS, *WITHOUT_HOOK, "reject-chain")],
        *[f'add {kind} T {name} {{ type {of} ; comment "{text}" ; }}' for kind, name, of, text in containers],
        *[
            f"{'delete' if name == 'nodeport-ips' and not named else 'flush'} {kind} T {name}" for kind, name, _, _ in containers
        ],
        f'add rule T cluster-ips-check {ip} daddr @cluster-ips reject comment "Reject traffic to invalid ports of ClusterIPs"',
        *[
            f"add rule T {rule}"
            for rule in (
                "filter-prerouting-pre-dnat ct state new jump firewall-check", "filter-output-pre-dnat ct state new jump firewall-check",
                "filter-forward ct state new jump service-endpoints-check", "filter-forward ct state new jump cluster-ips-check",
                "filter-input ct state new jump nodeport-endpoints-check", "filter-input ct state new jump service-endpoints-check",
                "filter-output ct state new jump service-endpoints-check", "filter-output ct state new jump cluster-ips-check",
                f"firewall-check {where} @firewall-ips", "mark-for-masquerade mark set mark or 0x4000",
                "masquerading mark and 0x4000 == 0 return", "masquerading mark set mark xor 0x4000",
                "masquerading masquerade fully-random", "nat-output jump services", "nat-postrouting jump masquerading",
                "nat-prerouting jump services",
                f"nodeport-endpoints-check {node} meta l4proto . th dport vmap @no-endpoint-nodeports", "reject-chain reject",
                f"services {where} @service-ips", f"services {at_node} meta l4proto . th dport vmap @service-nodeports",
                f"service-endpoints-check {where} @no-endpoint-services",
            )
        ],
    ]  # fmt: skip
    if named:
        expected += [f"add element T nodeport-ips {{ {address} }}" for address in "nm"]
        expected.append(
            f'add rule T cluster-ips-check {ip} daddr {{ a , b }} drop comment "Drop traffic to unallocated ClusterIPs"'
        )
    assert sorted(found) == sorted(expected)
