"""Go's `text/template`, as far as kubectl's users can see it.

Upstream: Go's `text/template`, as used by `cli-runtime/pkg/printers/template.go`
(`GoTemplatePrinter`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.kubectl.printing.go_template import execution, parser
from lifecycle.kubectl.printing.go_template.functions import FUNCTIONS

ExecutionError = execution.ExecutionError
TemplateSyntaxError = parser.TemplateSyntaxError


def parse(text: str) -> parser.Template:
    """Parse a template. Raises TemplateSyntaxError."""
    return parser.parse(text, FUNCTIONS)


def execute(
    template: parser.Template,
    data: Any,
    write: Callable[[str], object],
    *,
    strict: bool = False,
) -> None:
    """Write what a template says of an object; `strict` does not put up with keys that
    are not there. Raises ExecutionError.
    """
    execution.execute(template, data, write, strict=strict)
