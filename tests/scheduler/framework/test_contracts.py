"""The contracts that keep plugins apart name every plugin there is."""

from __future__ import annotations

import tomllib

from lifecycle.scheduler.batch.adapters import ADAPTERS
from lifecycle.scheduler.framework.interface import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from lifecycle.scheduler.profile import default_framework
from tests.conftest import ROOT

PLUGINS = "lifecycle.scheduler.framework.plugins"


def test_every_plugin_is_kept_apart_from_the_others() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [contract] = [c for c in tool["contracts"] if c["name"] == "scheduler: plugins do not know each other"]
    folder = ROOT / "src" / "lifecycle" / "scheduler" / "framework" / "plugins"
    there = {path.stem for path in folder.iterdir()} - {"__init__", "__pycache__", "helper", "registry"}
    assert {name.removeprefix(f"{PLUGINS}.") for name in contract["modules"]} == there


def test_every_default_plugin_that_decides_allows_the_short_cut() -> None:
    """One without an adapter would slow every pod down."""
    deciding = [
        plugin
        for plugin in default_framework().plugins
        if isinstance(plugin, PreFilterPlugin | FilterPlugin | PreScorePlugin | ScorePlugin)
    ]
    assert len(deciding) == 15
    assert {type(plugin) for plugin in deciding} == set(ADAPTERS)
