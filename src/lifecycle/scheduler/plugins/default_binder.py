"""DefaultBinder: the decision becomes real by a POST to the pod's `binding`
subresource.

Upstream: `pkg/scheduler/framework/plugins/defaultbinder/default_binder.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client
from lifecycle.scheduler.framework import Plugin


class DefaultBinder(Plugin):
    """Binds through the API server."""

    name = "DefaultBinder"

    async def bind(self, client: Client, pod: Object, node_name: str) -> None:
        """Raises StatusError if the server refuses: the pod is gone, is another one by
        now, or has a node already.
        """
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
        await client.create(
            resource("pods"),
            binding,
            metadata["namespace"],
            name=metadata["name"],
            subresource="binding",
        )
