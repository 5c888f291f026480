"""What a plain cluster runs without: the distribution's extras.

The libraries behind them are large. They are imported when something is asked of them
for the first time, by way of this module, so that whoever has left them out reads what
to install instead of a module's name.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple

DISTRIBUTION = "kubernetes-lifecycle"


class Extra(NamedTuple):
    """An extra: the library it brings, and what needs it."""

    library: str
    module: str
    purpose: str


EXTRAS = {
    "cel": Extra(
        "cel-expr-python",
        "cel_expr_python",
        "CEL expressions: admission policies, match conditions, rules of custom"
        " resources",
    ),
    "plots": Extra("matplotlib", "matplotlib", "pictures (lifecycle.figures)"),
}
"""By the names that stand in the brackets of `pip install`."""


class MissingExtraError(ImportError):
    """An extra that is needed and not installed. The text says what to do."""


def is_installed(name: str) -> bool:
    """Whether an extra's library is here; it is not imported for that."""
    return find_spec(EXTRAS[name].module) is not None


def install_line(name: str) -> str:
    """The command that brings an extra."""
    return f"pip install '{DISTRIBUTION}[{name}]'"


def require(name: str, module: str = "") -> ModuleType:
    """A module of an extra's library, by default its root. Raises MissingExtraError."""
    extra = EXTRAS[name]
    try:
        return import_module(module or extra.module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != extra.module:
            raise
        raise MissingExtraError(
            f"{extra.library} is not installed, which is needed for {extra.purpose}:"
            f" {install_line(name)}"
        ) from None
