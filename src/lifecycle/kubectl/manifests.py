"""Objects in files: `-f FILE`, `-f DIRECTORY`, `-f 'PATTERN'`, `-f -`.

A file holds documents, a document an object or a list of objects. A document that
cannot be read ends its file; the files after it are still read.

Upstream: `cli-runtime/pkg/resource/builder.go` (`FilenameParam`, `Path`), `visitor.go`
(`StreamVisitor.Visit`, `ValidateSchema`), `mapper.go` (`infoForData`),
`sigs.k8s.io/yaml`, v1.36.2. Left out: URLs, kustomizations.
"""

from __future__ import annotations

import glob
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.go.json.scanner import syntax_error_message
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.decode import CannotBeHandledError, decode
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
    names: Sequence[str],
    *,
    recursive: bool = False,
    validate: bool = False,
    stdin: Any = None,
) -> Iterator[Manifest | CommandError]:
    """The objects, in order, lists taken apart, and complaints in their places.

    `validate`: say what an object lacks before anything else is tried. Raises
    CommandError for paths that are not there.
    """
    for source, path in _files(names, recursive):
        try:
            text = (
                (stdin or sys.stdin).read()
                if path is None
                else path.read_text(errors="replace")
            )
            yield from _objects(text, source, validate)
        except OSError as error:
            yield CommandError(f"open {source}: {(error.strerror or '').lower()}")
        except CommandError as error:
            yield error


def check_paths(names: Sequence[str], *, recursive: bool = False) -> None:
    """Raises CommandError for paths that are not there."""
    _files(names, recursive)


def _files(names: Sequence[str], recursive: bool) -> list[tuple[str, Path | None]]:
    paths: list[tuple[str, Path | None]] = []
    errs: list[CommandError] = []
    for name in names:
        if name == "-":
            paths.append(("STDIN", None))
            continue
        matches = (
            [name]
            if Path(name).exists() or not glob.has_magic(name)
            else sorted(glob.glob(name))
        )
        for each in matches:
            try:
                paths += [(str(path), path) for path in _below(Path(each), recursive)]
            except CommandError as error:
                errs.append(error)
        if not matches:
            errs.append(CommandError(f'the path "{name}" does not exist'))
    if errs:
        raise several(errs)
    return paths


def _below(path: Path, recursive: bool) -> list[Path]:
    if not path.exists():
        raise CommandError(f'the path "{path}" does not exist')
    if not path.is_dir():
        return [path]
    files: list[Path] = []
    for each in sorted(path.iterdir()):
        if each.is_dir():
            files += _walk(each) if recursive else []
        elif each.suffix in EXTENSIONS:
            files.append(each)
    if not files:
        raise CommandError(
            f"error reading [{path}]: recognized file extensions are"
            f" [{' '.join(EXTENSIONS)}]"
        )
    return files


def _walk(folder: Path) -> list[Path]:
    return [
        path
        for each in sorted(folder.iterdir())
        for path in (_walk(each) if each.is_dir() else [each])
        if path.suffix in EXTENSIONS
    ]


def _objects(
    text: str, source: str, validate: bool
) -> Iterator[Manifest | CommandError]:
    for document in _documents(text, source):
        if validate:
            _check_kind(document, source)
        try:
            for obj in _flattened(document):
                inside = obj is not document
                if inside and validate:
                    _check_kind(obj, source)
                _check_object(obj, source, inside=inside)
                yield Manifest(source, obj)
        except CommandError as error:
            yield error


def _flattened(document: Any) -> Iterator[Any]:
    if isinstance(document, dict) and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _flattened(item)
    else:
        yield document


def _check_kind(document: Any, source: str) -> None:
    if not isinstance(document, dict):
        errs = ["invalid object to validate"]
    else:
        errs = [
            f"{field} isn't string type" if document.get(field) else f"{field} not set"
            for field in ("apiVersion", "kind")
            if not (document.get(field) and isinstance(document[field], str))
        ]
    if errs:
        raise CommandError(
            f"error validating {go_quote(source)}: error validating data:"
            f" {aggregate(errs)}; if"
            " you choose to ignore these errors, turn validation off with"
            " --validate=false"
        )


def _check_object(obj: Any, source: str, *, inside: bool = False) -> None:
    """Kind and metadata must make sense to any reader. `inside`: of a list. Raises
    CommandError.
    """
    why = ""
    if not isinstance(obj, dict):
        why = wrong_type(
            obj, "map[string]interface {}" if inside else "unstructured.detector"
        )
    elif not obj.get("kind") or not isinstance(obj["kind"], str):
        why = f"Object 'Kind' is missing in '{marshal(in_key_order(obj))}'"
    elif not isinstance(obj.get("apiVersion") or "", str):
        field = "metadataOnlyObject.TypeMeta.apiVersion"
        why = wrong_type(obj["apiVersion"], "string", field)
    elif obj.get("metadata"):
        try:
            decode({"metadata": obj["metadata"]}, "v1", "ConfigMap")
        except CannotBeHandledError as error:
            why = error.why.replace(
                " ConfigMap.metadata ", " metadataOnlyObject.metadata "
            )
    if why:
        raise CommandError(f"unable to decode {go_quote(source)}: {why}")


def _documents(text: str, source: str) -> Iterator[Any]:
    """The documents that say anything: JSON values one after another, or YAML between
    lines of `---`. Raises CommandError.
    """
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    if text.lstrip().startswith("{"):
        yield from _json_values(text, source)
        return
    for part in _DOCUMENT.split(text):
        try:
            document, _ = read_yaml(part.encode())
        except ValueError as error:
            raise CommandError(
                f"error parsing {source}: error converting YAML to JSON: {error}"
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
                (value, _), at = read_yaml(text[at:].encode()), len(text)
            except ValueError as error:
                why = str(error).removeprefix("yaml: ")
                if at:  # after a JSON value nothing else is expected any more
                    why = syntax_error_message(text[at:].encode())
                    why = why.replace("unexpected end of JSON input", "unexpected EOF")
                raise CommandError(f"error parsing {source}: {why}") from None
        if value is not None:
            yield value
