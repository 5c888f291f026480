"""What a worker does not tell the main process, for nobody there makes anything of it.

Of each test a worker says six things: that it begins, how its preparation, the test itself and the clearing up went, that it has ended,
and that it is done. Each is taken apart, sent and put together again, which is more work than many a test. Three of them print nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SHORT = 0.005
"""Seconds. What takes longer may be asked for: it is the least that `--durations` shows."""


def is_heard(name: str, words: dict[str, Any]) -> bool:
    """Whether an event of a worker is more than that all is well so far."""
    if name != "testreport":
        return name != "logstart"
    report = words["data"]
    return (
        report["when"] == "call"
        or report["outcome"] != "passed"
        or report["duration"] >= SHORT
        or bool(report["sections"] or report["user_properties"])
    )


def speak_less(config: pytest.Config) -> None:
    """In a worker, unless tests are named one by one or written down in a file for others. In any other process: nothing."""
    if config.option.verbose >= 0 or config.option.xmlpath:
        return
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = _hears_of(plugin.sendevent)


def _hears_of(send: Callable[..., None]) -> Callable[..., None]:
    def sendevent(name: str, **words: Any) -> None:
        if is_heard(name, words):
            send(name, **words)

    return sendevent
