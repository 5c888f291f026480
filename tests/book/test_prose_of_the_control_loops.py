"""What the chapters on control loops say in words, of numbers and of what is missing, is so."""

from __future__ import annotations

import inspect
import re

from lifecycle.client.leader_election import LeaderElector
from lifecycle.controllers.manager import CONTROLLERS
from tests.conftest import ROOT

PAGES = {path.stem: path.read_text() for path in (ROOT / "book" / "control-loops").glob("*.md")}
SOURCES = ROOT / "src" / "lifecycle"


def test_a_leader_lets_go_before_another_takes_hold() -> None:
    defaults = {name: each.default for name, each in inspect.signature(LeaderElector.__init__).parameters.items()}
    assert "Ten is less than fifteen" in PAGES["the-controller-manager"]
    assert (defaults["renew_deadline"], defaults["lease_duration"]) == (10, 15)


def test_how_many_workers_a_queue_has() -> None:
    assert "five for Deployments, five for ReplicaSets" in PAGES["the-controller-manager"]
    for module in ("deployment/deployment_controller.py", "replicaset/replica_set_controller.py"):
        assert re.search(r"workers\b.*= 5\b|WORKERS = 5\b", (SOURCES / "controllers" / module).read_text())


def test_the_first_controller_is_not_elected_here() -> None:
    assert "runs one manager, and needs no election" in PAGES["the-controller-manager"]
    assert "leader_election" not in (SOURCES / "cluster" / "cluster.py").read_text()
    assert 30 <= len(CONTROLLERS) < 40  # "thirty loops"
