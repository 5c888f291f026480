"""The option `--latency` of the commands that start hollow nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

RECORDED = "recorded"


class _Latency(click.ParamType[float | str]):
    name = "seconds|recorded"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """A word, or a number of seconds."""
        if value == RECORDED:
            return RECORDED
        seconds = click.FloatRange(0).convert(value, param, ctx)
        return float(seconds)


def latency_option(default: float | str) -> Callable[[F], F]:
    """`--latency SECONDS` or `--latency recorded`."""
    return click.option(
        "--latency",
        type=_Latency(),
        default=default,
        show_default=True,
        help=(
            "Seconds each step of a container's start takes; or `recorded`: all steps"
            " of its life, as long as on recorded nodes."
        ),
    )
