"""Writes a StatefulSet's status, and again if the set has changed in between: what the
sync has found out about its pods is not lost by a change of, say, a label.

Upstream: `pkg/controller/statefulset/stateful_set_status_updater.go`
(`realStatefulSetStatusUpdater.UpdateStatefulSetStatus`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.client.retry import retry_on_conflict
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.client.store import meta_namespace_key
from lifecycle.controllers.object_copy import mutable_copy


class StatefulSetStatusUpdater:
    """`sets`: where the set is read again after a refusal."""

    def __init__(self, client: Client, sets: SharedInformer) -> None:
        self._client = client
        self._sets = sets

    async def update(self, set_: Object, status: Object) -> Object:
        """The set with its status, as written. Raises StatusError."""
        key, known = meta_namespace_key(set_), set_

        async def attempt() -> Object:
            nonlocal known
            try:
                return await self._client.update(
                    resource("statefulsets.apps"),
                    {**mutable_copy(known), "status": status},
                    subresource="status",
                )
            except StatusError:
                # what is not known any more is tried as it was: the answer will tell
                known = self._sets.indexer.get_by_key(key) or known
                raise

        return await retry_on_conflict(attempt)
