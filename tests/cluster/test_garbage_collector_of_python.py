"""How often a process that serves a cluster lets Python look for garbage, and how much it looks at in one go."""

from __future__ import annotations

import gc
import subprocess
import sys
from unittest.mock import Mock

import pytest

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
