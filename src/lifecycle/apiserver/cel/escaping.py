"""Fields whose names no identifier can be: `claims.kubernetes__dot__io` is the claim
`kubernetes.io`.

CEL reads `a.b` as a field only if `b` is an identifier, so names with dots, dashes and
slashes are written with escapes. Upstream unescapes when a map is asked for the key.
Here the expression is rewritten once instead, to what it means:
`claims["kubernetes.io"]`. The maps stay as they are, and so does what counts or walks
over their keys.

Upstream: `apiserver/pkg/cel/escaping.go` (`Escape`, `Unescape`),
`plugin/pkg/authenticator/token/oidc/oidc.go` (`unescapeMapper.Find`), v1.36.
"""

from __future__ import annotations

import re

RESERVED = frozenset(
    """
    true false null in as break const continue else for function if import let
    loop package namespace return var void while
    """.split()  # noqa: SIM905 - words, not code
)
_SIGNS = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}
_ESCAPE = re.compile(r"__([^_]+)__")
_LITERAL = r"""[rR]?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_TOKEN = re.compile(
    rf"(?P<index>\[\s*\??\s*)?(?P<literal>{_LITERAL})|\.\s*(?P<optional>\??)\s*(?P<field>[A-Za-z_]\w*)(?!\w|\s*\()"
)
_HAS = re.compile(r"\bhas\s*\(")


def escaped(name: str) -> str:
    """A property's name as CEL writes it: `in` is `__in__`, `x-prop` is
    `x__dash__prop`.
    """
    if name in RESERVED:
        return f"__{name}__"
    name = name.replace("__", "__underscores__")
    return (
        name.replace(".", "__dot__").replace("-", "__dash__").replace("/", "__slash__")
    )


def unescaped(name: str) -> str:
    """The name an identifier stands for; itself if it has no escapes, or wrong ones."""
    wrong = False

    def sign(match: re.Match[str]) -> str:
        nonlocal wrong
        if match[1] in _SIGNS:
            return _SIGNS[match[1]]
        if match[1] not in RESERVED or match[0] != name:
            wrong = True
        return match[1]

    plain = _ESCAPE.sub(sign, name)
    return name if wrong else plain


def without_escapes(expression: str) -> str:
    """An expression that means the same and looks for names as they are."""
    return (
        _TOKEN.sub(_looked_up, _has_rewritten(expression))
        if "__" in expression
        else expression
    )


def _looked_up(match: re.Match[str]) -> str:
    if match["field"] is not None:
        plain = unescaped(match["field"])
        return (
            match[0]
            if plain == match["field"]
            else f"[{match['optional']}{_quoted(plain)}]"
        )
    if match["index"] is None or match["literal"][0] in "rR":
        return match[0]
    plain = unescaped(match["literal"][1:-1])
    return (
        match[0] if plain == match["literal"][1:-1] else match["index"] + _quoted(plain)
    )


def _has_rewritten(expression: str) -> str:
    """`has(a.b__dot__c)` wants a field at its end, so it becomes a question about a
    key.
    """
    out, place = "", 0
    for match in _HAS.finditer(expression):
        end = _closing(expression, match.end())
        inside = expression[match.end() : end]
        field = re.search(r"\.\s*([A-Za-z_]\w*)\s*$", inside)
        if match.start() < place or field is None or unescaped(field[1]) == field[1]:
            continue
        out += (
            f"{expression[place : match.start()]}({_quoted(unescaped(field[1]))} in"
            f" ({inside[: field.start()]})"
        )
        place = end
    return out + expression[place:]


def _closing(expression: str, start: int) -> int:
    """Where the bracket that was opened before `start` is closed."""
    depth = 1
    for match in re.compile(rf"{_LITERAL}|[()]").finditer(expression, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.start()
    return len(expression)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
