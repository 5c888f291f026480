"""How Go prints values: error messages that clients see contain them.

Upstream: Go's `fmt` verbs `%q` and `%v` on strings and on decoded JSON.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    '"': '\\"',
    "\\": "\\\\",
}
"""What Go writes for them in a quoted string."""


def go_quote(text: str) -> str:
    """Text as Go's `%q` prints it; messages that clients see quote this way."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    parts = []
    for c in text:
        if c in ESCAPES:
            parts.append(ESCAPES[c])
        elif c.isprintable():
            parts.append(c)
        else:
            code = ord(c)
            parts.append(
                f"\\x{code:02x}"
                if code < 0x80
                else f"\\u{code:04x}"
                if code < 0x10000
                else f"\\U{code:08x}"
            )
    return '"' + "".join(parts) + '"'


def go_value(value: Any) -> str:
    """Decoded JSON as Go's `%v` prints it: `map[a:1 b:[x y]]`, keys sorted, nothing
    quoted.
    """
    if value is None:
        return "<nil>"
    if value is True or value is False:
        return str(value).lower()
    if isinstance(value, dict):
        return (
            "map["
            + " ".join(f"{key}:{go_value(value[key])}" for key in sorted(value))
            + "]"
        )
    if isinstance(value, list):
        return "[" + " ".join(go_value(item) for item in value) + "]"
    if isinstance(value, float):
        return go_g(value)
    return str(value)


def go_g(value: float) -> str:
    """A number as Go's `%v` prints a float64: `1`, `0.5`, `1e+06`."""
    if value == 0:
        return "-0" if str(value)[0] == "-" else "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)  # neither infinite nor no number: it was JSON
    power = len(digits) + exponent - 1
    text = "".join(map(str, digits))
    minus = "-" if sign else ""
    if -4 <= power < 6:
        return minus + format(Decimal(repr(abs(value))).normalize(), "f")
    fraction = f".{text[1:]}" if text[1:] else ""
    return f"{minus}{text[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02}"


def go_syntax(value: Any) -> str:
    """Decoded JSON as Go's `%#v` prints it: `map[string]interface {}{"a":1}`."""
    if isinstance(value, dict):
        items = (f"{go_quote(key)}:{go_syntax(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(go_syntax, value))}}}"
    if isinstance(value, str):
        return go_quote(value)
    return "interface {}(nil)" if value is None else go_value(value)


def go_label_selector(selector: Any) -> str:
    """A LabelSelector as Go prints the struct, which is what clients get to see.
    Upstream: `LabelSelector.String`.
    """
    if selector is None:
        return "nil"
    labels = "".join(
        f"{key}: {value},"
        for key, value in sorted((selector.get("matchLabels") or {}).items())
    )
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{e['key']},Operator:{e['operator']},"
        f"Values:[{' '.join(e.get('values') or ())}],}},"
        for e in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def go_path_error(operation: str, error: OSError, path: object = "") -> str:
    """`fs.PathError`: `open /x: no such file or directory`. `path`: if the error does
    not know it.
    """
    why = error.strerror or str(error)
    return f"{operation} {path or error.filename}: {why[:1].lower()}{why[1:]}"


def go_json_type(value: Any) -> str:
    """The Go type that decoded JSON has, as `%T` prints it."""
    if value is None:
        return "<nil>"
    names = {
        bool: "bool",
        int: "int64",
        float: "float64",
        str: "string",
        dict: "map[string]interface {}",
        list: "[]interface {}",
    }
    return names[type(value)]
