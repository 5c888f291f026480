"""The machines of the cluster: each a network namespace with an `eth0`, all plugged
into one switch.

The switch is a bridge in a namespace of its own, so the real machine's network is not
touched: no interface, no route, no rule. Namespaces are held by descriptor and vanish
with this process. A node's path is linked from its directory, for whoever wants to
look: `nsenter --net=/var/lib/lifecycle/<id>/<node>/netns`.

The default route of each node leads to the switch, which knows no way further. It is
needed all the same: what a node itself sends to a Service's address is rewritten only
after the kernel has found *some* route for it. Answers may come back by another way
than the question went (over the tunnel instead of `eth0`), so nodes do not check
reverse paths.

Upstream: kind makes containers on a Docker network `172.19.0.0/16`.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from contextlib import suppress
from pathlib import Path

from lifecycle.cni.addresses import parse_cidr
from lifecycle.cni.namespaces import Namespace, with_net_ns_path
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.netlink.route import Route
from lifecycle.cni.overlay.cable import EXT_IF, HOST_NETWORK, plug_in

SWITCH_ADDRESS = ipaddress.IPv4Address("172.19.0.1")

Socket = socket.socket
"""Inside the class its method has the name."""


class Host:
    """One machine. `address`: on the switch's network."""

    def __init__(self, name: str, address: str, directory: Path) -> None:
        self.name = name
        self.address = ipaddress.IPv4Address(address)
        self.directory = directory
        directory.mkdir(parents=True)
        self.namespace = Namespace.create(name)
        (directory / "netns").symlink_to(self.namespace.path)
        self.netlink = Netlink(self.namespace.path)

    @property
    def netns(self) -> str:
        """The path of its network namespace."""
        return self.namespace.path

    def plug_in(
        self, switch: Netlink, switch_fd: int, bridge: int, number: int
    ) -> None:
        """A cable to the switch, addresses, and the kernel settings of a router. Raises
        OSError.
        """
        near = plug_in(
            self.netlink,
            self.address,
            switch,
            switch_fd,
            bridge=bridge,
            port=f"port{number}",
        )
        self.netlink.route_add(Route(None, SWITCH_ADDRESS, near))
        with with_net_ns_path(self.netns):
            settings = Path("/proc/sys/net/ipv4")
            (settings / "ip_forward").write_text("1")
            for name in ("all", "default", EXT_IF):
                (settings / "conf" / name / "rp_filter").write_text("0")
            (settings / "conf/all/route_localnet").write_text(
                "1"
            )  # as kube-proxy does: node ports on 127.0.0.1

    def socket(
        self, kind: socket.SocketKind, port: int, address: str = ""
    ) -> socket.socket:
        """A bound socket in there; TCP ones listen. Raises OSError."""
        with with_net_ns_path(self.netns):
            sock = socket.socket(socket.AF_INET, kind)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address or str(self.address), port))
        if kind is socket.SOCK_STREAM:
            sock.listen(1024)
        sock.setblocking(False)
        return sock

    def listen(self, address: str, port: int) -> Socket:
        """A listening socket in there. Raises OSError."""
        return self.socket(socket.SOCK_STREAM, port, address)

    def outgoing_socket(self, family: int, kind: int, protocol: int) -> Socket:
        """An unconnected socket in there. Raises OSError."""
        with with_net_ns_path(self.netns):
            return socket.socket(family, kind, protocol)

    def close(self) -> None:
        """Let go of it."""
        self.netlink.close()
        self.namespace.close()


class Hosts:
    """All machines of a run. Raises OSError."""

    def __init__(self, directory: Path, addresses: dict[str, str]) -> None:
        self.by_name: dict[str, Host] = {}
        self._switch = Namespace.create("switch")
        self._fd = -1
        try:
            with Netlink(self._switch.path) as switch:
                switch.bridge_add("br0")
                bridge = switch.link("br0").index
                switch.addr_add(
                    bridge, parse_cidr(f"{SWITCH_ADDRESS}/{HOST_NETWORK.prefixlen}")
                )
                switch.link_set(bridge, up=True)
                self._fd = os.open(self._switch.path, os.O_RDONLY | os.O_CLOEXEC)
                for number, (name, address) in enumerate(addresses.items()):
                    host = self.by_name[name] = Host(name, address, directory / name)
                    host.plug_in(switch, self._fd, bridge, number)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """All namespaces go."""
        for host in self.by_name.values():
            host.close()
        self.by_name.clear()
        if self._fd >= 0:
            with suppress(OSError):
                os.close(self._fd)
            self._fd = -1
        self._switch.close()
