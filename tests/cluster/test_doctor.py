"""What the doctor says of this machine, line by line."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lifecycle.cluster import doctor
from lifecycle.cluster.linux import clean, requirements, run_state


def test_programs_are_found_along_the_path_with_what_they_are_for(tmp_path: Path) -> None:
    (tmp_path / "kind").write_text("")
    (tmp_path / "kind").chmod(0o755)
    (tmp_path / "git").write_text("cannot be run")
    assert doctor.checkup(str(tmp_path)) == [
        "missing  kubectl       talk to the embedded cluster as you would to any other",
        "missing  etcd          keep a cluster's objects in a real etcd (--store etcd:URL)",
        "missing  docker        run a real kind cluster to compare with",
        f"ok       kind          create that cluster (make cluster) ({tmp_path / 'kind'})",
        "missing  chromium      check the built book as a reader sees it (make book)",
        "missing  chromedriver  drive that Chromium from the tests",
        "missing  git           clone the book",
        "missing  make          run its two commands",
    ]


def test_extras_are_found_or_come_with_the_line_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "is_installed", lambda name: name == "cel")
    assert doctor.extras() == [
        "ok       [cel]  CEL expressions: admission policies, match conditions, rules of custom resources",
        "missing  [plots]  pictures (lifecycle.figures): pip install 'kubernetes-lifecycle[plots]'",
    ]


def test_of_a_runtime_everything_is_named_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    unmet = {"sandbox": [], "containerd": ["root", "cgroup v2"]}
    monkeypatch.setattr(requirements, "missing", unmet.__getitem__)
    assert doctor.real_containers() == [
        "ok       --runtime sandbox",
        "missing  --runtime containerd: root",
        "missing  --runtime containerd: cgroup v2",
    ]


def test_runs_without_a_process_are_told_with_what_they_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(name: str, owned: bool) -> SimpleNamespace:
        return SimpleNamespace(id=name, owned=lambda: owned)

    monkeypatch.setattr(run_state, "runs", lambda: [run("alive", True), run("dead", False)])
    monkeypatch.setattr(clean, "leftovers", lambda run: [f"a cgroup of {run.id}", "a mount"])
    assert doctor.abandoned() == ["left     run dead: 2 things, such as a cgroup of dead: lifecycle doctor --clean"]
    monkeypatch.setattr(sys, "platform", "darwin")
    assert doctor.abandoned() == []
