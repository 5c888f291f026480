"""What kubectl prints: objects as JSON or YAML, their names, one line for what happened
to them, and the server's tables.

Upstream: `cli-runtime/pkg/printers` (`JSONPrinter`, `YAMLPrinter`, `NamePrinter`,
`TablePrinter`, `GetNewTabWriter`), `cli-runtime/pkg/genericclioptions/print_flags.go`
(`ToPrinter`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.encode import marshal_indent
from lifecycle.api.go.yaml import to_yaml
from lifecycle.api.http.wire import Object
from lifecycle.api.schema import decode
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import Parsed
from lifecycle.kubectl.printing.columns import align
from lifecycle.kubectl.printing.kyaml import FORBIDDEN, to_kyaml
from lifecycle.kubectl.printing.templates import Render, template_printer
from lifecycle.kubectl.printing.terminal import escaped, on_one_line

FORMATS = (
    "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,"
    "name,template,templatefile,yaml"
)
GET_FORMATS = f"custom-columns,custom-columns-file,{FORMATS},wide".replace(
    "yaml,wide", "wide,yaml"
)


def to_json(obj: Any) -> str:
    """Indented by four, with Go's escapes, keys as they come."""
    return marshal_indent(obj) + "\n"


def typed(obj: Object) -> Object:
    """An object as a Go struct would print it: fields in declared order, empty structs
    filled in. Unknown kinds come back as they are.
    """
    try:
        return decode(obj, obj["apiVersion"], obj["kind"])[0]
    except (StatusError, KeyError):
        return obj


def without_managed_fields(obj: Object) -> Object:
    """The object as people want to see it."""
    metadata = obj.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        obj = {
            **obj,
            "metadata": {
                key: value for key, value in metadata.items() if key != "managedFields"
            },
        }
    if isinstance(obj.get("items"), list):
        obj = {**obj, "items": [without_managed_fields(item) for item in obj["items"]]}
    return obj


def type_name(obj: Object, plural: str = "") -> str:
    """`deployment.apps` – how messages call an object."""
    group = obj.get("apiVersion", "").rpartition("/")[0]
    kind = plural or obj.get("kind", "").lower()
    return f"{kind}.{group}" if group else kind


class Printer:
    """How one command prints the objects it has changed: in the format asked for, else
    `TYPE/NAME OPERATION`.

    Documents of YAML are separated from each other. Raises CommandError for a format
    that cannot be printed.
    """

    def __init__(self, p: Parsed, dry_run: str = "none") -> None:
        self.format = str(p["output"]).lower()
        self._dry_run = dry_run
        self._render = object_printer(p)
        self._printed = 0
        if self._render is None and self.format not in ("", "name"):
            raise unknown_format(str(p["output"]), FORMATS)

    @property
    def whole(self) -> bool:
        """Objects are printed, not only their names."""
        return self._render is not None

    def text(self, obj: Object, operation: str) -> str:
        """An object as text."""
        self._printed += 1
        if self._render is None:
            return (
                f"{qualified_name(obj)}\n"
                if self.format == "name"
                else operation_line(obj, operation, self._dry_run)
            )
        return (
            "---\n" if self.format == "yaml" and self._printed > 1 else ""
        ) + self._render(obj)


def object_printer(p: Parsed) -> Render | None:
    """What prints whole objects in the format asked for by `-o` and `--template`; None
    if it is none of these.

    Raises CommandError for a bad template.
    """
    output = str(p["output"])
    marshal = {"json": to_json, "yaml": _readable_yaml, "kyaml": to_kyaml}.get(
        output.lower()
    )
    if marshal is None:
        return template_printer(
            output, p["template"], strict=not p["allow-missing-template-keys"]
        )
    if p["show-managed-fields"]:
        return marshal
    return lambda obj: marshal(without_managed_fields(obj))


def _readable_yaml(obj: Object) -> str:
    """As YAML, which goes through a reader of YAML that takes no control characters.
    Raises CommandError.
    """
    if FORBIDDEN.search(to_json(obj)):
        raise CommandError("yaml: control characters are not allowed")
    return to_yaml(obj)


def qualified_name(obj: Object) -> str:
    """`deployment.apps/web`"""
    return f"{type_name(obj)}/{(obj.get('metadata') or {}).get('name', '')}"


def operation_line(obj: Object, operation: str, dry_run: str = "none") -> str:
    """What happened to an object, in one line."""
    note = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
    return f"{qualified_name(obj)} {operation}{note}\n"


def unknown_format(output: str, allowed: str) -> CommandError:
    """The refusal of an output format."""
    return CommandError(
        f"unable to match a printer suitable for the output format {go_quote(output)},"
        f" allowed formats are: {allowed}"
    )


def render_table(
    tables: Sequence[Object],
    *,
    wide: bool,
    no_headers: bool = False,
    kind: str = "",
    namespaced: bool = False,
    columns_of: Object | None = None,
    remembered: list[int] | None = None,
) -> str:
    """The server's tables of one type as text. `kind` goes before each name,
    `namespaced` adds a NAMESPACE column.

    For rows that follow later (a watch): `columns_of` is the table that named the
    columns, `remembered` keeps how wide they were.
    """
    columns = [
        (i, column)
        for i, column in enumerate(
            (columns_of or tables[0]).get("columnDefinitions") or ()
        )
        if wide or not column.get("priority")
    ]
    rows: list[list[str]] = []
    if not no_headers:
        rows.append(
            (["NAMESPACE"] if namespaced else [])
            + [column["name"].upper() for _, column in columns]
        )
    for table in tables:
        for row in table.get("rows") or ():
            cells = [_cell(row["cells"][i]) for i, _ in columns]
            if kind and cells:
                cells[0] = f"{kind}/{cells[0]}"
            if namespaced:
                cells.insert(
                    0,
                    ((row.get("object") or {}).get("metadata") or {}).get(
                        "namespace", ""
                    ),
                )
            rows.append(cells)
    return align(rows, remembered)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return on_one_line(value) if isinstance(value, str) else escaped(str(value))
