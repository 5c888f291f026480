"""Records as data: what is asked, what is answered.

The rooms that compute answers know nothing of packets; `wire` turns these into bytes.

Upstream: CoreDNS 1.14, `plugin/etcd/msg/service.go` (`Service`), `plugin/loadbalance`
(`roundRobin`), miekg/dns (`RR`, `Msg`).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import NamedTuple

NOERROR, SERVFAIL, NXDOMAIN, REFUSED = "NOERROR", "SERVFAIL", "NXDOMAIN", "REFUSED"

SMALLEST = 512
"""Bytes of a packet that every client takes without EDNS."""


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
    zone: str = ""
    """How the asker spells the zone that SRV records lead into; empty: as they do."""
    _decks: tuple[Deck, Deck] | None = field(default=None, repr=False, compare=False)

    def spelled(self, zone: str) -> Answer:
        """The same for somebody who spells the zone in another way."""
        return replace(self, zone=zone, _decks=self._told_apart())

    def dealt(self, dice: random.Random, most: int) -> Answer:
        """At most so many records of each section, addresses in any order. What has to
        be known for that is worked out once, and each time only what is dealt counts.
        """
        answer, additional = (deck.dealt(dice, most) for deck in self._told_apart())
        if self.zone:
            answer = [_leading_into(self.zone, record) for record in answer]
        return replace(self, answer=answer, additional=additional, _decks=None)

    def _told_apart(self) -> tuple[Deck, Deck]:
        """The records of the two sections that are dealt, worked out once."""
        if self._decks is None:
            self._decks = Deck.of(self.answer), Deck.of(self.additional)
        return self._decks


class Deck(NamedTuple):
    """The records of a section: addresses come behind the others."""

    others: list[Record]
    addresses: list[Record]

    @classmethod
    def of(cls, records: list[Record]) -> Deck:
        """A section's records, told apart."""
        others: list[Record] = []
        addresses: list[Record] = []
        for record in records:
            (addresses if record.type in ("A", "AAAA") else others).append(record)
        return cls(others, addresses)

    def dealt(self, dice: random.Random, most: int) -> list[Record]:
        """Aliases first, addresses in any order, so that clients which take the first
        share the load; the rest as it was.
        """
        chosen = dice.sample(self.addresses, min(most, len(self.addresses)))
        return self.others[:most] + chosen


def _leading_into(zone: str, record: Record) -> Record:
    """Names of owners need no such care: in a packet they point to the question's."""
    if record.type != "SRV" or record.data.endswith(zone):
        return record
    return record._replace(data=record.data[: -len(zone)] + zone)


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
