"""The wire format of netlink: a header, a fixed part, and attributes – length, type,
value, padded to four bytes, nested at will.

Linux: `include/uapi/linux/netlink.h`, `rtnetlink.h`.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 0x1, 0x4, 0x300
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE, NLM_F_APPEND = 0x100, 0x200, 0x400, 0x800
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLA_F_NESTED = 0x8000
_TYPE_MASK = 0x3FFF
_NETLINK_EXT_ACK, _SOL_NETLINK = 11, 270


def number(values: dict[int, bytes], kind: int) -> int:
    """An attribute's value as a number; 0 if it is not there."""
    return int.from_bytes(values.get(kind, b""), "little")


def attribute(kind: int, value: bytes | int | str) -> bytes:
    """One attribute. A number takes four bytes, a text ends with a zero."""
    if isinstance(value, int):
        value = struct.pack("=I", value)
    elif isinstance(value, str):
        value = value.encode() + b"\0"
    length = len(value) + 4
    return struct.pack("=HH", length, kind) + value + b"\0" * (-length % 4)


def nested(kind: int, *attributes: bytes) -> bytes:
    """An attribute that holds attributes."""
    return attribute(kind | NLA_F_NESTED, b"".join(attributes))


def attributes(data: bytes) -> dict[int, bytes]:
    """The attributes in some bytes by type; of several alike the last one stays."""
    return dict(each_attribute(data))


def each_attribute(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The attributes in order."""
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            return
        yield kind & _TYPE_MASK, data[at + 4 : at + length]
        at += (length + 3) & ~3


class NetlinkSocket:
    """Requests to the kernel of the namespace in which it was opened, to one of its
    families: rtnetlink, unless told otherwise.
    """

    def __init__(self, protocol: int = 0) -> None:
        self._socket = socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW, protocol or socket.NETLINK_ROUTE
        )
        self._socket.bind((0, 0))
        self._sequence = 0

    def request(self, kind: int, flags: int, body: bytes) -> list[tuple[int, bytes]]:
        """Send one message, gather the answers as (type, body). Raises OSError with the
        kernel's number.
        """
        self._sequence += 1
        dump = flags & NLM_F_DUMP == NLM_F_DUMP
        flags |= NLM_F_REQUEST | (0 if dump else NLM_F_ACK)
        self._socket.send(
            struct.pack("=IHHII", len(body) + 16, kind, flags, self._sequence, 0) + body
        )
        answers: list[tuple[int, bytes]] = []
        while True:
            data, at = self._socket.recv(1 << 18), 0
            while at + 16 <= len(data):
                length, answer, _, sequence, _ = struct.unpack_from("=IHHII", data, at)
                payload = data[at + 16 : at + length]
                at += (length + 3) & ~3
                if sequence != self._sequence:
                    continue
                if answer == NLMSG_DONE:
                    return answers
                if answer == NLMSG_ERROR:
                    number = -struct.unpack_from("=i", payload)[0]
                    if number:
                        raise OSError(number, os.strerror(number))
                    return answers
                answers.append((answer, payload))

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def go_errno(error: OSError) -> str:
    """An error of the kernel in Go's words, which begin with a small letter."""
    text = os.strerror(error.errno or 0)
    if error.errno == errno.EEXIST:
        return "file exists"
    return text[:1].lower() + text[1:]
