"""Flags as `agnhost` takes them: `--name=value`, `--name value`, `-n value`, and `_`
where the name has `-`.

Upstream: `test/images/agnhost/agnhost.go`, and what it uses of spf13/pflag and cobra.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import overload

_TRUE = frozenset({"1", "t", "T", "true", "True", "TRUE"})
_FALSE = frozenset({"0", "f", "F", "false", "False", "FALSE"})

Default = str | int | bool


class FlagError(Exception):
    """What cobra says of flags that it does not take."""


class Flags:
    """What was given, over the defaults. `rest`: what is no flag."""

    def __init__(self, values: Mapping[str, Default], rest: tuple[str, ...]) -> None:
        self._values = values
        self.rest = rest

    def text(self, name: str) -> str:
        """A flag whose default is a text."""
        return str(self._values[name])

    def number(self, name: str) -> int:
        """A flag whose default is a number."""
        return int(self._values[name])

    def true(self, name: str) -> bool:
        """A flag that is on or off."""
        return self._values[name] is True


@overload
def _converted(name: str, text: str, default: bool) -> bool: ...
@overload
def _converted(name: str, text: str, default: int) -> int: ...
@overload
def _converted(name: str, text: str, default: str) -> str: ...
def _converted(name: str, text: str, default: Default) -> Default:
    if isinstance(default, bool):
        if text not in _TRUE | _FALSE:
            raise FlagError(_invalid(name, text, "ParseBool"))
        return text in _TRUE
    if isinstance(default, int):
        if not re.fullmatch(r"[+-]?\d+", text):
            raise FlagError(_invalid(name, text, "ParseInt"))
        return int(text)
    return text


def _invalid(name: str, text: str, parser: str) -> str:
    why = f'strconv.{parser}: parsing "{text}": invalid syntax'
    return f'invalid argument "{text}" for "--{name}" flag: {why}'


def parse(
    words: tuple[str, ...],
    defaults: Mapping[str, Default],
    short: Mapping[str, str] | None = None,
) -> Flags:
    """`short`: names by their letter. Raises FlagError."""
    values = dict(defaults)
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            rest += left
            break
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        shown, equals, text = word.partition("=")
        name = shown[2:].replace("_", "-")
        if not word.startswith("--"):
            name = (short or {}).get(shown[1:], "")
        if name not in values:
            kind = "unknown flag" if word.startswith("--") else "unknown shorthand flag"
            raise FlagError(f"{kind}: {shown}")
        default = defaults[name]
        if not equals:
            if isinstance(default, bool):
                text = "true"
            elif left:
                text = left.pop(0)
            else:
                raise FlagError(f"flag needs an argument: {shown}")
        values[name] = _converted(name, text, default)
    return Flags(values, tuple(rest))
