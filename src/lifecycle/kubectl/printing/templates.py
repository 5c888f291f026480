"""Formats that carry a template: `jsonpath=…`, `go-template=…`, `custom-columns=…` and
their like, each also from a file.

Upstream: `cli-runtime/pkg/genericclioptions/jsonpath_flags.go`, `template_flags.go`
(`GoTemplatePrintFlags.ToPrinter`), `cli-runtime/pkg/printers/template.go`,
`kubectl/pkg/cmd/get/customcolumn_flags.go`, v1.36.2.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lifecycle.api.go.format import go_quote, go_value
from lifecycle.api.go.json.encode import marshal, marshal_indent
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError, PartlyPrinted
from lifecycle.kubectl.printing import custom_columns, go_template, jsonpath

Render = Callable[[Object], str]
"""From an object to what is printed of it. Raises CommandError for what a template asks
in vain.
"""

JSONPATH = ("jsonpath", "jsonpath-file", "jsonpath-as-json")
GO_TEMPLATE = ("go-template", "go-template-file", "template", "templatefile")
COLUMNS = ("custom-columns", "custom-columns-file")


def template_printer(
    output: str, template: str = "", *, strict: bool = False
) -> Render | None:
    """What prints in one of these formats; None for any other format.

    The template stands in the format itself (`jsonpath={.a}`), or in `--template`.
    `strict`: what is not there is an error. Raises CommandError for a bad template.
    """
    name, text = _split(output or ("go-template" if template else ""), template)
    if name not in (*JSONPATH, *GO_TEMPLATE):
        return None
    if not text:
        raise CommandError("template format specified but no template given")
    if name.endswith("file"):
        text = _read(text, "--template ", "")
    return (
        _jsonpath(name, text, strict)
        if name in JSONPATH
        else _go_template(text, strict)
    )


def columns_printer(
    output: str, template: str = "", *, headers: bool = True, once: bool = False
) -> Render | None:
    """What prints tables of one's own; None for any other format. Raises CommandError.

    `once`: what is printed later goes on below what was printed before.
    """
    name, text = _split(output, template)
    if name not in COLUMNS:
        return None
    if not text:
        raise CommandError(
            "custom-columns format specified but no custom columns given"
        )
    if name == "custom-columns-file":
        columns, headers = (
            custom_columns.parse_template(_read(text, "template ", "\n")),
            True,
        )
    else:
        columns = custom_columns.parse_spec(text)

    widths: list[int] | None = [] if once else None

    def render(obj: Object) -> str:
        nonlocal headers
        items = obj["items"] if obj.get("kind") == "List" else [obj]
        text = custom_columns.render_columns(
            items, columns, no_headers=not headers, remembered=widths
        )
        headers = headers and not once
        return text

    return render


def _split(output: str, template: str) -> tuple[str, str]:
    if template:
        return output, template
    name, _, text = output.partition("=")
    return name, text


def _read(path: str, what: str, after: str) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        message = (
            f"error reading {what}{path}, open {path}:"
            f" {(error.strerror or '').lower()}{after}"
        )
        raise CommandError(message) from None


def _jsonpath(name: str, text: str, strict: bool) -> Render:
    parts = jsonpath.parse(text)

    def render(obj: Object) -> str:
        try:
            if name == "jsonpath-as-json":
                return "".join(
                    _as_json(values)
                    for values in jsonpath.find_all(parts, obj, strict=strict)
                )
            return jsonpath.execute(parts, obj, strict=strict)
        except CommandError as error:
            raise CommandError(_debugging(text, str(error), obj)) from None

    return render


def _go_template(text: str, strict: bool) -> Render:
    try:
        template = go_template.parse(text)
    except go_template.TemplateSyntaxError as error:
        raise CommandError(f"error parsing template {text}, {error}") from None

    def render(obj: Object) -> str:
        out: list[str] = []
        try:
            go_template.execute(template, obj, out.append, strict=strict)
        except go_template.ExecutionError as error:
            debugging = (
                f"Error executing template: {error}. Printing more information for"
                f" debugging the template:\n\ttemplate was:\n\t\t{text}\n\traw data"
                f" was:\n\t\t{marshal(obj)}\n\tobject given to template engine"
                f" was:\n\t\t{go_value(obj)}\n\n"
            )
            message = f"error executing template {go_quote(text)}: {error}"
            raise PartlyPrinted(message, "".join(out) + debugging) from None
        return "".join(out)

    return render


def _debugging(template: str, why: str, obj: Object) -> str:
    """The long message: the template, and the object as Go prints it."""
    return (
        f"error executing jsonpath {go_quote(template)}: Error executing template:"
        f" {why}. Printing more information for debugging the template:\n\ttemplate"
        f" was:\n\t\t{template}\n\tobject given to jsonpath engine"
        f" was:\n\t\t{_go_syntax(obj)}\n\n\n"
    )


def _go_syntax(value: Any) -> str:
    """A JSON value as Go's `%#v` prints it."""
    if isinstance(value, dict):
        inside = ", ".join(
            f"{go_quote(key)}:{_go_syntax(value[key])}" for key in sorted(value)
        )
        return "map[string]interface {}{" + inside + "}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(map(_go_syntax, value)) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "interface {}(nil)"
    return go_quote(value) if isinstance(value, str) else str(value)


def _as_json(values: list[Any]) -> str:
    if not values:
        return "[]\n"
    return marshal_indent(values, sort_keys=True) + "\n"
