"""The second half of `make chaos`: histories of all storages under faults, one seed after the other, until the time is up."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.sqlite import SQLiteStore
from tests.etcd.real_etcd import RealEtcd
from tests.linearizability import scenes
from tests.linearizability.checker import UndecidedError
from tests.linearizability.members import members
from tests.linearizability.operations import History
from tests.linearizability.verdict import problems

SHOWN = 6
Scene = Callable[[int], History]


class Tally:
    """What came of it."""

    def __init__(self) -> None:
        self.histories: Counter[str] = Counter()
        self.operations: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.failed = 0

    def judge(self, name: str, seed: int, history: History) -> None:
        """Count a history, and print what is wrong with it."""
        self.histories[name] += 1
        self.operations.update(each.outcome.value for each in history.operations)
        self.operations["list"] += len(history.listings)
        try:
            found = problems(history)
        except UndecidedError as error:
            found = [f"undecided: {error}"]
        if found:
            self.failed += 1
            print(f"{name}, seed {seed}")
            for problem in found[:SHOWN]:
                print(f"    {problem}", flush=True)


def _scenes(folder: Path, tally: Tally, stack: ExitStack) -> Iterator[tuple[str, Scene]]:
    """Those that can be played here."""

    def in_memory(seed: int, server: bool) -> History:
        async def main() -> History:
            return await (scenes.under_server if server else scenes.on_store)(MemoryStore(), seed, operations=60)

        return run_virtual(main())

    def in_a_file(seed: int, server: bool) -> History:
        async def main() -> History:
            with tempfile.TemporaryDirectory(dir=folder) as place:
                store = SQLiteStore(Path(place, "store"))
                return await (scenes.under_server if server else scenes.on_store)(store, seed, operations=60)

        return run_virtual(main())

    def reopened(seed: int) -> History:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            return run_virtual(scenes.through_reopening(Path(place, "store"), seed))

    def in_etcd(etcds: list[RealEtcd], servers: bool) -> Scene:
        def play(seed: int) -> History:
            history, faults = asyncio.run(scenes.on_etcd(etcds, seed, servers=servers, count=3, operations=60))
            tally.faults.update(faults)
            return history

        return play

    for server in (False, True):
        over = "API server over " if server else ""
        yield f"{over}memory", lambda seed, server=server: in_memory(seed, server)  # type: ignore[misc]
        yield f"{over}file", lambda seed, server=server: in_a_file(seed, server)  # type: ignore[misc]
    yield "file that is opened again", reopened
    if shutil.which("etcd") is None:
        print("etcd is not installed (Debian: etcd-server): only memory and file", file=sys.stderr)
        return
    for count in (1, 3):
        place = folder / f"etcd{count}"
        place.mkdir()
        etcds = stack.enter_context(members(place, count))
        for server in (False, True):
            name = f"{'API servers over ' if server else ''}etcd of {count}"
            yield name, in_etcd(etcds, server)


def main() -> int:
    """0: all histories are linearizable; 1: one is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.linearizability", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--n", type=int, default=1000, help="how many seeds at most, each for every storage")
    parser.add_argument("--seconds", type=float, default=300, help="how long at most")
    parser.add_argument("--only", default="", help="only storages whose name has this in it")
    options = parser.parse_args()
    tally, began = Tally(), time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="linearizability-") as folder, ExitStack() as stack:
            playable = [row for row in _scenes(Path(folder), tally, stack) if options.only in row[0]]
            for seed in range(options.seed, options.seed + options.n):
                for number, (name, scene) in enumerate(playable):
                    if time.monotonic() - began < options.seconds:
                        # a real etcd keeps what was written: each history has keys of its own
                        tally.judge(name, seed, scene(10 * len(playable) * seed + 10 * number))
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
    for title, counts in (("histories", tally.histories), ("operations", tally.operations), ("faults", tally.faults)):
        print(f"{title}: {', '.join(f'{count} × {name}' for name, count in counts.items()) or 'none'}")
    print(f"{tally.failed} histories failed, in {time.monotonic() - began:.0f} s")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
