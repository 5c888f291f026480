"""Answers as packets, through dnspython.

What belongs to the protocol and not to the names: the question is repeated, `aa` set,
some of the client's EDNS options sent back (its cookie too, as CoreDNS does), and an
answer that is too long for the client's buffer is cut short with `tc` set, so that the
client asks again over TCP.

Upstream: CoreDNS 1.14, `core/dnsserver/server.go` (`ServeDNS`), `request/request.go`
(`Scrub`, `SizeAndDo`), `request/edns0.go`, `plugin/pkg/edns` (`Version`); miekg/dns
(`Truncate`, `DefaultMsgAcceptFunc`, `SetRcodeFormatError`).
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from socket import AF_INET, AF_INET6, inet_pton
from typing import Protocol

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from lifecycle.dns.records import REFUSED, SMALLEST, Answer, Record

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

RECORD_HEAD = struct.Struct("!HHIH")
"""Behind a record's name: type, class, seconds to live, bytes of data."""

RECORD_WEIGHT = 128
"""Bytes of JSON that are read in about the time that a record takes to be written."""

LENGTH = struct.Struct("!H")

ADDRESSES = {"A": AF_INET, "AAAA": AF_INET6}

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


@dataclass(slots=True, frozen=True)
class Reply:
    """What is to be said, before it is written: `message` is all but the records, for
    which there are `size` bytes altogether.
    """

    message: dns.message.Message
    answer: Answer = field(default_factory=Answer)
    size: int = LARGEST
    seed: int = 0
    """Of the dice that say which addresses come first. They are thrown when the reply
    is written, which may be beside the loop.
    """

    @property
    def weight(self) -> int:
        """What it takes to write it, as bytes of JSON that would take as long."""
        answer = self.answer
        count = len(answer.answer) + len(answer.authority) + len(answer.additional)
        return RECORD_WEIGHT * min(count, self.size // RECORD_HEAD.size)

    @property
    def is_certain(self) -> bool:
        """Whether there is nothing to throw dice for."""
        return len(self.answer.answer) + len(self.answer.additional) <= 1

    def packet(self) -> bytes:
        """Its bytes; empty if there is no room even without records."""
        answer = self.answer
        if not self.is_certain:
            # so many do not fit, whatever they are: it will show that some are missing
            most = self.size // RECORD_HEAD.size
            answer = answer.dealt(random.Random(self.seed), most)
        return _fitted(self.message, answer, self.size)


def reply_to(
    packet: bytes, answerer: Answers, dice: random.Random, *, tcp: bool = False
) -> Reply | None:
    """What is to be said to a packet; None to one that is no question at all."""
    if len(packet) < HEADER.size:
        return None
    number, flags, *counts = HEADER.unpack_from(packet)
    if flags & dns.flags.QR:
        return None
    if any(count > most for count, most in zip(counts, MOST_RECORDS)):
        return Reply(_unread(number, flags))
    try:
        query = dns.message.from_wire(packet)
    except dns.exception.DNSException:
        return None
    reply = dns.message.make_response(query)
    reply.flags |= query.flags & dns.flags.CD
    if query.opcode() != dns.opcode.QUERY:
        reply.set_rcode(dns.rcode.NOTIMP)
        return Reply(reply)
    if len(query.question) != 1:
        reply.set_rcode(dns.rcode.FORMERR)
        return Reply(reply)
    if query.edns > 0:  # a version of EDNS that nobody knows yet
        reply.use_edns(0, 0, 0)
        reply.set_rcode(dns.rcode.BADVERS)
        return Reply(reply)
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
    size = LARGEST if tcp else max(SMALLEST, query.payload)  # 0 without EDNS
    return Reply(reply, answer, size, dice.getrandbits(32))


def _unread(number: int, flags: int) -> dns.message.Message:
    """What is said of a packet of which nothing but the header is read."""
    reply, opcode = dns.message.Message(number), flags >> 11 & 0xF
    reply.flags = dns.flags.QR | (flags & KEPT_FLAGS)
    if opcode in (dns.opcode.QUERY, dns.opcode.NOTIFY):
        reply.set_rcode(dns.rcode.FORMERR)
    else:
        reply.set_opcode(dns.opcode.from_text(str(opcode)))
        reply.set_rcode(dns.rcode.NOTIMP)
    return reply


def _fitted(reply: dns.message.Message, answer: Answer, size: int) -> bytes:
    """As many records as there is room for; `tc` tells the client if some of the answer
    itself are missing. Each is written once, and the first that does not fit is the
    last that is looked at: a Service may have thousands.
    """
    try:
        bare = reply.to_wire(max_size=size)
    except dns.exception.TooBig:
        return b""
    packet, names = BytesIO(), dict[dns.name.Name, int]()
    packet.write(bare[: HEADER.size])
    for question in reply.question:
        question.name.to_wire(packet, names)
        packet.write(bare[packet.tell() : packet.tell() + 4])
    options = bare[packet.tell() :]
    number, flags, *counts = HEADER.unpack_from(bare)
    sections = (answer.answer, answer.authority, answer.additional)
    for place, name, record in _placed(sections):
        before = packet.tell()
        _write(packet, names, name, record)
        if packet.tell() + len(options) > size:
            packet.seek(before)
            packet.truncate()
            break
        counts[place] += 1
    if counts[1] < len(answer.answer):
        flags |= dns.flags.TC
    packet.write(options)
    packet.seek(0)
    packet.write(HEADER.pack(number, flags, *counts))
    return packet.getvalue()


def _placed(
    sections: Iterable[list[Record]],
) -> Iterator[tuple[int, dns.name.Name, Record]]:
    """Each record, its name, and which of the header's counts it belongs to. Records of
    one name and type stand together; otherwise they keep their order.
    """
    for place, records in enumerate(sections, 1):
        sets: dict[tuple[str, str], list[Record]] = {}
        for record in records:
            sets.setdefault((record.name, record.type), []).append(record)
        for (text, _), members in sets.items():
            name = dns.name.from_text(text)
            for record in members:
                yield place, name, record


def _write(
    packet: BytesIO,
    names: dict[dns.name.Name, int],
    name: dns.name.Name,
    record: Record,
) -> None:
    """One record; of `names` it is known where they stand already."""
    name.to_wire(packet, names)
    kind = dns.rdatatype.from_text(record.type)
    packet.write(RECORD_HEAD.pack(kind, dns.rdataclass.IN, record.ttl, 0))
    begin = packet.tell()
    family = ADDRESSES.get(record.type)
    if family is not None:  # of these a Service has thousands
        packet.write(inet_pton(family, record.data))
    else:
        data = dns.rdata.from_text(dns.rdataclass.IN, kind, record.data)
        data.to_wire(packet, names)
    end = packet.tell()
    packet.seek(begin - LENGTH.size)
    packet.write(LENGTH.pack(end - begin))
    packet.seek(end)
