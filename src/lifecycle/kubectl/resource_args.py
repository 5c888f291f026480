"""Naming objects on the command line: `TYPE`, `TYPE NAME…`, `TYPE,TYPE NAME…`,
`TYPE/NAME…`.

Upstream: `cli-runtime/pkg/resource/builder.go` (`ResourceTypeOrNameArgs`,
`splitResourceTypeName`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lifecycle.api.resources import Resource
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.rest_mapper import RESTMapper

NOTHING_NAMED = (
    "You must provide one or more resources by argument or filename.\nExample resource"
    " specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n  "
    " '<resource> <name>'\n   '<resource>'"
)


@dataclass(slots=True, frozen=True)
class ResourceTuple:
    """One object, or all objects of a type if `name` is empty."""

    resource: Resource
    name: str = ""


def check_no_names(args: Sequence[str]) -> None:
    """Raises CommandError if the arguments name objects, where a selector chooses
    them.
    """
    check_form(args)
    if any("/" in arg for arg in args) or (len(args) > 1 and "," in args[0]):
        raise CommandError(
            "selectors and the all flag cannot be used when passing resource/name"
            " arguments"
        )
    if len(args) > 1:
        raise CommandError("name cannot be provided when a selector is specified")


def single_item_implied(args: Sequence[str]) -> bool:
    """Whether the arguments name just one object."""
    if len(args) == 1:
        return "/" in args[0]
    return len(args) == 2 and "/" not in args[0] and "," not in args[0]


def check_form(args: Sequence[str]) -> None:
    """Raises CommandError for a mixture of forms, and for `TYPE/NAME` without one of
    the two.
    """
    slashed = ["/" in arg for arg in args]
    if any(slashed) and not all(slashed):
        raise CommandError(
            "there is no need to specify a resource type as a separate argument when"
            " passing arguments in resource/name form (e.g. 'kubectl get"
            " resource/<resource_name>' instead of 'kubectl get resource"
            " resource/<resource_name>'"
        )
    for arg in args if any(slashed) else ():
        kind, _, name = arg.partition("/")
        if "/" in name:
            raise CommandError(
                "arguments in resource/name form may not have more than one slash"
            )
        if not kind or not name:
            raise CommandError(
                "arguments in resource/name form must have a single resource and name"
            )


def resource_names(plural: str, names: Sequence[str]) -> list[str]:
    """`NAME` as `PLURAL/NAME`; what has a type already keeps it. Upstream:
    `Builder.ResourceNames`. Raises CommandError for an empty name.
    """
    if not all(names):
        raise CommandError("resource name may not be empty")
    return [name if "/" in name else f"{plural}/{name}" for name in names]


def targets(
    mapper: RESTMapper, args: Sequence[str], warn: Callable[[str], object] | None = None
) -> list[ResourceTuple]:
    """What the arguments name, in order; `warn` is told about short names with several
    meanings.

    Raises CommandError for a mixture of forms and for types that the server does not
    have.
    """
    if not args:
        raise CommandError(NOTHING_NAMED)
    check_form(args)
    if "/" in args[0]:
        pairs = [arg.split("/") for arg in args]
        return [
            ResourceTuple(mapper.resource_for(kind, warn), name) for kind, name in pairs
        ]
    resources = [
        resource
        for kind in args[0].split(",")
        for resource in mapper.category(kind) or [mapper.resource_for(kind, warn)]
    ]
    names = args[1:]
    return [
        ResourceTuple(resource, name)
        for resource in resources
        for name in names or [""]
    ]
