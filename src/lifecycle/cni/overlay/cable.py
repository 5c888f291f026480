"""A cable from a machine's `eth0` to the switch: what stands in for Docker's network.

The machine is a network namespace, the switch a bridge in a namespace of its own; the
cable is a veth pair with an end in each.

Upstream: none. kind makes containers on a Docker network `172.19.0.0/16`.
"""

from __future__ import annotations

import ipaddress

from lifecycle.cni.addresses import Address, parse_cidr
from lifecycle.cni.netlink.handle import Netlink

HOST_NETWORK = ipaddress.IPv4Network("172.19.0.0/16")
EXT_IF = "eth0"


def plug_in(
    machine: Netlink,
    address: Address,
    switch: Netlink,
    switch_fd: int,
    *,
    bridge: int,
    port: str,
) -> int:
    """Lay the cable, give the machine its address, and switch its interfaces on; the
    index of its `eth0`. Raises OSError.

    `switch_fd`: the switch's namespace, open; `bridge`: the index of the bridge in it;
    `port`: the name of the cable's far end.
    """
    machine.veth_add(EXT_IF, port, peer_netns_fd=switch_fd)
    far = switch.link(port)
    switch.link_set(far.index, master=bridge)
    switch.link_set(far.index, up=True)
    near = machine.link(EXT_IF).index
    machine.addr_add(near, parse_cidr(f"{address}/{HOST_NETWORK.prefixlen}"))
    for index in (machine.link("lo").index, near):
        machine.link_set(index, up=True)
    return near
