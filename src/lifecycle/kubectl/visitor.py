"""From what a command line names to the objects themselves: in files, one GET for each
name, one LIST for each selector.

Upstream: `cli-runtime/pkg/resource/builder.go` (`Builder.Do`), `visitor.go` (`Info`,
`SetNamespace`, `RequireNamespace`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import parse_selector
from lifecycle.api.resources import Resource, resource_for_kind
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError, NoMatchError
from lifecycle.kubectl.flags import Parsed, flag
from lifecycle.kubectl.manifests import Manifest, read_manifests
from lifecycle.kubectl.resource_args import check_no_names
from lifecycle.kubectl.session import JSON, Session
from lifecycle.kubectl.source_lines import KUBECTL_SCHEME

FILES = (
    flag("filename", "slice", short="f"),
    flag("kustomize", short="k"),
    flag("recursive", "bool", short="R"),
)


@dataclass(slots=True, frozen=True)
class Info:
    """An object as the server has it, or as a file has it (then `source` names the
    file), and the resource it is one of.

    `subresource`: only this part of it is meant.
    """

    resource: Resource
    obj: Object
    source: str = ""
    subresource: str = ""

    @property
    def name(self) -> str:
        """Its name."""
        return str((self.obj.get("metadata") or {}).get("name") or "")

    @property
    def namespace(self) -> str:
        """Its namespace; empty if it has none."""
        return str((self.obj.get("metadata") or {}).get("namespace") or "")

    @property
    def path(self) -> str:
        """Its URL."""
        return self.resource.path(self.namespace, self.name, self.subresource)

    def not_found(self) -> StatusError:
        """What is said when it is missed where it was."""
        plural, group = self.resource.plural, self.resource.group
        message = f"{plural}{group and '.' + group} {go_quote(self.name)} not found"
        return StatusError({"code": 404, "reason": "NotFound", "message": message})


@contextmanager
def add_source_to_err(source: str, verb: str) -> Iterator[None]:
    """What the server refuses is said to be about something in a file."""
    try:
        yield
    except StatusError as error:
        message = f"error when {verb} {go_quote(source)}: {error.message}"
        raise StatusError({**error.status, "message": message}) from None


async def visit_by_paths(
    session: Session, p: Parsed, *, validate: bool = False, selecting: bool = True
) -> list[Info | CommandError]:
    """The objects in the files of `-f`, in order, each in its namespace, and complaints
    in their places.

    `selecting`: `-l` picks some. Raises CommandError for paths that are not there.
    """
    if p.values.get("kustomize"):
        if p["filename"]:
            raise CommandError("only one of -f or -k can be specified")
        raise CommandError("-k is not built into this kubectl; -f is")
    infos: list[Info | CommandError] = []
    selector = (
        parse_selector(p["selector"])
        if selecting and p.values.get("selector")
        else None
    )
    for manifest in read_manifests(
        p["filename"],
        recursive=bool(p.values.get("recursive")),
        validate=validate,
        stdin=session.stdin,
    ):
        if isinstance(manifest, CommandError):
            infos.append(manifest)
            continue
        try:
            info = await _require_namespace(manifest, session)
        except CommandError as err:
            infos.append(err)
            continue
        if selector is None or selector.matches(
            (info.obj.get("metadata") or {}).get("labels")
        ):
            infos.append(info)
    return infos


def local_objects(p: Parsed, stdin: TextIO, *, structured: bool = True) -> list[Info]:
    """The objects in the files of `-f`, without asking any server. Raises
    CommandError, also for kinds that kubectl does not know, if they need to be
    `structured`.
    """
    infos = []
    for manifest in read_manifests(
        p["filename"], recursive=p["recursive"], stdin=stdin
    ):
        if isinstance(manifest, CommandError):
            raise manifest
        resource = resource_for_kind(
            manifest.obj.get("apiVersion", ""), manifest.obj["kind"]
        )
        if resource is None and not structured:
            group, _, version = manifest.obj.get("apiVersion", "").rpartition("/")
            kind = manifest.obj["kind"]
            resource = Resource(group, version, kind.lower(), kind, "", False, ())
        if resource is None:
            kind = go_quote(manifest.obj["kind"])
            version = go_quote(manifest.obj.get("apiVersion", ""))
            raise CommandError(
                f"unable to decode {go_quote(manifest.source)}: no kind {kind} is"
                f' registered for version {version} in scheme "{KUBECTL_SCHEME}"'
            )
        infos.append(Info(resource, manifest.obj, manifest.source))
    return infos


def paths_and(args: Sequence[str]) -> CommandError:
    """The refusal of arguments beside files."""
    if any("/" in arg for arg in args):
        return CommandError(
            "resource/name arguments cannot be provided when a path is specified"
        )
    return CommandError(
        "when paths, URLs, or stdin is provided as input, you may not specify resource"
        " arguments as well"
    )


async def _require_namespace(manifest: Manifest, session: Session) -> Info:
    obj, metadata = manifest.obj, manifest.obj.get("metadata") or {}
    try:
        resource = await session.resource_for_kind(
            obj.get("apiVersion", ""), obj["kind"]
        )
    except NoMatchError as err:
        raise NoMatchError(
            "resource mapping not found for name:"
            f" {go_quote(metadata.get('name') or '')} namespace:"
            f" {go_quote(metadata.get('namespace') or '')} from"
            f" {go_quote(manifest.source)}: {err}"
        ) from None
    namespace = metadata.get("namespace")
    if resource.namespaced:
        if namespace and session.explicit_namespace and namespace != session.namespace:
            raise CommandError(
                f"the namespace from the provided object {go_quote(namespace)} does not"
                f" match the namespace {go_quote(session.namespace)}. You must pass"
                f" '--namespace={namespace}' to perform this operation."
            )
        metadata = {**metadata, "namespace": namespace or session.namespace}
    elif namespace:
        metadata = {key: value for key, value in metadata.items() if key != "namespace"}
    return Info(
        resource, {**obj, "metadata": metadata} if metadata else obj, manifest.source
    )


async def visit(
    session: Session,
    p: Parsed,
    args: Sequence[str],
    *,
    accept: str = JSON,
    latest: bool = True,
    selecting: bool = True,
    fetch: bool = True,
    every: bool = False,
) -> AsyncIterator[Info | CommandError | StatusError]:
    """The objects that `args`, `-f`, `-l` and `--field-selector` name, as the server
    has them, one by one, and refusals in their places: one object is dealt with before
    the next is asked for.

    `latest`: what is in files is asked for as well. `selecting`: `-l` and
    `--field-selector` choose objects here. `fetch`: without it, what has a name is not
    asked for at all. `every`: a type without a name means all objects of it. Raises
    CommandError for what names nothing.
    """
    async for visitor in _visitors(session, p, args, selecting, every):
        if not isinstance(visitor, _Visitor):
            yield visitor
        elif visitor.local is not None and not latest:
            yield visitor.local
        elif not visitor.whole and not fetch:
            metadata = {
                "name": visitor.name,
                **({"namespace": visitor.namespace} if visitor.namespace else {}),
            }
            yield Info(visitor.resource, {"metadata": metadata})
        elif not visitor.whole:
            try:
                live = await session.get(visitor.path, visitor.namespace, accept=accept)
                yield Info(
                    visitor.resource,
                    live,
                    visitor.local.source if visitor.local else "",
                )
            except StatusError as error:
                yield error
        else:
            try:
                listed = await _visit_selector(session, p, visitor, accept)
            except StatusError as error:
                yield error
                continue
            for each in listed:
                yield each


@dataclass(slots=True, frozen=True)
class _Visitor:
    """One GET: of an object, or of all objects of a type (`whole`). `local`: the object
    as a file has it.
    """

    resource: Resource
    path: str
    namespace: str
    whole: bool = False
    local: Info | None = None
    name: str = ""


async def _visitors(
    session: Session, p: Parsed, args: Sequence[str], selecting: bool, every: bool
) -> AsyncIterator[_Visitor | CommandError]:
    if p.values.get("filename") or p.values.get("kustomize"):
        if args:
            raise paths_and(args)
        for info in await visit_by_paths(session, p, selecting=selecting):
            yield (
                _Visitor(info.resource, info.path, info.namespace, local=info)
                if isinstance(info, Info)
                else info
            )
        return
    by_selector = selecting and any(
        p.values.get(name) for name in ("selector", "field-selector")
    )
    if not args and by_selector:
        raise CommandError("at least one resource must be specified to use a selector")
    if by_selector:
        check_no_names(args)
    targets = await session.targets(args)
    for target in targets:
        if not (target.name or by_selector or every):
            raise CommandError("resource(s) were provided, but no name was specified")
        if (
            target.name
            and p.values.get("all-namespaces")
            and target.resource.namespaced
        ):
            raise CommandError(
                "a resource cannot be retrieved by name across all namespaces"
            )
    for target in targets:
        resource = target.resource
        if target.name:
            namespace = session.namespace if resource.namespaced else ""
            yield _Visitor(
                resource,
                resource.path(session.namespace, target.name),
                namespace,
                name=target.name,
            )
        else:
            inside = "" if p.values.get("all-namespaces") else session.namespace
            yield _Visitor(resource, resource.path(inside), inside, whole=True)


async def _visit_selector(
    session: Session, p: Parsed, visitor: _Visitor, accept: str
) -> list[Info]:
    selectors = {
        "labelSelector": p.values.get("selector", ""),
        "fieldSelector": p.values.get("field-selector", ""),
    }
    chunk = p.values.get("chunk-size", 0)
    query = {**selectors, "limit": str(chunk) if chunk else ""}
    kind = {"apiVersion": visitor.resource.api_version, "kind": visitor.resource.kind}
    infos: list[Info] = []
    while True:
        try:
            listed = await session.send("GET", visitor.path, query, accept=accept)
        except StatusError as error:
            raise list_refused(error, visitor.resource, selectors) from None
        infos += (
            Info(visitor.resource, {**kind, **item})
            for item in listed.get("items") or ()
        )
        query["continue"] = (listed.get("metadata") or {}).get("continue", "")
        if not query["continue"]:
            return infos


def list_refused(
    refused: StatusError, resource: Resource, selectors: Mapping[str, str]
) -> StatusError:
    """A list that makes no sense to the server, told with what was asked for. Upstream:
    `Selector.Visit`.
    """
    if refused.code not in (400, 404):
        return refused
    gvr = go_quote(f"{resource.group}/{resource.version}, Resource={resource.plural}")
    labels, fields = (
        selectors.get("labelSelector", ""),
        selectors.get("fieldSelector", ""),
    )
    if labels or fields:
        prefix = (
            f"Unable to find {gvr} that match label selector {go_quote(labels)},"
            f" field selector {go_quote(fields)}"
        )
    else:
        prefix = f"Unable to list {gvr}"
    return StatusError({**refused.status, "message": f"{prefix}: {refused.message}"})
