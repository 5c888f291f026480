"""Real kubectl, real sockets: logs, exec, attach and port-forward against hollow pods, by three releases of kubectl."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from tests.cluster.conftest import Kubectl
from tests.loopback import free_port

SCRIPT = "echo hello; echo there; sleep 300"


def eventually(kubectl: Kubectl, *words: str) -> None:
    for _ in range(100):
        if "Running" in kubectl("get", "pods", *words, "--no-headers").stdout:
            return
        time.sleep(0.1)
    raise AssertionError("not running")


@pytest.fixture
def talk(kubectl: Kubectl) -> Kubectl:
    kubectl("run", "talk", "--image=busybox", "--restart=Never", "--", "sh", "-c", SCRIPT)
    eventually(kubectl, "talk")
    return kubectl


def test_logs_say_what_the_program_said(talk: Kubectl) -> None:
    assert talk("logs", "talk").stdout == "hello\nthere\n"
    assert talk("logs", "talk", "--tail=1").stdout == "there\n"
    assert talk("logs", "talk", "--limit-bytes=3").stdout == "hel"
    assert talk("logs", "talk", "--timestamps").stdout.splitlines()[0].endswith("Z hello")
    refused = talk("logs", "talk", "--previous", check=False)
    assert refused.returncode == 1
    assert 'previous terminated container "talk" in pod "talk" not found' in refused.stderr


def test_exec_carries_output_input_and_the_exit_code(talk: Kubectl) -> None:
    assert talk("exec", "talk", "--", "echo", "hi").stdout == "hi\n"
    assert talk("exec", "-i", "talk", "--", "cat", stdin="typed\n").stdout == "typed\n"
    failed = talk("exec", "talk", "--", "sh", "-c", "exit 3", check=False)
    assert failed.returncode == 3
    assert "command terminated with exit code 3" in failed.stderr


def test_a_forwarded_port_answers(
    kubectl: Kubectl, kubectl_binary: Path, kubeconfig: Path, namespace: str, tmp_path: Path
) -> None:
    kubectl("run", "web", "--image=nginx")
    eventually(kubectl, "web")
    port = free_port()
    where = [str(kubectl_binary), "--kubeconfig", str(kubeconfig), "--namespace", namespace]
    words = [*where, "port-forward", "pod/web", f"{port}:80", "--address=127.0.0.1"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(f"Forwarding from 127.0.0.1:{port}")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
                assert answer.status == 200
        finally:
            process.terminate()
