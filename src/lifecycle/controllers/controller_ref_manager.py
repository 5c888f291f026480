"""Adoption and release: an object belongs to the controller that its owner reference
names, and the selector decides whether it should.

| the object's controller | selector matches | what happens |
|---|---|---|
| this one | yes | claimed |
| this one | no | released: the reference is removed |
| another | – | left alone |
| none | yes | adopted: a reference is added |
| none | no | left alone |

A controller that is being deleted adopts and releases nothing. Before the first
adoption it asks the server itself, past every cache, whether it is being deleted, lest
it adopt what the garbage collector has just orphaned.

Upstream: `pkg/controller/controller_ref_manager.go`
(`BaseControllerRefManager.ClaimObject`, `PodControllerRefManager`,
`ReplicaSetControllerRefManager`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.client.keyed_worker import RetryError
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.controllers.owner_references import get_controller_of, new_controller_ref


class ControllerRefManager:
    """Claims objects of one resource for one controller object. Make a new one for each
    sync. `finalizers`: what is adopted gets them.
    """

    def __init__(
        self,
        client: Client,
        owner: Object,
        owner_resource: Resource,
        resource: Resource,
        selector: Selector,
        finalizers: Sequence[str] = (),
    ) -> None:
        self._client = client
        self._owner = owner
        self._owner_resource = owner_resource
        self._resource = resource
        self._selector = selector
        self._finalizers = list(finalizers)
        self._may_adopt = False

    async def claim(self, objects: Iterable[Object]) -> list[Object]:
        """The objects that are this controller's, after adopting and releasing. Raises
        StatusError, RetryError.
        """
        owner_uid = self._owner["metadata"]["uid"]
        owner_deleted = "deletionTimestamp" in self._owner["metadata"]
        matches = self._selector.matches
        claimed: list[Object] = []
        for obj in objects:
            meta = obj["metadata"]
            reference = get_controller_of(obj)
            if reference is not None:
                if reference["uid"] != owner_uid:
                    continue
                if matches(meta.get("labels")):
                    claimed.append(obj)
                elif not owner_deleted:
                    await self._release(obj)
            elif (
                not owner_deleted
                and "deletionTimestamp" not in meta
                and matches(meta.get("labels"))
                and await self._adopt(obj)
            ):
                claimed.append(obj)
        return claimed

    async def _adopt(self, obj: Object) -> bool:
        await self._recheck_deletion_timestamp()
        meta = obj["metadata"]
        adopted = {
            "ownerReferences": [new_controller_ref(self._owner)],
            "uid": meta["uid"],
        }
        if self._finalizers:
            adopted["finalizers"] = self._finalizers
        return await self._patch(meta, {"metadata": adopted})

    async def _release(self, obj: Object) -> None:
        meta = obj["metadata"]
        reference = {"$patch": "delete", "uid": self._owner["metadata"]["uid"]}
        await self._patch(
            meta, {"metadata": {"ownerReferences": [reference], "uid": meta["uid"]}}
        )

    async def _patch(self, meta: Object, patch: Object) -> bool:
        try:
            await self._client.patch(
                self._resource,
                meta["name"],
                meta.get("namespace", ""),
                patch,
                patch_type=STRATEGIC_MERGE_PATCH,
            )
        except StatusError as error:
            if (
                error.code == 404 or error.code == 422
            ):  # gone, or replaced by another of that name: nothing left to do
                return False
            raise
        return True

    async def _recheck_deletion_timestamp(self) -> None:
        if self._may_adopt:
            return
        meta = self._owner["metadata"]
        fresh = await self._client.get(
            self._owner_resource, meta["name"], meta.get("namespace", "")
        )
        if fresh["metadata"]["uid"] != meta["uid"]:
            raise RetryError(f"original {meta['name']} is gone")
        if "deletionTimestamp" in fresh["metadata"]:
            raise RetryError(f"{meta['name']} has just been deleted")
        self._may_adopt = True
