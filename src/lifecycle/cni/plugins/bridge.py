"""The bridge plugin: a Linux bridge on the host as switch, a veth pair for each pod,
one end plugged into the bridge.

With IPAM it works on layer 3: addresses, routes, and – `isGateway` – the gateway's
address on the bridge itself. Without, it plugs and switches on, no more.

Upstream: `containernetworking/plugins`, `plugins/main/bridge/bridge.go`, v1.9. Left
out: `macspoofchk` (needs nftables' bridge family).
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from lifecycle.cni import results
from lifecycle.cni.addresses import Interface, next_ip, parse_cidr
from lifecycle.cni.errors import CNIError
from lifecycle.cni.namespaces import (
    NSPathNotExistError,
    current_netns,
    with_net_ns_path,
)
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import Link, LinkNotFoundError
from lifecycle.cni.netlink.wire import go_errno
from lifecycle.cni.plugins import ipam
from lifecycle.cni.plugins.bridge_config import load_net_conf
from lifecycle.cni.plugins.checks import check_bridge
from lifecycle.cni.plugins.ipmasq import setup_ip_masq, teardown_ip_masq
from lifecycle.cni.plugins.netconf import dns_configured, open_netns
from lifecycle.cni.plugins.skel import CmdArgs, plugin_main, prev_result
from lifecycle.cni.plugins.veth import del_link, setup_veth

PORT_STATE_RETRIES = (0, 0.05, 0.5, 1, 1)
"""Seconds to wait before each look whether the bridge's port has come up."""


def calc_gateways(
    result: results.Result, conf: dict[str, Any]
) -> dict[int, list[Interface]]:
    """Gateway addresses by IP version; fills in what the result lacks: interface,
    gateway, default route.

    A gateway that IPAM did not name is the first address of the subnet.
    """
    gateways: dict[int, list[Interface]] = {4: [], 6: []}
    default_route_found: set[int] = set()
    for ip in result["ips"]:
        address = parse_cidr(ip["address"])
        ip["interface"] = 2  # after the bridge and the host's end
        if not ip.get("gateway") and conf["is_gateway"]:
            ip["gateway"] = str(next_ip(address.network.network_address))
        default = "0.0.0.0/0" if address.version == 4 else "::/0"
        if conf.get("isDefaultGateway") and address.version not in default_route_found:
            if not any(
                route["dst"] == default and route.get("gw")
                for route in result.get("routes", ())
            ):
                result.setdefault("routes", []).append(
                    {"dst": default, "gw": ip["gateway"]}
                )
            default_route_found.add(address.version)
        if conf["is_gateway"]:
            gateways[address.version].append(
                parse_cidr(f"{ip['gateway']}/{address.network.prefixlen}")
            )
    return gateways


def ensure_bridge(host: Netlink, conf: dict[str, Any]) -> Link:
    """The bridge, made if it is missing. Raises CNIError if something else has its
    name.
    """
    name = conf["bridge"]
    if not name:
        raise CNIError(
            'failed to create bridge "": could not add "": LinkAttrs.Name cannot be'
            " empty"
        )
    try:
        filtering = bool(conf.get("vlan") or conf.get("vlanTrunk") is not None)
        host.bridge_add(name, mtu=conf.get("mtu", 0), vlan_filtering=filtering)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise CNIError(
                f'failed to create bridge "{name}": could not add "{name}":'
                f" {go_errno(error)}"
            ) from None
    bridge = _bridge_by_name(host, name)
    if conf.get("promiscMode"):
        host.link_set(bridge.index, promiscuous=True)
    ipam.try_sysctl(f"net/ipv6/conf/{name}/accept_ra", "0")
    host.link_set(bridge.index, up=True)
    return _bridge_by_name(host, name)


def ensure_addr(host: Netlink, link: Link, address: Interface, force: bool) -> None:
    """The gateway's address on the bridge. Another address of the same network is an
    error, or (`force`) goes. Raises CNIError.
    """
    for present in host.addrs(link.index, address.version):
        if present == address:
            return
        if (
            address.version == 4
            or address.ip in present.network
            or present.ip in address.network
        ):
            if not force:
                raise CNIError(
                    f'"{link.name}" already has an IP address different from {address}'
                )
            try:
                host.addr_del(link.index, present)
            except OSError as error:
                raise CNIError(
                    f'could not remove IP address from "{link.name}": {go_errno(error)}'
                ) from None
    try:
        host.addr_add(link.index, address)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise CNIError(
                f'could not add IP address to "{link.name}": {go_errno(error)}'
            ) from None
    # set explicitly, else a bridge takes the lowest address of its ports, which come
    # and go
    host.link_set(link.index, mac=link.mac)


def plug(host: Netlink, bridge: Link, port: Link, conf: dict[str, Any]) -> None:
    """One end of a veth pair into the bridge. Raises CNIError."""
    try:
        host.link_set(port.index, master=bridge.index)
    except OSError as error:
        raise CNIError(
            f'failed to connect "{port.name}" to bridge {bridge.name}:'
            f" {go_errno(error)}"
        ) from None
    try:
        host.bridge_port_set(port.index, hairpin=bool(conf.get("hairpinMode")))
    except OSError as error:
        raise CNIError(
            f"failed to setup hairpin mode for {port.name}: {go_errno(error)}"
        ) from None
    try:
        host.bridge_port_set(port.index, isolated=bool(conf.get("portIsolation")))
    except OSError as error:
        raise CNIError(
            f"failed to set isolated on for {port.name}: {go_errno(error)}"
        ) from None
    vlan, vlans = conf.get("vlan", 0), conf["vlans"]
    step = "remove default vlan"
    try:
        if (vlan or vlans) and not conf.get("preserveDefaultVlan"):
            host.bridge_vlan(port.index, 1, delete=True)
        step = "setup vlan tag"
        if vlan:
            host.bridge_vlan(port.index, vlan, native=True)
        for tagged in vlans:
            host.bridge_vlan(port.index, tagged)
        step = "setup default native vlan tag"
        if vlans and not vlan:  # last: VLAN 1 may be among the tagged ones
            host.bridge_vlan(port.index, 1, native=True)
    except OSError as error:
        raise CNIError(
            f'failed to {step} on interface "{port.name}": {go_errno(error)}'
        ) from None


def cmd_add(args: CmdArgs) -> results.Result:
    """ADD. Raises CNIError; the address is given back then, the bridge stays."""
    conf = load_net_conf(args)
    ipam_type = (conf.get("ipam") or {}).get("type", "")
    conf["is_gateway"] = bool(conf.get("isGateway") or conf.get("isDefaultGateway"))
    if ipam_type and conf.get("disableContainerInterface"):
        raise CNIError("cannot use IPAM when DisableContainerInterface flag is set")
    if conf.get("hairpinMode") and conf.get("promiscMode"):
        raise CNIError("cannot set hairpin mode and promiscuous mode at the same time")
    with Netlink() as host:
        bridge = ensure_bridge(host, conf)
        with open_netns(args.netns) as inside:
            host_fd = current_netns()
            try:
                port, pod_end = setup_veth(
                    inside,
                    host,
                    host_fd,
                    args.if_name,
                    mtu=conf.get("mtu", 0),
                    mac=conf["mac"],
                )
            finally:
                os.close(host_fd)
            plug(host, bridge, port, conf)
            result: results.Result = {
                "cniVersion": "1.1.0",
                "interfaces": [
                    {"name": bridge.name, "mac": bridge.mac},
                    {"name": port.name, "mac": port.mac},
                    {"name": pod_end.name, "mac": pod_end.mac, "sandbox": args.netns},
                ],
            }
            if ipam_type:
                with _ipam_decision(ipam_type, args) as decided:
                    _layer_3(host, inside, bridge, conf, args, result, decided)
                    _finish(host, conf, result)
            else:
                if not conf.get("disableContainerInterface"):
                    inside.link_set(pod_end.index, up=True)
                _finish(host, conf, result)
    if dns_configured(conf):
        result["dns"] = conf["dns"]
    return result


@contextlib.contextmanager
def _ipam_decision(plugin: str, args: CmdArgs) -> Iterator[results.Result]:
    """What IPAM decided; if using it fails, the addresses go back."""
    decided = ipam.exec_add(plugin, args)
    try:
        yield decided
    except (CNIError, OSError):
        with contextlib.suppress(CNIError):
            ipam.exec_ipam("DEL", plugin, args)
        raise


def _layer_3(
    host: Netlink,
    inside: Netlink,
    bridge: Link,
    conf: dict[str, Any],
    args: CmdArgs,
    result: results.Result,
    decided: results.Result,
) -> None:
    result |= {key: decided[key] for key in ("ips", "routes", "dns") if key in decided}
    if not result.get("ips"):
        raise CNIError("IPAM plugin returned missing IP config")
    gateways = calc_gateways(result, conf)
    with with_net_ns_path(args.netns):
        detect = bool(conf.get("enabledad"))
        if detect:
            ipam.try_sysctl(f"net/ipv6/conf/{args.if_name}/enhanced_dad", "1")
        ipam.try_sysctl(f"net/ipv6/conf/{args.if_name}/accept_dad", str(int(detect)))
        ipam.try_sysctl(f"net/ipv4/conf/{args.if_name}/arp_notify", "1")
        ipam.configure_iface(inside, args.if_name, result)
    for version, addresses in gateways.items():
        for address in addresses:
            try:
                link = _gateway_link(host, bridge, conf, result)
            except CNIError as error:
                raise error.wrapped("failed to create vlan interface") from None
            try:
                ensure_addr(host, link, address, bool(conf.get("forceAddress")))
            except CNIError as error:
                where = (
                    "vlan interface for bridge with" if conf.get("vlan") else "bridge"
                )
                raise error.wrapped(f"failed to set {where} addr") from None
        if addresses:
            ipam.enable_forward(version)
    if conf.get("ipMasq"):
        own = [parse_cidr(ip["address"]) for ip in result["ips"]]
        setup_ip_masq(own, conf["name"], args.container_id, conf.get("ipMasqBackend"))


def _gateway_link(
    host: Netlink, bridge: Link, conf: dict[str, Any], result: results.Result
) -> Link:
    """Where the gateway's address goes: the bridge, or – in a VLAN – a veth pair of the
    host's own, plugged into that VLAN.
    """
    if not conf.get("vlan"):
        return bridge
    name = f"{bridge.name}.{conf['vlan']}"
    try:
        link = host.link(name)
    except LinkNotFoundError:
        plain = {**conf, "vlans": [], "hairpinMode": False, "portIsolation": False}
        fd = current_netns()
        try:
            port, _ = setup_veth(host, host, fd, name, mtu=bridge.mtu)
            plug(host, bridge, port, plain)
        except CNIError as error:
            # so it is spelt upstream
            raise error.wrapped(f'faild to create vlan gateway "{name}"') from None
        finally:
            os.close(fd)
        host.link_set(host.link(name).index, up=True)
        link = host.link(name)
    if not any(interface["name"] == name for interface in result["interfaces"]):
        result["interfaces"].append({"name": name, "mac": link.mac})
    return link


def _finish(host: Netlink, conf: dict[str, Any], result: results.Result) -> None:
    """Wait for the port to be up, then read the addresses again: a bridge's changes
    with its first port.
    """
    bridge, port, _, *_ = result["interfaces"]
    for pause in () if conf.get("disableContainerInterface") else PORT_STATE_RETRIES:
        time.sleep(pause)
        link = host.link(port["name"])
        if link.oper_state == "up":
            break
    else:
        if not conf.get("disableContainerInterface"):
            raise CNIError(
                f"bridge port in error state: {host.link(port['name']).oper_state}"
            )
    port["mac"] = host.link(port["name"]).mac
    bridge["mac"] = _bridge_by_name(host, conf["bridge"]).mac


def cmd_del(args: CmdArgs) -> None:
    """DEL. What is gone already is no error. Raises CNIError."""
    conf = load_net_conf(args)
    ipam_type = (conf.get("ipam") or {}).get("type", "")
    addresses: list[Interface] = []
    if args.netns:
        with contextlib.suppress(NSPathNotExistError), Netlink(args.netns) as inside:
            addresses = del_link(inside, args.if_name)
    if ipam_type:
        ipam.exec_ipam("DEL", ipam_type, args)
        if conf.get("ipMasq"):
            teardown_ip_masq(addresses, conf["name"], args.container_id)


def cmd_check(args: CmdArgs) -> None:
    """CHECK: the bridge, both ends, addresses, routes. Raises CNIError."""
    conf = load_net_conf(args)
    with open_netns(args.netns) as inside, Netlink() as host:
        ipam_type = (conf.get("ipam") or {}).get("type", "")
        ipam.exec_ipam("CHECK", ipam_type, args)
        check_bridge(host, inside, conf, args, prev_result(args))


def cmd_status(args: CmdArgs) -> None:
    """STATUS: as well as IPAM's. Raises CNIError."""
    ipam_type = (args.conf.get("ipam") or {}).get("type", "")
    if ipam_type:
        ipam.exec_ipam("STATUS", ipam_type, args)


def _bridge_by_name(host: Netlink, name: str) -> Link:
    try:
        link = host.link(name)
    except LinkNotFoundError:
        raise CNIError(f'could not lookup "{name}": Link not found') from None
    if link.kind != "bridge":
        raise CNIError(
            f'failed to create bridge "{name}": "{name}" already exists but is not a'
            " bridge"
        )
    return link


def main() -> int:
    """The executable."""
    return plugin_main(
        "bridge",
        {"ADD": cmd_add, "DEL": cmd_del, "CHECK": cmd_check, "STATUS": cmd_status},
    )


if __name__ == "__main__":
    sys.exit(main())
