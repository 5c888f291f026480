"""Creating and deleting pods for a controller, and saying so in events.

Upstream: `pkg/controller/controller_utils.go` (`RealPodControl`, `GetPodFromTemplate`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import REQUEST_ERRORS, Client
from lifecycle.controllers.namespace_terminating import is_namespace_terminating
from lifecycle.controllers.owner_references import new_controller_ref

MAX_SUBDOMAIN_LENGTH = 253


def pods_prefix(controller_name: str) -> str:
    """`generateName` of a controller's pods: its name and a dash, or just the name if
    the dash would make it illegal.
    """
    prefix = f"{controller_name}-"
    return prefix if len(prefix) <= MAX_SUBDOMAIN_LENGTH else controller_name


def pod_from_template(template: Object, parent: Object) -> Object:
    """A new pod as a controller sends it. Upstream: `GetPodFromTemplate`."""
    meta = template.get("metadata") or {}
    metadata: Object = {"generateName": pods_prefix(parent["metadata"]["name"])}
    for name in ("labels", "annotations", "finalizers"):
        if meta.get(name):
            metadata[name] = meta[name]
    metadata["ownerReferences"] = [new_controller_ref(parent)]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": template["spec"],
        "status": {},
    }


class PodControl:
    """Pod creates and deletes with their events."""

    def __init__(self, client: Client, recorder: EventRecorder) -> None:
        self._client = client
        self._recorder = recorder

    async def create_pod(
        self, encoded_pod: bytes, namespace: str, parent: Object
    ) -> None:
        """Create a pod from its JSON (made once for a whole batch: each request needs
        an object of its own).

        Raises StatusError.
        """
        try:
            created = await self._client.create(
                resource("pods"), fast_json.loads(encoded_pod), namespace
            )
        except REQUEST_ERRORS as error:
            if not (isinstance(error, StatusError) and is_namespace_terminating(error)):
                self._recorder.event(
                    parent,
                    "Warning",
                    "FailedCreate",
                    f"Error creating: {error}",
                )
            raise
        self._recorder.event(
            parent,
            "Normal",
            "SuccessfulCreate",
            f"Created pod: {created['metadata']['name']}",
        )

    async def delete_pod(self, name: str, namespace: str, parent: Object) -> None:
        """Delete a pod. Raises StatusError; a pod that is gone already is 404."""
        try:
            await self._client.delete(resource("pods"), name, namespace)
        except REQUEST_ERRORS as error:
            if not (isinstance(error, StatusError) and error.code == 404):
                self._recorder.event(
                    parent,
                    "Warning",
                    "FailedDelete",
                    f"Error deleting: {error}",
                )
            raise
        self._recorder.event(
            parent, "Normal", "SuccessfulDelete", f"Deleted pod: {name}"
        )
