"""Sends requests to our server and says what is wrong with it afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz_http.client import Answer, Connection
from tests.fuzz_http.sent import Sent

MORE_MEMORY = 128
"""MiB that the server may hold more at the end than when it was warm: what was created is still there."""
WARM = 2_000
"""Requests after which caches have grown to what they will be; of fewer, a fifth."""
MORE = 3
"""Tasks and descriptors that may be more, of those that are about to end."""
TROUBLE = ("Traceback (most recent call last)", "was never retrieved", "was never awaited", "Exception in callback")


class Served:
    """The process; see `served`."""

    def __init__(self, folder: Path, module: str) -> None:
        self.log = folder / "server.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(folder)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline() or 0)
        assert self.port, self.log.read_text()[-2000:]
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        self.tls.load_cert_chain(folder / "client.pem")

    def holdings(self) -> dict[str, int]:
        """Tasks, descriptors, MiB, right now."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer: dict[str, int] = json.loads(self._process.stdout.readline())
        return answer

    def stop(self) -> None:
        """Ask it to end; kill it if it does not."""
        try:
            self._process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


@contextlib.contextmanager
def served(folder: Path, module: str = "tests.fuzz_http.served") -> Iterator[Served]:
    """Running."""
    server = Served(folder, module)
    try:
        yield server
    finally:
        server.stop()


@dataclass
class Verdict:
    """What came of it. `failures`: requests with a 5xx, and the answer."""

    sent: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[tuple[Sent, Answer]] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    holdings: list[dict[str, int]] = field(default_factory=list)

    @property
    def growth(self) -> list[str]:
        """What is more at the end than when it was warm."""
        if len(self.holdings) < 2:
            return []
        first, last = self.holdings[0], self.holdings[-1]
        allowed = {"memory": MORE_MEMORY, "tasks": MORE, "descriptors": MORE}
        return [f"{name}: {first[name]} → {last[name]}" for name in first if last[name] - first[name] > allowed[name]]


async def judge(server: Served, requests: Iterator[Sent], count: int, lanes: int = 4) -> Verdict:
    """Send so many, on several connections at once. Ctrl-C ends it early, and the verdict is about what was sent."""
    verdict = Verdict()
    left = count

    async def lane() -> None:
        nonlocal left
        connection = Connection(server.port, server.tls)
        while left > 0:
            left -= 1
            is_time_to_look = count - left == min(count // 5, WARM)
            sent = next(requests)
            answer = await connection.ask(sent)
            verdict.sent[sent.source] += 1
            verdict.statuses[answer.status] += 1
            if answer.status >= 500:
                verdict.failures.append((sent, answer))
            if is_time_to_look:
                verdict.holdings.append(await _settled(server))
        await connection.close()

    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.gather(*(lane() for _ in range(lanes)))
    verdict.holdings.append(await _settled(server))
    log = server.log.read_text("utf-8", "replace")
    verdict.troubles = [line for line in log.splitlines() if any(words in line for words in TROUBLE)]
    return verdict


async def _settled(server: Served) -> dict[str, int]:
    """What it holds when it has noticed which connections are closed: the least of several looks, a moment apart."""
    looks = []
    for _ in range(5):
        await asyncio.sleep(0.3)
        looks.append(await asyncio.to_thread(server.holdings))
    return {name: min(look[name] for look in looks) for name in looks[0]}
