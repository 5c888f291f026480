"""All rules of a node, from what is known of Services and endpoints.

A pure function: the same picture gives the same text. The proxier decides when to call
it and what to do with it.

Upstream: `pkg/proxy/iptables/proxier.go` (`syncProxyRules`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address

from lifecycle.proxy.endpoints_map import Endpoint, EndpointsMap, ServiceKey
from lifecycle.proxy.iptables.chains import (
    FILTER_CHAINS,
    KUBE_FIREWALL,
    KUBE_FORWARD,
    KUBE_MARK_MASQ,
    KUBE_NODEPORTS,
    KUBE_POSTROUTING,
    KUBE_SERVICES,
    NAT_CHAINS,
    is_service_chain,
)
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.restore_input import RestoreInput, chain_line
from lifecycle.proxy.iptables.service_rules import LOCALHOST_COUNTER, ServiceRules
from lifecycle.proxy.iptables.written_service import WrittenService, WrittenServices
from lifecycle.proxy.node_port_addresses import NodePortAddresses
from lifecycle.proxy.service_map import ServicePortMap
from lifecycle.proxy.topology import categorize_endpoints

INVALID_COUNTER = "ct_state_invalid_dropped_pkts"
"""The nfacct counter of packets that belong to no connection the kernel knows."""

COUNTERS = (INVALID_COUNTER, LOCALHOST_COUNTER)


@dataclass(slots=True, frozen=True)
class NodeFacts:
    """What the rules need to know of the node. `counters`: the nfacct counters that
    exist. `other_addresses`: those besides `ip`.
    """

    name: str
    ip: str
    labels: Mapping[str, str] = field(default_factory=dict)
    counters: frozenset[str] = frozenset(COUNTERS)
    other_addresses: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """All of them, loopback apart."""
        return (self.ip, *self.other_addresses)


def sync_proxy_rules(
    services: ServicePortMap,
    endpoints: EndpointsMap,
    node: NodeFacts,
    config: ProxierConfig,
    *,
    existing_nat_chains: Collection[str] = (),
    changed: Collection[ServiceKey] | None = None,
    written: WrittenServices | None = None,
) -> RestoreInput:
    """The input for `iptables-restore`. `changed`: the Services whose own chains are to
    be written; None means all (a full sync). `written` keeps from one sync to the next
    what need not be worked out again.
    """
    written = {} if written is None else written
    if changed is None:
        written.clear()
    out = RestoreInput()
    out.filter_chains.extend(map(chain_line, FILTER_CHAINS))
    out.nat_chains.extend(map(chain_line, NAT_CHAINS))
    _write_masquerade(out, config)
    node_ports = NodePortAddresses(config.node_port_addresses, services.family)
    localhost = (
        services.family == "IPv4"
        and config.localhost_node_ports
        and node_ports.has_loopback
    )
    if localhost:
        _write_localnet_guard(out)
    served = [(service, endpoints[service.name]) for service in services]
    with_comments = not is_large_cluster((behind for _, behind in served), config)
    active: set[str] = set()
    for service, behind in served:
        left_out = changed is not None and service.key not in changed
        if left_out and not existing_nat_chains:  # or all chains have to be named
            before = written.get(service.name)
            if before is not None:
                out.add(before.captures)
                out.skipped_nat_rules += before.own_rules
                continue
        rules = ServiceRules(
            service,
            categorize_endpoints(behind, service, node.name, node.labels),
            config=config,
            node_ip=node.ip,
            localhost_counter=localhost and LOCALHOST_COUNTER in node.counters,
            with_comments=with_comments,
        )
        active.update(rules.own_chains())
        written[service.name] = _write_service(out, rules, left_out=left_out)
    _delete_stale(out, existing_nat_chains, active)
    _write_node_ports_jump(
        out,
        services.family,
        localhost,
        None if node_ports.match_all else node_ports.of(node.addresses),
    )
    _write_forward(out, config, node.counters)
    return out


def is_large_cluster(
    endpoints: Iterable[Sequence[Endpoint]], config: ProxierConfig
) -> bool:
    """Whether there are so many endpoints, those of each service port, that it pays to
    write less. Upstream: `largeClusterMode`.
    """
    return sum(map(len, endpoints)) > config.large_cluster_endpoints


def _write_masquerade(out: RestoreInput, config: ProxierConfig) -> None:
    """Marked packets get the node's address as their source. The mark is cleared first:
    a packet may come by here twice.
    """
    mark = config.masquerade_mark
    out.nat_rules += [
        f"-A {KUBE_POSTROUTING} -m mark ! --mark {mark}/{mark} -j RETURN",
        f"-A {KUBE_POSTROUTING} -j MARK --xor-mark {mark}",
        (
            f'-A {KUBE_POSTROUTING} -m comment --comment "kubernetes service traffic'
            ' requiring SNAT" -j MASQUERADE --random-fully'
        ),
        f"-A {KUBE_MARK_MASQ} -j MARK --or-mark {mark}",
    ]


def _write_localnet_guard(out: RestoreInput) -> None:
    """Node ports on 127.0.0.1 need `route_localnet`, which lets neighbours send to
    loopback addresses; this forbids it again.
    """
    out.filter_chains.append(chain_line(KUBE_FIREWALL))
    out.filter_rules.append(
        f'-A {KUBE_FIREWALL} -m comment --comment "block incoming localnet connections"'
        " -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate"
        " RELATED,ESTABLISHED,DNAT -j DROP"
    )


def _write_service(
    out: RestoreInput, rules: ServiceRules, *, left_out: bool
) -> WrittenService:
    captures, own = RestoreInput(), RestoreInput()
    rules.write_captures(captures)
    rules.write_own_chains(own)
    out.add(captures)
    if left_out:
        out.skipped_nat_rules += len(own.nat_rules)
    else:
        out.add(own)
    return WrittenService(captures, len(own.nat_rules))


def _delete_stale(
    out: RestoreInput, existing: Collection[str], active: set[str]
) -> None:
    """A chain must be declared, and so emptied, before it can be removed."""
    for chain in sorted(set(existing) - active):
        if is_service_chain(chain):
            out.nat_chains.append(chain_line(chain))
            out.nat_rules.append(f"-X {chain}")
            out.deleted_chains += 1


def _write_node_ports_jump(
    out: RestoreInput, family: str, localhost: bool, addresses: Sequence[str] | None
) -> None:
    """`addresses`: those that answer; None means all that are local."""
    comment = (
        "kubernetes service nodeports; NOTE: this must be the last rule in this chain"
    )
    start = f'-A {KUBE_SERVICES} -m comment --comment "{comment}"'
    if addresses is None:
        never = (
            ""
            if localhost
            else " ! -d ::1/128"
            if family == "IPv6"
            else " ! -d 127.0.0.0/8"
        )
        out.nat_rules.append(
            f"{start} -m addrtype --dst-type LOCAL{never} -j {KUBE_NODEPORTS}"
        )
        return
    for address in addresses:
        if localhost or not ip_address(address).is_loopback:
            out.nat_rules.append(f"{start} -d {address} -j {KUBE_NODEPORTS}")


def _write_forward(
    out: RestoreInput, config: ProxierConfig, counters: frozenset[str]
) -> None:
    mark = config.masquerade_mark
    if not config.conntrack.tcp_be_liberal:
        counted = (
            f"-m nfacct --nfacct-name {INVALID_COUNTER} "
            if INVALID_COUNTER in counters
            else ""
        )
        out.filter_rules.append(
            f"-A {KUBE_FORWARD} -m conntrack --ctstate INVALID {counted}-j DROP"
        )
    out.filter_rules += [
        (
            f'-A {KUBE_FORWARD} -m comment --comment "kubernetes forwarding rules" -m'
            f" mark --mark {mark}/{mark} -j ACCEPT"
        ),
        (
            f'-A {KUBE_FORWARD} -m comment --comment "kubernetes forwarding conntrack'
            ' rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT'
        ),
    ]
