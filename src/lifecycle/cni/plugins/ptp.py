"""The point-to-point plugin: a veth pair and nothing else. Every packet of the pod goes
to the host, which has a route for each pod.

A veth cannot be told to be point-to-point, so it is made to look so: the pod's address
keeps its subnet mask, but the subnet's own route is replaced by two others – the
gateway is on the link, everything else in the subnet is behind the gateway. That is
what kind uses.

Upstream: `containernetworking/plugins`, `plugins/main/ptp/ptp.go`, v1.9.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import sys
from typing import Any

from lifecycle.cni import results
from lifecycle.cni.addresses import Interface, parse_cidr, parse_ip
from lifecycle.cni.errors import CNIError
from lifecycle.cni.namespaces import (
    NSPathNotExistError,
    current_netns,
    with_net_ns_path,
)
from lifecycle.cni.netlink.addr import SCOPE_HOST, SCOPE_LINK, SCOPE_NOWHERE
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import Link
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.netlink.wire import go_errno
from lifecycle.cni.plugins import ipam
from lifecycle.cni.plugins.checks import (
    validate_cni_container_interface,
    validate_expected_interface_ips,
    validate_expected_route,
    validate_sandbox,
)
from lifecycle.cni.plugins.go_structs import BOOL, INT, PLUGIN_CONF, STRING, Struct
from lifecycle.cni.plugins.ipmasq import setup_ip_masq, teardown_ip_masq
from lifecycle.cni.plugins.netconf import dns_configured, open_netns, plugin_config
from lifecycle.cni.plugins.skel import CmdArgs, plugin_main, prev_result
from lifecycle.cni.plugins.veth import del_link, setup_veth

NO_ADDRESS = "&net.IPNet{IP:net.IP(nil), Mask:net.IPMask{0xff, 0xff, 0xff, 0xff}}"
"""How upstream prints the address of a gateway that IPAM did not name."""

_NET_CONF = Struct(
    {**PLUGIN_CONF, "ipMasq": BOOL, "ipMasqBackend": STRING, "mtu": INT},
    "main.NetConf",
)


def pod_routes(address: Interface, gateway: str, link: int = 0) -> list[Route]:
    """The two routes that stand in for the subnet's own."""
    via = parse_ip(gateway)
    only_gateway = ipaddress.ip_network(f"{via}/{via.max_prefixlen}")
    return [
        Route(only_gateway, None, link, scope=SCOPE_LINK, source=address.ip),
        Route(address.network, via, link, source=address.ip),
    ]


def host_route(address: Interface, link: int = 0) -> Route:
    """The host's way to one pod."""
    return Route(
        ipaddress.ip_network(f"{address.ip}/{address.max_prefixlen}"),
        None,
        link,
        scope=SCOPE_HOST,
    )


def setup_container_veth(
    inside: Netlink, host: Netlink, args: CmdArgs, mtu: int, result: results.Result
) -> Link:
    """The pair, and all of the pod's side; the host's end. Raises CNIError."""
    host_fd = current_netns()
    try:
        host_end, pod_end = setup_veth(inside, host, host_fd, args.if_name, mtu=mtu)
    finally:
        os.close(host_fd)
    result["interfaces"] = [
        {"name": host_end.name, "mac": host_end.mac},
        {"name": pod_end.name, "mac": pod_end.mac, "sandbox": args.netns},
    ]
    for ip in result["ips"]:
        ip["interface"] = 1
    with with_net_ns_path(args.netns):
        ipam.configure_iface(inside, args.if_name, result)
    for ip in result["ips"]:
        address = parse_cidr(ip["address"])
        own = Route(address.network, None, pod_end.index, scope=SCOPE_NOWHERE)
        try:
            inside.route_del(own)
        except OSError as error:
            raise CNIError(
                f"failed to delete route {own.destination}: {go_errno(error)}"
            ) from None
        for route in (
            pod_routes(address, ip["gateway"], pod_end.index)
            if ip.get("gateway")
            else ()
        ):
            try:
                inside.route_add(route)
            except OSError as error:
                raise CNIError(
                    f"failed to add route {route.destination}: {go_errno(error)}"
                ) from None
    return host_end


def setup_host_veth(host: Netlink, link: Link, result: results.Result) -> None:
    """The gateway's address on the host's end – the same one on each pair –, and the
    route to the pod. Raises CNIError.
    """
    for ip in result["ips"]:
        if not ip.get("gateway"):
            raise CNIError(
                f"failed to add IP addr ({NO_ADDRESS}) to veth: numerical result out of"
                " range"
            )
        address, gateway = parse_cidr(ip["address"]), parse_ip(ip["gateway"])
        own = parse_cidr(f"{gateway}/{gateway.max_prefixlen}")
        try:
            host.addr_add(link.index, own)
        except OSError as error:
            raise CNIError(
                f"failed to add IP addr ({own}) to veth: {go_errno(error)}"
            ) from None
        try:
            host.route_add(host_route(address, link.index))
        except OSError as error:
            if error.errno != errno.EEXIST:
                raise CNIError(
                    f"failed to add route on host: {go_errno(error)}"
                ) from None


def cmd_add(args: CmdArgs) -> results.Result:
    """ADD. Raises CNIError; the address is given back then."""
    conf = plugin_config(args.conf, _NET_CONF)
    ipam_type = (conf.get("ipam") or {}).get("type", "")
    result = ipam.exec_add(ipam_type, args)
    try:
        if not result.get("ips"):
            raise CNIError("IPAM plugin returned missing IP config")
        addresses = [parse_cidr(ip["address"]) for ip in result["ips"]]
        for version in sorted({address.version for address in addresses}):
            ipam.enable_forward(version)
        with open_netns(args.netns) as inside, Netlink() as host:
            link = setup_container_veth(inside, host, args, conf.get("mtu", 0), result)
            setup_host_veth(host, link, result)
        if conf.get("ipMasq"):
            setup_ip_masq(
                addresses, conf["name"], args.container_id, conf.get("ipMasqBackend")
            )
    except (CNIError, OSError):
        with contextlib.suppress(CNIError):
            ipam.exec_ipam("DEL", ipam_type, args)
        raise
    if dns_configured(conf):
        result["dns"] = conf["dns"]
    return result


def cmd_del(args: CmdArgs) -> None:
    """DEL. What is gone already is no error. Raises CNIError."""
    conf: dict[str, Any] = plugin_config(args.conf, _NET_CONF)
    ipam.exec_ipam("DEL", (conf.get("ipam") or {}).get("type", ""), args)
    if not args.netns:
        return
    addresses: list[Interface] = []
    with contextlib.suppress(NSPathNotExistError), Netlink(args.netns) as inside:
        addresses = del_link(inside, args.if_name)
    if addresses and conf.get("ipMasq"):
        teardown_ip_masq(addresses, conf["name"], args.container_id)


def cmd_check(args: CmdArgs) -> None:
    """CHECK: the pod's end, addresses, routes. Raises CNIError."""
    conf = plugin_config(args.conf, _NET_CONF)
    with open_netns(args.netns) as inside:
        ipam.exec_ipam("CHECK", (conf.get("ipam") or {}).get("type", ""), args)
        result = prev_result(args, "ptp: Required prevResult missing")
        mine = [
            i
            for i in result.get("interfaces", ())
            if i["name"] == args.if_name and i.get("sandbox") == args.netns
        ]
        validate_sandbox(args, mine[0] if mine else {})
        missing = "ptp: Container Interface name in prevResult: {} not found"
        validate_cni_container_interface(
            inside,
            mine[0],
            "Error: Container interface {} not of type veth/p2p",
            "ptp: ",
            missing,
        )
        validate_expected_interface_ips(inside, args.if_name, result)
        validate_expected_route(inside, result)


def cmd_status(args: CmdArgs) -> None:
    """STATUS: as well as IPAM's. Raises CNIError."""
    ipam.exec_ipam("STATUS", (args.conf.get("ipam") or {}).get("type", ""), args)


def main() -> int:
    """The executable."""
    return plugin_main(
        "ptp",
        {"ADD": cmd_add, "DEL": cmd_del, "CHECK": cmd_check, "STATUS": cmd_status},
    )


if __name__ == "__main__":
    sys.exit(main())
