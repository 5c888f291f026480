"""CHECK of the main plugins: is what the result speaks of still there, and unchanged?

Upstream: `containernetworking/plugins`, `plugins/main/bridge/bridge.go` (`cmdCheck`),
`plugins/main/ptp/ptp.go`, `pkg/ip/utils_linux.go`, v1.9.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from lifecycle.cni import results
from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.errors import CNIError
from lifecycle.cni.netlink import Link, LinkNotFoundError, Netlink
from lifecycle.cni.plugins.skel import CmdArgs


def check_bridge(
    host: Netlink,
    inside: Netlink,
    conf: dict[str, Any],
    args: CmdArgs,
    result: results.Result,
) -> None:
    """Raises CNIError for the first thing that is not as it should be."""
    bridge_said, pod_said = {}, {}
    for interface in result.get("interfaces", ()):
        if interface["name"] == conf["bridge"]:
            bridge_said = interface
        elif (
            interface["name"] == args.if_name and interface.get("sandbox") == args.netns
        ):
            pod_said = interface
    bridge = _present(host, bridge_said, in_sandbox=False)
    if bridge.kind != "bridge":
        raise CNIError(f"Interface {bridge.name} does not have link type of bridge")
    if bridge_said.get("mac") and bridge_said["mac"] != bridge.mac:
        raise CNIError(
            f"Bridge interface {bridge.name} Mac doesn't match: {bridge_said['mac']}"
        )
    promiscuous = bool(bridge.promiscuity)
    if promiscuous != bool(conf.get("promiscMode")):
        configured = str(bool(conf.get("promiscMode"))).lower()
        raise CNIError(
            f"Bridge interface {bridge.name} configured Promisc Mode {configured} "
            f"doesn't match current state: {str(promiscuous).lower()} "
        )
    check_sandbox(args, pod_said)
    pod_end = check_pod_end(
        inside, pod_said, "Error: Container interface {} not of type veth", ""
    )
    for interface in result.get("interfaces", ()):
        if interface["name"] in (conf["bridge"], args.if_name):
            continue
        link = _present(host, interface, in_sandbox=False)
        ends_meet = (
            link.kind == "veth"
            and link.index == pod_end.parent
            and pod_end.index == link.parent
        )
        if ends_meet and link.master == bridge.index:
            if interface.get("mac") and interface["mac"] != link.mac:
                raise CNIError(
                    f"Interface {link.name} Mac doesn't match: {interface['mac']} not"
                    " found"
                )
            break
    else:
        raise CNIError(f"CNI veth created for bridge {conf['bridge']} was not found")
    check_addresses_and_routes(inside, args.if_name, result)


def check_sandbox(args: CmdArgs, pod_said: dict[str, Any]) -> None:
    """The result's interface must be in the namespace we were given. Raises
    CNIError.
    """
    sandbox = pod_said.get("sandbox", "")
    if args.netns != sandbox:
        raise CNIError(
            f"Sandbox in prevResult {sandbox} doesn't match configured netns:"
            f" {args.netns}"
        )


def check_pod_end(
    inside: Netlink,
    said: dict[str, Any],
    wrong_kind: str,
    prefix: str,
    not_found: str = "Interface name {} not found",
) -> Link:
    """The pod's end of the pair: there, a veth, the MAC address as said. The words are
    each plugin's own. Raises CNIError.
    """
    link = _present(inside, said, in_sandbox=True, not_found=not_found)
    if link.kind != "veth":
        raise CNIError(wrong_kind.format(link.name))
    if said.get("mac") and said["mac"] != link.mac:
        raise CNIError(
            f"{prefix}Interface {link.name} Mac {said['mac']} doesn't match container"
            f" Mac: {link.mac}"
        )
    return link


def check_addresses_and_routes(
    inside: Netlink, if_name: str, result: results.Result
) -> None:
    """Every address and every route of the result. Raises CNIError."""
    routes = inside.routes(4) + inside.routes(6)
    destinations = {
        str(route.destination or ("0.0.0.0/0" if _is_v4(route) else "::/0")): route
        for route in routes
    }
    for ip in result.get("ips", ()):
        address = parse_cidr(ip["address"])
        if address not in inside.addrs(inside.link(if_name).index):
            raise CNIError(f"Failed to match addr {address} on interface {if_name}")
        if str(address.network) not in destinations:
            raise CNIError(
                f"Failed to find Gateway {ip.get('gateway', '<nil>')} for interface"
                f" {if_name}"
            )
    for route in result.get("routes", ()):
        network = ipaddress.ip_network(route["dst"], strict=False)
        found = destinations.get(str(network))
        gateway = route.get("gw")
        wrong = (
            gateway
            and network.prefixlen
            and found is not None
            and str(found.gateway) != gateway
        )
        if found is None or wrong:
            raise CNIError(
                f"Expected Route {{Dst:{route['dst']} GW:{gateway or '<nil>'}}} not"
                " found in routing table"
            )


def _is_v4(route: Any) -> bool:
    return bool(route.gateway is None or route.gateway.version == 4)


def _present(
    netlink: Netlink,
    said: dict[str, Any],
    *,
    in_sandbox: bool,
    not_found: str = "Interface name {} not found",
) -> Link:
    name = said.get("name", "")
    if not name:
        raise CNIError("Interface name missing ")
    try:
        link = netlink.link(name)
    except LinkNotFoundError:
        raise CNIError(not_found.format(name)) from None
    if in_sandbox and not said.get("sandbox"):
        raise CNIError(f"Interface {name} is expected to be in a sandbox")
    if not in_sandbox and said.get("sandbox"):
        raise CNIError(f"Interface {name} should not be in sandbox")
    return link
