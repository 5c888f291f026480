"""The main plugin's side of IPAM: run the IPAM plugin with one's own input and
environment, then apply what it decided.

Upstream: `containernetworking/plugins`, `pkg/ipam/ipam.go`, `ipam_linux.go`
(`ConfigureIface`), `pkg/ip/addr_linux.go`, v1.9; `cni/pkg/invoke/delegate.go`.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.cni import results
from lifecycle.cni.addresses import parse_cidr, parse_ip
from lifecycle.cni.errors import CNIError
from lifecycle.cni.invoke import decode_result, exec_plugin_now, find_in_path
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import Link, LinkNotFoundError
from lifecycle.cni.netlink.route import RT_TABLE_MAIN, Route
from lifecycle.cni.netlink.wire import go_errno
from lifecycle.cni.plugins.skel import CmdArgs

DAD_SETTLE_SECONDS, SETTLE_INTERVAL = 5.0, 0.05
IFA_F_DADFAILED, IFA_F_TENTATIVE = 0x08, 0x40
SCOPE_NAMES = {0: "universe", 200: "site", 253: "link", 254: "host", 255: "nowhere"}
"""As `vishvananda/netlink` prints them."""


def exec_ipam(command: str, plugin: str, args: CmdArgs) -> bytes:
    """Run the IPAM plugin; same configuration, same environment, perhaps another
    command. Raises CNIError.
    """
    path = find_in_path(plugin, args.path)
    return exec_plugin_now(
        path, args.stdin_data, {**os.environ, "CNI_COMMAND": command}
    )


def exec_add(plugin: str, args: CmdArgs) -> results.Result:
    """What the IPAM plugin decided, in the newest version. Raises CNIError."""
    result = decode_result(args.stdin_data, exec_ipam("ADD", plugin, args))
    return results.convert(result, "1.1.0")


def sysctl(name: str, value: str) -> None:
    """Write a kernel setting of the calling thread's namespace. Raises OSError."""
    Path("/proc/sys", name).write_text(value)


def try_sysctl(name: str, value: str) -> None:
    """The same, where it does not matter if the kernel lacks the setting."""
    with contextlib.suppress(OSError):
        sysctl(name, value)


def enable_forward(version: int) -> None:
    """Let the kernel pass on packets that are not its own. Raises OSError."""
    path = Path(
        "/proc/sys/net/ipv4/ip_forward"
        if version == 4
        else "/proc/sys/net/ipv6/conf/all/forwarding"
    )
    if path.read_text().strip() != "1":
        path.write_text("1")


def configure_iface(netlink: Netlink, if_name: str, result: results.Result) -> None:
    """Put addresses and routes of a result onto an interface. Called in its namespace,
    `netlink` open there. Raises CNIError.
    """
    interfaces = result.get("interfaces", ())
    if not interfaces:
        raise CNIError("no interfaces to configure")
    try:
        link = netlink.link(if_name)
    except LinkNotFoundError:
        raise CNIError(f'failed to lookup "{if_name}": Link not found') from None
    gateways = _add_addresses(netlink, link, result)
    netlink.link_set(link.index, up=True)
    if 6 in gateways:
        try:
            settle_addresses(netlink, if_name)
        except CNIError as error:
            raise error.wrapped(f'failed to settle addresses for "{if_name}"') from None
    for route in result.get("routes", ()):
        _add_route(netlink, link, route, gateways)


def _add_addresses(
    netlink: Netlink, link: Link, result: results.Result
) -> dict[int, str]:
    """Those that are this interface's; the first gateway of each version."""
    if_name, interfaces = link.name, result["interfaces"]
    gateways: dict[int, str] = {}
    enabled_ipv6 = False
    for ip in result.get("ips", ()):
        index = ip.get("interface")
        if index is None:
            continue
        ipc = (
            f"{{Interface:{index} Address:{ip['address']}"
            f" Gateway:{ip.get('gateway', '<nil>')}}}"
        )
        if not 0 <= index < len(interfaces) or interfaces[index]["name"] != if_name:
            raise CNIError(
                f'failed to add IP addr {ipc} to "{if_name}": invalid interface index'
            )
        address = parse_cidr(ip["address"])
        if address.version == 6 and not enabled_ipv6:
            for name in ("lo", if_name):
                try_sysctl(f"net/ipv6/conf/{name}/disable_ipv6", "0")
            try_sysctl(f"net/ipv6/conf/{if_name}/keep_addr_on_down", "1")
            enabled_ipv6 = True
        try:
            netlink.addr_add(link.index, address)
        except OSError as error:
            raise CNIError(
                f'failed to add IP addr {ipc} to "{if_name}": {go_errno(error)}'
            ) from None
        if ip.get("gateway"):
            gateways.setdefault(parse_ip(ip["gateway"]).version, ip["gateway"])
    return gateways


def _add_route(
    netlink: Netlink, link: Link, r: Mapping[str, Any], gateways: Mapping[int, str]
) -> None:
    """One that names no gateway goes by that of its version."""
    destination = ipaddress.ip_network(r["dst"], strict=False)
    gateway = r.get("gw") or gateways.get(destination.version)
    route = Route(
        destination if destination.prefixlen else None,
        parse_ip(gateway) if gateway else None,
        link.index,
        scope=r.get("scope") or 0,
        priority=r.get("priority") or 0,
        table=r.get("table") or RT_TABLE_MAIN,
    )
    written = parse_cidr(r["dst"])
    try:
        if written.version == 4 and written.ip != destination.network_address:
            raise OSError(errno.EINVAL, "")  # so says the kernel of it
        netlink.route_add_ecmp(route)
    except OSError as error:
        where = (
            f"{{{written.ip} {written.netmask.packed.hex()}}} via"
            f" {gateway or '<nil>'} dev {link.name} metric {route.priority}"
        )
        scope = SCOPE_NAMES.get(route.scope, "unknown")
        raise CNIError(
            f"failed to add route '{where} (Scope: {scope}, Table:"
            f" {r.get('table') or 0})': {go_errno(error)}"
        ) from None


def settle_addresses(netlink: Netlink, if_name: str) -> None:
    """Wait until no IPv6 address is tentative any more (duplicate address detection),
    five seconds at most. Raises CNIError, at once if somebody else has the address.
    """
    deadline = time.monotonic() + DAD_SETTLE_SECONDS
    while True:
        lines = Path("/proc/net/if_inet6").read_text().split("\n")
        mine = [line.split() for line in lines if line.endswith(f" {if_name}")]
        flags = {address: int(flags, 16) for address, _, _, _, flags, _ in mine}
        for address, these in flags.items():
            if these & IFA_F_DADFAILED:
                readable = ipaddress.ip_address(bytes.fromhex(address))
                raise CNIError(
                    f"link {if_name} has address {readable} in DADFAILED state"
                )
        if not any(these & IFA_F_TENTATIVE for these in flags.values()):
            return
        if time.monotonic() > deadline:
            if netlink.link(if_name).oper_state != "up":
                return
            nanoseconds = int(DAD_SETTLE_SECONDS * 1e9)  # as upstream prints them
            raise CNIError(
                f"link {if_name} still has tentative addresses after"
                f" {nanoseconds} seconds"
            )
        time.sleep(SETTLE_INTERVAL)
