"""The slices that one controller made: found by their Service, written, and watched for
other people's hands.

Two controllers make slices, this one from pods and `endpointslicemirroring` from
hand-made Endpoints. A label says whose a slice is.

Upstream: `pkg/controller/endpointslice/endpointslice_controller.go`
(`onEndpointSliceAdd`, `onEndpointSliceDelete`), the same in
`pkg/controller/endpointslicemirroring`; `endpointslice/reconciler.go` (`finalize`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.controllers.endpointslice.endpointslice_tracker import (
    EndpointSliceTracker,
)
from lifecycle.controllers.namespace_terminating import is_namespace_terminating

LABEL_SERVICE_NAME = "kubernetes.io/service-name"
LABEL_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"


class OwnedSlices:
    """The slices that `manager` made. `enqueue` gets the key of a Service whose slices
    somebody else changed, taken away or added.
    """

    def __init__(
        self, informer: SharedInformer, manager: str, enqueue: Callable[[str], None]
    ) -> None:
        self.informer = informer
        self.tracker = EndpointSliceTracker()
        self._manager = manager
        self._index = f"slices of {manager}"
        self._enqueue = enqueue
        informer.add_indexers({self._index: self._keys})
        informer.add_event_handler(
            add=self._changed, update=self._updated, delete=self._deleted
        )

    def of(self, key: str) -> list[Object]:
        """The slices of a Service."""
        return self.informer.indexer.by_index(self._index, key)

    def _keys(self, endpoint_slice: Object) -> tuple[str, ...]:
        """The key of the Service whose slice it is, if this controller made it."""
        meta = endpoint_slice["metadata"]
        labels = meta.get("labels") or {}
        if labels.get(LABEL_MANAGED_BY) != self._manager or not labels.get(
            LABEL_SERVICE_NAME
        ):
            return ()
        return (f"{meta['namespace']}/{labels[LABEL_SERVICE_NAME]}",)

    def _changed(self, endpoint_slice: Object) -> None:
        for key in self._keys(endpoint_slice):
            if self.tracker.should_sync(key, endpoint_slice):
                self._enqueue(key)

    def _updated(self, old: Object, new: Object) -> None:
        """A label can make a slice another Service's or another controller's; a
        generation does not count labels.
        """
        before, after = self._keys(old), self._keys(new)
        if before == after:
            self._changed(new)
        for key in dict.fromkeys((*after, *before)) if before != after else ():
            self._enqueue(key)

    def _deleted(self, endpoint_slice: Object) -> None:
        for key in self._keys(endpoint_slice):
            if not self.tracker.handle_deletion(key, endpoint_slice):
                self._enqueue(key)


async def create_slices(
    client: Client,
    tracker: EndpointSliceTracker,
    key: str,
    new: Iterable[Object],
    namespace: str,
) -> bool:
    """Write new slices of a Service; False if its namespace is on its way out, where
    nothing can be made any more. Raises StatusError.
    """
    for endpoint_slice in new:
        try:
            written = await client.create(
                resource("endpointslices.discovery.k8s.io"), endpoint_slice, namespace
            )
        except StatusError as error:
            if is_namespace_terminating(error):
                return False
            raise
        tracker.update(key, written)
    return True
