"""The loopback port of a component: what it answers to whom."""

from __future__ import annotations

import asyncio
import time
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
    assert ask("/healthz", "POST")[::2] == (405, "method not allowed\n")


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
    version = 'git_commit="$Format",git_version="v1.36.2",major="1",minor="36",platform="linux/amd64"'
    assert values[f"kubernetes_build_info{{{version}}}"] == "1"
    assert float(values["process_cpu_seconds_total"]) > 0
    assert 0 < time.time() - float(values["process_start_time_seconds"]) < 24 * 3600
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.",
        "# TYPE process_cpu_seconds_total counter",
        "# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.",
        "# TYPE process_start_time_seconds gauge",
        "# HELP process_open_fds Number of open file descriptors.",
        "# TYPE process_open_fds gauge",
        "# HELP process_resident_memory_bytes Resident memory size in bytes.",
        "# TYPE process_resident_memory_bytes gauge",
        "# HELP kubernetes_build_info A metric with a constant '1' value labeled by version and platform.",
        "# TYPE kubernetes_build_info gauge",
    ]


def test_what_was_asked_of_the_server_and_who_leads_is_counted_in_upstreams_words() -> None:
    assert metrics.rest_client_requests("h:1", {("GET", "200"): 2, ("PUT", "<error>"): 1}) == (
        "# HELP rest_client_requests_total Number of HTTP requests, partitioned by status code, method, and host.\n"
        "# TYPE rest_client_requests_total counter\n"
        'rest_client_requests_total{code="200",host="h:1",method="GET"} 2\n'
        'rest_client_requests_total{code="<error>",host="h:1",method="PUT"} 1\n'
    )
    for leads in (False, True):
        assert metrics.leader_election_master_status("kube-scheduler", leads) == (
            "# HELP leader_election_master_status Gauge of if the reporting system is master of the relevant lease, 0"
            " indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure"
            " to group by name.\n"
            "# TYPE leader_election_master_status gauge\n"
            f'leader_election_master_status{{name="kube-scheduler"}} {int(leads)}\n'
        )
