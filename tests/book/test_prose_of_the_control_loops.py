"""What the chapters on control loops say in words, of numbers and of what is missing, is so."""

from __future__ import annotations

import asyncio
import inspect
import re

from lifecycle.agreements.scheduler.scheduling_queue import log_lines
from lifecycle.api.loop.clock import run_virtual
from lifecycle.client.leader_election import LeaderElector
from lifecycle.controllers.manager import CONTROLLERS
from lifecycle.controllers.replicaset import victim_ranking
from lifecycle.controllers.replicaset.manage_replicas import BURST_REPLICAS
from lifecycle.controllers.replicaset.slow_start_batch import SLOW_START_INITIAL_BATCH_SIZE, slow_start_batch
from lifecycle.inspector import open_recording
from lifecycle.scheduler.backend.queue import scheduling_queue
from tests.conftest import ROOT

PAGES = {path.stem: path.read_text() for path in (ROOT / "book" / "control-loops").glob("*.md")}
SOURCES = ROOT / "src" / "lifecycle"


def test_a_leader_lets_go_before_another_takes_hold() -> None:
    defaults = {name: each.default for name, each in inspect.signature(LeaderElector.__init__).parameters.items()}
    assert "Two and ten are less than fifteen" in PAGES["the-controller-manager"]
    times = [defaults[name] for name in ("retry_period", "renew_deadline", "lease_duration")]
    assert times == [2, 10, 15]


def test_how_many_workers_a_queue_has() -> None:
    assert "five for Deployments, five for ReplicaSets" in PAGES["the-controller-manager"]
    for module in ("deployment/deployment_controller.py", "replicaset/replica_set_controller.py"):
        assert re.search(r"workers\b.*= 5\b|WORKERS = 5\b", (SOURCES / "controllers" / module).read_text())


def test_the_first_controller_is_not_elected_here() -> None:
    assert "runs one manager, and needs no election" in PAGES["the-controller-manager"]
    assert "leader_election" not in (SOURCES / "cluster" / "cluster.py").read_text()
    assert "dozens of loops share a process" in PAGES["the-controller-manager"]
    assert len(CONTROLLERS) >= 24


def test_the_log_tells_of_the_preemptor_what_the_page_tells() -> None:
    at = {
        (line.pod, line.message[:20], "Backoff" in line.rest): line.at
        for line in log_lines(open_recording())
        if line.message.startswith(("Attempting", "Pod moved", "Unable to"))
    }
    assert "twenty-five seconds ago" in PAGES["the-scheduling-queue"]
    moved, tried = (
        at["preemptor", "Pod moved to an inte", True],
        at["preemptor", "Attempting to schedu", False],
    )
    assert 0 < tried - moved < 0.01
    refused = [line.at for line in log_lines(open_recording()) if line.pod == "too-big" and "Unable" in line.message]
    assert 24 < moved - refused[0] < 26


def test_what_the_page_says_this_books_queue_does_not_have() -> None:
    page, source = PAGES["the-scheduling-queue"], inspect.getsource(scheduling_queue)
    assert "does not have that part. Nor does it align the ends of back-offs" in page
    assert "Left out: events during a pod's attempt" in source
    assert "windows\nthat back-off times are aligned to" in source


def test_how_many_batches_a_whole_burst_takes() -> None:
    batches: list[int] = []

    async def main() -> None:
        started = 0

        async def create() -> None:
            nonlocal started
            started += 1
            await asyncio.sleep(1)
            if started:
                batches.append(started)
                started = 0

        await slow_start_batch(BURST_REPLICAS, SLOW_START_INITIAL_BATCH_SIZE, create)

    run_virtual(main())
    assert "for those it needs nine batches" in PAGES["replica-sets-and-ownership"]
    assert (len(batches), sum(batches)) == (9, BURST_REPLICAS)
    assert "There are eight rules" in PAGES["replica-sets-and-ownership"]
    assert re.findall(r"^(\d)\. ", victim_ranking.__doc__ or "", re.M)[-1] == "8"
