"""How a pod's packets leave its network: under whose address, and by which gateway."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface, ip_network

import pytest

from lifecycle.cni.netlink.addr import SCOPE_LINK
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.plugins.chain_names import format_chain_name
from lifecycle.cni.plugins.ipmasq import masquerade_rules
from lifecycle.cni.plugins.ptp import pod_routes


@pytest.mark.parametrize(
    ("address", "multicast"),
    [("10.1.2.3/24", "224.0.0.0/4"), ("10.1.2.3/16", "224.0.0.0/4"), ("fd00::7/64", "ff00::/8")],
)
def test_what_stays_in_the_network_and_what_is_meant_for_many_keeps_its_senders_address(
    address: str, multicast: str
) -> None:
    """Upstream: `ipmasq_iptables_linux.go` (`SetupIPMasq`): three rules, in this order."""
    chain = format_chain_name("net", "c1")
    beside = ["-m", "comment", "--comment", 'name: "net" id: "c1"']
    rules = [(where, list(words)) for where, words in masquerade_rules(ip_interface(address), "net", "c1")]
    assert rules == [
        (chain, ["-d", address, "-j", "ACCEPT", *beside]),
        (chain, ["!", "-d", multicast, "-j", "MASQUERADE", *beside]),
        ("POSTROUTING", ["-s", address.partition("/")[0], "-j", chain, *beside]),
    ]
    assert format_chain_name("net", "c2") != chain != format_chain_name("other", "c1")


@pytest.mark.parametrize(
    ("address", "gateway", "only", "subnet"),
    [
        ("10.1.2.3/24", "10.1.2.1", "10.1.2.1/32", "10.1.2.0/24"),
        ("10.1.2.3/32", "10.1.2.1", "10.1.2.1/32", "10.1.2.3/32"),
        ("fd00::7/64", "fd00::1", "fd00::1/128", "fd00::/64"),
    ],
)
def test_the_gateway_is_on_the_link_and_the_subnet_behind_the_gateway(
    address: str, gateway: str, only: str, subnet: str
) -> None:
    """Upstream: `plugins/main/ptp/ptp.go` (`setupContainerVeth`)."""
    mine = ip_interface(address)
    assert pod_routes(mine, gateway, 4) == [
        Route(ip_network(only), None, 4, scope=SCOPE_LINK, source=mine.ip),
        Route(ip_network(subnet), ip_address(gateway), 4, source=mine.ip),
    ]
