"""What belongs to the packet and not to the names: flags, codes, sizes, the order of records."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.loop.worker import LARGE
from lifecycle.dns import wire
from lifecycle.dns.records import SMALLEST, Answer, Deck, Record
from lifecycle.dns.wire import LARGEST, RECORD_WEIGHT, reply_to
from tests.dns.responding import respond


class Fixed:
    """Answers everything with one answer, and remembers what it was asked."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.fixed = answer or Answer()
        self.asked: list[tuple[str, str]] = []

    def answer(self, qname: str, qtype: str, /) -> Answer:
        self.asked.append((qname, qtype))
        return self.fixed


def answered(query: dns.message.Message, answer: Answer | None = None, *, tcp: bool = False) -> dns.message.Message:
    return dns.message.from_wire(respond(query.to_wire(), Fixed(answer), random.Random(1), tcp=tcp))


@pytest.mark.parametrize("bit", range(16))
def test_of_the_queries_flags_recursion_and_checking_come_back_and_a_response_is_no_query(bit: int) -> None:
    query = dns.message.make_query("a.example.", "A", flags=1 << bit)
    if 1 << bit == dns.flags.QR:
        assert respond(query.to_wire(), Fixed(), random.Random(1)) == b""
        return
    reply = answered(query)
    assert reply.id == query.id
    assert reply.question == query.question
    if query.opcode() != dns.opcode.QUERY:
        assert (reply.rcode(), reply.opcode()) == (dns.rcode.NOTIMP, query.opcode())
        assert reply.flags & 0x87FF & ~0xF == dns.flags.QR
        return
    echoed = (1 << bit) & (dns.flags.RD | dns.flags.CD)
    assert dns.rcode.to_text(reply.rcode()) == "NOERROR"
    assert reply.flags == dns.flags.QR | dns.flags.AA | echoed


@pytest.mark.parametrize("rcode", ["NOERROR", "NXDOMAIN", "SERVFAIL", "REFUSED"])
@pytest.mark.parametrize("authoritative", [True, False])
def test_the_code_and_the_authority_are_the_answers(rcode: str, authoritative: bool) -> None:
    reply = answered(dns.message.make_query("a.", "A"), Answer(rcode, authoritative=authoritative))
    assert dns.rcode.to_text(reply.rcode()) == rcode
    assert bool(reply.flags & dns.flags.AA) == authoritative


def test_the_question_is_put_as_it_is_spelled() -> None:
    asked = Fixed()
    for qtype in ("A", "SRV", "TYPE65280"):
        respond(dns.message.make_query("WeB.shop.", qtype).to_wire(), asked, random.Random(1))
    assert asked.asked == [("WeB.shop.", "A"), ("WeB.shop.", "SRV"), ("WeB.shop.", "TYPE65280")]


def test_two_questions_in_one_packet_are_a_mistake_of_the_client() -> None:
    query = dns.message.make_query("a.", "A")
    for questions in ([], [*query.question, *dns.message.make_query("b.", "A").question]):
        query.question = questions
        assert answered(query).rcode() == dns.rcode.FORMERR


@pytest.mark.parametrize(
    ("opcode", "counts", "code"),
    [
        (dns.opcode.QUERY, (1, 2, 0, 0), dns.rcode.FORMERR),
        (dns.opcode.QUERY, (1, 0, 2, 0), dns.rcode.FORMERR),
        (dns.opcode.QUERY, (1, 0, 0, 3), dns.rcode.FORMERR),
        (dns.opcode.QUERY, (5_000, 0, 0, 0), dns.rcode.FORMERR),
        (dns.opcode.NOTIFY, (1, 2, 0, 0), dns.rcode.FORMERR),
        (dns.opcode.UPDATE, (1, 0, 5_000, 0), dns.rcode.NOTIMP),
    ],
)
def test_a_packet_with_more_records_than_a_question_has_is_not_read(
    opcode: dns.opcode.Opcode, counts: tuple[int, ...], code: dns.rcode.Rcode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five thousand names of a hundred labels each fit in one, which all stand in the first."""
    packet = struct.pack("!6H", 7, opcode << 11 | dns.flags.RD, *counts) + b"\x01a" * 120 + b"\0\0\1\0\1"
    packet += b"\xc0\x0c\0\1\0\1\0\0\0\0\0\0" * 5_000
    read, from_wire = [], dns.message.from_wire
    monkeypatch.setattr(dns.message, "from_wire", lambda *packet: read.append(packet))
    answered = Fixed()
    said = respond(packet, answered, random.Random(1), tcp=True)
    assert (read, answered.asked) == ([], [])
    reply = from_wire(said)
    assert (reply.id, reply.rcode(), reply.question) == (7, code, [])
    assert reply.opcode() == (opcode if code == dns.rcode.NOTIMP else dns.opcode.QUERY)
    assert reply.flags & (dns.flags.QR | dns.flags.AA | dns.flags.RD) == dns.flags.QR | dns.flags.RD


@pytest.mark.parametrize("length", [0, 11])
def test_less_than_a_header_is_not_answered(length: int) -> None:
    assert respond(bytes(length), Fixed(), random.Random(1)) == b""


def test_a_refusal_of_an_unknown_edns_version_says_which_one_is_known_and_nothing_else() -> None:
    reply = answered(dns.message.make_query("a.", "A", use_edns=1, ednsflags=0x8000, payload=1232))
    assert (reply.rcode(), reply.edns, reply.ednsflags & 0xFFFF, reply.payload) == (dns.rcode.BADVERS, 0, 0, 0)
    assert reply.question == dns.message.make_query("a.", "A").question


def test_what_is_asked_in_another_class_is_refused_without_authority() -> None:
    asked = Fixed()
    query = dns.message.make_query("version.bind.", "TXT", "CH")
    reply = dns.message.from_wire(respond(query.to_wire(), asked, random.Random(1)))
    assert (reply.rcode(), reply.flags & dns.flags.AA, asked.asked) == (dns.rcode.REFUSED, 0, [])


RECORDS = st.builds(
    Record,
    st.sampled_from(["a.", "b."]),
    st.just(30),
    st.sampled_from(["A", "AAAA", "CNAME", "TXT", "SRV"]),
    st.text("01"),
)


@given(st.lists(RECORDS), st.integers())
def test_aliases_stay_in_front_and_in_order_and_addresses_are_all_still_there(records: list[Record], seed: int) -> None:
    found = Deck.of(records).dealt(random.Random(seed), len(records))
    others = [record for record in records if record.type not in ("A", "AAAA")]
    assert found[: len(others)] == others
    assert sorted(found) == sorted(records)


@pytest.mark.parametrize("qtype", ["A", "AAAA"])
def test_addresses_of_both_families_are_shuffled(qtype: str) -> None:
    records = [Record("a.", 30, qtype, str(n)) for n in range(4)]
    dice = random.Random(1)
    assert {Deck.of(records).dealt(dice, 4)[0].data for _ in range(40)} == {"0", "1", "2", "3"}


def _record(section: str) -> Callable[[int], Record]:
    return lambda number: Record(f"{section}{number}.example.", 30, "A", f"10.0.{number // 250}.{number % 250}")


@given(st.integers(0, 40), st.integers(0, 3), st.integers(0, 40), st.integers(0, 1500))
def test_as_many_records_as_fit_and_a_mark_if_the_answer_itself_is_short(
    answers: int, authorities: int, additionals: int, payload: int
) -> None:
    """Every record that is sent fits, one more would not; sections are filled in their order."""
    numbers = [answers, authorities, additionals]
    sections = [list(map(_record(name), range(count))) for name, count in zip("xyz", numbers)]
    edns = {"use_edns": 0, "payload": payload} if payload else {}
    query = dns.message.make_query("q.example.", "A", **edns)
    packet = respond(query.to_wire(), Fixed(Answer("NOERROR", *sections)), random.Random(1))
    reply = dns.message.from_wire(packet)
    room = max(SMALLEST, payload)
    assert len(packet) <= room
    kept = [len(reply.answer), len(reply.authority), len(reply.additional)]
    in_order = sum(kept)
    assert kept == [
        min(answers, in_order),
        min(authorities, max(0, in_order - answers)),
        min(additionals, max(0, in_order - answers - authorities)),
    ]
    assert bool(reply.flags & dns.flags.TC) == (kept[0] < answers)
    if kept != numbers:
        assert len(packet) + 27 > room  # a name of ten letters (some of it a pointer), and 14 bytes


def test_an_answer_of_exactly_the_clients_size_is_whole() -> None:
    answer = Answer(answer=[Record("a.", 30, "TXT", '"' + "t" * n + '"') for n in (250, 249, 80)])
    size = len(
        respond(
            dns.message.make_query("a.", "TXT", use_edns=0, payload=4000).to_wire(), Fixed(answer), random.Random(1)
        )
    )
    for payload, whole in ((size, True), (size - 1, False)):
        reply = answered(dns.message.make_query("a.", "TXT", use_edns=0, payload=payload), answer)
        assert bool(reply.flags & dns.flags.TC) != whole
        assert len(reply.answer[0]) == (3 if whole else 2)


def test_a_stream_carries_what_sixteen_bits_can_count() -> None:
    records = [Record("a.", 30, "TXT", f'"{number:>250}"') for number in range(256)]
    query = dns.message.make_query("a.", "TXT").to_wire()
    packet = respond(query, Fixed(Answer(answer=records)), random.Random(1), tcp=True)
    assert dns.message.from_wire(packet).flags & dns.flags.TC
    assert LARGEST - 263 < len(packet) <= LARGEST == 65535
    assert (
        not dns.message.from_wire(respond(query, Fixed(Answer(answer=records[:240])), random.Random(1), tcp=True)).flags
        & dns.flags.TC
    )


def test_of_an_answer_that_is_too_long_no_more_is_written_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Service may have thousands of endpoints: each record that is sent is written once, and one that is not."""
    written: list[str] = []
    write = wire._write

    def noted(packet: Any, names: Any, name: Any, record: Record) -> None:
        written.append(record.data)
        write(packet, names, name, record)

    monkeypatch.setattr(wire, "_write", noted)
    answer = Answer(answer=[Record("q.", 30, "A", f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}") for n in range(20_000)])
    for payload in (512, 1232, 65535):
        written.clear()
        query = dns.message.make_query("q.", "A", use_edns=0, payload=payload).to_wire()
        sent = dns.message.from_wire(respond(query, Fixed(answer), random.Random(1)))
        assert len(written) == len(sent.answer[0]) + 1 == len(set(written))


def test_a_reply_weighs_what_can_be_written_of_it() -> None:
    answer = Answer(answer=[Record("q.", 30, "A", f"10.0.{n >> 8}.{n & 255}") for n in range(1_000)])
    query = dns.message.make_query("q.", "A", use_edns=0, payload=512).to_wire()
    short, long = (reply_to(query, Fixed(answer), random.Random(1), tcp=tcp) for tcp in (False, True))
    assert short is not None
    assert short.weight < LARGE
    assert long is not None
    assert long.weight == 1_000 * RECORD_WEIGHT > LARGE
    assert short.packet() == respond(query, Fixed(answer), random.Random(1))


def test_records_of_one_name_and_type_are_one_set_in_the_order_they_came() -> None:
    records = [
        Record("a.", 30, "CNAME", "b."), Record("b.", 20, "TXT", '"2"'), Record("c.", 20, "TXT", '"x"'),
        Record("b.", 20, "TXT", '"1"'),
    ]  # fmt: skip
    sets = answered(dns.message.make_query("a.", "A"), Answer(answer=records)).answer
    assert [(str(one.name), one.ttl, [str(rdata) for rdata in one]) for one in sets] == [
        ("a.", 30, ["b."]), ("b.", 20, ['"2"', '"1"']), ("c.", 20, ['"x"']),
    ]  # fmt: skip
