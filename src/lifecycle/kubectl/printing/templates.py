"""Formats that carry a template: `jsonpath=…`, `jsonpath-file=…`, `jsonpath-as-json=…`, `custom-columns=…`, `custom-columns-file=…`.

Upstream: `cli-runtime/pkg/genericclioptions/jsonpath_flags.go`, `kubectl/pkg/cmd/get/customcolumn_flags.go`, v1.36.2. Left out: Go
templates (there is no kept Python library for them) and KYAML; asking for one is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lifecycle.api.go_format import go_quote
from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.printing import custom_columns, jsonpath

JSONPATH = ("jsonpath", "jsonpath-file", "jsonpath-as-json")
COLUMNS = ("custom-columns", "custom-columns-file")
NOT_HERE = ("go-template", "go-template-file", "template", "templatefile", "kyaml")


def check(output: str, columns: bool = False) -> bool:
    """Whether a format is one of these, its template readable. Raises CommandError for a bad template, and for Go templates.

    `columns`: custom columns are allowed here too (they are for `get` only).
    """
    name, given, template = output.partition("=")
    if name in NOT_HERE:
        raise CommandError(f"-o {name} is not built into this kubectl; -o jsonpath, -o json and -o yaml are")
    if name in JSONPATH:
        if not given or not template:
            raise CommandError("template format specified but no template given")
        jsonpath.parse(_template(name, template))
        return True
    if columns and name in COLUMNS:
        _columns(name, template)
        return True
    return False


def _template(name: str, template: str) -> str:
    return _read(template) if name == "jsonpath-file" else template


def _columns(name: str, template: str) -> list[tuple[str, custom_columns.Lookup]]:
    return custom_columns.parse_template(_read(template)) if name == COLUMNS[1] else custom_columns.parse_spec(template)


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError as wrong:
        raise CommandError(
            f"error reading --template {path}, open {path}: {(wrong.strerror or '').lower()}\n"
        ) from None


def render(obj: Object, output: str, *, no_headers: bool = False) -> str | None:
    """An object (or list) in one of these formats; None for any other format. Raises CommandError for what the template asks in vain."""
    name, _, template = output.partition("=")
    if name in COLUMNS:
        items = obj["items"] if obj.get("kind") == "List" else [obj]
        return custom_columns.render_columns(items, _columns(name, template), no_headers=no_headers)
    if name not in JSONPATH:
        return None
    text = _template(name, template)
    try:
        if name == "jsonpath-as-json":
            return "".join(_as_json(values) for values in jsonpath.find_all(jsonpath.parse(text), obj))
        return jsonpath.execute(jsonpath.parse(text), obj)
    except CommandError as wrong:
        if str(wrong).startswith("error parsing"):
            raise
        raise CommandError(_debugging(text, str(wrong), obj)) from None


def _debugging(template: str, why: str, obj: Object) -> str:
    """The long message: the template, and the object as Go prints it."""
    return (
        f"error executing jsonpath {go_quote(template)}: Error executing template: {why}. Printing more information for "
        f"debugging the template:\n\ttemplate was:\n\t\t{template}\n\tobject given to jsonpath engine was:\n\t\t"
        f"{_go_syntax(obj)}\n\n"
    )


def _go_syntax(value: Any) -> str:
    """A JSON value as Go's `%#v` prints it."""
    if isinstance(value, dict):
        inside = ", ".join(f"{go_quote(key)}:{_go_syntax(value[key])}" for key in sorted(value))
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
    text = json.dumps(values, indent=4, sort_keys=True, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") + "\n"
