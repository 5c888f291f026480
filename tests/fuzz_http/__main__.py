"""`make fuzz-http`: so many requests to our server; what it answers with a 5xx is asked of a real one (KUBE_BIN), too."""

from __future__ import annotations

import argparse
import asyncio
import signal
import ssl
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from tests.differential.servers import HTTPTarget, NotAvailableError, real_server
from tests.fuzz_http.client import Answer, Connection
from tests.fuzz_http.judge import Verdict, judge, served
from tests.fuzz_http.sent import CASES, Sent
from tests.fuzz_http.sources import documents, mixed

SHOWN = 20
LANES = 8
"""Connections at once."""


async def _run(folder: Path, count: int, seed: int, seconds: float) -> Verdict:
    with served(folder) as server:
        requests = mixed(await documents(server), seed)
        task = asyncio.create_task(judge(server, requests, count, LANES))
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, task.cancel)
        loop.call_later(seconds, task.cancel)
        return await task


async def asked_of_real(kubeconfig: Path, requests: list[Sent]) -> list[Answer]:
    """A real server's answers."""
    target = HTTPTarget(kubeconfig)
    port, tls = urlsplit(target._url).port, target._ssl
    assert port is not None
    assert isinstance(tls, ssl.SSLContext)
    connection = Connection(port, tls)
    answers = [await connection.ask(sent) for sent in requests]
    await connection.close()
    return answers


def distinct(verdict: Verdict) -> list[tuple[Sent, Answer]]:
    """One of each sort: source, method, status and the first words of the answer."""
    sorts: dict[tuple[str, str, int, bytes], tuple[Sent, Answer]] = {}
    for sent, answer in verdict.failures:
        message = answer.body.partition(b'"message":')[2] or answer.body
        sorts.setdefault((sent.source, sent.first_line.split(" ")[0], answer.status, message[:40]), (sent, answer))
    return list(sorts.values())


def main() -> int:
    """0: nothing is wrong; 1: something is."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_http", description=__doc__)
    parser.add_argument("--n", type=int, default=100_000, help="how many requests")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600, help="how long at most")
    parser.add_argument("--keep", action="store_true", help="write what is wrong to tests/fuzz_http/cases")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-http-") as place:
        verdict = asyncio.run(_run(Path(place), options.n, options.seed, options.seconds))
        rows = distinct(verdict)
        real: list[Answer] = []
        try:
            if rows:
                with ExitStack() as stack:
                    kubeconfig = stack.enter_context(real_server(Path(place, "real")))
                    real = asyncio.run(asked_of_real(kubeconfig, [sent for sent, _ in rows]))
        except NotAvailableError as error:
            print(f"no real server to compare with: {error}", file=sys.stderr)
            real = [Answer(0)] * len(rows)
    wrong = [(*row, theirs) for row, theirs in zip(rows, real, strict=True) if theirs.status < 500]
    for sent, ours, theirs in wrong[:SHOWN]:
        print(
            f"{sent.source}: {sent.first_line}\n    ours {ours.status} {ours.body[:300]!r}\n    real {theirs.status} {theirs.body[:200]!r}"
        )
        if options.keep:
            CASES.mkdir(exist_ok=True)
            print(f"    kept: {sent.save(CASES, theirs.status)}")
    for line, count in Counter(verdict.troubles).most_common(SHOWN):
        print(f"logged {count} times: {line}")
    for line in verdict.growth:
        print(f"grown: {line}")
    print(f"sent: {', '.join(f'{count} {name}' for name, count in verdict.sent.items())}")
    print(
        f"answers (0: none): {', '.join(f'{count} × {status}' for status, count in sorted(verdict.statuses.items()))}"
    )
    print(f"held: {' … '.join(map(str, verdict.holdings))}")
    print(f"{len(verdict.failures)} answers of 5xx, {len(rows)} sorts, {len(wrong)} of them unlike a real server's")
    return 1 if wrong or verdict.troubles or verdict.growth else 0


if __name__ == "__main__":
    sys.exit(main())
