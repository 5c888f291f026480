"""Objects in files: `-f FILE`, `-f DIRECTORY`, `-f 'PATTERN'`, `-f -`.

A file holds documents, a document an object or a list of objects. What a scalar means is decided as Go's YAML library does: `y` and `on`
are booleans, `2026-01-01` is text. A document that cannot be read ends its file; the files after it are still read.

Upstream: `cli-runtime/pkg/resource/builder.go` (`FilenameParam`, `Path`), `visitor.go` (`StreamVisitor.Visit`, `ValidateSchema`),
`mapper.go` (`infoForData`), `sigs.k8s.io/yaml`, v1.36.2. Left out: URLs, kustomizations.
"""

from __future__ import annotations

import glob
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import yaml

from lifecycle.api.go_format import go_quote
from lifecycle.api.schema import decode
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.kubectl.discovery.cached_discovery import go_json
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.printing.key_order import in_key_order

EXTENSIONS = (".json", ".yaml", ".yml")
_DOCUMENT = re.compile(r"^---[ \t\r]*$", re.MULTILINE)


@dataclass(slots=True, frozen=True)
class Manifest:
    """An object, and the name of where it stands."""

    source: str
    obj: Object


def read_manifests(
    names: Sequence[str], *, recursive: bool = False, validate: bool = False, stdin: Any = None
) -> Iterator[Manifest | CommandError]:
    """The objects, in order, lists taken apart, and complaints in their places.

    `validate`: say what an object lacks before anything else is tried. Raises CommandError for paths that are not there.
    """
    for source, path in _files(names, recursive):
        try:
            text = (stdin or sys.stdin).read() if path is None else path.read_text(errors="surrogateescape")
            yield from _objects(text, source, validate)
        except OSError as wrong:
            yield CommandError(f"open {source}: {(wrong.strerror or '').lower()}")
        except CommandError as wrong:
            yield wrong


def _files(names: Sequence[str], recursive: bool) -> list[tuple[str, Path | None]]:
    found: list[tuple[str, Path | None]] = []
    wrong: list[CommandError] = []
    for name in names:
        if name == "-":
            found.append(("STDIN", None))
            continue
        matches = [name] if Path(name).exists() or not glob.has_magic(name) else sorted(glob.glob(name))
        for each in matches:
            try:
                found += [(str(path), path) for path in _below(Path(each), recursive)]
            except CommandError as complaint:
                wrong.append(complaint)
        if not matches:
            wrong.append(CommandError(f'the path "{name}" does not exist'))
    if wrong:
        raise several(wrong)
    return found


def _below(path: Path, recursive: bool) -> list[Path]:
    if not path.exists():
        raise CommandError(f'the path "{path}" does not exist')
    if not path.is_dir():
        return [path]
    found: list[Path] = []
    for each in sorted(path.iterdir()):
        if each.is_dir():
            found += _walk(each) if recursive else []
        elif each.suffix in EXTENSIONS:
            found.append(each)
    if not found:
        raise CommandError(f"error reading [{path}]: recognized file extensions are [{' '.join(EXTENSIONS)}]")
    return found


def _walk(folder: Path) -> list[Path]:
    return [
        path
        for each in sorted(folder.iterdir())
        for path in (_walk(each) if each.is_dir() else [each])
        if path.suffix in EXTENSIONS
    ]


def _objects(text: str, source: str, validate: bool) -> Iterator[Manifest | CommandError]:
    for document in _documents(text, source):
        if validate:
            _check_kind(document, source)
        try:
            for obj in _flattened(document):
                _check_object(obj, source)
                yield Manifest(source, obj)
        except CommandError as wrong:
            yield wrong


def _flattened(document: Any) -> Iterator[Any]:
    if isinstance(document, dict) and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _flattened(item)
    else:
        yield document


def _check_kind(document: Any, source: str) -> None:
    if not isinstance(document, dict):
        wrong = ["invalid object to validate"]
    else:
        wrong = [f"{field} not set" for field in ("apiVersion", "kind") if not document.get(field)]
    if wrong:
        shown = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
        raise CommandError(
            f"error validating {go_quote(source)}: error validating data: {shown}; if you choose to ignore these errors, "
            "turn validation off with --validate=false"
        )


def _check_object(obj: Any, source: str) -> None:
    """Kind and metadata must make sense to any reader. Raises CommandError."""
    why = ""
    if not isinstance(obj, dict) or not obj.get("kind"):
        why = f"Object 'Kind' is missing in '{go_json(in_key_order(obj)).decode()}'"
    elif obj.get("metadata"):
        try:
            decode({"metadata": obj["metadata"]}, "v1", "ConfigMap")
        except StatusError as wrong:
            why = wrong.message.partition("cannot be handled as a ConfigMap: ")[2] or wrong.message
    if why:
        raise CommandError(f"unable to decode {go_quote(source)}: {why}")


def _documents(text: str, source: str) -> Iterator[Any]:
    """The documents that say anything: JSON values one after another, or YAML between lines of `---`. Raises CommandError."""
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    if text.lstrip().startswith("{"):
        yield from _json_values(text, source)
        return
    for part in _DOCUMENT.split(text):
        try:
            document = yaml.load(part, Loader=_Loader)
        except (yaml.YAMLError, ValueError) as wrong:
            raise CommandError(
                f"error parsing {source}: error converting YAML to JSON: yaml: {_one_line(wrong)}"
            ) from None
        if document is not None:
            yield document


def _json_values(text: str, source: str) -> Iterator[Any]:
    at, decoder = 0, json.JSONDecoder()
    while (at := len(text) - len(text[at:].lstrip())) < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:  # YAML may start with a brace as well
            try:
                value, at = yaml.load(text[at:], Loader=_Loader), len(text)
            except (yaml.YAMLError, ValueError) as wrong:
                raise CommandError(f"error parsing {source}: {_one_line(wrong)}") from None
        if value is not None:
            yield value


def _one_line(error: Exception) -> str:
    """Go's library counts lines from zero, says none on the first, and adds one only for its scanner. Upstream: yaml.v2's `parser.fail`."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).split())
    mark, context = error.problem_mark, error.context_mark
    line = mark.line + isinstance(error, yaml.scanner.ScannerError) if mark is not None and mark.line else 0
    line = line or (context.line if context is not None else 0)
    return f"line {line}: {error.problem}" if line else f"{error.problem}"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Scalars as Go reads them; keys are always text."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        """A map with keys as JSON has them."""
        self.flatten_mapping(node)
        return {
            key if isinstance(key, str) else json.dumps(key): self.construct_object(value_node, deep=True)
            for key_node, value_node in node.value
            for key in (self.construct_object(key_node, deep=True),)
        }


def _whole_map(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    return loader.construct_mapping(node)


def _number(loader: _Loader, node: yaml.ScalarNode) -> int | float:
    text = node.value.replace("_", "")
    if _FLOAT.fullmatch(node.value) and not _INT.fullmatch(node.value):
        value = float(text)
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    sign, digits = (-1 if text[0] == "-" else 1), text.lstrip("+-")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    return sign * int(digits, 8 if octal else 0)


_INT = re.compile(r"[-+]?(0[bB][01_]+|0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]*|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BOOL = re.compile(r"[yYnN]|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF")
for _tag, _pattern, _first in (
    ("bool", _BOOL, "yYnNtTfFoO"),
    ("null", re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    ("int", _INT, "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("merge", re.compile("<<"), "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern.pattern})$"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:map", _whole_map)
_Loader.add_constructor("tag:yaml.org,2002:int", _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
_Loader.add_constructor(
    "tag:yaml.org,2002:bool", lambda loader, node: node.value[0] in "yYtT" or node.value[:2].lower() == "on"
)
