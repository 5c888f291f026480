"""`exec`: the real kubectl 1.36 and ours run the same commands, with the same words and exit codes."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.kubectl.main import main
from tests.kubectl.beside import Answer, Both

SLEEPS = "command: [sh, -c, 'sleep 99999']"
OBJECTS = f"""apiVersion: v1
kind: Pod
metadata: {{name: two, namespace: inside, labels: {{app: two}}}}
spec:
  initContainers: [{{name: first, image: busybox, command: ["true"]}}]
  containers:
  - {{name: one, image: busybox, {SLEEPS}}}
  - {{name: other, image: busybox, {SLEEPS}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: chosen, namespace: inside, annotations: {{kubectl.kubernetes.io/default-container: b}}}}
spec:
  containers:
  - {{name: a, image: busybox, {SLEEPS}}}
  - {{name: b, image: busybox, {SLEEPS}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: done, namespace: inside}}
spec: {{restartPolicy: Never, containers: [{{name: a, image: busybox, command: ["true"]}}]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: nowhere, namespace: inside}}
spec: {{nodeSelector: {{no: "where"}}, containers: [{{name: a, image: busybox}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: inside}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: c, image: busybox, {SLEEPS}}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: front, namespace: inside}}
spec: {{ports: [{{port: 80}}], selector: {{app: two}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: bare, namespace: inside}}
spec: {{ports: [{{port: 80}}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {{name: none, namespace: inside}}
spec:
  replicas: 0
  selector: {{matchLabels: {{app: none}}}}
  template: {{metadata: {{labels: {{app: none}}}}, spec: {{containers: [{{name: c, image: busybox}}]}}}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: two, namespace: inside}
"""

LINES = """
exec
exec two
exec two date
exec two one -- echo hello
exec -- date
exec '' -- date
exec nope -- date
exec nope/x -- date
exec deploy/nope -- date
exec cm/kube-root-ca.crt -- date
exec svc/bare -- date
exec done -- date
exec nowhere -- date
exec two -c nope -- date
exec two -c first -- date
exec two --
exec two -- echo hello
exec two -c other -- echo hello
exec two -q -- echo hello
exec pod/two -- echo hello
exec chosen -- echo hello
exec deploy/web -- echo hello
exec svc/front -- echo hello
exec rs/none --pod-running-timeout=100ms -- echo hello
exec two --pod-running-timeout=0 -- echo hello
exec two -q -- echo z a m
exec two -q -- sh -c 'echo out; echo err >&2; exit 3'
exec two -q -- sh -c 'exit 255'
exec two -q -- no-such-program
exec two -q -- false
exec two -q -- printf unended
exec two -q -- echo 'grüße 貓'
exec two -q -- echo -n
exec two -q -- echo --help -n elsewhere
exec two -t -q -- echo hello
exec two -i -t -- echo hello
exec two -i -t -q -- echo hello
exec -f HOME/pod.yaml -- echo hello
exec -f HOME/pod.yaml two -- echo hello
exec -f HOME/pod.yaml two
exec -f HOME/pods.yaml -- echo hello
exec -f HOME/nope.yaml -- echo hello
exec two --nope -- date
exec two --as=nobody -- date
exec two --as=reader -q -- echo hello
""".strip().splitlines()


@pytest.fixture(scope="module")
def pods(both: Both) -> Iterator[Both]:
    (both.home / "inside.yaml").write_text(OBJECTS)
    (both.home / "pod.yaml").write_text(POD)
    (both.home / "pods.yaml").write_text(POD + "---\n" + POD.replace("two", "chosen"))
    assert both.ours("create namespace inside")[0] == 0
    assert both.ours(f"create -f {both.home}/inside.yaml")[0] == 0
    assert both.ours("create role read -n inside --verb=get --resource=pods,pods/exec")[0] == 0
    assert both.ours("create rolebinding read -n inside --role=read --user=reader")[0] == 0
    for what in (
        "pod/two pod/chosen --for=condition=Ready",
        "pod/done --for=jsonpath={.status.phase}=Succeeded",
        "deploy/web --for=condition=Available",
    ):
        code, _, err = both.real(f"wait -n inside {what}")
        assert (code, err) == (0, "")
    yield both
    both.ours("delete deploy,pods --all -n inside --grace-period=0 --force")
    both.ours("delete namespace inside --wait=false")


def in_namespace(line: str) -> str:
    return line.replace("exec", "exec -n inside", 1)


def settled(answer: Answer) -> Answer:
    code, out, err = answer
    return code, out, re.sub(r"\bweb-\w+-\w{5}\b", "web-<random>", err)


def test_the_same_words_and_exit_codes_as_the_real_one(pods: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/null").open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        answers = pods.ahead(map(in_namespace, LINES))
        asked = [
            (line, settled(answers[in_namespace(line)].result()), settled(pods.ours(in_namespace(line))))
            for line in LINES
        ]
    wrong = [each for each in asked if each[1] != each[2]]
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("exec two -c one -i -- cat", b"eins\nzwei\n"),
        ("exec two -c one -i -- cat", b""),
        ("exec two -c one -i -- cat", "ü".encode() * 200_001),
        ("exec two -c one -i -- wc -c", b"x" * 300_000),
        ("exec two -c one -i -- sh -c 'cat >/dev/null; exit 7'", b"eins\n"),
        ("exec two -c one -i -- true", b"nobody reads this\n"),
        ("exec two -c one -- cat", b"is not passed on\n"),
    ],
)
def test_what_is_piped_in_reaches_the_command_and_ends(
    pods: Both, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, given: bytes
) -> None:
    argv = pods.argv(in_namespace(line))
    real = subprocess.run(
        [str(pods.binary), *argv], env=pods.environ("real"), input=given, capture_output=True, timeout=60
    )
    (tmp_path / "given").write_bytes(given)
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with (tmp_path / "given").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        code = asyncio.run(main(argv, out=out, err=err, environ=pods.environ("ours")))
    out.flush()
    ours = (code, out.buffer.getvalue(), err.getvalue().encode())  # type: ignore[attr-defined]
    # the real one may notice that the command has ended while it still sends, and then logs that
    errors = re.sub(rb"(?m)^E.*Copying stdin failed.*\n", b"", real.stderr)
    assert ours == (real.returncode, real.stdout, errors)


def test_bytes_that_are_no_text_come_out_as_they_are(pods: Both, tmp_path: Path) -> None:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    argv = pods.argv(in_namespace(r"exec two -c one -- printf '\377\000\200'"))
    code = asyncio.run(main(argv, out=out, err=err, environ=pods.environ("ours")))
    real = subprocess.run([str(pods.binary), *argv], env=pods.environ("real"), capture_output=True, timeout=60)
    assert (code, out.buffer.getvalue(), err.getvalue()) == (0, real.stdout, "")  # type: ignore[attr-defined]
