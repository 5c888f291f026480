"""The server on loopback, asked by `dig`, by dnspython and by nonsense."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import dns.asyncquery
import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.agreements.dns_answers import compare_answer, parse_dig
from lifecycle.agreements.proxy.iptables_rules import recorded_objects
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.dns.records import Answer, Record
from lifecycle.dns.server import ClusterDNS
from lifecycle.inspector import open_recording
from tests.conftest import RECORDINGS, unavailable
from tests.dns.cluster import SERVICES, SLICES, answerer
from tests.dns.responding import respond
from tests.fake_api import FakeAPI

SERVICE, SLICE, NAMESPACE = resource("services"), resource("endpointslices.discovery.k8s.io"), resource("namespaces")


@asynccontextmanager
async def serving(services: list[Object], slices: list[Object]) -> AsyncIterator[tuple[ClusterDNS, Client]]:
    client = Client(FakeAPI(), "coredns")
    for name in sorted({obj["metadata"]["namespace"] for obj in (*services, *slices)}):
        await client.create(NAMESPACE, {"metadata": {"name": name}})
    for res, objects in ((SERVICE, services), (SLICE, slices)):
        for obj in objects:
            await client.create(res, obj, obj["metadata"]["namespace"])
    informers = SharedInformerFactory(client)
    server = ClusterDNS(client, informers, clock=Clock())
    assert server.answer("web.shop.svc.cluster.local", "A").rcode == "SERVFAIL"  # nothing is known yet
    task = asyncio.create_task(server.run())
    async with asyncio.timeout(60):
        await server.started.wait()
    try:
        yield server, client
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await informers.stop()


async def dig(server: ClusterDNS, *arguments: str) -> str:
    program = shutil.which("dig")
    if program is None:
        unavailable("dig is not installed")
    common = ("+tries=1", "+time=5", "+nocmd", "+nostats", "-p", str(server.port), "@127.0.0.1")
    process = await asyncio.create_subprocess_exec(str(program), *common, *arguments, stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    return output.decode()


@pytest.mark.real
def test_dig_gets_the_recorded_answers_from_us() -> None:
    """The same questions, the same program, another server: everything `dig` was told, over UDP, and once over TCP."""
    recording = open_recording(str(RECORDINGS / "kind-1.36.2"))
    recorded = list(parse_dig(recording.dns("svc")))

    async def main() -> None:
        objects = recorded_objects(recording, "services")
        async with serving(*objects) as (server, _):
            for theirs in recorded:
                text = await dig(server, theirs.name, theirs.type)
                (ours,) = parse_dig(f"$ dig {theirs.name} {theirs.type}\n{text}")
                assert ours.flags == theirs.flags
                assert compare_answer(_as_answer(ours.status, ours.flags, ours.sections), theirs).agrees, text
            text = await dig(server, "+tcp", "kubernetes.default.svc.cluster.local", "A")
            assert "10.96.0.1" in text
            assert "(echoed)" in await dig(server, "web.svc.svc.cluster.local", "A")

    asyncio.run(main())


def _as_answer(status: str, flags: frozenset[str], sections: dict[str, list[str]]) -> Answer:
    def records(section: str) -> list[Record]:
        return [Record(w[0], int(w[1]), w[3], " ".join(w[4:])) for w in map(str.split, sections[section])]

    return Answer(status, records("answer"), records("authority"), records("additional"), "aa" in flags)


def test_changes_are_answered_as_soon_as_they_are_seen() -> None:
    async def main() -> None:
        async with serving(SERVICES, SLICES) as (server, client):
            where = {"where": "127.0.0.1", "port": server.port, "timeout": 5}
            query = dns.message.make_query("new.shop.svc.cluster.local", "A")
            before = await dns.asyncquery.udp(query, **where)
            assert before.rcode() == dns.rcode.NXDOMAIN
            serial = before.authority[0][0].serial
            spec = {"type": "ClusterIP", "clusterIP": "10.96.0.99", "clusterIPs": ["10.96.0.99"], "ports": []}
            server.index.modified -= 5
            await client.create(SERVICE, {"metadata": {"name": "new"}, "spec": spec}, "shop")
            await asyncio.sleep(0.05)
            after = await dns.asyncquery.tcp(query, **where)
            assert "10.96.0.99" in after.answer[0].to_text()
            assert server.index.modified >= serial

    asyncio.run(main())


def test_a_long_answer_is_cut_over_udp_and_whole_over_tcp() -> None:
    class Long:
        def answer(self, qname: str, qtype: str, /) -> Answer:
            return Answer(answer=[Record(qname, 30, "A", f"10.0.{i // 250}.{i % 250}") for i in range(200)])

    for query, limit in (
        (dns.message.make_query("x.", "A"), 512),
        (dns.message.make_query("x.", "A", use_edns=0, payload=1232), 1232),
    ):
        packet = respond(query.to_wire(), Long(), random.Random(0))
        assert len(packet) <= limit
        assert dns.message.from_wire(packet).flags & dns.flags.TC
        whole = dns.message.from_wire(respond(query.to_wire(), Long(), random.Random(0), tcp=True))
        assert not whole.flags & dns.flags.TC
        assert len(whole.answer[0]) == 200


def test_addresses_come_in_changing_order() -> None:
    query = dns.message.make_query("db.shop.svc.cluster.local", "A").to_wire()
    dice = random.Random(1)
    firsts = {str(dns.message.from_wire(respond(query, answerer(), dice)).answer[0][0]) for _ in range(20)}
    assert firsts == {"10.244.1.2", "10.244.1.3"}


@given(st.binary(max_size=80))
def test_nonsense_is_ignored_or_refused(packet: bytes) -> None:
    reply = respond(packet, answerer(), random.Random(0))
    assert reply == b"" or dns.message.from_wire(reply, ignore_trailing=True) is not None


def test_what_is_not_a_query_is_not_answered_as_one() -> None:
    update = dns.message.make_query("web.shop.svc.cluster.local", "A")
    update.set_opcode(2)
    assert dns.message.from_wire(respond(update.to_wire(), answerer(), random.Random(0))).rcode() == dns.rcode.NOTIMP
    response = dns.message.make_response(dns.message.make_query("x.", "A"))
    assert respond(response.to_wire(), answerer(), random.Random(0)) == b""


def _reply(query: dns.message.Message, records: int = 1) -> dns.message.Message:
    class Long:
        def answer(self, qname: str, qtype: str) -> Answer:
            return Answer(answer=[Record(qname, 30, "A", f"10.1.{n // 250}.{n % 250}") for n in range(records)])

    return dns.message.from_wire(respond(query.to_wire(), Long(), random.Random(1)))


def test_edns_options_that_are_sent_back_and_those_that_are_not() -> None:
    cookie = dns.edns.GenericOption(dns.edns.OptionType.COOKIE, b"12345678")
    subnet = dns.edns.ECSOption("192.0.2.0", 24)
    reply = _reply(dns.message.make_query("a.", "A", want_dnssec=True, payload=1232, options=[cookie, subnet]))
    assert [option.otype for option in reply.options] == [dns.edns.OptionType.COOKIE]
    assert (reply.payload, reply.ednsflags & dns.flags.DO) == (1232, dns.flags.DO)
    assert _reply(dns.message.make_query("a.", "A")).edns == -1


def test_of_edns_flags_the_upper_byte_is_sent_back() -> None:
    """The real server takes eight flags for its own, of which only `do` has a meaning so far."""
    for flags in (1 << bit for bit in range(16)):
        reply = _reply(dns.message.make_query("a.", "A", use_edns=0, ednsflags=flags, payload=1232))
        assert reply.ednsflags == (flags if flags >= 0x100 else 0), hex(flags)


def test_a_version_of_edns_that_is_not_known_is_refused() -> None:
    reply = _reply(dns.message.make_query("a.", "A", use_edns=1))
    assert (reply.rcode(), reply.edns, reply.answer) == (dns.rcode.BADVERS, 0, [])


def test_only_questions_about_the_internet_are_answered() -> None:
    assert _reply(dns.message.make_query("version.bind.", "TXT", "CH")).rcode() == dns.rcode.REFUSED


def test_as_much_of_a_long_answer_as_fits_is_sent() -> None:
    """Whole records, up to the last byte the client has room for."""
    for payload, expected in ((512, 29), (1232, 74)):
        query = dns.message.make_query("a.example.", "A", use_edns=0, payload=payload)
        reply = _reply(query, records=300)
        assert len(reply.answer[0]) == expected
        assert reply.flags & dns.flags.TC
        assert payload - 16 < len(reply.to_wire()) <= payload


def test_the_library_that_reads_packets_is_loaded_by_the_first_question() -> None:
    """Not by the start of a cluster, of which it would be a twentieth."""
    code = "import sys, lifecycle.dns.server; print('dns' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
