"""From an object to the logs that are meant: which pods, which of their containers.

Upstream: `kubectl/pkg/polymorphichelpers/logsforobject.go`
(`logsForObjectWithClient`), v1.36.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.pod_containers import (
    DEFAULT_CONTAINER,
    all_container_names,
    container_names,
    first_container,
)
from lifecycle.kubectl.pods_of import by_logging, pods_of
from lifecycle.kubectl.session import Session


@dataclass(slots=True, frozen=True)
class LogSource:
    """One container's log. `path` is its URL."""

    path: str
    pod: str
    container: str


async def logs_for_object(
    obj: Object,
    container: str,
    session: Session,
    *,
    timeout: float,
    all_containers: bool,
    all_pods: bool,
) -> list[LogSource]:
    """The logs of a pod, or of the pods behind an object: of the best of them, or of
    `all_pods`. Raises CommandError, StatusError.
    """
    if obj["kind"] != "Pod":
        try:
            pods = await pods_of(obj, timeout, by_logging, session)
        except CommandError as error:
            if "not implemented" not in str(error) and "invalid" not in str(error):
                raise
            version = obj["apiVersion"].rpartition("/")[2]
            raise CommandError(
                f"cannot get the logs from *{version}.{obj['kind']}: {error}"
            ) from None
        if len(pods) > 1 and not all_pods:
            name = pods[0]["metadata"]["name"]
            session.warn(f"Found {len(pods)} pods, using pod/{name}\n")
            pods = pods[:1]
    else:
        pods = [obj]
    sources = []
    for pod in pods:
        metadata = pod["metadata"]
        names = (
            container_names(pod, "initContainers", "containers", "ephemeralContainers")
            if all_containers
            else [_container(pod, container, session, quiet=all_pods)]
        )
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/log"
        sources += [LogSource(path, metadata["name"], name) for name in names]
    return sources


def _container(pod: Object, container: str, session: Session, *, quiet: bool) -> str:
    name = pod["metadata"]["name"]
    annotations = pod["metadata"].get("annotations") or {}
    if not container and annotations.get(DEFAULT_CONTAINER):
        annotated = str(annotations[DEFAULT_CONTAINER])
        if annotated in container_names(pod):
            return annotated
        session.warn(
            f"Default container name {go_quote(annotated)} not found in pod {name}\n"
        )
    if not container:
        return first_container(pod, session, quiet=quiet)
    if container not in container_names(pod):
        raise CommandError(
            f"container {container} is not valid for pod {name} out of:"
            f" {all_container_names(pod)}"
        )
    return container
