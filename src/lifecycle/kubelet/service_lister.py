"""The Services that a kubelet knows, for the variables of its containers.

A kubelet watches all Services. A thousand kubelets of one process would hold a thousand
copies of them, and the API server would tell each; so nodes that are not there may
share one informer: the first that waits for it starts it, whoever made it stops it.

Upstream: `pkg/kubelet/kubelet.go` (`serviceLister`, `serviceHasSynced`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer


class ServiceLister:
    """The Services that `client` may see; or those of an informer that is `shared`."""

    def __init__(self, client: Client, shared: SharedInformer | None = None) -> None:
        self._informer = shared or SharedInformer(client, resource("services"))
        self._is_own = shared is None

    def list(self) -> list[Object]:
        """All that are known. Do not change them."""
        return self._informer.indexer.list()

    async def wait_for_sync(self) -> None:
        """Until all have been listed once."""
        await self._informer.wait_for_sync()

    async def stop(self) -> None:
        """Nobody asks any more."""
        if self._is_own:
            await self._informer.stop()
