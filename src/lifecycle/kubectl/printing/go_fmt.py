"""Go's `fmt`, for values of JSON: `Sprint`, `Sprintln` and `Sprintf`.

Upstream: Go's `fmt` (`doPrintf`, `printValue`, `badVerb`, `fmtFloat`), `strconv`
(`FormatFloat`). Left out: complex numbers, pointers, `%x` of floats, `*` together with
an argument's index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from lifecycle.api.go.format import go_quote

TypeOf = Callable[[Any], str]
_VERB = re.compile(
    r"%(?P<flags>[-+#"
    r" 0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?(?:\[(?P<index>"
    r"[^]]*)\])?(?P<verb>.?)",
    re.DOTALL,
)


@dataclass(slots=True, frozen=True)
class _Format:
    """One `%…`: its flags, width and precision (None for none)."""

    flags: str
    width: int | None
    precision: int | None
    type_of: TypeOf

    @property
    def zeros(self) -> bool:
        """Filled up with zeros."""
        return "0" in self.flags and "-" not in self.flags

    def padded(self, text: str) -> str:
        """As wide as asked for."""
        if self.width is None:
            return text
        return (
            text.ljust(self.width)
            if "-" in self.flags
            else text.rjust(self.width, "0" if self.zeros else " ")
        )

    def with_spaces(self, text: str) -> str:
        """As wide as asked for, the zeros being there already."""
        return replace(self, flags=self.flags.replace("0", "")).padded(text)


def sprint(values: Sequence[Any], type_of: TypeOf) -> str:
    """The values one after another, with a space between two that are no texts."""
    plain = _Format("", None, None, type_of)
    parts: list[str] = []
    for i, value in enumerate(values):
        if i and not isinstance(value, str) and not isinstance(values[i - 1], str):
            parts.append(" ")
        parts.append(_print_value(value, "v", plain))
    return "".join(parts)


def sprintln(values: Sequence[Any], type_of: TypeOf) -> str:
    """The values with spaces between, and a newline."""
    plain = _Format("", None, None, type_of)
    return " ".join(_print_value(value, "v", plain) for value in values) + "\n"


def sprintf(template: str, values: Sequence[Any], type_of: TypeOf) -> str:
    """The template with its verbs filled in. What does not fit is said in the text;
    nothing is raised.
    """
    out: list[str] = []
    used = 0
    reordered = False

    def number(digits: str | None) -> tuple[int | None, str]:
        """A width or precision, from the template or (`*`) from the values."""
        nonlocal used
        if digits != "*":
            return (int(digits) if digits else None), ""
        value = values[used] if used < len(values) else None
        used += 1
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and abs(value) <= 1_000_000
        ):
            return value, ""
        return None, "*"

    at = 0
    while (start := template.find("%", at)) >= 0:
        out.append(template[at:start])
        match = _VERB.match(template, start)
        assert match is not None
        at = match.end()
        flags = match["flags"]
        width, wrong_width = number(match["width"])
        out.append("%!(BADWIDTH)" if wrong_width else "")
        if width is not None and width < 0:
            flags, width = flags + "-", -width
        precision, wrong_precision = number(match["precision"])
        if wrong_precision or (precision or 0) < 0:
            out.append(
                "%!(BADPREC)" if wrong_precision or match["precision"] == "*" else ""
            )
            precision = None
        elif match["precision"] == "":
            precision = 0
        verb = match["verb"]
        index = match["index"]
        if index is not None:
            reordered = True
            used = int(index) - 1 if index.isdecimal() else -1
        if not verb:
            out.append("%!(NOVERB)")
        elif verb == "%":
            out.append("%")
        elif index is not None and not 0 <= used < len(values):
            out.append(f"%!{verb}(BADINDEX)")
            used = max(used, 0)
        elif used >= len(values):
            out.append(f"%!{verb}(MISSING)")
        else:
            out.append(
                _print_value(
                    values[used], verb, _Format(flags, width, precision, type_of)
                )
            )
            used += 1
    out.append(template[at:])
    if used < len(values) and not reordered:
        plain = _Format("", None, None, type_of)
        extra = ", ".join(
            (
                "<nil>"
                if value is None
                else f"{type_of(value)}={_print_value(value, 'v', plain)}"
            )
            for value in values[used:]
        )
        out.append(f"%!(EXTRA {extra})")
    return "".join(out)


def _print_value(value: Any, verb: str, form: _Format, depth: int = 0) -> str:
    if verb == "T" and not depth:
        return form.padded(form.type_of(value))
    if value is None:
        if depth:
            return "interface {}(nil)" if verb == "v" and "#" in form.flags else "<nil>"
        return form.padded("<nil>") if verb == "v" else f"%!{verb}(<nil>)"
    if isinstance(value, bool):
        return (
            form.padded(str(value).lower()) if verb in "vt" else _bad(value, verb, form)
        )
    if isinstance(value, int):
        return _integer(value, verb, form)
    if isinstance(value, float):
        return _float(value, verb, form)
    if isinstance(value, str):
        return _text(value, verb, form)
    if isinstance(value, (dict, list)):
        return _many(value, verb, form, depth)
    return form.padded(str(value))


def _bad(value: Any, verb: str, form: _Format) -> str:
    return f"%!{verb}({form.type_of(value)}={_print_value(value, 'v', form, 1)})"


def _many(
    value: dict[str, Any] | list[Any], verb: str, form: _Format, depth: int
) -> str:
    if verb == "p":
        return _bad(value, verb, form)
    go_syntax = verb == "v" and "#" in form.flags
    if isinstance(value, dict):
        pairs = [
            f"{_print_value(k, verb, form, depth + 1)}"
            f":{_print_value(value[k], verb, form, depth + 1)}"
            for k in sorted(value)
        ]
        opened = "map[string]interface {}{" if go_syntax else "map["
    else:
        pairs = [_print_value(item, verb, form, depth + 1) for item in value]
        opened = "[]interface {}{" if go_syntax else "["
    return (
        opened + (", " if go_syntax else " ").join(pairs) + ("}" if go_syntax else "]")
    )


def _text(value: str, verb: str, form: _Format) -> str:
    if verb == "v" and "#" in form.flags:
        return form.padded(go_quote(value))
    if verb in "vs" or verb == "q":
        cut = value if form.precision is None else value[: form.precision]
        if verb == "q":
            backticks = "#" in form.flags and "`" not in cut and cut.isprintable()
            cut = (
                f"`{cut}`"
                if backticks
                else _ascii(go_quote(cut))
                if "+" in form.flags
                else go_quote(cut)
            )
        return form.padded(cut)
    if verb in "xX":
        raw = value.encode(errors="surrogateescape")
        raw = raw if form.precision is None else raw[: form.precision]
        text = raw.hex(" ") if " " in form.flags else raw.hex()
        text = ("0x" if "#" in form.flags and text else "") + text
        return form.padded(text.upper() if verb == "X" else text)
    return _bad(value, verb, form)


def _ascii(text: str) -> str:
    return "".join(
        (
            c
            if c.isascii()
            else f"\\u{ord(c):04x}"
            if ord(c) < 0x10000
            else f"\\U{ord(c):08x}"
        )
        for c in text
    )


_BASES = {"d": "d", "v": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}


def _integer(value: int, verb: str, form: _Format) -> str:
    if verb == "c":
        return form.padded(_letter(value))
    if verb == "q":
        letter = _letter(value)
        return form.padded(
            "'"
            + (
                "\\'"
                if letter == "'"
                else '"'
                if letter == '"'
                else go_quote(letter)[1:-1]
            )
            + "'"
        )
    if verb == "U":
        unicode = f"U+{value:04X}"
        return form.padded(
            f"{unicode} '{chr(value)}'"
            if "#" in form.flags and chr(value).isprintable()
            else unicode
        )
    if verb not in _BASES:
        return _bad(value, verb, form)
    digits = format(abs(value), _BASES[verb])
    if form.precision is not None:
        digits = (
            ""
            if form.precision == 0 and value == 0
            else digits.rjust(form.precision, "0")
        )
    sign = (
        "-"
        if value < 0
        else (
            "+"
            if "+" in form.flags and verb != "v"
            else " "
            if " " in form.flags
            else ""
        )
    )
    prefix = "0o" if verb == "O" else ""
    if "#" in form.flags and verb != "v":
        prefix = {
            "b": "0b",
            "o": "" if digits.startswith("0") else "0",
            "x": "0x",
            "X": "0X",
        }.get(verb, prefix)
        prefix = "0" if verb == "o" and prefix else prefix
    if form.zeros and form.width and form.precision is None:
        digits = digits.rjust(form.width - len(sign), "0")
    return form.with_spaces(sign + prefix + digits)


def _letter(code: int) -> str:
    return (
        chr(code)
        if 0 <= code <= 0x10FFFF and not 0xD800 <= code < 0xE000
        else "\N{REPLACEMENT CHARACTER}"
    )


def _float(value: float, verb: str, form: _Format) -> str:
    if verb in "vgG" and form.precision is None:
        text = shortest_float(value)
        text = text.upper() if verb == "G" else text
    elif verb in "vgG":
        text = format(value, f".{form.precision or 1}{'G' if verb == 'G' else 'g'}")
    elif verb in "fF":
        text = format(value, f".{6 if form.precision is None else form.precision}f")
    elif verb in "eE":
        text = format(
            value, f".{6 if form.precision is None else form.precision}{verb}"
        )
    else:
        return _bad(value, verb, form)
    if not text.startswith("-"):
        text = (
            "+"
            if "+" in form.flags and verb != "v"
            else " "
            if " " in form.flags
            else ""
        ) + text
    if form.zeros and form.width:
        sign = text[:1] if text[:1] in "+- " else ""
        text = sign + text[len(sign) :].rjust(form.width - len(sign), "0")
    return form.with_spaces(text)


def shortest_float(value: float) -> str:
    """`strconv.FormatFloat(value, 'g', -1, 64)`: with an exponent as soon as there are
    more than six digits in front.
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = len(digits) + int(exponent) - 1 if value else 0
    minus = "-" if sign else ""
    if -4 <= power < 6:
        plain = format(Decimal(repr(value)).normalize(), "f")
        return plain if value else f"{minus}0"
    rest = f".{text[1:]}" if len(text) > 1 else ""
    return f"{minus}{text[0]}{rest}e{'-' if power < 0 else '+'}{abs(power):02}"
