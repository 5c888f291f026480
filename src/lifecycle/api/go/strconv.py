"""Texts as numbers, as Go reads them and with Go's complaints.

Go knows no `1_000` (unless the base is 0), no digits but ASCII's, and no number beyond
its bits. What it says names the function that was called.

Upstream: Go's `strconv` (`ParseInt`, `ParseUint`, `Atoi`, `NumError`).
"""

from __future__ import annotations

import re

from lifecycle.api.go.format import go_quote

_NUMBER = re.compile(r"[+-]?[0-9]+")
_ANY_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?:0[xX](?P<x>(?:_?[0-9a-fA-F])+)|0[bB](?P<b>(?:_?[01])+)"
    r"|0[oO]?(?P<o>(?:_?[0-7])+)|(?P<d>0|[1-9](?:_?[0-9])*))"
)
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}
_MOST_DIGITS = 64  # as many as 64 bits have; Python reads thousands only slowly


def atoi(text: str) -> int:
    """A decimal number of 64 bits. Raises ValueError: `strconv.Atoi: parsing "x":
    invalid syntax`.
    """
    return _within(_decimal(text), -(2**63), 2**63, "Atoi", text)


def parse_int(text: str, bits: int = 64, *, base: int = 10) -> int:
    """A number with a sign; base 0 also reads `0x10`, `0o7`, `010` (eight) and `1_000`.
    Raises ValueError.
    """
    number = _of_any_base(text) if base == 0 else _decimal(text)
    return _within(number, -(2 ** (bits - 1)), 2 ** (bits - 1), "ParseInt", text)


def parse_uint(text: str, bits: int = 64) -> int:
    """A decimal number without a sign. Raises ValueError."""
    number = None if text[:1] in ("+", "-") else _decimal(text)
    return _within(number, 0, 2**bits, "ParseUint", text)


def _decimal(text: str) -> int | None:
    if not _NUMBER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0")
    sign = -1 if text[0] == "-" else 1
    return sign * int(digits[:_MOST_DIGITS] or "0")


def _of_any_base(text: str) -> int | None:
    match = _ANY_NUMBER.fullmatch(text)
    if match is None:
        return None
    name = next(name for name in _BASES if match[name] is not None)
    digits = match[name].replace("_", "").lstrip("0")[: _MOST_DIGITS + 1]
    return (-1 if match["sign"] == "-" else 1) * int(digits or "0", _BASES[name])


def _within(number: int | None, low: int, high: int, function: str, text: str) -> int:
    if number is not None and low <= number < high:
        return number
    why = "invalid syntax" if number is None else "value out of range"
    raise ValueError(f"strconv.{function}: parsing {go_quote(text)}: {why}")
