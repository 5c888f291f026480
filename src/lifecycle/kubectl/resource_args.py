"""Naming objects on the command line: `TYPE`, `TYPE NAME…`, `TYPE,TYPE NAME…`, `TYPE/NAME…`, or `-f FILE`.

Upstream: `cli-runtime/pkg/resource/builder.go` (`ResourceTypeOrNameArgs`, `FilenameParam`), v1.36. Left out: URLs, kustomizations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lifecycle.api.go_format import go_quote
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.rest_mapper import RESTMapper

NOTHING_NAMED = (
    "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n"
    "   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'"
)


@dataclass(slots=True, frozen=True)
class Target:
    """One object, or all objects of a type if `name` is empty."""

    resource: Resource
    name: str = ""


def targets(mapper: RESTMapper, args: Sequence[str], warn: Callable[[str], object] | None = None) -> list[Target]:
    """What the arguments name, in order; `warn` is told about short names with several meanings.

    Raises CommandError for a mixture of forms and for types that the server does not have.
    """
    if not args:
        raise CommandError(NOTHING_NAMED)
    slashed = ["/" in arg for arg in args]
    if any(slashed):
        if not all(slashed):
            raise CommandError(
                "there is no need to specify a resource type as a separate argument when passing arguments in "
                "resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'"
            )
        found = []
        for arg in args:
            kind, _, name = arg.partition("/")
            if not kind or not name or "/" in name:
                raise CommandError("arguments in resource/name form must have a single resource and name")
            found.append(Target(mapper.resource_for(kind, warn), name))
        return found
    resources = [
        resource
        for kind in args[0].split(",")
        for resource in mapper.category(kind) or [mapper.resource_for(kind, warn)]
    ]
    names = args[1:]
    return [Target(resource, name) for resource in resources for name in names or [""]]


def load_files(names: Sequence[str], stdin: Any = None) -> list[Object]:
    """The objects in files and directories (`-` is stdin), lists taken apart. Raises CommandError for what is missing or no object."""
    return [obj for _, obj in load_sources(names, stdin)]


def load_sources(names: Sequence[str], stdin: Any = None) -> list[tuple[str, Object]]:
    """`load_files`, each object with the name of where it stands."""
    objects: list[tuple[str, Object]] = []
    for name in names:
        if name == "-":
            objects += [("STDIN", obj) for obj in _documents((stdin or sys.stdin).read(), "STDIN")]
            continue
        path = Path(name)
        if not path.exists():
            raise CommandError(f'the path "{name}" does not exist')
        files = (
            [path] if path.is_file() else sorted(p for p in path.iterdir() if p.suffix in (".json", ".yaml", ".yml"))
        )
        for file in files:
            objects += [(str(file), obj) for obj in _documents(file.read_text(), str(file))]
    if not objects:
        raise CommandError("no objects passed to apply")
    return objects


@contextmanager
def source_named(source: str, doing: str) -> Iterator[None]:
    """What the server refuses is said to be about something in a file."""
    try:
        yield
    except StatusError as refused:
        message = f"error when {doing} {go_quote(source)}: {refused.message}"
        raise StatusError({**refused.status, "message": message}) from None


def _documents(text: str, source: str) -> list[Object]:
    try:
        parsed = [document for document in yaml.safe_load_all(text) if document is not None]
    except yaml.YAMLError as wrong:
        raise CommandError(
            f"error parsing {source}: error converting YAML to JSON: yaml: {str(wrong).splitlines()[0]}"
        ) from None
    objects = []
    for document in parsed:
        if not isinstance(document, dict) or not document.get("kind"):
            raise CommandError(
                f"error when retrieving current configuration of: {source}: Object 'Kind' is missing in '{document}'"
            )
        if not document.get("apiVersion"):
            raise CommandError(f"error validating {source}: error validating data: apiVersion not set")
        if document["kind"].endswith("List") and isinstance(document.get("items"), list):
            objects += document["items"]
        else:
            objects.append(document)
    return objects
