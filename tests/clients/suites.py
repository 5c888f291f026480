"""Running a suite of tests that others have written, in a pytest of its own, and reading its report."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT


@dataclass(frozen=True)
class Report:
    """How a suite went. `passed`: how many tests; `failed`: test → the message of what went wrong."""

    passed: int
    failed: dict[str, str]

    def unexplained(self, reasons: dict[str, str]) -> dict[str, str]:
        """What failed and has no reason."""
        return {name: message for name, message in self.failed.items() if name not in reasons}


def run_suite(
    folder: Path,
    *arguments: str,
    packages: Sequence[Path],
    environ: dict[str, str],
    seconds: float,
) -> Report:
    """Runs pytest in `folder`, as `packages` have it. Raises TimeoutExpired, FileNotFoundError where there is no report."""
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", *arguments, "-q", "-o", "addopts=", f"--junitxml={report}"]
    path = os.pathsep.join(str(each) for each in (folder, *packages, ROOT))
    subprocess.run(
        command,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder.parent), "PYTHONPATH": path, **environ},
        stdout=subprocess.DEVNULL,
        timeout=seconds,
    )
    cases = list(ET.parse(report).iter("testcase"))
    failed = {str(case.get("name")): message for case in cases if (message := what_went_wrong(case)) is not None}
    passed = sum(len(case.findall("*[@message]")) == 0 for case in cases)
    return Report(passed, failed)


def what_went_wrong(case: ET.Element) -> str | None:
    """Its message; None if nothing did."""
    wrong = next((child for child in case if child.tag in ("failure", "error")), None)
    return None if wrong is None else str(wrong.get("message"))
