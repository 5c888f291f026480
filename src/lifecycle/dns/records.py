"""Records as data: what is asked, what is answered.

The rooms that compute answers know nothing of packets; `wire` turns these into bytes.

Upstream: CoreDNS 1.14, `plugin/etcd/msg/service.go` (`Service`), miekg/dns (`RR`,
`Msg`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

NOERROR, SERVFAIL, NXDOMAIN, REFUSED = "NOERROR", "SERVFAIL", "NXDOMAIN", "REFUSED"


class Record(NamedTuple):
    """One resource record; `data` is its right-hand side as `dig` prints it."""

    name: str
    ttl: int
    type: str
    data: str


@dataclass(slots=True)
class Answer:
    """Three sections and a code. An empty `answer` with NOERROR means: the name exists,
    but has no such records (NODATA).
    """

    rcode: str = NOERROR
    answer: list[Record] = field(default_factory=list)
    authority: list[Record] = field(default_factory=list)
    additional: list[Record] = field(default_factory=list)
    authoritative: bool = True


class RecordTarget(NamedTuple):
    """What a name leads to: `host` is an address or another name, `name` the name the
    target itself is known by (for SRV).
    """

    host: str
    port: int = -1
    name: str = ""

    @property
    def type(self) -> str:
        """`A`, `AAAA` or `CNAME`."""
        if ":" in self.host:
            return "AAAA"
        parts = self.host.split(".")
        return (
            "A"
            if len(parts) == 4 and all(p.isdigit() and int(p) < 256 for p in parts)
            else "CNAME"
        )


def fqdn(name: str) -> str:
    """A name with its final dot."""
    return name if name.endswith(".") else f"{name}."
