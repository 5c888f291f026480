"""A bare control plane of real programs – no nodes, no add-ons – is recorded, compared with itself and with ours.

Runs where `KUBE_BIN` is set. Its discovery and componentstatuses differ from kind's: the programs may be built elsewhere, and here
controller manager and scheduler serve no health checks. What an etcd older than 3.5.13 cannot do (watch progress), the real server
refuses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from lifecycle.cli import main
from lifecycle.inspector import LiveCluster
from tests.live.real_programs import RealControlPlane, kube_bin

CONTEXT = "bare"
DEPENDS_ON_ETCD = ("page 1", "page 2", "watch from an old version", "watch from now", "watch-list")
"""Moments of the scenario *storage* whose answers depend on etcd's version or on how long it has been running."""


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealControlPlane]:
    """Up for all tests of this file."""
    kube_bin("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    with RealControlPlane(tmp_path_factory.mktemp("bare"), CONTEXT) as running:
        yield running


@pytest.fixture
def config(plane: RealControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    """The official client reads the variable when it is imported."""
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(plane.kubeconfig))


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.usefixtures("config")
def test_two_recordings_of_it_are_its_noise_floor(tmp_path: Path) -> None:
    for name in ("first", "second"):
        words = ("--context", CONTEXT, "--scenario", "discovery", "--scenario", "storage", "--pause", 0.2)
        taken = run("record", tmp_path / name, *words)
        assert taken.exit_code == 0, taken.output
    result = run("compare", "--noise", tmp_path / "first", tmp_path / "second", "--json", tmp_path / "tables.json")
    [line] = [line for line in result.output.splitlines() if line.startswith("noise floor: ")]
    tables = json.loads((tmp_path / "tables.json").read_text())
    assert [table["title"] for table in tables] == ["agreement: discovery", "agreement: storage"]
    assert [row["input"] for table in tables for row in unexpected(table)] == []
    differing = sum(row["fields"] - row["fields_equal"] for table in tables for row in table["rows"])
    assert line.startswith(f"noise floor: {differing:,} of ")


@pytest.mark.usefixtures("config")
def test_it_and_ours_are_asked_the_same_now(plane: RealControlPlane, tmp_path: Path) -> None:
    before = namespaces(plane)
    result = run("compare", "storage", "--live", CONTEXT, "--json", tmp_path / "tables.json")
    assert (tmp_path / "tables.json").exists(), result.output
    [table] = json.loads((tmp_path / "tables.json").read_text())
    codes = [d for row in table["rows"] for d in row["differences"] if d["path"] in ("/code", "/status")]
    assert codes == []
    assert len(table["rows"]) > 70
    assert [row["input"] for row in unexpected(table)] == []
    assert namespaces(plane) <= before | {"lifecycle-storage"}, "what is still there is on its way out"


def unexpected(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows that differ, but for those that depend on etcd and the one whose fields an aggregating controller owns."""
    return [
        row
        for row in table["rows"]
        if not row["equal"]
        and not row["stage"].partition(": ")[2].startswith(DEPENDS_ON_ETCD)
        and "clusterroles/view" not in row["input"]
    ]


def namespaces(plane: RealControlPlane) -> set[str]:
    with LiveCluster(CONTEXT, config_file=str(plane.kubeconfig)) as cluster:
        return {item["metadata"]["name"] for item in cluster.get("/api/v1/namespaces")["items"]}
