"""Regular expressions that clients write: RE2, which takes time in proportion to the
text.

Python's own `re` tries alternatives one after the other, and takes years for some
patterns of a dozen characters. Go's syntax is RE2's, and so is its reading of a pattern
that is none.

Upstream: Go's `regexp/syntax/parse.go` (`ErrorCode`, `Error.Error`, `maxHeight`).
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api.bounded_cache import is_short, short_lru_cache
from lifecycle.api.go import plain_regexp

try:
    import re2

    RegexpError = re2.error
except ImportError:
    re2 = None
    RegexpError = plain_regexp.error

MAX_HEIGHT = 1000
_GO_WORDS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
_LOOK_BEHIND = re.compile(r"\(\?<[=!].*", re.DOTALL)
_ANY_BYTE = re.compile(r"(?:[^\\]|\\[^C])*+\\C", re.DOTALL)
_QUOTED = re.compile(r"\\Q.*?(?:\\E|$)", re.DOTALL)


def compile_regexp(pattern: str) -> Any:
    """The pattern compiled, with the methods of `re.Pattern`. Raises ValueError `error
    parsing regexp: …` in Go's words.
    """
    wrong = parse_error(pattern)
    if wrong:
        raise ValueError(wrong)
    return _compiled(pattern)


@short_lru_cache(512)
def parse_error(pattern: str) -> str:
    """`error parsing regexp: …`, or nothing."""
    try:
        _compiled(pattern)
    except RegexpError as error:
        return (
            "error parsing regexp: "
            f"{_go_error(error.args[0].decode('utf-8', 'replace'), pattern)}"
        )
    if _ANY_BYTE.match(_QUOTED.sub("", pattern)):  # RE2 has it, Go has not
        return r"error parsing regexp: invalid escape sequence: `\C`"
    if pattern.count("(") >= MAX_HEIGHT and _height(pattern) > MAX_HEIGHT:
        return f"error parsing regexp: expression nests too deeply: `{pattern}`"
    return ""


@short_lru_cache(128)
def _compiled(pattern: str) -> Any:
    """Raises RegexpError. One takes up to 8 MiB."""
    if re2 is None:
        return plain_regexp.compile(pattern)
    options = re2.Options()
    options.log_errors = False
    compiled = re2.compile(pattern, options)
    if not is_short(pattern):
        re2.purge()  # it remembers patterns of any length
    return compiled


def _go_error(error: str, pattern: str) -> str:
    words, _, piece = error.partition(": ")
    if words == "trailing \\":
        return "trailing backslash at end of expression: ``"
    if words.startswith("pattern too large"):
        return f"expression too large: `{pattern}`"
    if piece in ("(?<=", "(?<!") and (rest := _LOOK_BEHIND.search(pattern)) is not None:
        return f"invalid named capture: `{rest[0]}`"
    return f"{_GO_WORDS.get(words, words)}: `{piece}`"


def _height(pattern: str) -> int:
    """How deep the groups nest. What is escaped, quoted or in a class is no group."""
    deepest = depth = 0
    for bracket in re.sub(
        r"\\.|\[\^?\]?(?:\\.|[^\\\]])*+\]", "", _QUOTED.sub("", pattern)
    ):
        depth += (bracket == "(") - (bracket == ")")
        deepest = max(deepest, depth)
    return deepest
