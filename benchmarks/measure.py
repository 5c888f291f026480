"""The shape of a result, and a subprocess that serves the cluster under load."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import resource as rusage
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lifecycle.client.transport_https import ConnectionConfig, HTTPSTransport


@dataclass(slots=True)
class Result:
    """One figure. `samples` are all runs; `value` is their median. `goal` is what the project set out to reach, or None."""

    name: str
    unit: str
    value: float
    goal: float | None = None
    better: str = "lower"
    samples: list[float] = field(default_factory=list)
    note: str = ""
    curve: str = ""
    at: float | None = None
    """Of a point of a curve: which, and at what size."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {key: value for key, value in asdict(self).items() if key not in ("curve", "at") or self.curve}


async def repeated(
    name: str, unit: str, run: Callable[[], Awaitable[float]], times: int, goal: float | None, note: str = ""
) -> Result:
    """Run a measurement several times after one warm-up; the median is the figure."""
    await run()
    samples = [await run() for _ in range(times)]
    return Result(name, unit, statistics.median(samples), goal, samples=samples, note=note)


def peak_memory_mib() -> float:
    """The most memory this process ever held, in MiB."""
    peak = rusage.getrusage(rusage.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


@contextlib.asynccontextmanager
async def served_process(tmp: Path, *arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str, Path]]:
    """`lifecycle up`: its process, its address and its kubeconfig. It is ended with SIGTERM afterwards."""
    kubeconfig = tmp / "kubeconfig"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "lifecycle",
        "up",
        "--kubeconfig",
        str(kubeconfig),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            line = (await process.stdout.readline()).decode()
        if not line.startswith("ready "):
            raise RuntimeError(f"lifecycle up said {line!r}")
        yield process, line.split()[1], kubeconfig
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@contextlib.asynccontextmanager
async def served_cluster(tmp: Path, *arguments: str) -> AsyncIterator[tuple[str, Path]]:
    """`lifecycle up` in a process of its own: its address and its kubeconfig."""
    async with served_process(tmp, *arguments) as (_, url, kubeconfig):
        yield url, kubeconfig


def https_transport(kubeconfig: Path) -> HTTPSTransport:
    """A connection as the admin of a kubeconfig that `lifecycle up` wrote."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    return HTTPSTransport(
        ConnectionConfig(
            cluster["server"],
            ca=base64.b64decode(cluster["certificate-authority-data"]),
            client_certificate=base64.b64decode(user["client-certificate-data"]),
            client_key=base64.b64decode(user["client-key-data"]),
        )
    )


def stopwatch() -> Callable[[], float]:
    """Seconds since this call."""
    started = time.perf_counter()
    return lambda: time.perf_counter() - started


def processor_stopwatch() -> Callable[[], float]:
    """Seconds that this process has computed since this call, whoever else kept the machine busy."""
    started = time.process_time()
    return lambda: time.process_time() - started
