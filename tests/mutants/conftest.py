"""Toy checkouts take their plug-ins as the real one does: by name."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _plugins_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A toy has no pyproject.toml to say so, and each process that runs its tests would load whatever libraries bring along."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--disable-plugin-autoload -p xdist")
