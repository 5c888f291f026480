"""An ICMP echo from inside a namespace: `ping`, once. Linux and root only. Format: RFC
792.
"""

from __future__ import annotations

import socket
import struct
import time

from lifecycle.cni.namespaces import with_net_ns_path

PAYLOAD = b"from one pod to another"


def checksum(data: bytes) -> int:
    """RFC 1071."""
    total = sum(
        struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2))
    )
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo_request(identifier: int, sequence: int, payload: bytes) -> bytes:
    """The message, without the IP header, which the kernel adds."""
    header = struct.pack("!BBHHH", 8, 0, 0, identifier, sequence)
    return (
        struct.pack("!BBHHH", 8, 0, checksum(header + payload), identifier, sequence)
        + payload
    )


def ping(
    netns: str,
    address: str,
    *,
    payload: bytes = PAYLOAD,
    dont_fragment: bool = False,
    seconds: float = 2.0,
) -> bool:
    """Whether an answer came. Raises OSError (EMSGSIZE) for what is too long and may
    not be cut.
    """
    with with_net_ns_path(netns):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    with raw:
        if dont_fragment:
            raw.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER: IP_PMTUDISC_DO
        raw.sendto(echo_request(1, 1, payload), (address, 0))
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            raw.settimeout(left)
            try:
                packet, (sender, _) = raw.recvfrom(65535)
            except TimeoutError:
                return False
            size = (packet[0] & 0x0F) * 4
            if (
                sender == address
                and packet[size] == 0
                and packet[size + 8 :] == payload
            ):
                return True
    return False
