"""The rules of one service port.

A packet for a Service goes through up to four chains. `KUBE-SERVICES` (or
`KUBE-NODEPORTS`) recognises the address. From outside it passes `KUBE-EXT-…`, which
decides about masquerading and local endpoints. `KUBE-SVC-…` or `KUBE-SVL-…` throws the
dice: the first of *n* endpoints is taken with probability 1/n, the second of those left
with 1/(n-1), the last always – which gives each the same share. `KUBE-SEP-…` rewrites
the destination.

What has no endpoint must not wait for a timeout: it is refused in the filter table
(REJECT). What has endpoints, but none on this node where only those may be used, is
dropped (DROP), so that a load balancer's health check looks elsewhere.

Upstream: `pkg/proxy/iptables/proxier.go` (`syncProxyRules`, the loop over `svcPortMap`;
`writeServiceToEndpointRules`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from lifecycle.proxy.endpoints_map import Endpoint
from lifecycle.proxy.iptables.chains import (
    KUBE_EXTERNAL_SERVICES,
    KUBE_MARK_MASQ,
    KUBE_NODEPORTS,
    KUBE_PROXY_FIREWALL,
    KUBE_SERVICES,
    ServiceChains,
    endpoint_chain,
)
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.restore_input import RestoreInput, chain_line
from lifecycle.proxy.service_map import ServicePort
from lifecycle.proxy.topology import Categories

LOCALHOST_COUNTER = "localhost_nps_accepted_pkts"
"""The nfacct counter of connections to node ports over loopback."""


class ServiceRules:
    """Writes the rules of one service port into `out`."""

    def __init__(
        self,
        service: ServicePort,
        endpoints: Categories,
        *,
        config: ProxierConfig,
        node_ip: str,
        localhost_counter: bool,
        with_comments: bool = True,
    ) -> None:
        self.service = service
        self.endpoints = endpoints
        self.config = config
        self.node_ip = node_ip
        self.localhost_counter = localhost_counter
        self.with_comments = with_comments
        self.name = str(service.name)
        self.protocol = service.name.protocol.lower()
        self.chains = ServiceChains.of(service.name)
        self.has_internal = endpoints.has_any and (
            bool(endpoints.local) or not service.internal_policy_local
        )
        self.has_external = endpoints.has_any and (
            bool(endpoints.local) or not service.external_policy_local
        )
        self.internal_chain = (
            self.chains.local if service.internal_policy_local else self.chains.cluster
        )
        self.uses_firewall = endpoints.has_any and bool(
            service.load_balancer_vips and service.load_balancer_source_ranges
        )

    # -- recognising the service's addresses -------------------------------------------

    def write_captures(self, out: RestoreInput) -> None:
        """The rules in the chains that everybody shares; written in every sync."""
        self._capture_cluster_ip(out)
        self._capture_external_ips(out)
        self._capture_load_balancer(out)
        self._capture_node_port(out)
        if self.service.health_check_node_port:
            out.filter_rules.append(
                f'-A {KUBE_NODEPORTS} -m comment --comment "{self.name} health check'
                ' node port" -m tcp -p tcp --dport'
                f" {self.service.health_check_node_port} -j ACCEPT"
            )

    def _to(self, address: str, comment: str) -> str:
        """Matches packets for an address and the service's port."""
        where = f"-d {address} --dport {self.service.port}"
        return (
            f'-m comment --comment "{comment}" -m {self.protocol} -p {self.protocol}'
            f" {where}"
        )

    def _refusal(self) -> tuple[str, str]:
        """Why there is nobody to talk to, and what happens to the packet."""
        if not self.endpoints.has_any:
            return f"{self.name} has no endpoints", "REJECT"
        return f"{self.name} has no local endpoints", "DROP"

    def _capture_cluster_ip(self, out: RestoreInput) -> None:
        address = self.service.cluster_ip
        if self.has_internal:
            match = self._to(address, f"{self.name} cluster IP")
            out.nat_rules.append(f"-A {KUBE_SERVICES} {match} -j {self.internal_chain}")
        else:
            comment, target = self._refusal()
            out.filter_rules.append(
                f"-A {KUBE_SERVICES} {self._to(address, comment)} -j {target}"
            )

    def _capture_external_ips(self, out: RestoreInput) -> None:
        for address in self.service.external_ips:
            if self.endpoints.has_any:
                match = self._to(address, f"{self.name} external IP")
                out.nat_rules.append(
                    f"-A {KUBE_SERVICES} {match} -j {self.chains.external}"
                )
            if not self.has_external:
                self._refuse_external(out, address)

    def _refuse_external(self, out: RestoreInput, address: str) -> None:
        comment, target = self._refusal()
        out.filter_rules.append(
            f"-A {KUBE_EXTERNAL_SERVICES} {self._to(address, comment)} -j {target}"
        )

    def _capture_load_balancer(self, out: RestoreInput) -> None:
        chain = self.chains.firewall if self.uses_firewall else self.chains.external
        for address in self.service.load_balancer_vips:
            if self.endpoints.has_any:
                match = self._to(address, f"{self.name} loadbalancer IP")
                out.nat_rules.append(f"-A {KUBE_SERVICES} {match} -j {chain}")
            if self.uses_firewall:
                match = self._to(
                    address,
                    f"{self.name} traffic not accepted by {self.chains.firewall}",
                )
                out.filter_rules.append(f"-A {KUBE_PROXY_FIREWALL} {match} -j DROP")
        if not self.has_external:
            for address in self.service.load_balancer_vips:
                self._refuse_external(out, address)

    def _capture_node_port(self, out: RestoreInput) -> None:
        if not self.service.node_port:
            return
        port = f"--dport {self.service.node_port}"
        protocol = f"-m {self.protocol} -p {self.protocol}"
        if self.endpoints.has_any:
            start = f"-A {KUBE_NODEPORTS} -m comment --comment {self.name} {protocol}"
            if self.localhost_counter:
                counted = (
                    f"-d 127.0.0.0/8 {port} -m nfacct --nfacct-name {LOCALHOST_COUNTER}"
                )
                out.nat_rules.append(f"{start} {counted} -j {self.chains.external}")
            out.nat_rules.append(f"{start} {port} -j {self.chains.external}")
        if not self.has_external:
            comment, target = self._refusal()
            out.filter_rules.append(
                f'-A {KUBE_EXTERNAL_SERVICES} -m comment --comment "{comment}" '
                f"-m addrtype --dst-type LOCAL {protocol} {port} -j {target}"
            )

    # -- the service's own chains ------------------------------------------------------

    def own_chains(self) -> list[str]:
        """The chains that exist for this service port alone, in the order in which they
        are written.
        """
        endpoints, service = self.endpoints, self.service
        used = (
            (self.chains.external, endpoints.has_any and service.externally_accessible),
            (self.chains.firewall, self.uses_firewall),
            (
                self.chains.cluster,
                bool(endpoints.cluster) and service.uses_cluster_endpoints,
            ),
            (self.chains.local, bool(endpoints.local) and service.uses_local_endpoints),
        )
        chains = [chain for chain, needed in used if needed]
        return chains + [
            endpoint_chain(service.name, str(e)) for e in endpoints.reachable
        ]

    def write_own_chains(self, out: RestoreInput) -> None:
        """The chains and their rules; left out of a sync in which nothing about the
        service changed.
        """
        chains = self.own_chains()
        out.nat_chains.extend(map(chain_line, chains))
        if self.has_internal:
            self._masquerade_internal(out.nat_rules)
        if self.chains.external in chains:
            self._write_external(out.nat_rules)
        if self.uses_firewall:
            self._write_firewall(out.nat_rules)
        if self.chains.cluster in chains:
            self._write_balancing(
                out.nat_rules, self.chains.cluster, self.endpoints.cluster
            )
        if self.chains.local in chains:
            self._write_balancing(
                out.nat_rules, self.chains.local, self.endpoints.local
            )
        for endpoint in self.endpoints.reachable:
            self._write_endpoint(out.nat_rules, endpoint)

    def _masquerade_internal(self, rules: list[str]) -> None:
        """Who is not a pod and comes to the cluster IP gets its answer through this
        node, or not at all.
        """
        match = self._to(self.service.cluster_ip, f"{self.name} cluster IP")
        if self.config.masquerade_all:
            rules.append(f"-A {self.internal_chain} {match} -j {KUBE_MARK_MASQ}")
        elif self.config.cluster_cidr:
            rules.append(
                f"-A {self.internal_chain} {match} ! -s {self.config.cluster_cidr} -j"
                f" {KUBE_MARK_MASQ}"
            )

    def _write_external(self, rules: list[str]) -> None:
        start = f"-A {self.chains.external} -m comment --comment"
        what = f"for {self.name} external destinations"
        if not self.service.external_policy_local:
            rules.append(f'{start} "masquerade traffic {what}" -j {KUBE_MARK_MASQ}')
        else:
            if (
                self.config.cluster_cidr
            ):  # a pod's way out and back in is cut short, under no policy
                pods = f"-s {self.config.cluster_cidr} -j {self.chains.cluster}"
                rules.append(f'{start} "pod traffic {what}" {pods}')
            local = "-m addrtype --src-type LOCAL"
            rules.append(
                f'{start} "masquerade LOCAL traffic {what}" {local} -j {KUBE_MARK_MASQ}'
            )
            rules.append(
                f'{start} "route LOCAL traffic {what}" {local} -j {self.chains.cluster}'
            )
        if self.has_external:
            policy = (
                self.chains.local
                if self.service.external_policy_local
                else self.chains.cluster
            )
            rules.append(f"-A {self.chains.external} -j {policy}")

    def _write_firewall(self, rules: list[str]) -> None:
        start = (
            f'-A {self.chains.firewall} -m comment --comment "{self.name}'
            ' loadbalancer IP"'
        )
        ranges = self.service.load_balancer_source_ranges
        rules.extend(f"{start} -s {cidr} -j {self.chains.external}" for cidr in ranges)
        node = ip_address(self.node_ip)
        if any(node in ip_network(cidr) for cidr in ranges):
            # the balancer's address is often local to the node: a packet of the node's
            # own then comes *from* that address
            vips = self.service.load_balancer_vips
            rules.extend(
                f"{start} -s {address} -j {self.chains.external}" for address in vips
            )
        comment = (
            f"other traffic to {self.name} will be dropped by {KUBE_PROXY_FIREWALL}"
        )
        rules.append(f'-A {self.chains.firewall} -m comment --comment "{comment}"')

    def _comment(self, text: str) -> str:
        return f"-m comment --comment {text} " if self.with_comments else ""

    def _write_balancing(
        self, rules: list[str], chain: str, endpoints: Sequence[Endpoint]
    ) -> None:
        name = self.service.name
        if self.service.sticky_max_age_seconds:
            for endpoint in endpoints:
                sep = endpoint_chain(name, str(endpoint))
                comment = self._comment(f'"{self.name} -> {endpoint}"')
                seen = (
                    f"-m recent --name {sep} --rcheck --seconds"
                    f" {self.service.sticky_max_age_seconds} --reap"
                )
                rules.append(f"-A {chain} {comment}{seen} -j {sep}")
        for left, endpoint in zip(range(len(endpoints), 0, -1), endpoints):
            comment = self._comment(f'"{self.name} -> {endpoint}"')
            dice = (
                f"-m statistic --mode random --probability {1 / left:.10f} "
                if left > 1
                else ""
            )
            rules.append(
                f"-A {chain} {comment}{dice}-j {endpoint_chain(name, str(endpoint))}"
            )

    def _write_endpoint(self, rules: list[str], endpoint: Endpoint) -> None:
        chain = endpoint_chain(self.service.name, str(endpoint))
        start = f"-A {chain} {self._comment(self.name)}"
        rules.append(
            f"{start}-s {endpoint.ip} -j {KUBE_MARK_MASQ}"
        )  # a pod that reaches itself through the Service
        remember = (
            f"-m recent --name {chain} --set "
            if self.service.sticky_max_age_seconds
            else ""
        )
        target = (
            f"-m {self.protocol} -p {self.protocol} -j DNAT --to-destination {endpoint}"
        )
        rules.append(f"{start}{remember}{target}")
