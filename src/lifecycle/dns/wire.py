"""Answers as packets, through dnspython.

What belongs to the protocol and not to the names: the question is repeated, `aa` set,
some of the client's EDNS options sent back (its cookie too, as CoreDNS does), and an
answer that is too long for the client's buffer is cut short with `tc` set, so that the
client asks again over TCP.

Upstream: CoreDNS 1.14, `core/dnsserver/server.go` (`ServeDNS`), `request/request.go`
(`Scrub`, `SizeAndDo`), `request/edns0.go`, `plugin/pkg/edns` (`Version`),
`plugin/loadbalance` (`roundRobin`); miekg/dns (`Truncate`, `DefaultMsgAcceptFunc`,
`SetRcodeFormatError`).
"""

from __future__ import annotations

import random
import struct
from bisect import bisect_left
from dataclasses import replace
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

from lifecycle.dns.records import REFUSED, Answer, Record

SMALLEST = 512
"""Bytes that every client takes without EDNS."""

LARGEST = 65535

ECHOED_OPTIONS = frozenset(
    {
        dns.edns.OptionType.NSID,
        dns.edns.OptionType.EXPIRE,
        dns.edns.OptionType.COOKIE,
        dns.edns.OptionType.KEEPALIVE,
        dns.edns.OptionType.PADDING,
    }
)
"""EDNS options that are sent back as they came; a client's subnet, for one, is not."""

ECHOED_FLAGS = 0xFF00
"""With it comes `do`, though nothing here is signed."""


HEADER = struct.Struct("!6H")
"""Its number, its flags, and how many records each section says it has."""

MOST_RECORDS = (1, 1, 1, 2)
"""In a question's four sections. To read names takes longer than to send them: one may
be a hundred labels that stand elsewhere in the packet, and five thousand fit in.
"""


KEPT_FLAGS = dns.flags.TC | dns.flags.RD | dns.flags.RA | dns.flags.AD | dns.flags.CD
"""Of a packet that is not read."""


class Answers(Protocol):
    """Whoever can answer a question."""

    def answer(self, qname: str, qtype: str, /) -> Answer:
        """The answer to one question."""
        ...


def respond(
    packet: bytes, answerer: Answers, dice: random.Random, *, tcp: bool = False
) -> bytes:
    """The packet that answers a packet; empty for one that is no question at all."""
    if len(packet) < HEADER.size:
        return b""
    number, flags, *counts = HEADER.unpack_from(packet)
    if flags & dns.flags.QR:
        return b""
    if any(count > most for count, most in zip(counts, MOST_RECORDS)):
        return _unread(number, flags)
    try:
        query = dns.message.from_wire(packet)
    except dns.exception.DNSException:
        return b""
    reply = dns.message.make_response(query)
    reply.flags |= query.flags & dns.flags.CD
    if query.opcode() != dns.opcode.QUERY:
        reply.set_rcode(dns.rcode.NOTIMP)
        return reply.to_wire()
    if len(query.question) != 1:
        reply.set_rcode(dns.rcode.FORMERR)
        return reply.to_wire()
    if query.edns > 0:  # a version of EDNS that nobody knows yet
        reply.use_edns(0, 0, 0)
        reply.set_rcode(dns.rcode.BADVERS)
        return reply.to_wire()
    question = query.question[0]
    if question.rdclass == dns.rdataclass.IN:
        answer = answerer.answer(
            question.name.to_text(), dns.rdatatype.to_text(question.rdtype)
        )
    else:
        answer = Answer(REFUSED, authoritative=False)
    reply.set_rcode(dns.rcode.from_text(answer.rcode))
    if answer.authoritative:
        reply.flags |= dns.flags.AA
    if query.edns >= 0:
        kept = [option for option in query.options if option.otype in ECHOED_OPTIONS]
        reply.use_edns(0, query.ednsflags & ECHOED_FLAGS, query.payload, options=kept)
    shuffled = replace(
        answer,
        answer=balanced(answer.answer, dice),
        additional=balanced(answer.additional, dice),
    )
    size = LARGEST if tcp else max(SMALLEST, query.payload)  # 0 without EDNS
    return _fitted(reply, shuffled, size)


def _unread(number: int, flags: int) -> bytes:
    """What is said of a packet of which nothing but the header is read."""
    reply, opcode = dns.message.Message(number), flags >> 11 & 0xF
    reply.flags = dns.flags.QR | (flags & KEPT_FLAGS)
    if opcode in (dns.opcode.QUERY, dns.opcode.NOTIFY):
        reply.set_rcode(dns.rcode.FORMERR)
    else:
        reply.set_opcode(dns.opcode.from_text(str(opcode)))
        reply.set_rcode(dns.rcode.NOTIMP)
    return reply.to_wire()


def _fitted(reply: dns.message.Message, answer: Answer, size: int) -> bytes:
    """As many records as there is room for; `tc` tells the client if some of the answer
    itself are missing.
    """
    sections = (answer.answer, answer.authority, answer.additional)

    def packet(kept: int) -> bytes:
        """With the first `kept` records; empty if there is no room for them."""
        for section, records in zip(
            (reply.answer, reply.authority, reply.additional), sections
        ):
            section.clear()
            _fill(section, records[: max(0, kept)])
            kept -= len(records)
        try:  # the order is ours, not one that dnspython throws dice for
            return reply.to_wire(max_size=size, want_shuffle=False)
        except dns.exception.TooBig:
            return b""

    count = sum(map(len, sections))
    if whole := packet(count):
        return whole
    kept = bisect_left(range(count), True, key=lambda kept: not packet(kept)) - 1
    if kept < len(answer.answer):
        reply.flags |= dns.flags.TC
    return packet(kept)


def balanced(records: list[Record], dice: random.Random) -> list[Record]:
    """Aliases first, addresses in any order, so that clients which take the first share
    the load; the rest as it was.
    """
    addresses = [record for record in records if record.type in ("A", "AAAA")]
    dice.shuffle(addresses)
    return [
        record for record in records if record.type not in ("A", "AAAA")
    ] + addresses


def _fill(section: list[dns.rrset.RRset], records: list[Record]) -> None:
    """Records of one name and type form a set; sets and records keep their order."""
    sets: dict[tuple[str, str], dns.rrset.RRset] = {}
    for record in records:
        key = (record.name, record.type)
        rrset = sets.get(key)
        if rrset is None:
            rrset = sets[key] = dns.rrset.from_text(
                record.name, record.ttl, "IN", record.type
            )
            section.append(rrset)
        rrset.add(
            dns.rdata.from_text(
                dns.rdataclass.IN, dns.rdatatype.from_text(record.type), record.data
            )
        )
