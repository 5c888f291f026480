"""Runs pytest inside WebAssembly; `tests/tab/test_rooms.py` starts it there.

A test that needs what a tab does not have, and says so in the project's own words, is
skipped with that reason. Whatever else fails has failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

NOT_HERE = {
    "the library cryptography": re.compile("needs the Python library cryptography"),
    "the library aiohttp": re.compile("needs the Python library (aiohttp|yarl|multidict)"),
    "CEL": re.compile("cel-expr-python is not installed|needs the Python library google"),
    "a certificate authority": re.compile(r"\['namespace', 'token'\] == \['ca.crt'"),
    "cgroups": re.compile(r"\('kubepods',"),
    "threads": re.compile("can't start new thread"),
    "a loop on real time": re.compile("WebAssembly stack switching not supported"),
}
"""What is missing, and how that is said."""


class InATab:
    """Counts what happened, room by room."""

    def __init__(self) -> None:
        self.passed: dict[str, int] = {}
        self.missing: dict[str, int] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Tell what is missing from what is broken."""
        report = yield
        if report.failed:
            text = str(report.longrepr)
            for name, words in NOT_HERE.items():
                if words.search(text):
                    report.outcome = "skipped"
                    report.longrepr = (str(item.path), 0, f"not in a tab: {name}")
                    self.missing[name] = self.missing.get(name, 0) + 1
        elif report.passed and report.when == "call":
            room = item.nodeid.split("/")[1]
            self.passed[room] = self.passed.get(room, 0) + 1
        return report


def main(files: list[str]) -> None:
    """Run these; one of the lines printed is what happened, as JSON."""
    counts = InATab()
    options = ["-q", "-p", "no:cacheprovider", "--noconftest", "--tb=short", "--no-header", "-W", "ignore"]
    code = pytest.main([*options, *files], plugins=[counts])
    print(json.dumps({"code": int(code), "passed": counts.passed, "missing": counts.missing}))


main(Path("files.txt").read_text().split())
