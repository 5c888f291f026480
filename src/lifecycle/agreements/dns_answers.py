"""Cluster DNS held against CoreDNS: every question a recording asked with `dig`, and
the answer, section by section.

What is no record (the header's flags and counts, the question, what is said of EDNS) is
read from the packet that answers a packet like `dig`'s.

Each is put to ours as the packet that `dig` sends, and what comes back is read from the
packet: its code, all of its flags, every record of every section.

Freedoms: CoreDNS' `loadbalance` answers addresses in any order, and it collects
endpoints from a map, so a section is compared as a set; and the SOA record's serial is
the second in which CoreDNS last heard of a change.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype

from lifecycle.agreements.proxy.iptables_rules import recorded_objects
from lifecycle.compare import AgreementTable, Comparison
from lifecycle.dns.answering import Answerer
from lifecycle.dns.kubernetes_plugin import KubernetesPlugin
from lifecycle.dns.records import Answer, Record
from lifecycle.dns.service_index import ServiceIndex
from lifecycle.dns.wire import reply_to
from lifecycle.inspector import Recording

ANY_ORDER = "order of records, shuffled to share the load"
SERIAL = "serial of the zone: when it last changed"
SECTIONS = ("answer", "authority", "additional")
BUFFER = 1232
"""Bytes that `dig` has room for, as it tells each server."""
COOKIE = b"a cookie"

Ask = Callable[[str, str], Answer]
"""Name and type → answer."""


@dataclass(slots=True)
class DigAnswer:
    """One question and answer as `dig` printed them. Records as it prints them, with
    single spaces.
    """

    name: str
    type: str
    status: str = ""
    flags: frozenset[str] = frozenset()
    counts: str = ""
    question: str = ""
    edns: str = ""
    cookie: str = ""
    sections: dict[str, list[str]] = field(
        default_factory=lambda: {section: [] for section in SECTIONS}
    )


def parse_dig(text: str) -> Iterator[DigAnswer]:
    """The answers in a text of `dig` calls, each after the line with its command."""
    answer: DigAnswer | None = None
    section = ""
    for line in text.splitlines():
        words = line.split()
        if line.startswith("$ dig "):
            if answer is not None:
                yield answer
            answer, section = (
                DigAnswer(words[2], words[3] if len(words) > 3 else "A"),
                "",
            )
        elif answer is None or not words:
            section = section if words else ""
        elif "->>HEADER<<-" in line:
            answer.status = line.partition("status: ")[2].partition(",")[0]
        elif line.startswith(";; flags:"):
            flags, _, counts = line.partition(":")[2].partition("; ")
            answer.flags, answer.counts = frozenset(flags.split()), counts
        elif line.startswith("; EDNS: "):
            answer.edns = line.removeprefix("; EDNS: ")
        elif line.startswith("; COOKIE: "):
            answer.cookie = words[-1]
        elif line.startswith(";; ") and line.endswith(" SECTION:"):
            section = words[1].lower()
        elif section == "question":
            answer.question = " ".join(words).removeprefix(";")
        elif section in answer.sections and not line.startswith(";"):
            answer.sections[section].append(" ".join(words))
    if answer is not None:
        yield answer


def as_dug(record: Record) -> str:
    """A record as `dig` prints it, with single spaces."""
    return f"{record.name} {record.ttl} IN {record.type} {record.data}"


class _Given:
    """Whoever has this answer to everything."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def answer(self, qname: str, qtype: str) -> Answer:
        """Always the same."""
        return self._answer


def as_heard(answer: Answer, name: str, qtype: str) -> DigAnswer:
    """What is no record in an answer, as `dig` would read it from our packet."""
    cookie = dns.edns.CookieOption(COOKIE, b"")
    query = dns.message.make_query(
        name,
        qtype,
        use_edns=0,
        payload=BUFFER,
        options=[cookie],
        flags=dns.flags.RD | dns.flags.AD,
    )
    reply = reply_to(query.to_wire(), _Given(answer), random.Random(0))
    assert reply is not None
    heard = dns.message.from_wire(reply.packet())
    [asked] = heard.question
    own, further = heard.sections[1:3], heard.section_count(dns.message.ADDITIONAL)
    sizes = [sum(map(len, section)) for section in own]
    kind = dns.rdatatype.to_text(asked.rdtype)
    bits = "".join(f" {bit.lower()}" for bit in _words(heard.ednsflags))
    return DigAnswer(
        name,
        qtype,
        dns.rcode.to_text(heard.rcode()),
        frozenset(dns.flags.to_text(heard.flags).lower().split()),
        f"QUERY: {len(heard.question)}, ANSWER: {sizes[0]}, AUTHORITY: {sizes[1]},"
        f" ADDITIONAL: {further}",
        f"{asked.name} IN {kind}",
        f"version: {heard.edns}, flags:{bits}; udp: {heard.payload}",
        "(echoed)" if cookie in heard.options else "",
    )


def _words(flags: int) -> list[str]:
    return dns.flags.edns_to_text(flags).split()


def recorded_answerer(recording: Recording) -> Answerer:
    """Our DNS over the Services and EndpointSlices that the recorded CoreDNS had."""
    services, slices = recorded_objects(recording, "services")
    namespaces = {obj["metadata"]["namespace"] for obj in (*services, *slices)}
    for exchange in recording.exchanges("objects"):
        if exchange.method == "GET" and exchange.path == "/api/v1/namespaces":
            namespaces |= {
                item["metadata"]["name"] for item in exchange.response["items"]
            }
    return Answerer(
        KubernetesPlugin(ServiceIndex.of(services, slices, sorted(namespaces)))
    )


def compare_answer(ours: Answer, theirs: DigAnswer) -> Comparison:
    """Code, flags, counts, question, EDNS, and each record of each section."""
    result = Comparison()
    where = f"{theirs.name}/{theirs.type}"
    heard = as_heard(ours, theirs.name, theirs.type)
    result.field(f"{where}/status", heard.status, theirs.status)
    result.field(f"{where}/flags", sorted(heard.flags), sorted(theirs.flags))
    for what in ("counts", "question", "edns", "cookie"):
        mine, yours = getattr(heard, what), getattr(theirs, what)
        result.field(f"{where}/{what}", mine, yours)
    for section in SECTIONS:
        records: list[Record] = getattr(ours, section)
        here = [_masked(as_dug(record), result.freedoms) for record in records]
        there = [_masked(text, Counter()) for text in theirs.sections[section]]
        if here != there and Counter(here) == Counter(there):
            result.freedoms[ANY_ORDER] += 1
            mine, yours = (
                [text for text in side if not _shuffled(text)] for side in (here, there)
            )
            if mine != yours:
                result.field(f"{where}/{section} (order)", mine, yours)
        left, right = Counter(here), Counter(there)
        for text in sorted({*left, *right}):
            result.field(f"{where}/{section}/{text}", left[text], right[text])
    return result


def _shuffled(text: str) -> bool:
    """Whether it is an address, or a name of one, as an informer's index has them; all
    else stays where it was, aliases in front.

    Upstream: CoreDNS, `plugin/loadbalance/loadbalance.go` (`roundRobin`).
    """
    return text.split()[3] in ("A", "AAAA", "MX", "PTR")


def _masked(text: str, freedoms: Counter[str]) -> str:
    words = text.split()
    if words[3] == "SOA" and words[6].isdecimal():
        words[6] = "SERIAL"
        freedoms[SERIAL] += 1
    return " ".join(words)


def dns_agreement(recording: Recording, ask: Ask | None = None) -> AgreementTable:
    """One row for each question. `ask`: judge this one instead of ours."""
    ask = ask or recorded_answerer(recording).answer
    table = AgreementTable(
        "DNS answers",
        "lifecycle, from the recorded Services",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(table.computed)} questions put with `dig` to CoreDNS and to ours,"
            " over the same Services: names that exist, names that do not, addresses,"
            f" services, hosts; {table.outcome('answers')}, record by record."
        ),
    )
    for theirs in parse_dig(recording.dns("svc")):
        ours = ask(theirs.name, theirs.type)
        comparison = compare_answer(ours, theirs)
        here = f"{ours.rcode}, {len(ours.answer)} records"
        there = f"{theirs.status}, {len(theirs.sections['answer'])} records"
        table.add("dns", f"{theirs.name} {theirs.type}", here, there, comparison)
    return table
