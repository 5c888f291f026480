"""Runs the tests: ginkgo with `e2e.test`, a line of progress, a report."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

CONFORMANCE = r"\[Conformance\]"
ALONE = r"\[Serial\]|\[Disruptive\]"
"""Tests that want a cluster for themselves."""

_TOTAL = re.compile(r"Will run (\d+) of \d+ specs")
_FAILED = "• [FAILED]"
_DONE = "•"
"""ginkgo's mark for each test that ran; those that passed stand among the marks of those that were skipped."""


class SuiteError(Exception):
    """The tests could not be run: one line that says why."""


@dataclass(frozen=True)
class Programs:
    """What has to be there, and where it is."""

    ginkgo: Path
    tests: Path
    agnhost: Path
    kubectl: Path


def find_programs() -> Programs:
    """Raises SuiteError with what is missing."""
    folder = os.environ.get("KUBE_BIN")
    if not folder:
        raise SuiteError("KUBE_BIN is not set: it names a folder with e2e.test, ginkgo and agnhost")
    found = [Path(folder) / name for name in ("ginkgo", "e2e.test", "agnhost")]
    kubectl = shutil.which("kubectl")
    missing = [path.name for path in found if not path.exists()] + ([] if kubectl else ["kubectl"])
    if missing or kubectl is None:
        raise SuiteError(f"not found: {', '.join(missing)}")
    return Programs(found[0], found[1], found[2], Path(kubectl))


@contextmanager
def cluster(runtime: str, nodes: int, folder: Path, images: Path) -> Iterator[Path]:
    """A cluster of ours in a process of its own; its kubeconfig. Raises SuiteError if it does not become ready."""
    kubeconfig = folder / "kubeconfig"
    log = folder / "cluster.log"
    command = ["lifecycle", "up", "--runtime", runtime, "--nodes", str(nodes), "--kubeconfig", str(kubeconfig)]
    with log.open("w") as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "LIFECYCLE_IMAGES": str(images)},
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            if not any(line.startswith("ready ") for line in process.stdout):
                raise SuiteError(f"the cluster did not start: see {log}")
            yield kubeconfig
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def command(programs: Programs, kubeconfig: Path, out: Path, *, focus: str, skip: str, procs: int) -> list[str]:
    """What runs them; the report goes to `out/report.json`."""
    return [
        str(programs.ginkgo),
        "run",
        f"--procs={procs}",
        "--no-color",
        "--keep-going",
        "--timeout=3h",
        f"--focus={focus}",
        *([f"--skip={skip}"] if skip else []),
        "--json-report=report.json",
        f"--output-dir={out}",
        str(programs.tests),
        "--",
        f"--kubeconfig={kubeconfig}",
        "--provider=skeleton",
        f"--kubectl-path={programs.kubectl}",
        "--disable-log-dump",
    ]


def run(argv: list[str], log: Path) -> Path:
    """Run them to the end, whatever they find; the report. Raises SuiteError if there is none."""
    report = Path(next(a for a in argv if a.startswith("--output-dir=")).partition("=")[2]) / "report.json"
    columns: tuple[Any, ...] = (TextColumn("conformance"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        log.open("w") as kept,
        Progress(*columns, TextColumn("{task.fields[failed]} failed")) as progress,
        subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        ) as process,
    ):
        task, failed = progress.add_task("", total=None, failed=0), 0
        assert process.stdout is not None
        try:
            for line in process.stdout:
                kept.write(line)
                if total := _TOTAL.search(line):
                    progress.update(task, total=int(total[1]))
                elif line.startswith((_DONE, "S")):
                    failed += line.startswith(_FAILED)
                    progress.update(task, advance=line.count(_DONE), failed=failed)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if not report.exists():
        raise SuiteError(f"ginkgo wrote no report: see {log}")
    return report
