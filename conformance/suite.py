"""Runs the tests: ginkgo with `e2e.test`, a line of progress, a report."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from conformance.results import ALONE

ALONE_LABELS = "Serial || Disruptive"
"""Tests that want a cluster for themselves, as ginkgo filters by labels."""

ENDING = (signal.SIGTERM, signal.SIGHUP)
GRACE = 20.0
"""Seconds for ginkgo to end its tests, once it is told to."""

_TOTAL = re.compile(r"Will run (\d+) of \d+ specs")
_FAILED = "• [FAILED]"
_DONE = "•"
"""ginkgo's mark for each test that ran; those that passed stand among the marks of those that were skipped."""


@dataclass(frozen=True)
class Choice:
    """Some of Kubernetes' tests: `focus` and `skip` are patterns for their names; `nodes` is how many machines they want, the control
    plane included, and `zoned` whether the others stand in zones of their own.
    """

    focus: str
    skip: str = ALONE
    nodes: int = 3
    zoned: bool = False


CHOICES = {
    "conformance": Choice(r"\[Conformance\]"),
    "node": Choice(r"\[NodeConformance\]", rf"\[Conformance\]|{ALONE}"),
    "network": Choice(r"\[sig-network\]", rf"\[Conformance\]|\[Feature:|{ALONE}", nodes=4, zoned=True),
}
"""What every cluster has to pass; what else is asked of every node; what else is asked of the network, as far as it takes neither a cloud
nor a plugin for a feature that not every network has."""


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
def ending_on_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end what stands inside as an exception does, so that everything is cleaned up. One is enough: what comes
    meanwhile is not listened to.
    """

    def end(number: int, frame: FrameType | None) -> None:
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {each: signal.signal(each, end) for each in ENDING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _end(process: subprocess.Popen[str], number: int, seconds: float) -> None:
    """A signal to a process and all of its group (0: none any more), then the last one after `seconds`."""
    with suppress(ProcessLookupError):
        if number:
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        os.killpg(process.pid, signal.SIGKILL)  # also who outlived its parent
    process.wait()


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
            _end(process, 0, 60)


def put_in_zones(programs: Programs, kubeconfig: Path) -> None:
    """Each node without a control plane in a zone of its own. Raises SuiteError."""
    kubectl = [str(programs.kubectl), f"--kubeconfig={kubeconfig}"]
    workers = ["get", "nodes", "--selector=!node-role.kubernetes.io/control-plane", "--output=name"]
    try:
        names = subprocess.run([*kubectl, *workers], check=True, capture_output=True, text=True).stdout.split()
        for number, name in enumerate(names, 1):
            label = f"topology.kubernetes.io/zone=zone-{number}"
            subprocess.run([*kubectl, "label", name, label], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise SuiteError(f"the nodes are in no zones: {error.stderr.strip()}") from None


def command(
    programs: Programs,
    kubeconfig: Path,
    out: Path,
    *,
    focus: str,
    skip: str,
    procs: int,
    workers: int,
    labels: str = "",
) -> list[str]:
    """What runs them; the report goes to `out/report.json`. `workers`: how many nodes pods can be put on."""
    return [
        str(programs.ginkgo),
        "run",
        f"--procs={procs}",
        "--no-color",
        "--keep-going",
        "--timeout=3h",
        f"--focus={focus}",
        *([f"--skip={skip}"] if skip else []),
        *([f"--label-filter={labels}"] if labels else []),
        "--json-report=report.json",
        f"--output-dir={out}",
        str(programs.tests),
        "--",
        f"--kubeconfig={kubeconfig}",
        "--provider=skeleton",
        f"--num-nodes={workers}",
        f"--kubectl-path={programs.kubectl}",
        "--disable-log-dump",
    ]


def run(argv: list[str], log: Path) -> Path:
    """Run them to the end, whatever they find; the report. Raises SuiteError if there is none."""
    report = Path(next(a for a in argv if a.startswith("--output-dir=")).partition("=")[2]) / "report.json"
    process = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",  # tests repeat what a server sent them, whatever it was
        start_new_session=True,
    )
    try:
        _follow(process, log)
    except BaseException:
        _end(process, signal.SIGTERM, GRACE)
        raise
    process.wait()
    if not report.exists():
        raise SuiteError(f"ginkgo wrote no report: see {log}")
    return report


def _follow(process: subprocess.Popen[str], log: Path) -> None:
    """Keep what ginkgo says, and draw how far it is, until it says no more."""
    columns: tuple[Any, ...] = (TextColumn("conformance"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    assert process.stdout is not None
    with (
        process.stdout,
        log.open("w", buffering=1) as kept,
        Progress(*columns, TextColumn("{task.fields[failed]} failed"), refresh_per_second=1) as progress,
    ):
        task, failed = progress.add_task("", total=None, failed=0), 0
        for line in process.stdout:
            kept.write(line)
            if total := _TOTAL.search(line):
                progress.update(task, total=int(total[1]))
            elif line.startswith((_DONE, "S")):
                failed += line.startswith(_FAILED)
                progress.update(task, advance=line.count(_DONE), failed=failed)
