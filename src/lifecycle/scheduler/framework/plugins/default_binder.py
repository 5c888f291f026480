"""DefaultBinder: the decision becomes real by a POST to the pod's `binding`
subresource.

Upstream: `pkg/scheduler/framework/plugins/defaultbinder/default_binder.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import REQUEST_ERRORS, Client
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import BindPlugin
from lifecycle.scheduler.framework.status import SKIP, Status, as_status


class DefaultBinder(BindPlugin):
    """Binds through the API server; without a client it leaves that to others."""

    name = "DefaultBinder"

    def __init__(self, client: Client | None = None) -> None:
        self._client = client

    async def bind(
        self, state: CycleState, pod: Object, node_name: str
    ) -> Status | None:
        """An error if the server refuses: the pod is gone, is another one by now, or
        has a node already.
        """
        if self._client is None:
            return SKIP
        metadata = pod["metadata"]
        binding = {
            "kind": "Binding",
            "apiVersion": "v1",
            "metadata": {
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
            },
            "target": {"kind": "Node", "name": node_name},
        }
        try:
            await self._client.create(
                resource("pods"),
                binding,
                metadata["namespace"],
                name=metadata["name"],
                subresource="binding",
            )
        except REQUEST_ERRORS as error:
            return as_status(error, self.name)
        return None
