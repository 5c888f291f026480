"""A small share of `make fuzz-http`, what it has found, and that it can find something."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apiserver.test_registry_fuzz import MEANT
from tests.fuzz_http.client import Answer, Connection
from tests.fuzz_http.judge import Served, Verdict, judge, served
from tests.fuzz_http.objects import mutated_protobuf, objects, seeds
from tests.fuzz_http.oddities import oddities
from tests.fuzz_http.sent import CASES, Sent
from tests.fuzz_http.sources import documents, mixed

SHARE = 250
KEPT = sorted(CASES.glob("*.json"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


def test_a_share_of_it_does_no_harm(server: Served) -> None:
    async def main() -> Verdict:
        return await judge(server, mixed(await documents(server), 7), SHARE)

    verdict = asyncio.run(main())
    assert verdict.sent.total() == SHARE
    assert set(verdict.sent) == {"schema", "objects", "protobuf", "oddities"}
    assert len(verdict.statuses) >= 6
    assert [(sent.data, answer) for sent, answer in verdict.failures if not is_meant(answer)] == []
    assert verdict.troubles == []
    assert verdict.growth == []


def is_meant(answer: Answer) -> bool:
    """A 5xx that a real server gives as well; whole runs ask one."""
    return any(words in answer.body.decode("utf-8", "replace") for words in (*MEANT, "Unsupported transfer encoding"))


def test_every_oddity_is_answered_or_closed(server: Served) -> None:
    """As written, before any byte of them is changed."""
    known = itertools.islice(oddities(1), 160)
    verdict = asyncio.run(judge(server, known, 160, lanes=8))
    assert [sent.data for sent, answer in verdict.failures if not is_meant(answer)] == []
    assert verdict.troubles == []
    assert verdict.statuses[400] > 40
    assert verdict.growth == []


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_found(server: Served, path: Path) -> None:
    sent, real = Sent.load(path)

    async def main() -> Answer:
        return await Connection(server.port, server.tls).ask(sent)

    answer = asyncio.run(main())
    assert answer.status < 500 or answer.status == real, answer
    assert "Traceback" not in server.log.read_text()


def test_mistakes_are_found(tmp_path: Path) -> None:
    with served(tmp_path, "tests.fuzz_http.broken") as server:
        verdict = asyncio.run(judge(server, objects(1, seeds()), 60))
        asyncio.run(judge(server, itertools.islice(oddities(1), 20), 20))
        later = server.holdings()
    assert {sent.first_line.split(" ")[0] for sent, _ in verdict.failures} == {"PATCH"}
    assert any("Traceback" in line for line in verdict.troubles)
    assert Verdict(holdings=[verdict.holdings[0], later]).growth[0].startswith("tasks: ")


def test_the_same_seed_sends_the_same_bytes() -> None:
    originals = seeds()
    assert len(originals) > 20
    for source in (objects, mutated_protobuf):
        first, again, other = (list(itertools.islice(source(n, originals), 60)) for n in (1, 1, 2))
        assert first == again
        assert first != other
    assert list(itertools.islice(oddities(3), 400)) == list(itertools.islice(oddities(3), 400))


def test_what_is_kept_is_sent_again_as_it_was(tmp_path: Path) -> None:
    sent = Sent("oddities", b"GET / HTTP/1.1\r\nX: \xff\0\r\n\r\n", half_closed=True)
    assert Sent.load(sent.save(tmp_path, 400)) == (sent, 400)


@pytest.mark.parametrize(
    ("holdings", "growth"),
    [
        ([{"tasks": 5, "descriptors": 9, "memory": 100}, {"tasks": 6, "descriptors": 9, "memory": 150}], []),
        (
            [{"tasks": 5, "descriptors": 9, "memory": 100}, {"tasks": 50, "descriptors": 9, "memory": 100}],
            ["tasks: 5 → 50"],
        ),
        (
            [{"tasks": 5, "descriptors": 9, "memory": 100}, {"tasks": 5, "descriptors": 90, "memory": 900}],
            ["descriptors: 9 → 90", "memory: 100 → 900"],
        ),
    ],
)
def test_growth_is_told(holdings: list[dict[str, int]], growth: list[str]) -> None:
    assert Verdict(holdings=holdings).growth == growth


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("OPTIONS * HTTP/1.1", 200),
        ("CONNECT x:443 HTTP/1.1", 404),
        ("GET http://x/api HTTP/1.1", 200),
        ("GET https://x HTTP/1.1", 200),
        ("GET http://x?a=b HTTP/1.1", 200),
        ("GET http://x/nowhere HTTP/1.1", 404),
        ("GET /api HTTP/1.1\r\nExpect: a miracle", 417),
        ("POST /api HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", 501),
    ],
)
def test_what_gos_server_answers_before_any_handler(server: Served, head: str, status: int) -> None:
    """Found beside a real server, whose statuses these are."""

    async def main() -> Answer:
        sent = Sent("oddities", f"{head}\r\nHost: x\r\n\r\n".encode(), framed=True)
        connection = Connection(server.port, server.tls)
        answer = await connection.ask(sent)
        await connection.close()
        return answer

    assert asyncio.run(main()).status == status
