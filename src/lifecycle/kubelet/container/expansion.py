"""`$(NAME)` in variables, commands, arguments and sub-paths.

A variable may be made of those before it, so thirty lines can say a billion characters:
each twice the last. No program could be started with them: Linux gives it two megabytes
of words and variables. So that is how much may be put in, for one container, and what
would be more is an error before it is in anybody's memory.

Upstream: `third_party/forked/golang/expansion/expand.go`, v1.36, which knows no limit;
the kernel's is a quarter of the stack (`fs/exec.c`, `bprm_stack_limits`), told as
`argument list too long` when the container starts.
"""

from __future__ import annotations

from collections.abc import Callable

ARG_MAX = 2 << 20
"""Bytes, for a stack of eight megabytes."""


class ExpansionError(ValueError):
    """More is put in than a program can be given."""


class Expansion:
    """Puts values into the texts of one container."""

    def __init__(self) -> None:
        self._left = ARG_MAX

    def expand(self, text: str, known: Callable[[str], str | None]) -> str:
        """`$(NAME)` → what `known` says of NAME, or as it was if that is None. `$$` →
        `$`. Raises ExpansionError.
        """
        out, at = [], 0
        last = text.rfind(")")  # no name ends behind it
        while 0 <= (sign := text.find("$", at)) < len(text) - 1:
            out.append(text[at:sign])
            at = sign + 2
            following = text[sign + 1]
            if following == "$":
                out.append("$")
            elif following == "(" and at <= last:
                end = text.index(")", at)
                value = known(text[at:end])
                out.append(text[sign : end + 1] if value is None else self._put(value))
                at = end + 1
            else:
                out.append(text[sign:at])
        out.append(text[at:])
        return "".join(out)

    def _put(self, value: str) -> str:
        self._left -= len(value.encode())
        if self._left < 0:
            raise ExpansionError(
                f"argument list too long: more than {ARG_MAX} bytes of variables in"
                " others"
            )
        return value


def expand(text: str, known: Callable[[str], str | None]) -> str:
    """One text by itself; see `Expansion`."""
    return Expansion().expand(text, known)
