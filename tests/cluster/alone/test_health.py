"""The loopback port of a component: what it answers to whom."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import aiohttp
import pytest

from lifecycle.cluster.alone import metrics
from lifecycle.cluster.alone.health import HealthServer

wrong: dict[str, str] = {}


@pytest.fixture(autouse=True)
def nothing_wrong() -> Iterator[None]:
    wrong.clear()
    yield
    wrong.clear()


async def text() -> str:
    return "up 1\n"


def ask(path: str, method: str = "GET") -> tuple[int, str, str]:
    """Status, type and text."""

    async def main() -> tuple[int, str, str]:
        server = HealthServer(
            {"leaderElection": lambda: wrong.get("leaderElection", "")},
            {"informer-sync": lambda: wrong.get("informer-sync", "")},
            text,
        )
        port = await server.start()
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.request(method, f"http://127.0.0.1:{port}{path}") as answer,
            ):
                return answer.status, answer.headers["content-type"], await answer.text()
        finally:
            await server.stop()

    return asyncio.run(main())


@pytest.mark.parametrize(
    "path", ["/healthz", "/livez", "/readyz", "/healthz/", "/healthz/ping", "/readyz/informer-sync"]
)
def test_all_is_well(path: str) -> None:
    assert ask(path)[::2] == (200, "ok")


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/healthz", 500, "[+]ping ok\n[-]leaderElection failed: lost\nhealthz check failed\n"),
        ("/livez/leaderElection", 500, "internal server error: lost\n"),
        ("/healthz/ping", 200, "ok"),
        ("/healthz?exclude=leaderElection", 200, "ok"),
        ("/healthz?exclude=leaderElection&verbose", 200, "[+]ping ok\n[+]leaderElection excluded: ok\nhealthz check passed\n"),
        ("/readyz?verbose", 200, "[+]ping ok\n[+]informer-sync ok\nreadyz check passed\n"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(path: str, status: int, text: str) -> None:
    wrong["leaderElection"] = "lost"
    assert ask(path)[::2] == (status, text)


def test_it_can_be_alive_and_not_ready() -> None:
    wrong["informer-sync"] = "waiting"
    assert ask("/healthz")[0] == 200
    assert ask("/readyz")[0] == 500


@pytest.mark.parametrize("path", ["/", "/configz", "/readyz/leaderElection", "/metrics/x"])
def test_anything_else_is_not_found(path: str) -> None:
    assert ask(path)[::2] == (404, "404 page not found\n")


def test_it_takes_nothing() -> None:
    assert ask("/healthz", "POST")[0] == 405


def test_metrics_are_prometheus_text() -> None:
    assert ask("/metrics") == (200, "text/plain; version=0.0.4; charset=utf-8", "up 1\n")


def test_a_family_is_sorted_escaped_and_left_out_when_empty() -> None:
    samples = [({"b": 'q"\n\\', "a": "2"}, 1.5), ({"a": "1"}, 3.0)]
    assert metrics.family("x_total", "counter", "Text.", samples) == (
        '# HELP x_total Text.\n# TYPE x_total counter\nx_total{a="1"} 3\nx_total{a="2",b="q\\"\\n\\\\"} 1.5\n'
    )
    assert metrics.family("x_total", "counter", "Text.", []) == ""


def test_the_process_tells_what_it_takes() -> None:
    text = metrics.process() + metrics.build_info()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values["process_resident_memory_bytes"]) > 1 << 20
    assert float(values["process_open_fds"]) > 2
    assert any(name.startswith('kubernetes_build_info{git_commit="$Format",git_version="v1.36.2"') for name in values)
