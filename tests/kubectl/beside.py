"""A cluster, and the two ways to ask it: the real kubectl as a program, ours in this process."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lifecycle
from lifecycle.agreements.kubectl.printed import AGES, told
from lifecycle.client.rest import Client
from lifecycle.kubectl.command import run_kubectl
from lifecycle.kubectl.kubeconfig import write
from lifecycle.kubectl.main import main
from tests.conftest import find_kubectl, unavailable
from tests.kubectl.fake_server import FakeServer
from tests.kubectl.tape import LINES, Recorder, Tape

Answer = tuple[int, str, str]
"""Exit code, stdout, stderr."""

FILES = {
    "settings.yaml": """apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {a: "1"}
""",
    "sets.yaml": """apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec:
  selector: {matchLabels: {a: d}}
  template: {metadata: {labels: {a: d}}, spec: {containers: [{name: c, image: "nginx:1"}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec:
  replicas: 2
  serviceName: s
  selector: {matchLabels: {a: s}}
  template: {metadata: {labels: {a: s}}, spec: {containers: [{name: c, image: "nginx:1"}]}}
""",
    "columns.txt": "NAME            IMAGES\nmetadata.name   spec.containers[*].image\n",
    "path.txt": '{range .items[*]}{.metadata.name}{"\\n"}{end}',
}


@dataclass
class Both:
    """A cluster, and the two ways to ask it. `HOME` in a line is the folder where its files are."""

    binary: Path
    home: Path
    kubeconfig: Path

    def environ(self, who: str) -> dict[str, str]:
        return {"HOME": str(self.home / who), "KUBECONFIG": str(self.kubeconfig), "PATH": os.environ["PATH"]}

    def argv(self, line: str) -> list[str]:
        return [word.replace("HOME", str(self.home)) for word in shlex.split(line)]

    def real(self, line: str) -> Answer:
        done = subprocess.run(
            [str(self.binary), *self.argv(line)],
            env=self.environ("real"),
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
        return done.returncode, done.stdout, done.stderr.replace(self.binary.name, "kubectl")

    def ours(self, line: str) -> Answer:
        out, err = io.StringIO(), io.StringIO()
        code = asyncio.run(main(self.argv(line), out=out, err=err, environ=self.environ("ours")))
        return code, out.getvalue(), err.getvalue()

    def ours_on_tape(self, line: str) -> tuple[Answer, Recorder]:
        """Ours, discovery included, and what was heard on the way."""
        recorders: list[Recorder] = []

        async def listening(argv: Sequence[str], client: Client | None, *, wire: object = None, **more: Any) -> int:
            recorders.append(Recorder(client.transport if client else FakeServer()))
            return await run_kubectl(argv, Client(recorders[0], "test"), **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lifecycle.kubectl.main.run_kubectl", listening)
            return self.ours(line), recorders[0] if recorders else Recorder(FakeServer())

    def ahead(self, lines: Iterable[str]) -> Mapping[str, Future[Answer]]:
        """What the real one answers to lines that change nothing: several at a time, for most of it is waiting."""
        with ThreadPoolExecutor(4) as pool:
            return {line: pool.submit(self.real, line) for line in lines}

    def in_two_namespaces(self, lines: Iterable[str], told: Callable[[Answer], object], more: str = "") -> list[object]:
        """Lines that change something, each asked of both at once, in a namespace of each one's own; those answered differently."""
        wrong: list[object] = []
        with ThreadPoolExecutor(1) as pool:
            for line in lines:
                asked = pool.submit(self.real, f"{line} -n real{more}")
                ours = told(self.ours(f"{line} -n ours{more}"))
                real = told(asked.result())
                if real != ours:
                    wrong.append((line, real, ours))
        return wrong


@contextmanager
def both_of_them(home: Path) -> Iterator[Both]:
    binary = find_kubectl("1.36")
    if binary is None:
        unavailable("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    assert binary is not None
    link = home / "kubectl"  # by its usual name, which it prints
    link.symlink_to(binary)
    for name, text in FILES.items():
        (home / name).write_text(text)
    with lifecycle.up(nodes=3) as cluster:
        write(cluster.kubeconfig, home / "config")
        asked = Both(link, home, home / "config")
        for namespace in ("real", "ours"):
            assert asked.ours(f"create namespace {namespace}")[0] == 0
        assert asked.ours("create deployment web --image=nginx --replicas=3")[0] == 0
        assert asked.ours("run lonely --image=nginx --labels=run=lonely,tier=back")[0] == 0
        assert asked.ours("expose deployment web --port=80")[0] == 0
        assert asked.ours("rollout status deployment web")[0] == 0
        yield asked


def tidy(text: str) -> str:
    """Without what differs between the two namespaces, and without the steps of a rollout that one side may miss."""
    text = re.sub(r"\b(real|ours)(-\w+)?\b", "<ns>", AGES.sub("<age>", text))
    text = re.sub(r"(?i)Waiting for .*\n", "", text)
    text = "".join(sorted(text.splitlines(keepends=True))) if text.startswith("Listing") else text
    return re.sub(r"[0-9a-f]{8,10}(?=\n|$)", "<hash>", text)


def recorded_answers(path: Path, asked: Mapping[str, str], both: Both) -> dict[str, list[str]]:
    """What the real kubectl said to lines (`asked` gives the whole line of each); recorded anew if `RECORD_KUBECTL` is set, and
    what a server says meanwhile is put on a tape."""
    if os.environ.get("RECORD_KUBECTL"):
        answers = both.ahead(asked.values())
        kept = {line: told(answers[whole].result(), both.home) for line, whole in asked.items()}
        path.write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n")
        keep_on_tape(kept, asked, both)
    return dict(json.loads(path.read_text()))


def lying_in(home: Path) -> dict[str, str]:
    """The files that lines speak of, by their names in that folder."""
    names = {path: str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and not path.is_symlink()}
    return {
        name: path.read_text()
        for path, name in names.items()
        if name != "config" and not name.startswith(("real/", "ours/"))
    }


def keep_on_tape(kept: Mapping[str, list[str]], asked: Mapping[str, str], both: Both) -> None:
    """Those lines on tape that are answered by commands and a server alone, and not by kubeconfigs, or by what goes on."""
    tape = Tape(LINES)
    tape.forget(kept)
    tape.files |= lying_in(both.home)
    for line, whole in asked.items():
        answer, recorder = both.ours_on_tape(whole)
        if told(answer, both.home) == kept[line] and recorder.whole:
            tape.add(line, shlex.split(whole), time.time(), kept[line], recorder)
            if not tape.plays(line, both.argv(whole), lambda answer: told(answer, both.home)):
                tape.forget([line])
    tape.write()
