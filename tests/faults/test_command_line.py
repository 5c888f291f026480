"""What a user does by accident with `lifecycle` itself: one line that says what is wrong, an exit code, no traceback, no litter.

Where it does not matter how a command is loaded, it is forked from a process that has loaded the program (see tests/cli/run): that says
and does the same, and to load a cluster takes longer than most of what is done here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from forked_process import ForkedProcess

from lifecycle.cli import main
from lifecycle.cli.up import _serve
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.cli.run.lone_component import NURSERY

LIFECYCLE = [sys.executable, "-m", "lifecycle"]


def run(*words: str, cwd: Path, stdout: int | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, forked. `stdout`: a descriptor, if nobody here is to read it."""
    settings = {**os.environ, "KUBECONFIG": str(cwd / "no-kubeconfig"), **env}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        streams = (out.fileno() if stdout is None else stdout, errors.fileno())
        process = ForkedProcess(NURSERY, words, settings, str(cwd), streams)
        code = process.wait(60)
        assert code is not None
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess([*LIFECYCLE, *words], code, out.read(), errors.read())


def refused(*words: str, cwd: Path, code: int, **env: str) -> str:
    done = run(*words, cwd=cwd, **env)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("lifecycle: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nope"], 2, "No such command 'nope'"),
        (["--nope"], 2, "No such option '--nope'"),
        (["up", "--nope"], 2, "up --help)"),
        (["up", "--nodes", "three"], 2, "'three' is not a valid integer"),
        (["up", "--nodes", "1", "here"], 2, "unexpected extra argument"),
        (["up", "--disable-admission-plugins", "Nope"], 1, 'plugin "Nope" is unknown'),
        (["up", "--without", "kubelets"], 1, "not kubelets"),
        (["up", "--store", "sqlite:"], 1, "wants the path of a file"),
        (["up", "--store", "sqlite:folder"], 1, "folder"),
        (["up", "--store", "sqlite:text"], 1, "text is not an SQLite file"),
        (["up", "--store", "sqlite:/no/such/folder/x.db"], 1, "unable to open database file"),
        (["up", "--store", "etcd:http://127.0.0.1:1"], 1, "Unavailable"),
        (["up", "--like", "text"], 1, "text has none"),
        (["inspect", "nope"], 2, "there are: "),
        (["inspect", "journey", "--recording", "folder"], 1, "folder"),
        (["compare", "nope"], 2, "has no stage 'nope'"),
        (["compare", "--recording", "text"], 1, "text"),
        (["record", "out"], 2, "Missing option '--context'"),
        (["record", "--context", "production", "out"], 1, "context 'production'"),
        (["claims", "--stage", "nope"], 1, "there are: "),
        (["check", "nope", "x:y"], 2, "no exercise 'nope'"),
        (["check", "rbac", "nothing"], 1, "write module:object"),
        (["check", "rbac", "nowhere:thing"], 1, "no module 'nowhere'"),
        (["check", "rbac", "broken:thing"], 1, "broken"),
        (["trace", "--png", "/no/such/folder/x.png"], 1, "there is no folder"),
        (["trace", "--latency", "-1"], 2, "-1"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, said: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("this is no database, no recording, nothing\n")
    (tmp_path / "broken.py").write_text("def thing(:\n")
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # as `check` does, and does not take back
    done = CliRunner().invoke(main, words)
    assert done.exit_code == code, done.output
    assert isinstance(done.exception, SystemExit)
    assert done.stdout == ""
    assert done.stderr.startswith("lifecycle: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert sorted(path for path in tmp_path.iterdir() if path.name != "__pycache__") == before


def test_a_recording_with_a_broken_line_is_named(tmp_path: Path) -> None:
    recording = tmp_path / "spoilt"
    (recording / "http").mkdir(parents=True)
    for text in ("[]\n", '{"items": 1, "n": '):
        (recording / "http" / "objects.jsonl").write_text(text, encoding="latin-1")
        for words in (["inspect", "objects", "--recording", "spoilt"], ["up", "--nodes", "1", "--like", "spoilt"]):
            done = run(*words, cwd=tmp_path)
            assert done.returncode != 0, (words, text, done.stdout)
            assert "Traceback" not in done.stderr, (words, text, done.stderr)
            assert done.stderr.count("\n") == 1, done.stderr


def test_a_kubeconfig_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    """Not even a draft: the file holds a private key."""
    (tmp_path / "folder").mkdir()
    for place in ("folder", "/proc/kubeconfig"):
        assert place in refused("up", "--nodes", "1", "--kubeconfig", place, cwd=tmp_path, code=1)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def until_it_has_worked(pid: int, seconds: float) -> None:
    """Processor time, not time: how far it has come does not depend on what else the machine does. Some only wait."""
    process, patience = psutil.Process(pid), time.monotonic() + 10 * seconds
    with contextlib.suppress(psutil.Error):
        while process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < patience:
            if process.cpu_times().user >= seconds:
                return
            time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after", [0.3, 0.8])
def test_a_signal_while_it_starts_ends_it_quietly(tmp_path: Path, number: signal.Signals, after: float) -> None:
    command = [*LIFECYCLE, "up", "--nodes", "3", "--store", "sqlite:c.db"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until_it_has_worked(process.pid, after)
        process.send_signal(number)
        out, errors = process.communicate(timeout=30)
    if out:  # it was faster than we
        assert process.returncode == 0
    else:
        # A negative code: the signal hit it before it listens, or (SIGINT) inside `exec`, when a dataclass is being made.
        assert process.returncode in (128 + number, -number)
        complaint = "lifecycle: ended by a signal before the cluster was ready"
        assert errors.strip() == complaint or (
            errors.strip() == "" and (number, process.returncode) != (signal.SIGTERM, 143)
        )
    assert "Traceback" not in errors
    assert out == "" or out.startswith("ready ")
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= {"c.db", "c.db-wal", "c.db-shm", "c.db.pki", *(["lifecycle.kubeconfig"] if out else [])}
    again = subprocess.run(  # the file is whole, and nobody holds it any more
        [sys.executable, "-c", "import sqlite3; print(sqlite3.connect('c.db').execute('PRAGMA integrity_check').fetchone()[0])"],
        cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert again.stdout == "ok\n"


def test_a_signal_between_the_first_answer_and_ready_takes_the_kubeconfig_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubeconfig = tmp_path / "config"

    async def start(cluster: Cluster, on_serving: Callable[[], None]) -> None:
        on_serving()
        assert kubeconfig.exists()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.Event().wait()

    monkeypatch.setattr(Cluster, "start", start)
    monkeypatch.setattr(Cluster, "stop", lambda cluster: asyncio.sleep(0))
    monkeypatch.setattr(Cluster, "write_kubeconfig", lambda cluster, path, name: path.write_text(name))
    assert asyncio.run(_serve(ClusterConfig(), kubeconfig, "lifecycle")) == signal.SIGTERM
    assert not kubeconfig.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["trace", "--latency", "60"],
        ["compare"],
        ["claims"],
        ["inspect", "authorization"],
    ],
    ids=lambda words: words[0],
)
def test_ctrl_c_is_130_and_silence(tmp_path: Path, words: list[str]) -> None:
    with subprocess.Popen(
        [*LIFECYCLE, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        until_it_has_worked(process.pid, 0.4)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    if process.returncode:  # else it was faster than we
        assert process.returncode in (130, -signal.SIGINT)  # the latter while Python goes away; a shell calls both 130
        assert errors.strip() == ""


def test_ctrl_c_while_it_loads_is_130_and_silence(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from lifecycle.__main__ import main

class Impatient:
    def find_spec(self, name, path, target=None):
        if name == "lifecycle.cli.compare":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Impatient())
main()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    "words",
    [
        ["claims", "--stage", "binding"],
        ["inspect"],
        ["inspect", "authorization", "12"],
        ["doctor"],
        ["compare", "objects", "--all-rows"],
        ["check"],
        ["trace"],
        ["kubectl", "create", "deployment", "web", "--image=nginx", "--dry-run=client", "-o", "yaml"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_error_to_talk_about(tmp_path: Path, words: list[str]) -> None:
    """As in `lifecycle claims | head`: here nobody reads even the first line."""
    reader, writer = os.pipe()
    os.close(reader)
    done = run(*words, cwd=tmp_path, stdout=writer)
    os.close(writer)
    assert "Traceback" not in done.stderr
    assert "Broken pipe" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode in (1, 141)


@pytest.mark.parametrize("words", [["claims", "--stage", "binding"], ["compare", "objects"], ["trace"]], ids=" ".join)
def test_into_a_file_there_are_no_colours_and_lines_keep_their_length(tmp_path: Path, words: list[str]) -> None:
    for env in ({}, {"NO_COLOR": "1", "COLUMNS": "60"}):
        done = run(*words, cwd=tmp_path, **env)
        assert done.returncode in (0, 1), done.stderr
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]", done.stdout), env
        assert done.stdout
