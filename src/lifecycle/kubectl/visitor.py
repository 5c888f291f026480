"""From what a command line names to the objects themselves: one GET for each name, one LIST for each selector.

Upstream: `cli-runtime/pkg/resource/builder.go` (`Builder.Do`), `visitor.go` (`Info`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lifecycle.api.resources import Resource
from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import Parsed
from lifecycle.kubectl.resource_args import load_files
from lifecycle.kubectl.session import JSON, Session


@dataclass(slots=True, frozen=True)
class Found:
    """An object as the server has it, and the resource it is one of."""

    resource: Resource
    obj: Object

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.obj["metadata"]["name"])

    @property
    def path(self) -> str:
        """Its URL."""
        return self.resource.path(self.obj["metadata"].get("namespace", ""), self.name)


async def objects_of(session: Session, p: Parsed, args: Sequence[str], *, accept: str = JSON) -> list[Found]:
    """The objects that `args`, `-f`, `-l`, `--field-selector` and `--all` name. Raises CommandError and StatusError."""
    found: list[Found] = []
    for obj in load_files(p["filename"]) if p.values.get("filename") else ():
        resource = await session.resource_for_kind(obj["apiVersion"], obj["kind"])
        namespace = obj["metadata"].get("namespace") or session.namespace
        live = await session.send("GET", resource.path(namespace, obj["metadata"]["name"]), accept=accept)
        found.append(Found(resource, live))
    if not args:
        return found
    selectors = {"labelSelector": p.values.get("selector", ""), "fieldSelector": p.values.get("field-selector", "")}
    for target in await session.targets(args):
        resource = target.resource
        if target.name:
            path = resource.path(session.namespace, target.name)
            namespace = session.namespace if resource.namespaced else ""
            found.append(Found(resource, await session.get_named(path, namespace, accept=accept)))
            continue
        if not (p.values.get("all") or any(selectors.values())):
            raise CommandError("resource(s) were provided, but no name was specified")
        namespace = "" if p["all-namespaces"] else session.namespace
        listed = await session.send("GET", resource.path(namespace), selectors, accept=accept)
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        found += [Found(resource, {**kind, **item}) for item in listed.get("items") or ()]
    return found
