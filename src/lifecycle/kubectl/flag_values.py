"""The values of flags as Go reads them: numbers, durations, lists and pairs, with Go's complaints.

Upstream: Go's `strconv` (`ParseInt`), `time` (`ParseDuration`) and `encoding/csv`; `spf13/pflag` (`readAsCSV`),
`component-base/cli/flag/map_string_string.go`.
"""

from __future__ import annotations

import re

from lifecycle.api.go_format import go_quote

_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)
_ANY_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?:0[xX](?P<x>(?:_?[0-9a-fA-F])+)|0[bB](?P<b>(?:_?[01])+)|0[oO]?(?P<o>(?:_?[0-7])+)|(?P<d>0|[1-9](?:_?\d)*))",
    re.ASCII,
)
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}
_UNIT = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def go_duration(text: str) -> float:
    """Seconds of `1m30s`. Raises ValueError in Go's words: `time: invalid duration "x"`."""
    bare = text[1:] if text[:1] in ("-", "+") else text
    parts = _UNIT.findall(bare)
    sign = -1.0 if text[:1] == "-" else 1.0
    if bare == "0":
        return 0.0
    if parts and "".join(number + unit for number, unit in parts) == bare:
        return sign * sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if re.fullmatch(r"\d+\.?\d*|\.\d+", bare):
        raise ValueError(f"time: missing unit in duration {go_quote(text)}")
    raise ValueError(f"time: invalid duration {go_quote(text)}")


def go_int(text: str, function: str, bits: int = 64, *, base: int = 10) -> int:
    """A number as Go parses it; base 0 also reads `0x10`, `0o7`, `010` (eight) and `1_000`.

    Raises ValueError in Go's words: `strconv.Atoi: parsing "x": invalid syntax`.
    """
    number: int | None = None
    if base == 0 and (match := _ANY_NUMBER.fullmatch(text)):
        digits, radix = next((match[name], value) for name, value in _BASES.items() if match[name] is not None)
        number = int(digits.replace("_", ""), radix) * (-1 if match["sign"] == "-" else 1)
    elif base == 10 and _NUMBER.fullmatch(text) and not (function == "strconv.ParseUint" and text[0] in "+-"):
        number = int(text)
    if number is None:
        raise ValueError(f'{function}: parsing "{text}": invalid syntax')
    low, high = (0, 2**bits) if function == "strconv.ParseUint" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    if not low <= number < high:
        raise ValueError(f'{function}: parsing "{text}": value out of range')
    return number


def pair(text: str) -> tuple[str, str]:
    """`key=value`. Raises ValueError."""
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError("malformed pair, expect string=string")
    return key.strip(), value.strip()


def comma_separated(text: str) -> tuple[str, ...]:
    """One line of CSV, as strict as Go: a quote may only open and close a whole field. Raises ValueError in Go's words."""
    fields, at = [], 0
    while text:
        if text[at : at + 1] != '"':
            end = text.find(",", at)
            field = text[at:] if end < 0 else text[at:end]
            if '"' in field:
                column = len(text[: at + field.index('"')].encode()) + 1
                raise ValueError(f'parse error on line 1, column {column}: bare " in non-quoted-field')
            fields.append(field)
            at += len(field)
        else:
            field, at = _quoted_field(text, at)
            fields.append(field)
        if at >= len(text):
            break
        at += 1
    return tuple(fields)


def _quoted_field(text: str, at: int) -> tuple[str, int]:
    end = at + 1
    while (end := text.find('"', end)) >= 0:
        if text[end + 1 : end + 2] != '"':
            break
        end += 2
    column = len(text[:end].encode()) + 1 if end >= 0 else len(text.encode()) + 1
    if end < 0 or text[end + 1 : end + 2] not in ("", ","):
        raise ValueError(f'parse error on line 1, column {column}: extraneous or missing " in quoted-field')
    return text[at + 1 : end].replace('""', '"'), end + 1
