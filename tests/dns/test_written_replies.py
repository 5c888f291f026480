"""Replies that are kept as bytes: the same as if they were written anew, for the same question only, and until something changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import dns.flags
import dns.message
import dns.rcode
import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.dns.records import SMALLEST
from lifecycle.dns.server import ClusterDNS, _Datagrams
from lifecycle.dns.wire import Reply
from lifecycle.dns.written_replies import ENTRIES, WrittenReplies
from tests.dns.cluster import SERVICES, SLICES, service
from tests.fake_api import FakeAPI

SERVICE, SLICE, NAMESPACE = resource("services"), resource("endpointslices.discovery.k8s.io"), resource("namespaces")


class Resolver:
    """Asks a server in packets, without a socket."""

    def __init__(self, server: ClusterDNS) -> None:
        self.server = server
        self.looked_up = 0
        self._datagrams = _Datagrams(server, server.written)
        self._datagrams._transport = self
        self._said: list[bytes] = []
        find = server.answerer.answer

        def counted(name: str, kind: str) -> object:
            self.looked_up += 1
            return find(name, kind)

        server.answerer.answer = counted  # type: ignore[method-assign, assignment]

    def sendto(self, packet: bytes, _: object) -> None:
        self._said.append(packet)

    def ask(self, question: dns.message.Message) -> bytes:
        self._said.clear()
        self._datagrams._answer(question.to_wire(), None)
        [packet] = self._said
        return packet


async def resolver() -> tuple[Resolver, Client]:
    client = Client(FakeAPI(), "coredns")
    for name in ("shop", "kube-system"):
        await client.create(NAMESPACE, {"metadata": {"name": name}})
    for res, objects in ((SERVICE, SERVICES), (SLICE, SLICES)):
        for obj in objects:
            await client.create(res, obj, obj["metadata"]["namespace"])
    informers = SharedInformerFactory(client)
    server = ClusterDNS(client, informers, clock=Clock())
    for informer in server._informers:
        await informer.wait_for_sync()
    return Resolver(server), client


def question(name: str, kind: str = "A", number: int = 7, **options: object) -> dns.message.Message:
    zone = "" if name.endswith(".pod") else ".svc"
    made = dns.message.make_query(f"{name}{zone}.cluster.local.", kind, **options)  # type: ignore[arg-type]
    made.id = number
    return made


def questions() -> Iterator[dns.message.Message]:
    for name in ("web.shop", "WEB.shop", "gone.shop", "web.nowhere", "out.shop", "db-0.db.shop", "_http._tcp.web.shop"):
        for kind in ("A", "AAAA", "SRV", "TXT"):
            yield question(name, kind)
            yield question(name, kind, use_edns=0, payload=1232)


def test_a_reply_that_is_kept_is_the_one_that_would_be_written() -> None:
    async def main() -> None:
        asked, _ = await resolver()
        for made in questions():
            first, before = asked.ask(made), asked.looked_up
            made.id = 4711
            again = asked.ask(made)
            assert again[:2] == made.id.to_bytes(2, "big")
            assert again[2:] == first[2:]
            told = dns.message.from_wire(first)
            certain = len(told.answer) + len(told.additional) <= 1
            assert (asked.looked_up == before) == certain, made
            asked.server.written.forget()
            assert asked.ask(made) == again

    run_virtual(main())


@pytest.mark.parametrize("change", ["service", "slice", "namespace"])
def test_any_change_forgets_them(change: str) -> None:
    async def main() -> None:
        asked, client = await resolver()
        new = {
            "service": question("new.shop"),
            "slice": question("db-9.db.shop"),
            "namespace": question("10-1-2-3.new.pod"),
        }[change]
        assert dns.message.from_wire(asked.ask(new)).rcode() == dns.rcode.NXDOMAIN
        if change == "service":
            await client.create(SERVICE, service("new", "10.96.0.99"), "shop")
        elif change == "namespace":
            await client.create(NAMESPACE, {"metadata": {"name": "new"}})
        else:
            slice_ = await client.get(SLICE, "db-1", "shop")
            more = [*slice_["endpoints"], {"addresses": ["10.244.1.9"], "hostname": "db-9"}]
            await client.update(SLICE, {**slice_, "endpoints": more})
        await asyncio.sleep(1)
        assert dns.message.from_wire(asked.ask(new)).rcode() == dns.rcode.NOERROR

    run_virtual(main())


def test_what_the_dice_decide_is_not_kept() -> None:
    async def main() -> None:
        asked, _ = await resolver()
        orders = {asked.ask(question("db.shop")) for _ in range(50)}
        assert len(orders) == 2
        assert asked.looked_up == 50

    run_virtual(main())


def test_so_many_short_questions_are_kept_and_no_more() -> None:
    replies, reply = WrittenReplies(), Reply(dns.message.Message(1))

    def keep(asked: bytes, said: bytes = b"12said") -> bytes:
        replies.keep(asked, reply, said)
        return replies.to(asked)

    assert keep(b"ab" + b"x" * SMALLEST) == b"absaid"
    assert keep(b"ab" + b"x" * (SMALLEST + 1)) == b""
    assert keep(b"abc", b"12" + b"y" * (SMALLEST - 1)) == b""
    assert keep(b"abc", b"12") == b""  # there was no room for a reply
    for number in range(3 * ENTRIES):
        assert keep(number.to_bytes(4, "big")) == number.to_bytes(4, "big")[:2] + b"said"
    assert len(replies._written._values) <= ENTRIES
