"""`cni/overlay/captured-vxlan-echo.json`: one echo request between two pods, as it
passes the first host's cable.

Captured anew, from two hosts in network namespaces: Linux and root are needed. It never
comes out the same: the kernel draws hardware addresses, the outer source port and the
packets' identifiers. So `make tables` leaves it alone.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import platform

from lifecycle.cni.overlay.capture import Capture
from lifecycle.cni.overlay.dissect import dissect
from lifecycle.cni.overlay.echo import ping
from lifecycle.cni.overlay.laboratory import Laboratory


def generate() -> bytes:
    """The file. Raises PermissionError without root, TimeoutError if nothing passed."""
    frame, client, server = asyncio.run(_capture())
    line = (
        f"one ICMP echo request from pod {client} on host 172.19.0.3 to pod {server} on"
        " host 172.19.0.4, captured on the first host's eth0 through AF_PACKET in the"
        " laboratory of this package (lifecycle.cni.overlay.laboratory), Linux"
        f" {'.'.join(platform.release().split('.')[:2])}, {datetime.date.today()};"
        " VNI 1, port 8472 (`python -m generators vxlan-echo` captures another)"
    )
    return (
        f'{{"provenance": {json.dumps(line)},\n "frame": "{frame.hex()}"}}\n'.encode()
    )


async def _capture() -> tuple[bytes, str, str]:
    with Laboratory(backend="vxlan") as lab:
        one, two = lab.hosts.values()
        client, server = await one.run_pod("client"), await two.run_pod("server")
        with Capture(one.namespace.path, "eth0") as capture:
            ping(one.pods["client"][0].path, server)
            frame = capture.first(
                lambda frame: any(layer.name == "ICMP" for layer in dissect(frame))
            )
    return frame, client, server
