"""A copy of `src` in which one file is broken at a time, so that the checkout never is."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


class Workshop:
    """A copy of the package, and the way to run tests over it. Use as a context manager: the end removes it."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.source = self.folder / "src"
        shutil.copytree(checkout / "src", self.source, ignore=shutil.ignore_patterns("*.egg-info"))

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def broken(self, module: Path, text: str) -> Iterator[None]:
        """The copy of `module` has this text for as long as the block runs."""
        copy = self.source / module.relative_to(self.checkout / "src")
        copy.write_text(text)
        try:
            yield
        finally:
            shutil.copy2(module, copy)  # with its time, or its compiled form would be the mutant's

    def tests_pass(self, nodeids: list[str], seconds: float) -> bool:
        """Whether these tests pass over the copy; the first that fails ends it, and so does the time.

        Raises:
            ValueError: pytest could not make sense of the question.
        """
        listed = self.folder / "tests.txt"
        listed.write_text("\n".join(nodeids))
        command = [sys.executable, "-m", "pytest", "-x", "-n0", "-q", "-p", "no:cacheprovider", f"@{listed}"]
        environment = os.environ | {
            "PYTHONPATH": f"{self.source}{os.pathsep}{self.checkout}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        with subprocess.Popen(
            command, cwd=self.checkout, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as process:  # fmt: skip
            try:
                output, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                return False
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
            raise ValueError(f"pytest: {output[-400:]}")
        return process.returncode == 0
