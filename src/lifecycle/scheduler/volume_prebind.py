"""Before a pod is bound to its node, its claims are bound to their volumes.

The scheduler writes only its choice: the claim on a free volume, or the chosen node on
the claim, for whoever makes volumes. The rest is the volume controllers' work; the
scheduler waits until every claim is bound, ten minutes at most, and starts over if
somebody takes the choice back.

Upstream: `pkg/scheduler/framework/plugins/volumebinding/volume_binding.go` (`Reserve`,
`PreBind`, `Unreserve`), `binder.go` (`BindPodVolumes`, `bindAPIUpdate`,
`checkBindings`), v1.36.
"""

from __future__ import annotations

import asyncio

from lifecycle.api.persistent_volumes import (
    SELECTED_NODE,
    annotations_of,
    is_fully_bound,
)
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.scheduler.framework import CycleState
from lifecycle.scheduler.plugins.volume_binding import ClaimState, VolumeBinding
from lifecycle.scheduler.volume_binder import PodVolumes, VolumeBinder, key_of

BIND_TIMEOUT = 600.0


class VolumeBindingError(Exception):
    """The volumes could not be bound; the text is what users see."""


class VolumePreBind:
    """Carries out what was found for a pod's claims."""

    def __init__(
        self, client: Client, binder: VolumeBinder, claims: SharedInformer
    ) -> None:
        self._client, self._binder, self._claims = client, binder, claims
        self._changed = asyncio.Condition()
        self._news: set[asyncio.Task[None]] = set()

    def claim_changed(self, _old: Object, _new: Object) -> None:
        """To be called when a claim changes."""
        task = asyncio.get_running_loop().create_task(
            self._tell(), name="a claim changed"
        )
        self._news.add(task)
        task.add_done_callback(self._news.discard)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def reserve(self, state: CycleState, node: str) -> PodVolumes | None:
        """Assume what is to be done on the node; None if nothing is."""
        found = state.data.get(VolumeBinding.name)
        volumes = found.by_node.get(node) if isinstance(found, ClaimState) else None
        if volumes is None or not (volumes.bindings or volumes.provisions):
            return None
        return self._binder.assume(volumes, node)

    async def bind(self, volumes: PodVolumes, node: str) -> None:
        """Write the choice and wait. Raises StatusError and VolumeBindingError."""
        for _, volume in volumes.bindings:
            await self._client.update(resource("persistentvolumes"), volume)
        for claim in volumes.provisions:
            await self._client.update(resource("persistentvolumeclaims"), claim)
        try:
            async with asyncio.timeout(BIND_TIMEOUT), self._changed:
                await self._changed.wait_for(lambda: self._all_bound(volumes, node))
        except TimeoutError:
            raise VolumeBindingError(
                "binding volumes: context deadline exceeded"
            ) from None

    def _all_bound(self, volumes: PodVolumes, node: str) -> bool:
        done = True
        for claim in [*(claim for claim, _ in volumes.bindings), *volumes.provisions]:
            key = key_of(claim)
            now = self._claims.indexer.get_by_key(key)
            if now is None:
                raise VolumeBindingError(
                    f'binding volumes: failed to check binding: could not find v1.PVC "{key}"'
                )
            bound = is_fully_bound(now)
            taken_back = (
                claim in volumes.provisions
                and not bound
                and int(now["metadata"]["resourceVersion"])
                > int(claim["metadata"]["resourceVersion"])
                and annotations_of(now).get(SELECTED_NODE) != node
            )
            if taken_back:
                raise VolumeBindingError(
                    f'binding volumes: provisioning failed for PVC "{now["metadata"]["name"]}"'
                )
            done = done and bound
        return done
