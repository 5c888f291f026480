"""The kernel's table of flows, read and cleaned through ctnetlink.

Upstream: `pkg/proxy/conntrack/conntrack.go` (`conntracker`), v1.36, on
`vishvananda/netlink`. Linux: `include/uapi/linux/netfilter/nfnetlink_conntrack.h`.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterable
from ipaddress import ip_address

from lifecycle.cni.namespaces import with_net_ns_path
from lifecycle.cni.netlink.wire import NLM_F_DUMP, NetlinkSocket, attributes, nested
from lifecycle.proxy.conntrack import Flow

NETLINK_NETFILTER, SUBSYSTEM = 12, 1 << 8
GET, DELETE = SUBSYSTEM | 1, SUBSYSTEM | 2
TUPLE_ORIGINAL, TUPLE_REPLY = 1, 2
TUPLE_IP, TUPLE_PROTOCOL = 1, 2
IP_SOURCE, IP_DESTINATION = (
    {socket.AF_INET: 1, socket.AF_INET6: 3},
    {socket.AF_INET: 2, socket.AF_INET6: 4},
)
PROTOCOL_NUMBER, PORT_SOURCE, PORT_DESTINATION = 1, 2, 3


class KernelConntrack:
    """The flows of the network namespace at `netns`, of one family. Needs root."""

    def __init__(self, netns: str, family: str = "IPv4") -> None:
        self._family = socket.AF_INET6 if family == "IPv6" else socket.AF_INET
        self._header = struct.pack("=BBH", self._family, 0, 0)
        with with_net_ns_path(netns):
            self._socket = NetlinkSocket(NETLINK_NETFILTER)

    @classmethod
    def where_possible(cls, netns: str) -> KernelConntrack | None:
        """The flows of a namespace; None where the kernel has no netfilter to ask."""
        try:
            return cls(netns)
        except OSError:
            return None

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def udp_flows(self) -> list[Flow]:
        """See `Conntrack`."""
        flows = []
        for _, body in self._socket.request(GET, NLM_F_DUMP, self._header):
            entry = attributes(body[len(self._header) :])
            original, reply = (
                {
                    kind: attributes(value)
                    for kind, value in attributes(entry[side]).items()
                }
                for side in (TUPLE_ORIGINAL, TUPLE_REPLY)
            )
            if original[TUPLE_PROTOCOL][PROTOCOL_NUMBER][0] != socket.IPPROTO_UDP:
                continue
            to = str(ip_address(original[TUPLE_IP][IP_DESTINATION[self._family]]))
            answered_by = str(ip_address(reply[TUPLE_IP][IP_SOURCE[self._family]]))
            ports = (
                original[TUPLE_PROTOCOL][PORT_DESTINATION],
                reply[TUPLE_PROTOCOL][PORT_SOURCE],
            )
            numbers = [int.from_bytes(port, "big") for port in ports]
            flows.append(
                Flow((to, numbers[0]), (answered_by, numbers[1]), entry[TUPLE_ORIGINAL])
            )
        return flows

    def forget(self, flows: Iterable[Flow]) -> None:
        """See `Conntrack`."""
        for flow in flows:
            try:
                self._socket.request(
                    DELETE, 0, self._header + nested(TUPLE_ORIGINAL, flow.key)
                )
            except OSError as error:
                if error.errno != errno.ENOENT:
                    raise
