"""The library behind this room, imported when the first expression is compiled.

`cel-expr-python` is 50 MB, and most clusters never see an expression. So what is read
at import names types only (`DYN`); they become the library's when an environment is
built. Without the library every expression is one that cannot be compiled, and says
why.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lifecycle.api.extras import require

OBJECT = "OBJECT"
"""A map from strings to anything."""


@cache
def cel() -> Any:
    """The library's main module. Raises MissingExtraError."""
    return require("cel", "cel_expr_python.cel")


@cache
def extensions(bindings: bool = False) -> list[Any]:
    """What the library has beside the language itself: optional values, and
    `cel.bind`, which Kubernetes has only for devices. Raises MissingExtraError.
    """
    return [
        getattr(
            require("cel", f"cel_expr_python.ext.ext_{name.lower()}"), f"Ext{name}"
        )()
        for name in ("Optional", *(("Bindings",) if bindings else ()))
    ]


def library_type(kind: Any) -> Any:
    """The library's type for its name (`DYN`), for a message's full name, for `OBJECT`;
    or what is one already. Raises MissingExtraError.
    """
    if not isinstance(kind, str):
        return kind
    if kind == OBJECT:
        return cel().Type.Map(cel().Type.STRING, cel().Type.DYN)
    return cel().Type(kind) if "." in kind else getattr(cel().Type, kind)


class _Types:
    """`cel.Type`, looked up when something is asked of it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(cel().Type, name)


T = _Types()
