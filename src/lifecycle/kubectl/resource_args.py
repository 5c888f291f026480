"""Naming objects on the command line: `TYPE`, `TYPE NAME…`, `TYPE,TYPE NAME…`, `TYPE/NAME…`.

Upstream: `cli-runtime/pkg/resource/builder.go` (`ResourceTypeOrNameArgs`, `splitResourceTypeName`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lifecycle.api.resources import Resource
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
            if "/" in name:
                raise CommandError("arguments in resource/name form may not have more than one slash")
            if not kind or not name:
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
