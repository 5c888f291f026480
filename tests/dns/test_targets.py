"""Targets whole, not only their addresses; and what is set up with other values than the usual ones."""

from __future__ import annotations

import asyncio
import gc
import random
import struct
from collections.abc import Callable
from typing import Any

import dns.flags
import dns.message
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.dns.answering import Answerer
from lifecycle.dns.kubernetes_plugin import MOST_TARGETS, KubernetesPlugin, NameDoesNotExist
from lifecycle.dns.records import Answer, Record, RecordTarget, fqdn
from lifecycle.dns.server import IDLE_SECONDS, MOST_LONG_REPLIES, MOST_WAITING, ClusterDNS, _Datagrams
from lifecycle.dns.service_index import Port, ServiceIndex, declared_ports
from lifecycle.dns.wire import RECORD_WEIGHT, Reply
from tests.dns.cluster import SERVICES, SLICES, service, slice_of
from tests.dns.responding import respond
from tests.fake_api import FakeAPI

SERVICE, SLICE, NAMESPACE = resource("services"), resource("endpointslices.discovery.k8s.io"), resource("namespaces")


def plugin(**options: Any) -> KubernetesPlugin:
    return KubernetesPlugin(ServiceIndex.of(SERVICES, SLICES, ["shop", "kube-system"], 7), **options)


@pytest.mark.parametrize(
    ("host", "rtype"),
    [
        ("10.0.0.1", "A"), ("0.0.0.0", "A"), ("255.255.255.255", "A"), ("256.0.0.1", "CNAME"), ("1.2.3.300", "CNAME"),
        ("1.2.3", "CNAME"), ("1.2.3.4.5", "CNAME"), ("1.2.3.x", "CNAME"), ("a.b.c.d", "CNAME"), ("", "CNAME"),
        ("1.2.3.4.", "CNAME"), ("1.2..4", "CNAME"), ("fd00::1", "AAAA"), ("::", "AAAA"),
    ],
)  # fmt: skip
def test_what_a_target_is_shows_in_its_spelling(host: str, rtype: str) -> None:
    assert RecordTarget(host).type == rtype


@given(st.ip_addresses())
def test_every_address_is_of_its_family(address: Any) -> None:
    assert RecordTarget(str(address)).type == {4: "A", 6: "AAAA"}[address.version]


@pytest.mark.parametrize(
    ("name", "qtype", "targets"),
    [
        ("web.shop.svc", "A", [RecordTarget("10.96.0.5", 80, "web.shop.svc.cluster.local.")]),
        ("_http._tcp.web.shop.svc", "SRV", [RecordTarget("10.96.0.5", 80, "web.shop.svc.cluster.local.")]),
        (
            "both.shop.svc", "A",
            [RecordTarget(ip, 80, "both.shop.svc.cluster.local.") for ip in ("10.96.0.6", "fd00::6")],
        ),
        ("db-0.db.shop.svc", "A", [RecordTarget("10.244.1.2", 8080, "db-0.db.shop.svc.cluster.local.")]),
        (
            "portless.shop.svc", "SRV",
            [RecordTarget("10.244.1.4", -1, "10-244-1-4.portless.shop.svc.cluster.local.")],
        ),
        ("out.shop.svc", "A", [RecordTarget("example.com.", -1, "")]),
        ("out.shop.svc", "SRV", []),
        ("shop.svc", "A", []),
        ("ns.dns", "SRV", [RecordTarget("10.96.0.10", -1, "kube-dns.kube-system.svc.cluster.local.")]),
        ("10-244-1-2.shop.pod", "A", [RecordTarget("10.244.1.2", 0, "10-244-1-2.shop.pod.cluster.local.")]),
    ],
)  # fmt: skip
def test_what_a_name_leads_to(name: str, qtype: str, targets: list[RecordTarget]) -> None:
    assert plugin().targets(f"{name}.cluster.local.", qtype) == targets


@pytest.mark.parametrize(
    ("label", "address"),
    [
        ("1-2-3-4", "1.2.3.4"), ("1--2-3", "1::2:3"), ("--1-2", "::1:2"), ("1-2-3--", "1:2:3::"), ("--", "::"),
        ("1-2-3-4-5-6-7-8", "1:2:3:4:5:6:7:8"), ("fd00--1", "fd00::1"), ("1-2-3-256", None), ("1-2-3", None),
        ("1-2-3-4-5", None), ("1--2--3", None), ("01-2-3-4", None), ("fe80--1%eth0", None), ("web", None),
    ],
)  # fmt: skip
def test_a_pods_label_is_its_address_with_dashes_three_single_ones_for_the_old_family(
    label: str, address: str | None
) -> None:
    name = f"{label}.shop.pod.cluster.local."
    if address is None:
        with pytest.raises(NameDoesNotExist):
            plugin().targets(name, "A")
    else:
        assert plugin().targets(name, "A") == [RecordTarget(address, 0, name)]


PORTS: list[dict[str, Any]] = [
    {"name": "Web", "port": 80, "protocol": "TCP"}, {"name": "web-u", "port": 81, "protocol": "UDP"}, {"port": 82},
]  # fmt: skip


@pytest.mark.parametrize("kind", ["ClusterIP", "headless"])
@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("", [80, 81, 82]), ("_web._tcp.", [80]), ("_web-u._udp.", [81]), ("_web._udp.", []), ("_web-u._tcp.", []),
        ("_._tcp.", [80, 82]), ("_web._.", [80]), ("_._udp.", [81]), ("_other._tcp.", []), ("_._sctp.", []),
    ],
)  # fmt: skip
def test_a_port_is_asked_for_by_name_and_protocol(kind: str, asked: str, numbers: list[int]) -> None:
    ip = "10.96.0.7" if kind == "ClusterIP" else "None"
    slices = [slice_of("many", {"addresses": ["10.1.1.1"]}, ports=PORTS)]
    many = KubernetesPlugin(ServiceIndex.of([service("many", ip, ports=PORTS)], slices, ["shop"]))
    name = f"{asked}many.shop.svc.cluster.local."
    if numbers:
        assert [target.port for target in many.targets(name, "SRV")] == numbers
    else:
        with pytest.raises(NameDoesNotExist):
            many.targets(name, "SRV")


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ({}, Port("", "TCP", -1)), ({"name": None, "protocol": None, "port": None}, Port("", "TCP", -1)),
        ({"name": "a", "protocol": "SCTP", "port": 1}, Port("a", "SCTP", 1)), ({"port": 65535}, Port("", "TCP", 65535)),
    ],
)  # fmt: skip
def test_what_a_port_does_not_say(port: dict[str, Any], expected: Port) -> None:
    assert declared_ports([port]) == [expected]


@pytest.mark.parametrize("cluster_ip", [None, "", "None"])
def test_a_service_without_an_address_is_its_endpoints(cluster_ip: str | None) -> None:
    headless = service("h", "None")
    headless["spec"] = {"ports": headless["spec"]["ports"]}
    if cluster_ip is not None:
        headless["spec"]["clusterIP"] = cluster_ip
    index = ServiceIndex.of([headless], [slice_of("h", {"addresses": ["10.1.1.1"]})], ["shop"])
    below = "h.shop.svc.cluster.local."
    assert KubernetesPlugin(index).targets(below, "A") == [RecordTarget("10.1.1.1", 8080, f"10-1-1-1.{below}")]


@pytest.mark.parametrize("name", ["_x._tcp.out.shop", "_._tcp.out.shop", "_x._.out.shop", "e.out.shop", "number.shop"])
def test_an_external_service_has_no_parts_and_an_address_is_not_a_name(name: str) -> None:
    with pytest.raises(NameDoesNotExist):
        plugin().targets(f"{name}.svc.cluster.local.", "A")


def test_an_external_service_that_names_nothing_is_the_root() -> None:
    index = ServiceIndex.of([service("x", type="ExternalName")], [], ["shop"])
    assert KubernetesPlugin(index).targets("x.shop.svc.cluster.local.", "A") == [RecordTarget(".")]


def test_a_name_without_a_text_has_an_empty_one() -> None:
    assert plugin().text("dns-version.cluster.local.") == "1.1.0"
    assert plugin().text("web.shop.svc.cluster.local.") == ""
    for name in ("gone.shop.svc", "web.gone.svc", "shop.svc"):  # only what leads somewhere exists here
        with pytest.raises(NameDoesNotExist):
            plugin().text(f"{name}.cluster.local.")


def test_another_zone_and_another_service_for_dns() -> None:
    other = plugin(zone="example.org.", dns_service=("shop", "both"))
    assert other.name_servers() == [
        RecordTarget(ip, -1, "both.shop.svc.example.org.") for ip in ("10.96.0.6", "fd00::6")
    ]
    assert plugin(dns_service=("shop", "none")).name_servers() == []
    assert other.reverse("10.96.0.5") == ["web.shop.svc.example.org."]
    assert other.reverse("10.244.1.3") == ["10-244-1-3.db.shop.svc.example.org."]
    answers = Answerer(other, ttl=5)
    assert answers.answer("web.shop.svc.cluster.local.", "A").rcode == "SERVFAIL"
    ns = answers.answer("example.org", "NS")
    assert [(r.name, r.ttl, r.data) for r in ns.answer] == [("example.org.", 5, "both.shop.svc.example.org.")]
    assert [(r.ttl, r.type, r.data) for r in ns.additional] == [(5, "A", "10.96.0.6"), (5, "AAAA", "fd00::6")]


@pytest.mark.parametrize(("ttl", "negative"), [(0, 0), (5, 5), (300, 300), (301, 300), (3600, 300)])
def test_a_no_is_remembered_for_five_minutes_at_most(ttl: int, negative: int) -> None:
    """Upstream: CoreDNS, `plugin/backend_lookup.go` (`SOA`)."""
    soa = Answerer(plugin(), ttl=ttl).soa()
    assert (soa.name, soa.ttl) == ("cluster.local.", negative)
    assert soa.data.split() == [
        "ns.dns.cluster.local.", "hostmaster.cluster.local.", "7", "7200", "1800", "86400", str(ttl),
    ]  # fmt: skip
    for qtype, name in (
        ("A", "web.shop.svc"),
        ("SRV", "web.shop.svc"),
        ("CNAME", "out.shop.svc"),
        ("A", "out.shop.svc"),
    ):
        answer = Answerer(plugin(), ttl=ttl).answer(f"{name}.cluster.local.", qtype)
        assert {record.ttl for record in (*answer.answer, *answer.additional)} == {ttl}


@pytest.mark.parametrize("count", [1, 2, 3, 7, 99, 100, 101, 250])
def test_a_hundred_points_are_shared_and_nobody_gets_none(count: int) -> None:
    endpoints = [{"addresses": [f"10.1.{n // 200}.{n % 200}"]} for n in range(count)]
    index = ServiceIndex.of([service("h", "None")], [slice_of("h", *endpoints)], ["shop"])
    answer = Answerer(KubernetesPlugin(index)).answer("h.shop.svc.cluster.local.", "SRV").answer
    assert [record.data.split()[:3] for record in answer] == [["0", str(max(1, 100 // count)), "8080"]] * count


@pytest.mark.parametrize(("name", "whole"), [("a", "a."), ("a.", "a."), ("", "."), (".", "."), ("a.b", "a.b.")])
def test_a_whole_name_ends_in_a_dot(name: str, whole: str) -> None:
    assert fqdn(name) == whole


class _Writer:
    """The other end of a TCP connection, in memory."""

    def __init__(self) -> None:
        self.written = b""
        self.closed_at: float | None = None

    def write(self, data: bytes) -> None:
        self.written += data

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        self.closed_at = asyncio.get_running_loop().time()


def _framed(name: str) -> bytes:
    packet = dns.message.make_query(name, "A").to_wire()
    return struct.pack("!H", len(packet)) + packet


def _server(**options: Any) -> tuple[ClusterDNS, Client, SharedInformerFactory]:
    client = Client(FakeAPI(), "coredns")
    informers = SharedInformerFactory(client)
    return ClusterDNS(client, informers, clock=Clock(), **options), client, informers


def test_a_connection_that_asks_nothing_for_ten_seconds_is_closed() -> None:
    async def main() -> None:
        server, _, _ = _server()
        reader, writer = asyncio.StreamReader(), _Writer()
        loop = asyncio.get_running_loop()
        begin = loop.time()
        serving = asyncio.create_task(server._serve_tcp(reader, writer))  # type: ignore[arg-type]
        await asyncio.sleep(9.5)
        reader.feed_data(_framed("a.")[:5])
        await asyncio.sleep(0.25)
        reader.feed_data(_framed("a.")[5:])
        await asyncio.sleep(9.5)
        reader.feed_data(_framed("b."))
        await serving
        assert writer.closed_at == begin + 9.75 + 9.5 + 10 == begin + 19.25 + IDLE_SECONDS
        replies, rest = [], writer.written
        while rest:
            (length,) = struct.unpack("!H", rest[:2])
            replies.append(str(dns.message.from_wire(rest[2 : 2 + length]).question[0].name))
            rest = rest[2 + length :]
        assert replies == ["a.", "b."]
        assert not server._connections

    run_virtual(main())


def test_a_connection_asks_as_many_questions_as_it_likes() -> None:
    """CoreDNS sets its server's `MaxTCPQueries` to -1."""

    async def main() -> None:
        server, _, _ = _server()
        reader, writer = asyncio.StreamReader(), _Writer()
        reader.feed_data(_framed("a.") * 1000)
        reader.feed_eof()
        await server._serve_tcp(reader, writer)  # type: ignore[arg-type]
        replies, rest = 0, writer.written
        while rest:
            replies, rest = replies + 1, rest[2 + int.from_bytes(rest[:2], "big") :]
        assert replies == 1000

    run_virtual(main())


def test_a_connection_that_takes_no_answer_for_ten_seconds_is_closed() -> None:
    class Stuck(_Writer):
        async def drain(self) -> None:
            await asyncio.get_running_loop().create_future()

    async def main() -> None:
        server, _, _ = _server()
        reader, writer = asyncio.StreamReader(), Stuck()
        reader.feed_data(_framed("a."))
        begin = asyncio.get_running_loop().time()
        await server._serve_tcp(reader, writer)  # type: ignore[arg-type]
        assert writer.closed_at == begin + IDLE_SECONDS

    run_virtual(main())


class _Long:
    """Answers for a Service with just enough endpoints to be long, or with one if the name is small."""

    def reply_to(self, packet: bytes, *, tcp: bool) -> Reply:
        count = 1 if b"small" in packet else LARGE // RECORD_WEIGHT + 1
        return Reply(dns.message.Message(1), Answer(answer=[Record("a.", 30, "A", "10.1.1.1")] * count))


async def _slow(size: int, work: Callable[[], bytes]) -> bytes:
    """The worker, which has its time."""
    if size > LARGE:
        await asyncio.sleep(1)
    return work()


def test_connections_that_want_much_are_answered_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a hundred of them would have a hundred answers in one turn of the loop."""

    async def main() -> None:
        monkeypatch.setattr("lifecycle.dns.server.beside", _slow)
        server, _, _ = _server()
        monkeypatch.setattr(server, "reply_to", _Long().reply_to)
        writers = [_Writer() for _ in range(25)]
        begin = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            for writer in writers:
                reader = asyncio.StreamReader()
                reader.feed_data(_framed("a."))
                reader.feed_eof()
                group.create_task(server._serve_tcp(reader, writer))  # type: ignore[arg-type]
        # whoever waits for longer than a connection may be idle is answered, too
        assert all(writer.written for writer in writers)
        ends = sorted(writer.closed_at - begin for writer in writers if writer.closed_at is not None)
        assert ends == [*range(1, 26)]
        assert len(writers) > IDLE_SECONDS

    run_virtual(main())


def test_who_asks_little_does_not_wait_for_those_who_ask_much(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr("lifecycle.dns.server.beside", _slow)
        server, _, _ = _server()
        monkeypatch.setattr(server, "reply_to", _Long().reply_to)
        begin = asyncio.get_running_loop().time()
        writers = {name: _Writer() for name in (*(f"large{n}." for n in range(20)), "small.")}
        async with asyncio.TaskGroup() as group:
            for name, writer in writers.items():
                reader = asyncio.StreamReader()
                reader.feed_data(_framed(name))
                reader.feed_eof()
                group.create_task(server._serve_tcp(reader, writer))  # type: ignore[arg-type]
        assert writers["small."].closed_at == begin
        assert len(writers["small."].written) > 12

    run_virtual(main())


def test_of_datagrams_that_want_much_only_so_many_are_written_at_a_time() -> None:
    class Sent(list[bytes]):
        def sendto(self, data: bytes, addr: object) -> None:
            self.append(data)

    async def main() -> None:
        datagrams, sent = _Datagrams(_Long()), Sent()  # type: ignore[arg-type]
        datagrams.connection_made(sent)
        for _ in range(100):
            datagrams.datagram_received(b"", None)
        assert not sent
        await asyncio.sleep(1)
        assert len(sent) == MOST_LONG_REPLIES
        datagrams.datagram_received(b"", None)
        await asyncio.sleep(1)
        assert len(sent) == MOST_LONG_REPLIES + 1

    run_virtual(main())


def test_between_datagrams_others_have_their_turn_and_those_nobody_has_room_for_are_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class EachTime:
        async def pause(self) -> None:
            await asyncio.sleep(0)

    monkeypatch.setattr("lifecycle.dns.server.Pauses", EachTime)

    async def main() -> None:
        datagrams, sent = _Datagrams(_Long()), list[bytes]()  # type: ignore[arg-type]
        monkeypatch.setattr(datagrams, "_send", lambda packet, _: sent.append(packet))
        for _ in range(MOST_WAITING + 50):
            datagrams.datagram_received(b"small", None)
        turns = 0
        while len(sent) < MOST_WAITING:
            before = len(sent)
            await asyncio.sleep(0)
            assert len(sent) <= before + 1
            turns += 1
        assert turns >= MOST_WAITING
        await asyncio.sleep(1)
        assert len(sent) == MOST_WAITING
        datagrams.datagram_received(b"small", None)
        await asyncio.sleep(1)
        assert len(sent) == MOST_WAITING + 1

    run_virtual(main())


def test_of_many_who_ask_at_the_same_moment_each_waits_for_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six hundred questions whose last byte came in one round were six hundred answers in that round."""
    asked = list[bytes]()
    turns = asyncio.Semaphore(0)

    class InLine:
        async def pause(self) -> None:
            await turns.acquire()

    monkeypatch.setattr("lifecycle.dns.server.Pauses", InLine)

    async def main() -> None:
        server, _, _ = _server()
        monkeypatch.setattr(server, "reply_to", lambda packet, *, tcp: asked.append(packet))
        readers = [asyncio.StreamReader() for _ in range(50)]
        async with asyncio.TaskGroup() as group:
            for reader in readers:
                group.create_task(server._serve_tcp(reader, _Writer()))  # type: ignore[arg-type]
            await asyncio.sleep(1)
            for reader in readers:
                reader.feed_data(_framed("a."))
            await asyncio.sleep(1)
            assert not asked
            for count in range(1, 51):
                turns.release()
                await asyncio.sleep(1)
                assert len(asked) == count

    run_virtual(main())


def test_with_the_socket_ends_what_is_being_written_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr("lifecycle.dns.server.beside", _slow)
        loop, complaints = asyncio.get_running_loop(), list[dict[str, Any]]()
        loop.set_exception_handler(lambda _, context: complaints.append(context))

        class Closed:
            def sendto(self, data: bytes, addr: object) -> None:
                raise AttributeError("'NoneType' object has no attribute 'sendto'")

        datagrams = _Datagrams(_Long())  # type: ignore[arg-type]
        datagrams.connection_made(Closed())
        datagrams.datagram_received(b"", None)
        await asyncio.sleep(0.5)
        assert len(datagrams._writing) == 1
        datagrams.connection_lost(None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not datagrams._writing
        datagrams.datagram_received(b"small", None)  # one that had arrived before
        await asyncio.sleep(2)
        gc.collect()
        assert not complaints

    run_virtual(main())


def test_of_a_vast_service_there_is_as_much_as_a_message_has_room_for_and_each_address_once() -> None:
    ports = [{"name": f"p{n}", "port": n} for n in range(1, 51)]
    endpoints = [{"addresses": [f"10.1.{i}.{j}" for i in range(30)]} for j in range(200)]
    slices = [slice_of("h", *endpoints, ports=ports)]
    many = KubernetesPlugin(ServiceIndex.of([service("h", "None")], slices, ["shop"]))
    name = "h.shop.svc.cluster.local."
    addresses = [target.host for target in many.targets(name, "A")]
    assert len(set(addresses)) == len(addresses) == 6_000
    assert [target.port for target in many.targets(name, "SRV")[:51]] == [*range(1, 51), 1]
    assert len(many.targets(name, "SRV")) == MOST_TARGETS == 4096


V4 = [f"10.{i // 40_000}.{i // 200 % 200}.{i % 200}" for i in range(5_000)]
V6 = [f"fd00::{i:x}" for i in range(1, 1_000)]


@pytest.mark.parametrize("kind", ["headless", "ClusterIP"])
def test_a_family_is_looked_for_behind_any_number_of_the_other(kind: str) -> None:
    if kind == "headless":
        slices = [slice_of("h", *({"addresses": [ip]} for ip in (*V4, *V6)))]
        vast = service("h", "None")
    else:
        slices, vast = [], service("h", V4[0])
        vast["spec"]["clusterIPs"] = [*V4, *V6]
    answers = Answerer(KubernetesPlugin(ServiceIndex.of([vast], slices, ["shop"])))
    for qtype, ips in (("A", V4), ("AAAA", V6)):
        assert [record.data for record in answers.answer("h.shop.svc.cluster.local", qtype).answer] == ips


def test_of_more_addresses_than_fit_each_has_its_share() -> None:
    slices = [slice_of("h", *({"addresses": [ip]} for ip in V4))]
    answers = Answerer(KubernetesPlugin(ServiceIndex.of([service("h", "None")], slices, ["shop"])))
    dice, firsts = random.Random(1), set[str]()
    query = dns.message.make_query("h.shop.svc.cluster.local", "A").to_wire()
    for _ in range(50):
        reply = dns.message.from_wire(respond(query, answers, dice))
        assert reply.flags & dns.flags.TC
        firsts.update(record.address for record in reply.answer[0])
    places = [V4.index(ip) for ip in firsts]
    assert len(places) > 1_000
    assert sum(place >= MOST_TARGETS for place in places) > len(places) // 10


@pytest.mark.parametrize(
    "data",
    [b"\0", b"\0\5abc", b"\0\3abc" + _framed("a.")],
    ids=["half a length", "less than it says", "nonsense, then a question"],  # a question's number is random
)
def test_a_connection_that_breaks_off_or_talks_nonsense_is_closed_at_once(data: bytes) -> None:
    async def main() -> None:
        server, _, _ = _server()
        reader, writer = asyncio.StreamReader(), _Writer()
        reader.feed_data(data)
        reader.feed_eof()
        begin = asyncio.get_running_loop().time()
        await server._serve_tcp(reader, writer)  # type: ignore[arg-type]
        assert (writer.written, writer.closed_at) == (b"", begin)

    run_virtual(main())


def test_a_server_speaks_for_the_zone_it_was_given_and_remembers_when_what_it_answers_changed() -> None:
    async def main() -> None:
        server, client, informers = _server(zone="example.org.", ttl=7, host="127.0.0.2")
        assert server.index.modified == 0
        await client.create(NAMESPACE, {"metadata": {"name": "shop"}})
        task = asyncio.create_task(server.run())
        async with asyncio.timeout(60):
            await server.started.wait()
        loop = asyncio.get_running_loop()
        reader, writer = await asyncio.open_connection("127.0.0.2", server.port)

        async def seen(change: Any) -> bool:
            """Whether a change made the zone's serial number that of now."""
            server.index.modified = 0
            await change
            for _ in range(20):
                await asyncio.sleep(0)
            assert server.index.modified == 0 or abs(server.index.modified - server.clock.now()) < 5
            return server.index.modified != 0

        assert not await seen(client.create(NAMESPACE, {"metadata": {"name": "other"}}))
        for res, obj in ((SERVICE, service("new", "10.96.0.8")), (SLICE, slice_of("new", {"addresses": ["10.1.1.1"]}))):
            created = await client.create(res, obj, "shop")
            name = obj["metadata"]["name"]
            assert await seen(client.update(res, created | {"metadata": created["metadata"] | {"labels": {"a": "b"}}}))
            assert await seen(client.delete(res, name, "shop"))
            assert await seen(client.create(res, obj, "shop"))
        answer = server.answer("new.shop.svc.example.org", "A")
        assert [(r.ttl, r.data) for r in answer.answer] == [(7, "10.96.0.8")]
        writer.write(_framed("new.shop.svc.example.org."))
        (length,) = struct.unpack("!H", await reader.readexactly(2))
        assert b"\x0a\x60\x00\x08" in await reader.readexactly(length)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        begin = loop.time()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        assert loop.time() - begin < IDLE_SECONDS / 2  # the end does not wait for those who hold on
        assert not await seen(client.delete(SERVICE, "new", "shop"))  # nobody listens any more
        writer.close()
        await informers.stop()

    asyncio.run(main())


def test_an_answer_is_cut_in_a_datagram_and_not_in_a_stream() -> None:
    async def main() -> None:
        server, client, informers = _server()
        await client.create(NAMESPACE, {"metadata": {"name": "shop"}})
        await client.create(SERVICE, service("h", "None"), "shop")
        endpoints = [{"addresses": [f"10.1.1.{n}"]} for n in range(100)]
        await client.create(SLICE, slice_of("h", *endpoints), "shop")
        task = asyncio.create_task(server.run())
        async with asyncio.timeout(60):
            await server.started.wait()
        reader, writer = asyncio.StreamReader(), _Writer()
        reader.feed_data(_framed("h.shop.svc.cluster.local."))
        reader.feed_eof()
        await server._serve_tcp(reader, writer)  # type: ignore[arg-type]
        assert len(dns.message.from_wire(writer.written[2:]).answer[0]) == 100
        loop, got = asyncio.get_running_loop(), asyncio.Queue[bytes]()

        class Asker(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, addr: Any) -> None:
                got.put_nowait(data)

        transport, _ = await loop.create_datagram_endpoint(Asker, remote_addr=("127.0.0.1", server.port))
        transport.sendto(b"nonsense")  # is not answered
        transport.sendto(_framed("h.shop.svc.cluster.local.")[2:])
        async with asyncio.timeout(60):
            reply = dns.message.from_wire(await got.get())
        assert reply.flags & dns.flags.TC
        assert len(reply.answer[0]) < 100
        transport.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await informers.stop()

    asyncio.run(main())


@pytest.mark.parametrize("qtype", ["A", "SRV"])
@pytest.mark.parametrize("payload", [512, 65_535])
def test_a_vast_answer_is_worked_out_once_however_it_is_spelled(qtype: str, payload: int) -> None:
    def answers() -> Answerer:
        slices = [slice_of("h", *({"addresses": [ip]} for ip in V4[:2_000]))]
        return Answerer(KubernetesPlugin(ServiceIndex.of([service("h", "None")], slices, ["shop"])))

    once, asked = answers(), list[str]()
    targets = once.plugin.targets
    once.plugin.targets = lambda name, kind: asked.append(name) or targets(name, kind)  # type: ignore[func-returns-value,method-assign]
    for name in ("h.shop.svc.cluster.local", "H.shop.SVC.cluster.LOCAL", "h.Shop.svc.Cluster.Local"):
        query = dns.message.make_query(name, qtype, use_edns=0, payload=payload).to_wire()
        anew = respond(query, answers(), random.Random(1))
        assert respond(query, once, random.Random(1)) == anew
        assert name.encode().split(b".")[-1] in anew
    assert asked == ["h.shop.svc.cluster.local."]
    once.forget()
    once.answer("h.shop.svc.cluster.local.", qtype)
    assert len(asked) == 2


def test_what_is_remembered_of_a_vast_service_is_forgotten_when_it_changes() -> None:
    async def main() -> None:
        server, client, informers = _server()
        await client.create(NAMESPACE, {"metadata": {"name": "shop"}})
        await client.create(SERVICE, service("h", "None"), "shop")
        made = await client.create(SLICE, slice_of("h", *({"addresses": [ip]} for ip in V4[:100])), "shop")
        task = asyncio.create_task(server.run())
        async with asyncio.timeout(60):
            await server.started.wait()
        for count in (100, 90, 80):
            made = await client.update(SLICE, made | {"endpoints": made["endpoints"][:count]})
            for _ in range(20):
                await asyncio.sleep(0)
            for _ in range(2):
                assert len(server.answer("h.shop.svc.cluster.local", "A").answer) == count
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await informers.stop()

    asyncio.run(main())
