"""Answers as packets, through dnspython.

What belongs to the protocol and not to the names: the question is repeated, `aa` set, the client's EDNS options sent
back (its cookie too, as CoreDNS does), and an answer that is too long for the client's buffer is cut short with `tc`
set, so that the client asks again over TCP.

Upstream: CoreDNS 1.14, `request/request.go` (`Scrub`, `SizeAndDo`), `plugin/loadbalance` (`roundRobin`).
"""

from __future__ import annotations

import random
from typing import Protocol

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from lifecycle.dns.records import Answer, Record

SMALLEST = 512
"""Bytes that every client takes without EDNS."""

LARGEST = 65535


class Answers(Protocol):
    """Whoever can answer a question."""

    def answer(self, qname: str, qtype: str, /) -> Answer:
        """The answer to one question."""
        ...


def respond(packet: bytes, answerer: Answers, dice: random.Random, *, tcp: bool = False) -> bytes:
    """The packet that answers a packet; empty for one that is no question at all."""
    try:
        query = dns.message.from_wire(packet)
    except dns.exception.DNSException:
        return b""
    if query.flags & dns.flags.QR:
        return b""
    reply = dns.message.make_response(query)
    if query.opcode() != dns.opcode.QUERY:
        reply.set_rcode(dns.rcode.NOTIMP)
        return reply.to_wire()
    if len(query.question) != 1:
        reply.set_rcode(dns.rcode.FORMERR)
        return reply.to_wire()
    question = query.question[0]
    answer = answerer.answer(question.name.to_text(), dns.rdatatype.to_text(question.rdtype))
    reply.set_rcode(dns.rcode.from_text(answer.rcode))
    if answer.authoritative:
        reply.flags |= dns.flags.AA
    _fill(reply.answer, balanced(answer.answer, dice))
    _fill(reply.authority, answer.authority)
    _fill(reply.additional, balanced(answer.additional, dice))
    if query.edns >= 0:
        reply.use_edns(0, 0, query.payload, options=list(query.options))
    size = LARGEST if tcp else max(SMALLEST, query.payload if query.edns >= 0 else SMALLEST)
    return reply.to_wire(max_size=size, prefer_truncation=True)


def balanced(records: list[Record], dice: random.Random) -> list[Record]:
    """Aliases first, addresses in any order, so that clients which take the first share the load; the rest as it was."""
    addresses = [record for record in records if record.type in ("A", "AAAA")]
    dice.shuffle(addresses)
    return [record for record in records if record.type not in ("A", "AAAA")] + addresses


def _fill(section: list[dns.rrset.RRset], records: list[Record]) -> None:
    """Records of one name and type form a set; sets and records keep their order."""
    sets: dict[tuple[str, str], dns.rrset.RRset] = {}
    for record in records:
        key = (record.name, record.type)
        rrset = sets.get(key)
        if rrset is None:
            rrset = sets[key] = dns.rrset.from_text(record.name, record.ttl, "IN", record.type)
            section.append(rrset)
        rrset.add(dns.rdata.from_text(dns.rdataclass.IN, dns.rdatatype.from_text(record.type), record.data))
