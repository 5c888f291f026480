"""`lifecycle up` as a program: one line on stdout, and gone without a trace when told to."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from lifecycle.cli.up import up

UP = [sys.executable, "-m", "lifecycle", "up"]


def hear_hangups():
    """In the child: whoever runs the tests under `nohup` has handed down that hangups are ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def start(*options, cwd):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*UP, *options], cwd=cwd, text=True, preexec_fn=hear_hangups, **pipes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_ready_line_then_a_signal_ends_it_with_exit_code_0(tmp_path, number):
    process = start("--kubeconfig", "kc", "--context", "mine", cwd=tmp_path)
    first = process.stdout.readline()
    config = yaml.safe_load((tmp_path / "kc").read_text())
    process.send_signal(number)
    rest, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert first == f"ready {config['clusters'][0]['cluster']['server']}\n"
    assert rest == ""
    assert re.fullmatch(r"kubeconfig: kc\ndns: 127\.0\.0\.1:\d+ \(try dig .*\)\n", errors), errors
    assert config["current-context"] == "mine"
    assert os.stat(tmp_path / "kc").st_mode & 0o777 == 0o600


def test_without_controllers_it_is_ready_for_somebody_elses(tmp_path):
    process = start("--kubeconfig", "kc", "--without", "controllers", cwd=tmp_path)
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert first == f"ready {yaml.safe_load((tmp_path / 'kc').read_text())['clusters'][0]['cluster']['server']}\n"


def test_under_nohup_it_outlives_its_terminal(tmp_path):
    process = subprocess.Popen(["nohup", *UP], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("ready ")
    facts = dict(line.split(":\t") for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert int(facts["SigIgn"], 16) & 1 << (signal.SIGHUP - 1)
    assert process.returncode == 0


def refused(*options, cwd):
    done = subprocess.run([*UP, *options], cwd=cwd, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode != 0
    assert done.stdout == ""
    return done.stderr


def one_line(text):
    assert text.startswith("lifecycle: ")
    assert text.count("\n") == 1
    return text


def test_a_taken_port_is_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert str(port) in one_line(refused("--port", str(port), cwd=tmp_path))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--like", "nowhere"], "nowhere has none"),
        (["--store", "floppy"], "not floppy"),
        (["--runtime", "docker"], "--runtime knows hollow, sandbox, containerd, containerd:SOCKET; not docker"),
        (["--without", "etcd"], "not etcd"),
        (["--nodes", "0"], "--nodes must be at least 1"),
        (["--kubeconfig", "/proc/no/such/place"], "/proc/no"),
    ],
)
def test_what_cannot_be_started_is_refused_in_one_line(tmp_path, options, said):
    assert said in one_line(refused(*options, cwd=tmp_path))


def test_a_port_that_is_none_is_a_usage_error(tmp_path):
    assert "99999" in refused("--port", "99999", cwd=tmp_path)


def test_importing_the_command_line_does_not_load_the_rooms():
    """`lifecycle --help` answers at once: neither our rooms nor what they stand on is read for it."""
    heavy = "('lifecycle.apiserver', 'lifecycle.etcd', 'asyncio', 'kubernetes', 'urllib3', 'yaml', 'rich', 'aiohttp')"
    code = f"import sys, lifecycle.cli; print([m for m in sys.modules if m.startswith({heavy})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout == "[]\n"


def test_a_word_does_not_load_a_library_only_to_know_its_errors(tmp_path):
    """The official client alone takes longer to load than our whole kubectl."""
    words = ["kubectl", "get", "pods", "--kubeconfig", str(tmp_path / "none")]
    code = (
        f"import sys; from lifecycle.cli import main\ntry: main({words})\nfinally: print('kubernetes' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path.cwd())
    assert (done.returncode, done.stdout) == (1, "False\n"), done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_it_is_ready_is_said_and_no_success(number, monkeypatch):
    """Whoever waits for the line `ready` must not take the end of the output for a cluster that came and went."""

    class Slow:
        def __init__(self, config):
            pass

        async def start(self, serving):
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)  # once more: somebody is impatient
            await asyncio.get_running_loop().create_future()

        async def stop(self):
            pass

    monkeypatch.setattr("lifecycle.cluster.cluster.Cluster", Slow)
    done = CliRunner().invoke(up)
    assert (done.exit_code, done.stdout) == (128 + number, "")
    assert done.stderr == "lifecycle: ended by a signal before the cluster was ready\n"
