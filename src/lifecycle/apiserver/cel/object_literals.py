"""`Object{…}` and `JSONPatch{…}`: how a mutating policy writes down what it wants.

To CEL these are types that nobody declared. Here each literal is rewritten as a map
before the library sees it; the map keeps the name of its type under a key that no
object has, so that afterwards `Object.spec{replicas: 3}` can be told from a map, and a
literal of `Object.metadata` is found out where it stands in `spec`. Fields of JSONPatch
have types: their values pass through a function that takes no others.

Upstream: `apiserver/pkg/cel/mutation/{typeresolver,jsonpatch}.go`,
`mutation/dynamic/objects.go` (`CheckTypeNamesMatchFieldPathNames`), v1.36.
"""

from __future__ import annotations

import re
from typing import Any

TYPE = "\x00type"
TOKEN = re.compile(
    r"""(?P<text>[rRbB]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))"""
    r"""|(?P<comment>//[^\n]*)|(?P<name>[A-Za-z_][A-Za-z_0-9]*(?:\s*\.\s*[A-Za-z_][A-Za-z_0-9]*)*)|(?P<space>\s+)|(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)
TEXT_FIELD, NO_FIELD = "__jsonpatch_text", "__jsonpatch_none"
"""The functions: of strings, and of nothing that anybody could write."""

_JSON_PATCH = {"op": TEXT_FIELD, "path": TEXT_FIELD, "from": TEXT_FIELD, "value": ""}
"""What a field's value passes through."""
_REFUSED = re.compile(
    rf"found no matching overload for '({TEXT_FIELD}|{NO_FIELD})' applied to '\((.*)\)'"
)
_LITERAL = re.compile(r"\s*((?:Object(?:\s*\.\s*\w+)*|JSONPatch))\s*\{")


class QuotedField(ValueError):
    """A text where a literal's field should be named: its words, and its place."""

    def __init__(self, text: str, place: int) -> None:
        super().__init__(
            f"Syntax error: mismatched input '{text}' expecting"
            " {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"
        )
        self.place = place


class TypeMismatch(ValueError):
    """A literal of one type stands where the path wants another."""


def rewritten(expression: str, *, checks: bool = True) -> tuple[str, list[int]]:
    """The expression with every `Object…{}` and `JSONPatch{}` as a map, and for each
    character its place in the original. With `checks`, fields' values are only what
    their types allow; a check's place is the colon.

    Raises QuotedField.
    """
    tokens = [(match.lastgroup or "", match[0]) for match in TOKEN.finditer(expression)]
    out: list[tuple[str, int]] = []
    braces: list[
        str
    ] = []  # the type of each open brace; empty for a map, "(" or "[" for those
    literal, check, place = "", "", 0
    checked: list[int] = []  # how many braces were open where a check was begun
    for position, (kind, text) in enumerate(tokens):
        here, place = place, place + len(text)
        replacement = text
        if kind == "name":
            name = re.sub(r"\s", "", text)
            following = _following(tokens, position)
            if _names_a_type(name) and following == "{":
                literal = name
                continue
            inside = braces[-1] if braces else ""
            if (
                inside not in ("", "(", "[")
                and following == ":"
                and _begins_field(tokens, position)
            ):
                optional = _optional(tokens, position)
                if checks and inside == "JSONPatch" and not optional:
                    check = _JSON_PATCH.get(name, NO_FIELD)
                replacement = f"'{name}'"
        elif kind == "text" and braces and _names_a_type(braces[-1]):
            if _begins_field(tokens, position) and _following(tokens, position) == ":":
                raise QuotedField(text, here)
        elif kind == "space" and literal:
            continue
        elif text == ":" and check:
            checked.append(len(braces))
            replacement, check = f":{check}(", ""
        elif text in (",", "}") and checked and checked[-1] == len(braces):
            checked.pop()
            replacement = f"){text}"
            if text == "}":
                braces.pop()
        elif text in ("{", "(", "["):
            braces.append(literal if text == "{" else text)
            if literal:
                # of any type, so that two literals are of one type whatever
                # their fields
                replacement = f"{{'\\x00type': dyn('{literal}')" + (
                    "" if _following(tokens, position) == "}" else ", "
                )
                literal = ""
        elif text in ("}", ")", "]") and braces:
            braces.pop()
        out.append((replacement, here))
    places = [
        here + i if expression.startswith(replacement, here) else here
        for replacement, here in out
        for i in range(len(replacement))
    ]
    return "".join(replacement for replacement, _ in out), [*places, len(expression)]


def outer_types(expression: str) -> set[str]:
    """The types of the literals that stand in no other literal."""
    tokens = [(match.lastgroup or "", match[0]) for match in TOKEN.finditer(expression)]
    types: set[str] = set()
    braces: list[str] = []
    literal = ""
    for position, (kind, text) in enumerate(tokens):
        if kind == "name":
            name = re.sub(r"\s", "", text)
            begins = _following(tokens, position) == "{"
            literal = name if begins and _names_a_type(name) else ""
        elif text in ("{", "(", "["):
            if literal and not any(map(_names_a_type, braces)):
                types.add(literal)
            braces.append(literal or text)
            literal = ""
        elif text in ("}", ")", "]") and braces:
            braces.pop()
    return types


def _names_a_type(name: str) -> bool:
    return name.partition(".")[0] in ("Object", "JSONPatch")


def _following(tokens: list[tuple[str, str]], position: int) -> str:
    return next((text for kind, text in tokens[position + 1 :] if kind != "space"), "")


def _begins_field(tokens: list[tuple[str, str]], position: int) -> bool:
    """Whether a name comes right behind the brace, a comma, or the `?` of an optional
    field.
    """
    before = [text for kind, text in tokens[:position] if kind != "space"]
    if before and before[-1] == "?":
        before.pop()
    return bool(before) and before[-1] in ("{", ",")


def _optional(tokens: list[tuple[str, str]], position: int) -> bool:
    before = [text for kind, text in tokens[:position] if kind != "space"]
    return bool(before) and before[-1] == "?"


def wrong_field(message: str, expression: str, colon: int) -> str:
    """What is said of a field's type: a check's complaint about the value behind a
    colon in the expression; any other message as it is.
    """
    refused = _REFUSED.match(message)
    if refused is None:
        return message
    field = re.search(r"(\w+)\s*$", expression[:colon])
    assert field is not None
    given = refused[2]
    literal = _LITERAL.match(expression, colon + 1)
    if literal is not None and given == "map(string, dyn)":
        given = re.sub(r"\s", "", literal[1])
    given = re.sub(r"^null_type$", "null", given)
    wanted = "string" if refused[1] == TEXT_FIELD else ""
    return (
        f"expected type of field '{field[1]}' is '{wanted}' but provided type is"
        f" '{given}'"
    )


def type_of(value: Any) -> str:
    """The type that a literal was written as; empty for anything else."""
    return value.get(TYPE, "") if isinstance(value, dict) else ""


def plain(value: Any, expected: str = "Object") -> Any:
    """A literal's value as JSON. Raises TypeMismatch for a literal that stands in the
    wrong place.
    """
    if isinstance(value, list):
        return [plain(item, expected) for item in value]
    if not isinstance(value, dict):
        return value
    if TYPE not in value:
        return {
            key: plain(item, f"{expected}.{key}") for key, item in sorted(value.items())
        }
    if value[TYPE] != expected:
        raise TypeMismatch(
            f'type mismatch: unexpected type name "{value[TYPE]}", expected'
            f' "{expected}", which matches field name path from root Object type'
        )
    return {
        key: plain(item, f"{expected}.{key}")
        for key, item in sorted(value.items())
        if key != TYPE
    }


def untyped(value: Any) -> Any:
    """A value with the names of types taken out, wherever it stands."""
    if isinstance(value, list):
        return [untyped(item) for item in value]
    if isinstance(value, dict):
        return {
            key: untyped(item) for key, item in sorted(value.items()) if key != TYPE
        }
    return value
