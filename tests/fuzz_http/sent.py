"""A request as bytes, and its place among those that are kept."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True, slots=True)
class Sent:
    """`framed`: it is one whole request, after which the connection can be used again. `half_closed`: nothing more will come, and
    the server is told so.
    """

    source: str
    data: bytes
    framed: bool = False
    half_closed: bool = False

    @classmethod
    def request(cls, source: str, method: str, target: str, body: bytes = b"", **headers: str) -> Sent:
        """A well-formed one. Header names are given with underscores. What cannot stand in a line is left out."""
        lines = {"Host": "x", "Accept": "application/json", **headers}
        if body:
            lines["Content-Length"] = str(len(body))
        head = "".join(f"{name.replace('_', '-')}: {_in_line(value)}\r\n" for name, value in lines.items())
        return cls(source, f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("utf-8", "replace") + body, framed=True)

    @property
    def first_line(self) -> str:
        """For people."""
        return self.data.split(b"\r\n", 1)[0][:160].decode("latin-1")

    def save(self, folder: Path, status: int) -> Path:
        """Keep it, with the status that a real server gave (0: none)."""
        name = hashlib.sha256(self.data).hexdigest()[:12]
        document = {
            "source": self.source,
            "request": self.first_line,
            "half_closed": self.half_closed,
            "real": status,
            "data": base64.b64encode(self.data).decode(),
        }
        path = folder / f"{name}.json"
        path.write_text(json.dumps(document, indent=1) + "\n")
        return path

    @classmethod
    def load(cls, path: Path) -> tuple[Sent, int]:
        """One that was kept, and the real server's status."""
        document = json.loads(path.read_text())
        data = base64.b64decode(document["data"])
        return cls(document["source"], data, half_closed=document["half_closed"]), document["real"]


def _in_line(value: str) -> str:
    return "".join(letter for letter in value if letter not in "\r\n\0")
