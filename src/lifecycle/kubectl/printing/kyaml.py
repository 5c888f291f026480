"""KYAML: YAML in braces, every text in quotes, so that neither indentation nor a lucky
guess decides what it means.

Upstream: `sigs.k8s.io/yaml/kyaml/kyaml.go` (`Encoder.FromObject`, `renderString`,
`needsQuotes`), `cli-runtime/pkg/printers/kyaml.go`, v1.36.2.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from lifecycle.api.go.json.encode import marshal
from lifecycle.kubectl.failures import CommandError

_FOLD = "\\\n"
_WORDS = frozenset(
    [
        "",
        "~",
        "null",
        "true",
        "false",
        "t",
        "f",
        "0",
        "1",
        "y",
        "yes",
        "on",
        "n",
        "no",
        "off",
        ".inf",
        "-.inf",
        "+.inf",
        ".nan",
    ]
)
_PARSE_BOOL = frozenset(
    ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"]
)
_NUMBER = re.compile(
    r"[+-]?(0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]*|[1-9][0-9]*|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
    r"|0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+|(inf|infinity))|[+-]?nan",
    re.IGNORECASE,
)
_BASE_60 = re.compile(r"[+-]?[1-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_DATE = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})([Tt ][0-9:.]+(Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\r": "\\r",
    "\v": "\\v",
    "\0": "\\0", "\x1b": "\\e", "\x85": " ", "\xa0": "\\_", "\u2028": "\\L",
    "\u2029": "\\P",
}  # fmt: skip
"""The next line (85) is a line break to the YAML reader that upstream goes through, and
a folded one becomes a space.
"""
FORBIDDEN = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")


def to_kyaml(obj: Any) -> str:
    """A JSON value as one KYAML document. Raises CommandError for letters that no YAML
    may have.
    """
    return f"---\n{_node(obj, 0)}\n"


def _node(value: Any, indent: int) -> str:
    if isinstance(value, dict):
        return _map(value, indent)
    if isinstance(value, list):
        return _list(value, indent)
    return _text(value, indent + 1) if isinstance(value, str) else marshal(value)


def _map(value: dict[str, Any], indent: int) -> str:
    if not value:
        return "{}"
    inside = "  " * (indent + 1)
    lines = "".join(
        f"{inside}{_key(key)}: {_node(value[key], indent + 1)},\n" for key in value
    )
    return "{\n" + lines + "  " * indent + "}"


def _list(value: list[Any], indent: int) -> str:
    """Lists of lists and maps open all their brackets on one line."""
    if not value:
        return "[]"
    if all(isinstance(item, (dict, list)) for item in value):
        return "[" + ", ".join(_node(item, indent) for item in value) + "]"
    outside, inside = "  " * indent, "  " * (indent + 1)
    return (
        "[\n"
        + "".join(f"{inside}{_node(item, indent + 1)},\n" for item in value)
        + outside
        + "]"
    )


def _key(text: str) -> str:
    if "\n" not in text and not _needs_quotes(text):
        return text
    whole = "".join(map(_escaped, text))
    return '"' + whole.replace("\n", "\\n").replace("\t", "\\t") + '"'


def _text(text: str, indent: int) -> str:
    """In quotes; each line of several on one of its own, its white space kept by a
    backslash.
    """
    if "\n" not in text:
        return '"' + "".join(map(_escaped, text)) + '"'
    margin = "  " * indent
    lines = text.split("\n")
    last = lines.pop()
    out = ['"', _FOLD]
    for line in lines:
        out += [_line(line, margin), "\\n", _FOLD]
    if last:
        out += [_line(last, margin), _FOLD]
    return "".join(out) + margin + '"'


def _line(line: str, margin: str) -> str:
    return margin + ("\\" if line[:1].isspace() else " ") + "".join(map(_escaped, line))


def _escaped(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if letter in "\n\t" or letter.isprintable():
        return letter
    if FORBIDDEN.match(letter):
        raise CommandError("error decoding: yaml: control characters are not allowed")
    code = ord(letter)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _needs_quotes(text: str) -> bool:
    """Whether a key would read as something else, or has letters in it that might mean
    something.
    """
    if _reads_otherwise(text):
        return True
    last = len(text) - 1
    return not all(
        c.isalnum() or c == "_" or (0 < i < last and c in "-./")
        for i, c in enumerate(text)
    )


def _reads_otherwise(text: str) -> bool:
    if text in _PARSE_BOOL or (len(text) <= 5 and text.lower() in _WORDS - {"t", "f"}):
        return True
    if _NUMBER.fullmatch(text.replace("_", "")) or _BASE_60.fullmatch(text):
        return True
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    try:
        date(*map(int, match.group(1, 2, 3)))
    except ValueError:
        return False
    return True
