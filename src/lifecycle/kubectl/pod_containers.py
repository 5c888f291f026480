"""Which container of a pod a command is about.

Upstream: `kubectl/pkg/cmd/util/podcmd/podcmd.go` (`FindContainerByName`,
`FindOrDefaultContainerByName`, `AllContainerNames`), v1.36.2.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.session import Session

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
FIELDS = ("containers", "ephemeralContainers", "initContainers")
_MARKS = {"ephemeralContainers": " (ephem)", "initContainers": " (init)"}


def container_names(pod: Object, *fields: str) -> list[str]:
    """The names of a pod's containers; in all `fields`, if none is said."""
    return [
        container["name"]
        for field in fields or FIELDS
        for container in (pod.get("spec") or {}).get(field) or ()
    ]


def all_container_names(pod: Object) -> str:
    """All of them for people to read: `web, proxy (init)`."""
    return ", ".join(
        f"{name}{_MARKS.get(field, '')}"
        for field in FIELDS
        for name in container_names(pod, field)
    )


def find_or_default_container(
    pod: Object, name: str, session: Session, *, quiet: bool = False
) -> str:
    """The container that is meant; if none was said, the one that the pod's annotation
    names, or the first, and then that is told. Raises CommandError.
    """
    metadata = pod["metadata"]
    if name:
        if name not in container_names(pod):
            raise CommandError(f"container {name} not found in pod {metadata['name']}")
        return name
    if not container_names(pod, "containers"):
        where = f"{metadata['namespace']}/{metadata['name']}"
        raise CommandError(f"pod {where} does not have any containers")
    annotated = (metadata.get("annotations") or {}).get(DEFAULT_CONTAINER, "")
    if annotated in container_names(pod):
        return str(annotated)
    return first_container(pod, session, quiet=quiet)


def first_container(pod: Object, session: Session, *, quiet: bool = False) -> str:
    """The first; that is told if there are others."""
    first, *others = container_names(pod)
    if others and not quiet:
        session.warn(
            f"Defaulted container {go_quote(first)} out of:"
            f" {all_container_names(pod)}\n"
        )
    return first
