"""How often a process that serves a cluster lets Python look for garbage, and how much it looks at in one go."""

from __future__ import annotations

import gc
import subprocess
import sys
from unittest.mock import Mock

import pytest

from lifecycle.api.garbage import collected_rarely
from lifecycle.cluster.background import favour_throughput


def test_the_young_are_looked_at_in_portions_and_all_there_is_hardly_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    called = Mock()
    for name in ("freeze", "set_threshold"):
        monkeypatch.setattr(gc, name, getattr(called, name))
    favour_throughput()
    assert [name for name, *_ in called.mock_calls] == ["freeze", "set_threshold"]
    youngest, young, old = called.set_threshold.call_args.args
    assert youngest * young <= 200_000  # a few dozen milliseconds, for which nobody else has the interpreter
    assert youngest * young * old >= 5_000_000_000


START = """
import gc
from lifecycle.api.garbage import collect_rarely
collect_rarely()
import asyncio
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

async def start():
    cluster = Cluster(ClusterConfig(nodes=3, https=False))
    await cluster.start()
    print(gc.get_stats()[2]["collections"], gc.collect())
    await cluster.stop()

asyncio.run(start())
"""


def test_a_start_leaves_no_garbage_behind_so_what_is_set_aside_needs_no_look_at_first() -> None:
    """And Python does not look at everything while a thousand modules are loaded and a cluster starts."""
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    whole, garbage = map(int, done.stdout.split())
    assert whole == 0
    assert garbage < 1000  # a handful of objects, where a hundred thousand stay


EMBEDDED = """
import gc
import lifecycle

before = gc.get_threshold()
with lifecycle.up(nodes=1, https=False):
    print(gc.get_stats()[2]["collections"], gc.get_threshold() == before)
"""


def test_a_start_in_somebody_elses_process_leaves_the_collector_as_it_was() -> None:
    done = subprocess.run([sys.executable, "-c", EMBEDDED], capture_output=True, text=True, check=True)
    assert done.stdout == "0 True\n"


def test_the_collector_is_as_it_was_even_if_the_start_fails() -> None:
    before = gc.get_threshold()

    def fail() -> None:
        assert gc.get_threshold() != before
        raise OSError("no")

    with pytest.raises(OSError, match=r"no$"), collected_rarely():
        fail()
    assert gc.get_threshold() == before
