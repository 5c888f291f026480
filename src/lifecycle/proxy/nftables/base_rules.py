"""What stands in the table whatever Services there are.

Where iptables walks a list with one rule for each Service, nftables looks an address up
in a map: one rule, however many Services. And there is a gain in manners: an address of
the Service range that no Service has is dropped, a port that the Service does not have
is refused. In the iptables mode both just go unanswered.

Upstream: `pkg/proxy/nftables/proxier.go` (`setupNFTables`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

CHAINS = {
    "cluster-ips-check": "",
    "filter-prerouting-pre-dnat": "type filter hook prerouting priority -110 ;",
    "filter-output-pre-dnat": "type filter hook output priority -110 ;",
    "filter-forward": "type filter hook forward priority 0 ;",
    "filter-input": "type filter hook input priority 0 ;",
    "filter-output": "type filter hook output priority 0 ;",
    "firewall-check": "",
    "mark-for-masquerade": "",
    "masquerading": "",
    "nat-output": "type nat hook output priority -100 ;",
    "nat-postrouting": "type nat hook postrouting priority 100 ;",
    "nat-prerouting": "type nat hook prerouting priority -100 ;",
    "nodeport-endpoints-check": "",
    "reject-chain": (
        'comment "helper for @no-endpoint-services / @no-endpoint-nodeports" ;'
    ),
    "services": "",
    "service-endpoints-check": "",
}
ADDRESS_PORT = "{addr} . inet_proto . inet_service : verdict"
CONTAINERS = (
    ("set", "cluster-ips", "{addr}", "Active ClusterIPs"),
    ("set", "nodeport-ips", "{addr}", "IPs that accept NodePort traffic"),
    (
        "map",
        "firewall-ips",
        ADDRESS_PORT,
        "destinations that are subject to LoadBalancerSourceRanges",
    ),
    (
        "map",
        "no-endpoint-nodeports",
        "inet_proto . inet_service : verdict",
        "vmap to drop or reject packets to service nodeports with no endpoints",
    ),
    (
        "map",
        "no-endpoint-services",
        ADDRESS_PORT,
        "vmap to drop or reject packets to services with no endpoints",
    ),
    (
        "map",
        "service-ips",
        ADDRESS_PORT,
        "ClusterIP, ExternalIP and LoadBalancer IP traffic",
    ),
    (
        "map",
        "service-nodeports",
        "inet_proto . inet_service : verdict",
        "NodePort traffic",
    ),
)
DESTINATION = "{ip} daddr . meta l4proto . th dport vmap"
NODE_PORT = "{node_ip} meta l4proto . th dport vmap"
NAMED_ADDRESSES = "{ip} daddr @nodeport-ips"
NOT_LOCALHOST = {"ip": "ip daddr != 127.0.0.0/8", "ip6": "ip6 daddr != ::1"}
RULES = (
    ("filter-prerouting-pre-dnat", "ct state new jump firewall-check"),
    ("filter-forward", "ct state new jump service-endpoints-check"),
    ("filter-forward", "ct state new jump cluster-ips-check"),
    ("filter-input", "ct state new jump nodeport-endpoints-check"),
    ("filter-input", "ct state new jump service-endpoints-check"),
    ("filter-output", "ct state new jump service-endpoints-check"),
    ("filter-output-pre-dnat", "ct state new jump firewall-check"),
    ("filter-output", "ct state new jump cluster-ips-check"),
    ("firewall-check", f"{DESTINATION} @firewall-ips"),
    ("mark-for-masquerade", "mark set mark or {mark}"),
    ("masquerading", "mark and {mark} == 0 return"),
    ("masquerading", "mark set mark xor {mark}"),
    ("masquerading", "masquerade fully-random"),
    ("nat-output", "jump services"),
    ("nat-postrouting", "jump masquerading"),
    ("nat-prerouting", "jump services"),
    ("nodeport-endpoints-check", f"{NODE_PORT} @no-endpoint-nodeports"),
    ("reject-chain", "reject"),
    ("services", f"{DESTINATION} @service-ips"),
    ("services", f"{NODE_PORT} @service-nodeports"),
    ("service-endpoints-check", f"{DESTINATION} @no-endpoint-services"),
)


def base_rules(
    family: str,
    mark: str,
    *,
    service_cidrs: Sequence[str],
    node_port_ips: Sequence[str] | None,
) -> Iterator[str]:
    """Commands for `nft -f`. `service_cidrs`: where Services live. `node_port_ips`:
    which addresses answer on node ports; None: all.
    """
    ip = "ip6" if family == "IPv6" else "ip"
    table, addr = f"{ip} kube-proxy", "ipv6_addr" if family == "IPv6" else "ipv4_addr"
    yield f'add table {table} {{ comment "rules for kube-proxy" ; }}'
    for chain, hook in CHAINS.items():
        yield (
            f"add chain {table} {chain} {{ {hook} }}"
            if hook
            else f"add chain {table} {chain}"
        )
        yield f"flush chain {table} {chain}"
    for container, name, kind, comment in CONTAINERS:
        yield (
            f"add {container} {table} {name} {{ type {kind.format(addr=addr)} ; comment"
            f' "{comment}" ; }}'
        )
        unused = (
            name == "nodeport-ips" and node_port_ips is None
        )  # made first: what is not there cannot be deleted
        yield f"{'delete' if unused else 'flush'} {container} {table} {name}"
    check = f"add rule {table} cluster-ips-check {ip} daddr"
    yield (
        f'{check} @cluster-ips reject comment "Reject traffic to invalid ports of'
        ' ClusterIPs"'
    )
    if service_cidrs:
        cidrs = " , ".join(service_cidrs)
        yield (
            f'{check} {{ {cidrs} }} drop comment "Drop traffic to unallocated'
            ' ClusterIPs"'
        )
    for chain, rule in RULES:
        node_ip = NAMED_ADDRESSES.format(ip=ip)
        if node_port_ips is None:
            node_ip = (
                NOT_LOCALHOST[ip]
                if chain != "services"
                else f"fib daddr type local {NOT_LOCALHOST[ip]}"
            )
        yield (
            f"add rule {table} {chain} {rule.format(ip=ip, mark=mark, node_ip=node_ip)}"
        )
    for address in node_port_ips or ():
        yield f"add element {table} nodeport-ips {{ {address} }}"
