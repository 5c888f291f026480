"""portmap: forwards ports of the host to the pod.

A chained plugin: it takes the pod's address from the result before it, and passes that
result on.

Nothing reserves the host's port: the last one who claims it gets the traffic.

Upstream: `containernetworking/plugins`, `plugins/meta/portmap/main.go`, `chain.go`,
v1.9. Left out: the nftables backend, the removal of stale conntrack entries for UDP.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from typing import Any

from lifecycle.cni import results
from lifecycle.cni.addresses import Interface, parse_cidr
from lifecycle.cni.errors import CNIError
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.plugins import ipam
from lifecycle.cni.plugins.chain_names import format_chain_name
from lifecycle.cni.plugins.go_structs import (
    BOOL,
    INT,
    PLUGIN_CONF,
    STRING,
    STRINGS,
    Slice,
    Struct,
    under_field_names,
)
from lifecycle.cni.plugins.iptables import IPTables, IPTablesError
from lifecycle.cni.plugins.netconf import plugin_config
from lifecycle.cni.plugins.portmap_rules import (
    MARK_MASQ_CHAIN,
    OLD_TOP_LEVEL_SNAT_CHAIN,
    SET_MARK_CHAIN,
    TOP_LEVEL_DNAT_CHAIN,
    Chain,
    all_chains,
    dnat_chain,
    filled_dnat_chain,
)
from lifecycle.cni.plugins.skel import CmdArgs, plugin_main, prev_result

_UNREADABLE = "failed to parse network configuration"
_ENTRY = Struct(
    {"hostPort": INT, "containerPort": INT, "protocol": STRING, "hostIP": STRING},
    "main.PortMapEntry",
)
_RUNTIME = 'struct { PortMaps []main.PortMapEntry "json:\\"portMappings,omitempty\\"" }'
_PORT_MAP_CONF = Struct(
    {
        **PLUGIN_CONF,
        "snat": BOOL,
        "conditionsV4": STRINGS,
        "conditionsV6": STRINGS,
        "masqAll": BOOL,
        "markMasqBit": INT,
        "externalSetMarkChain": STRING,
        "backend": STRING,
        "runtimeConfig": Struct(
            {"portMappings": Slice(_ENTRY, "[]main.PortMapEntry")}, _RUNTIME
        ),
    },
    "main.PortMapConf",
)


def parse_config(args: CmdArgs) -> tuple[dict[str, Any], list[Interface]]:
    """The configuration, and the pod's addresses: the first of each IP version on its
    own interface. Raises CNIError.
    """
    conf = plugin_config(args.conf, _PORT_MAP_CONF, _UNREADABLE)
    if (
        conf.get("markMasqBit") is not None
        and conf.get("externalSetMarkChain") is not None
    ):
        raise CNIError("Cannot specify externalSetMarkChain and markMasqBit")
    if not 0 <= (conf.get("markMasqBit") or 0) <= 31:
        raise CNIError("MasqMarkBit must be between 0 and 31")
    if conf.get("backend", "iptables") != "iptables":
        raise CNIError(f'unrecognized backend "{conf["backend"]}"')
    given = (conf.get("runtimeConfig") or {}).get("portMappings") or []
    mappings = [under_field_names(mapping, _ENTRY) for mapping in given]
    conf["runtimeConfig"] = {"portMappings": mappings}
    for mapping in mappings:
        for key, words in (("containerPort", "container"), ("hostPort", "host")):
            if mapping.get(key, 0) <= 0:
                raise CNIError(f"Invalid {words} port number: {mapping.get(key, 0)}")
    addresses: dict[int, Interface] = {}
    if conf.get("prevResult") is not None:
        try:
            result = prev_result(args)
        except CNIError as error:
            raise error.wrapped("could not parse prevResult") from None
        interfaces = result.get("interfaces", ())
        for ip in result.get("ips", ()):
            index = ip.get("interface")
            one = (
                interfaces[index]
                if index is not None and 0 <= index < len(interfaces)
                else None
            )
            if one is not None and (
                one["name"] != args.if_name or not one.get("sandbox")
            ):
                continue
            address = parse_cidr(ip["address"])
            addresses.setdefault(address.version, address)
    return conf, [addresses[version] for version in sorted(addresses)]


def cmd_add(args: CmdArgs) -> results.Result:
    """ADD. Raises CNIError."""
    conf, addresses = _parsed(args)
    if conf.get("prevResult") is None:
        raise CNIError("must be called as chained plugin")
    if conf["runtimeConfig"]["portMappings"]:
        for address in addresses:
            forward_ports(conf, args.container_id, address)
            if address.version == 4 and conf.get("snat", True):
                _enable_localnet_routing(address)
    return results.create(
        args.cni_version, {"cniVersion": args.cni_version, **conf["prevResult"]}
    )


def forward_ports(conf: dict[str, Any], container_id: str, address: Interface) -> None:
    """Write the rules; those that are there stay. Raises CNIError."""
    iptables = IPTables(address.version)
    for chain in all_chains(conf, container_id, address):
        try:
            set_up(iptables, chain)
        except CNIError as error:
            raise error.wrapped(
                _FAILED.get(chain.name, "unable to setup DNAT")
            ) from None


_FAILED = {
    SET_MARK_CHAIN: f"unable to create chain {SET_MARK_CHAIN}",
    MARK_MASQ_CHAIN: f"unable to create chain {SET_MARK_CHAIN}",
    TOP_LEVEL_DNAT_CHAIN: "failed to create top-level DNAT chain",
}


def set_up(iptables: IPTables, chain: Chain) -> None:
    """A chain with its rules, and the rules that lead to it. Raises CNIError."""
    iptables.ensure_chain("nat", chain.name)
    for rule in chain.rules:
        iptables.append_unique("nat", chain.name, rule)
    for entry, rule in chain.entries():
        iptables.insert_unique("nat", entry, rule, prepend=chain.prepend_entry)


def cmd_del(args: CmdArgs) -> None:
    """DEL: the container's own chain goes, the common ones stay. Raises CNIError."""
    conf, _ = _parsed(args)
    if not conf["runtimeConfig"]["portMappings"]:
        return
    usable, complaints = [], []
    for version in (4, 6):
        try:
            iptables = IPTables(version)
            iptables.run("nat", "-S", "OUTPUT")
        except CNIError as error:
            complaints.append(str(error))
        else:
            usable.append((version, iptables))
    if not usable:
        four, six = complaints
        raise CNIError(
            f"neither iptables nor ip6tables is usable, (iptables) {four},"
            f" (ip6tables) {six}"
        )
    for version, iptables in usable:
        try:
            teardown(iptables, dnat_chain(conf["name"], args.container_id))
        except CNIError as error:
            raise error.wrapped(f"could not teardown ipv{version} dnat") from None
        old = format_chain_name(conf["name"], args.container_id, "SN-")
        with contextlib.suppress(CNIError):
            teardown(iptables, Chain(old, entry_chains=(OLD_TOP_LEVEL_SNAT_CHAIN,)))


def teardown(iptables: IPTables, chain: Chain) -> None:
    """Remove a chain and whatever jumps to it. Raises CNIError."""
    if not iptables.chain_exists("nat", chain.name):
        return
    for entry in chain.entry_chains:
        for line in iptables.references("nat", entry, chain.name):
            iptables.delete("nat", entry, shlex.split(line)[2:])
    iptables.clear_and_delete_chain("nat", chain.name)


def cmd_check(args: CmdArgs) -> None:
    """CHECK: all rules of the container. Raises CNIError."""
    conf, addresses = parse_config(args)
    prev_result(args)
    for address in addresses if conf["runtimeConfig"]["portMappings"] else ():
        iptables = IPTables(address.version)
        chain = filled_dnat_chain(conf, args.container_id, address)
        try:
            if not iptables.chain_exists("nat", chain.name):
                raise CNIError(f"chain {chain.name} not found in iptables table nat")
            for where, rule, among in [
                *((chain.name, rule, chain.rules) for rule in chain.rules),
                *((where, rule, chain.entry_rules) for where, rule in chain.entries()),
            ]:
                if not _has(iptables, where, rule):
                    listed = " ".join(f"[{' '.join(one)}]" for one in among)
                    raise CNIError(
                        f"rule [{listed}] in chain {where} not found in table nat"
                    )
        except CNIError as error:
            raise CNIError(
                f"could not check ipv{address.version} dnat: {error}"
            ) from None


def _has(iptables: IPTables, chain: str, rule: list[str]) -> bool:
    """Whether a rule is there. One that the program will not even take is not."""
    try:
        return iptables.exists("nat", chain, rule)
    except IPTablesError:
        return False


def _parsed(args: CmdArgs) -> tuple[dict[str, Any], list[Interface]]:
    try:
        return parse_config(args)
    except CNIError as error:
        raise CNIError(f"failed to parse config: {error}") from None


def _enable_localnet_routing(address: Interface) -> None:
    """Let 127.0.0.1 reach the pod through the interface that leads to it."""
    with Netlink() as host:
        by_length = sorted(
            host.routes(4),
            key=lambda r: r.destination.prefixlen if r.destination else 0,
            reverse=True,
        )
        for route in by_length:
            if route.link and (
                route.destination is None or address.ip in route.destination
            ):
                name = next(
                    (link.name for link in host.links() if link.index == route.link), ""
                )
                if name:
                    ipam.sysctl(f"net/ipv4/conf/{name}/route_localnet", "1")
                return


def main() -> int:
    """The executable."""
    return plugin_main("portmap", {"ADD": cmd_add, "DEL": cmd_del, "CHECK": cmd_check})


if __name__ == "__main__":
    sys.exit(main())
