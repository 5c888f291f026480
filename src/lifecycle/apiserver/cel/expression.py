"""One expression over one variable, as the configurations of authentication and
authorization use it.

Compiled when the configuration is read, so that a typo stops the server's start and not
its first request, and compiled twice: against the variable's type, which finds misspelt
fields, and against plain maps, which is what runs. A protocol buffer cannot tell an
empty field from one that is not there; these expressions have to, since the one is a
value and the other an error that a failure policy judges.

Upstream: `apiserver/pkg/authentication/cel/compile.go` (`CompileClaimsExpression`,
`CompileUserExpression`), `apiserver/pkg/authorization/cel/compile.go`
(`CompileCELExpression`), `apis/apiserver/validation/validation.go` (`hasSelectExp`),
v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from lifecycle.apiserver.cel.environment import (
    CompileError,
    Environment,
    message_type,
)
from lifecycle.apiserver.cel.escaping import without_escapes
from lifecycle.apiserver.cel.library import OBJECT

_MESSAGES = {"user": "UserInfo", "request": "SubjectAccessReviewSpec"}
_STRING = re.compile(r"""[rR]?("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""")


@cache
def _environments(variable: str) -> tuple[Environment, Environment]:
    """To check with, to run with. Claims may be anything, so both are the same for
    them.
    """
    untyped = Environment({variable: OBJECT})
    message = _MESSAGES.get(variable)
    return (
        Environment({variable: message_type(message)}) if message else untyped
    ), untyped


class Expression:
    """A compiled expression over `claims`, `user` or `request`. A `condition` has to be
    a boolean by its type.

    Raises CompileError (a ValueError) with the `detail` of upstream's error.
    """

    def __init__(self, text: str, variable: str, *, condition: bool = False) -> None:
        self.text = text
        self._variable = variable
        typed, untyped = _environments(variable)
        kind = typed.compile(text).type_name
        if condition and kind != "bool":
            but_got = f" but got {kind}" if variable == "request" else ""
            raise CompileError(f"must evaluate to bool{but_got}")
        self._program = untyped.compile(
            text if variable == "request" else without_escapes(text)
        )

    def selects(self, field: str) -> bool:
        """Whether it reads this field of its variable: `claims.email`,
        `has(claims.email)`, `claims.?email`.
        """
        code = _STRING.sub("''", self.text)
        return (
            re.search(rf"(?<![\w.]){self._variable}\s*\.\s*\??\s*{field}\b", code)
            is not None
        )

    def evaluate(self, value: Mapping[str, Any]) -> Any:
        """The result, as JSON. Raises EvaluationError."""
        return self._program.evaluate({self._variable: value})
