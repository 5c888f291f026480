"""A veth pair: one end in the pod's namespace under the wanted name, the other on the
host under a random one.

Upstream: `containernetworking/plugins`, `pkg/ip/link_linux.go` (`SetupVeth`,
`DelLinkByNameAddr`), v1.9.
"""

from __future__ import annotations

import errno
import os

from lifecycle.cni.addresses import Interface, is_global_unicast
from lifecycle.cni.errors import CNIError
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.link import Link, LinkNotFoundError
from lifecycle.cni.netlink.wire import go_errno
from lifecycle.cni.plugins.ipam import try_sysctl

TRIES = 10


def random_veth_name() -> str:
    """`veth` and eight hexadecimal digits."""
    return f"veth{os.urandom(4).hex()}"


def setup_veth(
    inside: Netlink,
    host: Netlink,
    host_fd: int,
    if_name: str,
    *,
    mtu: int,
    mac: str = "",
    host_name: str = "",
) -> tuple[Link, Link]:
    """Host end and pod end, the host end up. Raises CNIError.

    `inside` and `host` talk to the two namespaces, `host_fd` is the host's.
    """
    for _ in range(TRIES):
        peer = host_name or random_veth_name()
        try:
            inside.veth_add(if_name, peer, peer_netns_fd=host_fd, mtu=mtu, mac=mac)
            break
        except OSError as error:
            if error.errno == errno.EEXIST:
                if not host_name and _exists(inside, peer):
                    continue
                raise CNIError(
                    f'container veth name ("{if_name}") peer provided ("{peer}")'
                    " already exists"
                ) from None
            raise CNIError(f"failed to make veth pair: {go_errno(error)}") from None
        except ValueError as error:
            raise CNIError(f"failed to make veth pair: {error}") from None
    else:
        raise CNIError("failed to find a unique veth name")
    try:
        host_link = host.link(peer)
    except LinkNotFoundError:
        raise CNIError(
            f'failed to lookup "{peer}" in the host namespace: Link not found'
        ) from None
    host.link_set(host_link.index, up=True)
    try_sysctl(f"net/ipv6/conf/{peer}/accept_ra", "0")
    return host.link(peer), inside.link(if_name)


def del_link(inside: Netlink, if_name: str) -> list[Interface]:
    """Remove an interface; the addresses it had. None is no error. Raises CNIError."""
    try:
        link = inside.link(if_name)
    except LinkNotFoundError:
        return []
    addresses = inside.addrs(link.index)
    try:
        inside.link_del(link.index)
    except OSError as error:
        raise CNIError(f'failed to delete "{if_name}": {go_errno(error)}') from None
    return [address for address in addresses if is_global_unicast(address.ip)]


def _exists(netlink: Netlink, name: str) -> bool:
    try:
        netlink.link(name)
    except LinkNotFoundError:
        return False
    return True
