"""A packet taken apart: Ethernet, IP, UDP, VXLAN – and once more Ethernet and IP, the
pod's own.

Formats: IEEE 802.3, RFC 791, RFC 768, RFC 7348 (VXLAN), RFC 792 (ICMP), RFC 9293 (TCP).
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

from lifecycle.cni.overlay.vxlan import IANA_PORT, KERNEL_PORT

ETHERTYPES = {0x0800: "IPv4", 0x0806: "ARP", 0x86DD: "IPv6"}
PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP"}
ICMP_TYPES = {0: "echo reply", 3: "destination unreachable", 8: "echo request"}
VXLAN_VALID_VNI = 0x08


@dataclass(slots=True, frozen=True)
class Layer:
    """One header: `length` bytes from `offset` on, and what stands in it."""

    name: str
    offset: int
    length: int
    fields: dict[str, str]

    def __str__(self) -> str:
        return f"{self.name:9} {self.length:3} bytes  " + ", ".join(
            f"{key} {value}" for key, value in self.fields.items()
        )


def dissect(
    frame: bytes, vxlan_ports: tuple[int, ...] = (KERNEL_PORT, IANA_PORT)
) -> list[Layer]:
    """The layers from outside to inside, the payload last. What cannot be read is
    payload.
    """
    layers: list[Layer] = []
    at = _ethernet(frame, 0, layers, vxlan_ports)
    if at < len(frame):
        layers.append(Layer("payload", at, len(frame) - at, {}))
    return layers


def _mac(raw: bytes) -> str:
    return ":".join(f"{byte:02x}" for byte in raw)


def _ethernet(
    frame: bytes, at: int, layers: list[Layer], ports: tuple[int, ...]
) -> int:
    if len(frame) < at + 14:
        return at
    kind = struct.unpack_from("!H", frame, at + 12)[0]
    fields = {
        "from": _mac(frame[at + 6 : at + 12]),
        "to": _mac(frame[at : at + 6]),
        "carries": ETHERTYPES.get(kind, f"{kind:#06x}"),
    }
    layers.append(Layer("Ethernet", at, 14, fields))
    return _ipv4(frame, at + 14, layers, ports) if kind == 0x0800 else at + 14


def _ipv4(frame: bytes, at: int, layers: list[Layer], ports: tuple[int, ...]) -> int:
    if len(frame) < at + 20:
        return at
    size = (frame[at] & 0x0F) * 4
    total, fragment = (
        struct.unpack_from("!H", frame, at + 2)[0],
        struct.unpack_from("!H", frame, at + 6)[0],
    )
    protocol = frame[at + 9]
    source, target = (
        ipaddress.IPv4Address(frame[at + n : at + n + 4]) for n in (12, 16)
    )
    fields = {
        "from": str(source),
        "to": str(target),
        "length": str(total),
        "TTL": str(frame[at + 8]),
    }
    fields["carries"] = PROTOCOLS.get(protocol, str(protocol))
    layers.append(Layer("IPv4", at, size, fields))
    if fragment & 0x1FFF:  # not the first piece: no header follows
        return at + size
    if protocol == 17:
        return _udp(frame, at + size, layers, ports)
    if protocol == 1 and len(frame) >= at + size + 8:
        kind = frame[at + size]
        layers.append(
            Layer("ICMP", at + size, 8, {"type": ICMP_TYPES.get(kind, str(kind))})
        )
        return at + size + 8
    if protocol == 6 and len(frame) >= at + size + 20:
        near, far = struct.unpack_from("!HH", frame, at + size)
        length = (frame[at + size + 12] >> 4) * 4
        layers.append(
            Layer(
                "TCP", at + size, length, {"from": f"port {near}", "to": f"port {far}"}
            )
        )
        return at + size + length
    return at + size


def _udp(frame: bytes, at: int, layers: list[Layer], ports: tuple[int, ...]) -> int:
    if len(frame) < at + 8:
        return at
    near, far, length, _ = struct.unpack_from("!HHHH", frame, at)
    layers.append(
        Layer(
            "UDP",
            at,
            8,
            {"from": f"port {near}", "to": f"port {far}", "length": str(length)},
        )
    )
    if far in ports and len(frame) >= at + 16 and frame[at + 8] & VXLAN_VALID_VNI:
        vni = int.from_bytes(frame[at + 12 : at + 15], "big")
        layers.append(Layer("VXLAN", at + 8, 8, {"VNI": str(vni)}))
        return _ethernet(frame, at + 16, layers, ports)
    return at + 8
