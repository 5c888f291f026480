"""Large work leaves no arena behind that a few small things hold."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lifecycle.api import arenas

SCENE = """
import gc, sys, tracemalloc
from pathlib import Path
from lifecycle.api import arenas, fast_json
from lifecycle.api.freed_memory import give_back, keep_little

if "traced" in sys.argv:
    tracemalloc.start()
keep_little()
if "left" in sys.argv:
    arenas.leave_them_for_large_work()

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

def large():
    made = [{"k": [str(j), i, {}]} for i, j in enumerate(range(10**6, 10**6 + 300_000))]
    made[7]["k"] += [3] * 1_000
    return made[::1_000], fast_json.loads(fast_json.dumps(made))[::1_000], [str(i) for i in range(10**5)]

before = held()
kept = arenas.in_pages(large)
give_back()
print(len(arenas._ways), held() - before)
more = [[*each["k"], {"a": 1}] for each in kept[0]]  # whatever came by one way goes by the other
arenas.in_pages(more.clear)
arenas.in_pages(kept[0][0]["k"].extend, range(100))
kept[0][0]["k"] += range(1_000)
del kept, more
gc.collect()
try:
    arenas.in_pages(int, "no number")
except ValueError:
    print("raised", all(each is not None for each in ([], {}, "x" * 3)))
"""


def played(*words: str, **environment: str) -> tuple[int, float, str]:
    """How many ways there are, MiB that are still held, what is said in the end."""
    told = subprocess.run(
        [sys.executable, "-c", SCENE, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    ways, held, end = told.stdout.split(maxsplit=2)
    return int(ways), float(held), end.strip()


def test_a_few_things_that_stay_hold_pages_and_no_arenas() -> None:
    ways, before, _ = played()
    assert ways == 0
    ways, after, end = played("left")
    assert (ways, end) == (1, "raised True")
    assert after < before / 4
    assert after < 30 < 100 < before


@pytest.mark.parametrize("way", ["malloc", "debug", "pymalloc_debug"])
def test_who_was_told_how_to_allocate_keeps_to_it(way: str) -> None:
    assert played("left", PYTHONMALLOC=way)[0] == 0


def test_who_traces_what_is_allocated_goes_on_to_see_it() -> None:
    assert played("left", "traced")[0] == 0


@pytest.mark.parametrize("version", [(3, 10, 9), (3, 15, 0)])
def test_an_interpreter_that_nobody_has_looked_at_is_left_alone(
    version: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    assert arenas._is_known()
    monkeypatch.setattr("sys.version_info", version)
    assert not arenas._is_known()


def test_nor_is_one_that_is_no_plain_cpython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.abiflags", "t")
    assert not arenas._is_known()
