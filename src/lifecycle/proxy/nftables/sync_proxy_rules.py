"""All rules of a node in the nftables mode, as the text of one transaction for `nft
-f`.

The same decisions as in the iptables mode, with fewer rules: an element in a map
recognises an address, and one `numgen random` chooses among all endpoints at once,
where iptables needs a rule with a probability for each.

Upstream: `pkg/proxy/nftables/proxier.go` (`syncProxyRules`,
`writeServiceToEndpointRules`), v1.36. Left out: partial syncs and the removal of stale
chains (each text stands for a whole table).
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from lifecycle.proxy.endpoints_map import Endpoint, EndpointsMap
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts
from lifecycle.proxy.nftables.base_rules import base_rules
from lifecycle.proxy.nftables.names import endpoint_name, service_name
from lifecycle.proxy.node_port_addresses import NodePortAddresses
from lifecycle.proxy.service_map import ServicePort, ServicePortMap
from lifecycle.proxy.topology import Categories, categorize_endpoints


def sync_proxy_rules(
    services: ServicePortMap,
    endpoints: EndpointsMap,
    node: NodeFacts,
    config: ProxierConfig,
    *,
    service_cidrs: Sequence[str] = ("10.96.0.0/16",),
) -> str:
    """The transaction. Node ports answer on the node's own address only, unless
    networks are named; never on loopback.
    """
    mark = config.masquerade_mark
    node_port_addresses = NodePortAddresses(
        config.node_port_addresses
        or (node.ip + ("/128" if ":" in node.ip else "/32"),),
        services.family,
    )
    ips = (
        None
        if node_port_addresses.match_all
        else [
            ip
            for ip in node_port_addresses.of(node.addresses)
            if not ip_address(ip).is_loopback
        ]
    )
    lines = list(
        base_rules(
            services.family, mark, service_cidrs=service_cidrs, node_port_ips=ips
        )
    )
    elements: dict[
        tuple[str, str], str
    ] = {}  # two Services may claim one address; a map has one element for it
    for service in services:
        categorized = categorize_endpoints(
            endpoints[service.name], service, node.name, node.labels
        )
        transaction = ServiceTransaction(
            service, categorized, node_ip=node.ip, config=config
        )
        lines += transaction.commands()
        elements |= transaction.elements
    return "\n".join([*lines, *elements.values(), ""])


class ServiceTransaction:
    """The commands for one service port."""

    def __init__(
        self,
        service: ServicePort,
        endpoints: Categories,
        *,
        node_ip: str,
        config: ProxierConfig,
    ) -> None:
        self.service = service
        self.endpoints = endpoints
        self.node_ip = node_ip
        self.config = config
        self.ip = "ip6" if ":" in service.cluster_ip else "ip"
        self.table = f"{self.ip} kube-proxy"
        self.protocol = service.name.protocol.lower()
        base = service_name(service.name)
        self.cluster, self.local = f"service-{base}", f"service-local-{base}"
        self.external, self.firewall = f"external-{base}", f"firewall-{base}"
        self.has_internal = endpoints.has_any and (
            bool(endpoints.local) or not service.internal_policy_local
        )
        self.has_external = endpoints.has_any and (
            bool(endpoints.local) or not service.external_policy_local
        )
        self.uses_firewall = bool(
            service.load_balancer_vips and service.load_balancer_source_ranges
        )
        self._chains: list[str] = []
        self._commands: list[str] = []
        self.elements: dict[tuple[str, str], str] = {}

    def commands(self) -> list[str]:
        """Chains first, then their rules. `elements` has what leads to them, by map and
        key.
        """
        service, endpoints = self.service, self.endpoints
        for endpoint in endpoints.reachable:
            self._endpoint(endpoint)
        if endpoints.cluster and service.uses_cluster_endpoints:
            self._policy(
                self.cluster, endpoints.cluster, first=not service.internal_policy_local
            )
        if endpoints.local and service.uses_local_endpoints:
            self._policy(
                self.local, endpoints.local, first=service.internal_policy_local
            )
        if endpoints.has_any and service.externally_accessible:
            self._external()
        if self.uses_firewall:
            self._firewall()
        self._capture()
        return self._chains + self._commands

    def _chain(self, name: str) -> None:
        self._chains += [
            f"add chain {self.table} {name}",
            f"flush chain {self.table} {name}",
        ]

    def _rule(self, chain: str, rule: str) -> None:
        self._commands.append(f"add rule {self.table} {chain} {rule}")

    def _element(
        self, container: str, key: str, verdict: str, comment: str = ""
    ) -> None:
        clause = f' comment "{comment}"' if comment else ""
        self.elements[container, key] = (
            f"add element {self.table} {container} {{ {key}{clause} : {verdict} }}"
        )

    def _endpoint(self, endpoint: Endpoint) -> None:
        name = endpoint_name(self.service.name, endpoint)
        self._chain(f"endpoint-{name}")
        self._rule(
            f"endpoint-{name}",
            f"{self.ip} saddr {endpoint.ip} jump mark-for-masquerade",
        )
        if self.service.sticky_max_age_seconds:
            seconds = self.service.sticky_max_age_seconds
            flags = f"flags dynamic,timeout ; timeout {seconds}s ;"
            address = "ipv6_addr" if self.ip == "ip6" else "ipv4_addr"
            self._chains.append(
                f"add set {self.table} affinity-{name} {{ type {address} ; {flags} }}"
            )
            self._rule(
                f"endpoint-{name}", f"update @affinity-{name} {{ {self.ip} saddr }}"
            )
        self._rule(
            f"endpoint-{name}", f"meta l4proto {self.protocol} dnat to {endpoint}"
        )

    def _policy(
        self, chain: str, endpoints: Sequence[Endpoint], *, first: bool
    ) -> None:
        """`first`: cluster IP traffic comes here, and whoever is not a pod is
        masqueraded.
        """
        self._chain(chain)
        if first and (self.config.masquerade_all or self.config.cluster_cidr):
            others = (
                ""
                if self.config.masquerade_all
                else f"{self.ip} saddr != {self.config.cluster_cidr} "
            )
            self._rule(
                chain,
                f"{self.ip} daddr {self.service.cluster_ip} {others}jump"
                " mark-for-masquerade",
            )
        names = [endpoint_name(self.service.name, endpoint) for endpoint in endpoints]
        if self.service.sticky_max_age_seconds:
            for name in names:
                self._rule(
                    chain, f"{self.ip} saddr @affinity-{name} goto endpoint-{name}"
                )
        choices = " , ".join(
            f"{number} : goto endpoint-{name}" for number, name in enumerate(names)
        )
        self._rule(chain, f"numgen random mod {len(names)} vmap {{ {choices} }}")

    def _external(self) -> None:
        self._chain(self.external)
        if not self.service.external_policy_local:
            self._rule(self.external, "jump mark-for-masquerade")
        else:
            to_all = f"goto {self.cluster} comment"
            if self.config.cluster_cidr:
                pods = f"{self.ip} saddr {self.config.cluster_cidr}"
                self._rule(
                    self.external, f'{pods} {to_all} "short-circuit pod traffic"'
                )
            local = "fib saddr type local"
            self._rule(
                self.external,
                f'{local} jump mark-for-masquerade comment "masquerade local traffic"',
            )
            self._rule(self.external, f'{local} {to_all} "short-circuit local traffic"')
        if self.has_external:
            local_policy = self.service.external_policy_local
            target = self.local if local_policy else self.cluster
            self._rule(self.external, f"goto {target}")

    def _firewall(self) -> None:
        self._chain(self.firewall)
        sources = list(self.service.load_balancer_source_ranges)
        if any(ip_address(self.node_ip) in ip_network(cidr) for cidr in sources):
            sources += self.service.load_balancer_vips
        self._rule(
            self.firewall, f"{self.ip} saddr != {{ {' , '.join(sources)} }} drop"
        )

    def _capture(self) -> None:
        """Elements of the maps: what leads here, and what is refused or dropped."""
        service, name = self.service, str(self.service.name)
        verdict = "drop" if self.endpoints.has_any else "goto reject-chain"
        address = service.cluster_ip
        self.elements["cluster-ips", address] = (
            f"add element {self.table} cluster-ips {{ {address} }}"
        )
        key = f"{service.cluster_ip} . {self.protocol} . {service.port}"
        if self.has_internal:
            chain = self.local if service.internal_policy_local else self.cluster
            self._element("service-ips", key, f"goto {chain}")
        else:
            self._element("no-endpoint-services", key, verdict, name)
        addresses = dict.fromkeys((*service.external_ips, *service.load_balancer_vips))
        keys = [
            f"{address} . {self.protocol} . {service.port}" for address in addresses
        ]
        outside = [("service-ips", "no-endpoint-services", key) for key in keys]
        if service.node_port:
            node_port = f"{self.protocol} . {service.node_port}"
            outside.append(("service-nodeports", "no-endpoint-nodeports", node_port))
        for reached, refused, key in outside:
            if self.endpoints.has_any:
                self._element(reached, key, f"goto {self.external}")
            if not self.has_external:
                self._element(refused, key, verdict, name)
        if self.uses_firewall:
            for address in service.load_balancer_vips:
                key = f"{address} . {self.protocol} . {service.port}"
                self._element("firewall-ips", key, f"goto {self.firewall}")
