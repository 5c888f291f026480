"""`python -m benchmarks.prober [--rest SECONDS] [WORD…] [-- OPTION…]`: is somebody else still answered, while somebody attacks?

One process asks `/livez` every 20 ms; another runs the attacks of `benchmarks.attacks`, one after another. Of each the longest
answer is told (sent until received), the most processor time that the server took during one answer (which is the portable figure:
on a machine that is busy with other things an answer waits for those, too), how much of it was its loop's thread, the longest
lateness of the asking process' own loop in the same time (what the machine costs), and the server's memory before, at the most, and
after. Words choose the attacks whose names have them;
options are for the server (`lifecycle up`): another store, an audit log. With `--rest`, in the end everything that the attacks have
left in the cluster is deleted, the server is left alone for so long, and its memory told once more: the store keeps what was deleted
for up to ten minutes (twice `--etcd-compaction-interval`).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import multiprocessing
import os
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import yaml

from benchmarks.attacks.attacker import PATIENCE, Attacker
from benchmarks.attacks.leftovers import delete_all_but, objects
from benchmarks.attacks.scene import prepare
from benchmarks.attacks.table import ATTACKS
from benchmarks.measure import served_process

PERIOD = 0.020
REST = 1.5
"""Seconds after an attack: what was freed is given back after one (`lifecycle.api.freed_memory`)."""
TOKEN = "attack"
LONGEST = 250.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one attack: milliseconds, MiB. `computed` is processor time, `looped` that of the loop's thread alone, `machine` how late a
    loop was that had nothing to do.
    """

    name: str
    longest: float
    computed: float
    looped: float
    machine: float
    before: float
    most: float
    after: float
    statuses: Any

    @property
    def stall(self) -> float:
        """What the server's own work cost those who waited."""
        return min(self.longest, self.computed)

    def __str__(self) -> str:
        figures = (self.longest, self.computed, self.looped, self.machine, self.before, self.most, self.after)
        return f"{self.name:<60} {' '.join(f'{each:>7.0f}' for each in figures)}  {self.statuses or ''}"


def _processor_time(pid: int) -> float:
    """Seconds that all threads of a process have computed. Linux: `CPUCLOCK_SCHED` of the process."""
    return time.clock_gettime(~pid << 3 | 2)


def _loops_time(pid: int) -> float:
    """Seconds that the first thread of a process has computed, which is the one with the loop."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9


def _watch(pid: int, port: int, ca: bytes, pipe: Connection) -> None:
    """Ask all the time. Whenever something comes in over the pipe: send what was the longest since."""

    async def main() -> None:
        tls = ssl.create_default_context(cadata=ca.decode())
        longest = computed = looped = machine = before = loops = 0.0
        asked: float | None = None

        def answered(at: float) -> None:
            nonlocal longest, computed, looped
            longest = max(longest, time.perf_counter() - at)
            computed = max(computed, _processor_time(pid) - before)
            looped = max(looped, _loops_time(pid) - loops)

        async def asking() -> None:
            nonlocal before, loops, asked
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
            while True:
                asked, before, loops = time.perf_counter(), _processor_time(pid), _loops_time(pid)
                writer.write(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(2)
                answered(asked)
                asked = None
                await asyncio.sleep(PERIOD)

        task = asyncio.create_task(asking())
        while not task.done():
            due = time.perf_counter() + PERIOD
            await asyncio.sleep(PERIOD)
            machine = max(machine, time.perf_counter() - due)
            if pipe.poll():
                pipe.recv()
                if asked is not None:  # it waits still
                    answered(asked)
                pipe.send(tuple(each * 1000 for each in (longest, computed, looped, machine)))
                longest = computed = looped = machine = 0.0
        task.result()

    with contextlib.suppress(EOFError, KeyboardInterrupt):
        asyncio.run(main())


def memory(pid: int) -> float:
    """MiB that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / (1 << 20)


def most_memory(pid: int) -> float:
    """MiB that it held at the most, since that was last forgotten: by this."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return int(fields["VmHWM"].split()[0]) / (1 << 10)


def udp_port(pid: int) -> int:
    """The port on which a process takes in datagrams; 0 if on none."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(entry))
    for line in Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]:
        fields = line.split()
        if f"socket:[{fields[9]}]" in inodes and fields[2].endswith(":0000"):
            return int(fields[1].partition(":")[2], 16)
    return 0


async def probe(
    names: Iterable[str], patience: float = PATIENCE, options: Iterable[str] = (), rest: float = 0.0
) -> AsyncIterator[Outcome]:
    """Run attacks against a server of their own."""
    with tempfile.TemporaryDirectory() as folder:
        async with served_process(Path(folder), "--nodes", "1", "--token", TOKEN, *options) as (
            process,
            url,
            kubeconfig,
        ):
            cluster = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]
            ca, port = base64.b64decode(cluster["certificate-authority-data"]), int(url.rsplit(":", 1)[1])
            attacker = Attacker(port, ca, TOKEN, patience, udp_port(process.pid))
            await prepare(attacker)
            ours, theirs = multiprocessing.get_context("spawn").Pipe()
            watcher = multiprocessing.get_context("spawn").Process(
                target=_watch, args=(process.pid, port, ca, theirs), daemon=True
            )
            watcher.start()

            async def longest() -> tuple[float, float, float, float]:
                ours.send(None)
                answer: tuple[float, float, float, float] = await asyncio.to_thread(ours.recv)
                return answer

            try:
                await longest()
                await asyncio.sleep(0.5)
                known = set(await objects(attacker)) if rest else set()
                at_first = memory(process.pid)
                for name in names:
                    before = memory(process.pid)
                    most_memory(process.pid)
                    await longest()
                    statuses = await ATTACKS[name](attacker)
                    attacker.hang_up()
                    await asyncio.sleep(REST)
                    times = await longest()
                    yield Outcome(name, *times, before, most_memory(process.pid), memory(process.pid), statuses)
                if rest:
                    await longest()
                    deleted = await delete_all_but(known, attacker)
                    attacker.hang_up()
                    await asyncio.sleep(rest)
                    name = f"rest: {deleted} objects deleted, {rest:g} s"
                    times = await longest()
                    yield Outcome(name, *times, at_first, most_memory(process.pid), memory(process.pid), None)
            finally:
                watcher.terminate()
                watcher.join()


async def table(words: list[str], options: list[str], rest: float) -> list[Outcome]:
    """Run, print, return."""
    names = [name for name in ATTACKS if not words or any(word in name for word in words)]
    titles = ("longest", "process", "loop", "machine", "before", "most", "after")
    print(f"{'attack: milliseconds, MiB':<60} {' '.join(f'{each:>7}' for each in titles)}  statuses")
    outcomes = []
    async for outcome in probe(names, options=options, rest=rest):
        print(outcome, flush=True)
        outcomes.append(outcome)
    return outcomes


def main() -> None:
    """Exit 1 if an answer took too long."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prober", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help="only attacks that have one of these in their name")
    parser.add_argument("--rest", type=float, default=0.0, metavar="SECONDS", help="then delete what is left, and wait")
    arguments = parser.parse_args(words[:end])
    outcomes = asyncio.run(table(arguments.words, words[end + 1 :], arguments.rest))
    slow = [outcome for outcome in outcomes if outcome.stall > LONGEST]
    print(f"{len(outcomes)} attacks; load {os.getloadavg()[0]:.1f}; {len(slow)} over {LONGEST:g} ms")
    sys.exit(bool(slow))


if __name__ == "__main__":
    main()
