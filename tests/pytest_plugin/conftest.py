"""A project of other people, whose tests ask for our fixtures."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import children_are_watched

SETTINGS = """[pytest]
filterwarnings = error
addopts = -p lifecycle.pytest_plugin.plugin
"""

NURSERY = Path(__file__).with_name("pytest_nursery.py")


@pytest.fixture
def theirs_alone(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with nothing in it; of all plugins that are installed here it loads only ours."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_PLUGINS", raising=False)
    pytester.makeini(SETTINGS)
    return pytester


@pytest.fixture
def theirs(theirs_alone: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The same, but its pytest is forked from a process that has loaded what takes longest: most of a second for each."""

    if children_are_watched():
        return theirs_alone
    from forked_process import ForkedProcess  # a tab has no such thing, and plays other tests of this room

    def forked(command: list[Any], stdout: Any, stderr: Any, **_: Any) -> ForkedProcess:
        words = [str(word) for word in command]
        assert words[:2] == [sys.executable, "-mpytest"]
        return ForkedProcess(NURSERY, words[2:], os.environ, os.getcwd(), (stdout.fileno(), stderr.fileno()))

    monkeypatch.setattr(theirs_alone, "popen", forked)
    return theirs_alone
