"""One captured packet, kept for machines that cannot capture one:
`captured-vxlan-echo.json`, with where it comes from.
"""

from __future__ import annotations

import json
from pathlib import Path


def kept_frame() -> tuple[bytes, str]:
    """The frame, and its provenance."""
    raw = json.loads(Path(__file__).with_name("captured-vxlan-echo.json").read_text())
    return bytes.fromhex(raw["frame"]), raw["provenance"]
