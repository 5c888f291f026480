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
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import Link, LinkNotFoundError
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.plugins.skel import CmdArgs


def check_bridge(
    host: Netlink,
    inside: Netlink,
    conf: dict[str, Any],
    args: CmdArgs,
    result: results.Result,
) -> None:
    """Raises CNIError for the first thing that is not as it should be."""
    br_map, cont_map = {}, {}
    for interface in result.get("interfaces", ()):
        if interface["name"] == conf["bridge"]:
            br_map = interface
        elif (
            interface["name"] == args.if_name and interface.get("sandbox") == args.netns
        ):
            cont_map = interface
    bridge = validate_interface(host, br_map, expect_in_sandbox=False)
    if bridge.kind != "bridge":
        raise CNIError(f"Interface {bridge.name} does not have link type of bridge")
    if br_map.get("mac") and br_map["mac"] != bridge.mac:
        raise CNIError(
            f"Bridge interface {bridge.name} Mac doesn't match: {br_map['mac']}"
        )
    promiscuous = bool(bridge.promiscuity)
    if promiscuous != bool(conf.get("promiscMode")):
        configured = str(bool(conf.get("promiscMode"))).lower()
        raise CNIError(
            f"Bridge interface {bridge.name} configured Promisc Mode {configured} "
            f"doesn't match current state: {str(promiscuous).lower()} "
        )
    validate_sandbox(args, cont_map)
    pod_end = validate_cni_container_interface(
        inside, cont_map, "Error: Container interface {} not of type veth", ""
    )
    for interface in result.get("interfaces", ()):
        if interface["name"] in (conf["bridge"], args.if_name):
            continue
        link = validate_interface(host, interface, expect_in_sandbox=False)
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
    validate_expected_interface_ips(inside, args.if_name, result)
    validate_expected_route(inside, result)


def validate_sandbox(args: CmdArgs, cont_map: dict[str, Any]) -> None:
    """The result's interface must be in the namespace we were given. Raises
    CNIError.
    """
    sandbox = cont_map.get("sandbox", "")
    if args.netns != sandbox:
        raise CNIError(
            f"Sandbox in prevResult {sandbox} doesn't match configured netns:"
            f" {args.netns}"
        )


def validate_cni_container_interface(
    inside: Netlink,
    intf: dict[str, Any],
    wrong_kind: str,
    prefix: str,
    not_found: str = "Interface name {} not found",
) -> Link:
    """The pod's end of the pair: there, a veth, the MAC address as said. The words are
    each plugin's own. Raises CNIError.
    """
    link = validate_interface(inside, intf, expect_in_sandbox=True, not_found=not_found)
    if link.kind != "veth":
        raise CNIError(wrong_kind.format(link.name))
    if intf.get("mac") and intf["mac"] != link.mac:
        raise CNIError(
            f"{prefix}Interface {link.name} Mac {intf['mac']} doesn't match container"
            f" Mac: {link.mac}"
        )
    return link


def validate_expected_interface_ips(
    inside: Netlink, if_name: str, result: results.Result
) -> None:
    """Every address of the result, and the route to its network. Raises CNIError."""
    destinations = _destinations(inside)
    for ip in result.get("ips", ()):
        address = parse_cidr(ip["address"])
        if address not in inside.addrs(inside.link(if_name).index):
            raise CNIError(f"Failed to match addr {address} on interface {if_name}")
        if str(address.network) not in destinations:
            raise CNIError(
                f"Failed to find Gateway {ip.get('gateway', '<nil>')} for interface"
                f" {if_name}"
            )


def validate_expected_route(inside: Netlink, result: results.Result) -> None:
    """Every route of the result. Raises CNIError."""
    destinations = _destinations(inside)
    for route in result.get("routes", ()):
        network = ipaddress.ip_network(route["dst"], strict=False)
        existing = destinations.get(str(network), ())
        gateway = route.get("gw")
        if gateway and network.prefixlen:
            existing = [one for one in existing if str(one.gateway) == gateway]
        if not existing:
            raise CNIError(
                f"Expected Route {_in_words(route)} not found in routing table"
            )


def _in_words(route: dict[str, Any]) -> str:
    """Upstream: `types.Route.String`."""
    dst = parse_cidr(route["dst"])
    numbers = " ".join(
        f"{name}:{route.get(name.lower()) or 0}"
        for name in ("MTU", "AdvMSS", "Priority")
    )
    pointers = " ".join(
        f"{name}:{route.get(name.lower(), '<nil>')}" for name in ("Table", "Scope")
    )
    return (
        f"{{Dst:{{IP:{dst.ip} Mask:{dst.netmask.packed.hex()}}}"
        f" GW:{route.get('gw') or '<nil>'} {numbers} {pointers}}}"
    )


def _destinations(inside: Netlink) -> dict[str, list[Route]]:
    found: dict[str, list[Route]] = {}
    for version, everywhere in ((4, "0.0.0.0/0"), (6, "::/0")):
        for route in inside.routes(version):
            found.setdefault(str(route.destination or everywhere), []).append(route)
    return found


def validate_interface(
    netlink: Netlink,
    intf: dict[str, Any],
    *,
    expect_in_sandbox: bool,
    not_found: str = "Interface name {} not found",
) -> Link:
    """An interface of the result: named, there, on the side where it is expected.
    Raises CNIError.
    """
    name = intf.get("name", "")
    if not name:
        raise CNIError("Interface name missing ")
    try:
        link = netlink.link(name)
    except LinkNotFoundError:
        raise CNIError(not_found.format(name)) from None
    if expect_in_sandbox and not intf.get("sandbox"):
        raise CNIError(f"Interface {name} is expected to be in a sandbox")
    if not expect_in_sandbox and intf.get("sandbox"):
        raise CNIError(f"Interface {name} should not be in sandbox")
    return link
