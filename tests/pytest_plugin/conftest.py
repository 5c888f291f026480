"""A project of other people, whose tests ask for our fixtures."""

from __future__ import annotations

import os
import sys

import pytest

SETTINGS = """[pytest]
filterwarnings = error
addopts = -p lifecycle.pytest_plugin.plugin
"""


@pytest.fixture
def theirs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with nothing in it; of all plugins that are installed here it loads only ours."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_PLUGINS", raising=False)
    pytester.makeini(SETTINGS)
    return pytester
