"""Values on the command line as Go's programs take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Duration(click.ParamType):
    """`15s`, `1m30s`; seconds."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Read it."""
        from lifecycle.api.go.duration import parse_duration

        if isinstance(value, float):
            return value
        try:
            return parse_duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def flag(name: str, *, default: bool, text: str) -> Callable[[F], F]:
    """A boolean as Go's programs take it: `--name`, `--name=false`."""
    return click.option(
        f"--{name}",
        type=bool,
        is_flag=False,
        flag_value=True,
        default=default,
        show_default=True,
        metavar="[=true|false]",
        help=text,
    )
