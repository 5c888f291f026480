"""Mirror pods: what the API server gets to see of static pods.

The kubelet runs a static pod from its manifest. For each it creates a pod of the same
name through the API, so that `kubectl get pods` shows it. That one is a picture:
deleting it ends nothing, and it is drawn again; only the manifest counts. The
annotation `config.mirror` carries the static pod's hash: if it is another, the picture
is outdated.

Upstream: `pkg/kubelet/pod/mirror_client.go` (`CreateMirrorPod`, `DeleteMirrorPod`),
`kubelet.go` (`tryReconcileMirrorPods`), v1.36.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import REQUEST_ERRORS, Client
from lifecycle.kubelet.pod.pod_manager import PodManager, full_name, is_mirror_pod_of
from lifecycle.kubelet.types.pod_update import CONFIG_HASH, CONFIG_MIRROR

log = logging.getLogger(__name__)


class MirrorClient:
    """Draws and removes pictures. `node` is the Node they belong to."""

    def __init__(self, client: Client, node: Object) -> None:
        self._client = client
        self._node = node

    async def create_mirror_pod(self, pod: Object) -> bool:
        """Whether a picture of exactly this pod is there now."""
        meta = pod["metadata"]
        copy = {
            key: value
            for key, value in meta.items()
            if key not in ("uid", "resourceVersion", "creationTimestamp")
        }
        annotations = meta["annotations"]
        copy["annotations"] = {**annotations, CONFIG_MIRROR: annotations[CONFIG_HASH]}
        owner = {
            "apiVersion": "v1",
            "kind": "Node",
            "name": self._node["metadata"]["name"],
            "controller": True,
        }
        copy["ownerReferences"] = [{**owner, "uid": self._node["metadata"]["uid"]}]
        picture = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": copy,
            "spec": pod["spec"],
        }
        try:
            await self._client.create(resource("pods"), picture, meta["namespace"])
            return True
        except REQUEST_ERRORS as error:
            if isinstance(error, StatusError) and error.reason == "AlreadyExists":
                there = await self._client.get(
                    resource("pods"), meta["name"], meta["namespace"]
                )
                return is_mirror_pod_of(there, pod)
            log.debug("failed creating a mirror pod for %s: %s", meta["name"], error)
            return False

    async def delete_mirror_pod(self, name: str, namespace: str, uid: str) -> None:
        """Take it away at once. Again does no harm."""
        try:
            await self._client.delete(
                resource("pods"), name, namespace, uid=uid, grace_period=0
            )
        except REQUEST_ERRORS as error:
            log.debug("failed deleting a mirror pod: %s", error)


class MirrorPods:
    """Keeps the API server's picture of one node's static pods as they are. `node` is
    the Node as known now, empty before it is; `start` runs something beside.
    """

    def __init__(
        self,
        client: Client,
        pod_manager: PodManager,
        node: Callable[[], Object],
        start: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._client = client
        self._pod_manager = pod_manager
        self._node = node
        self._start = start
        self._creating: set[tuple[str, str]] = set()

    def try_reconcile(self, pod: Object) -> None:
        """Show a static pod to the API server, if it is not shown as it is. Upstream:
        `tryReconcileMirrorPods`.
        """
        mirror = self._pod_manager.get_mirror_pod(pod)
        is_current = (
            mirror is not None
            and is_mirror_pod_of(mirror, pod)
            and not mirror["metadata"].get("deletionTimestamp")
        )
        if not self._node() or is_current or full_name(pod) in self._creating:
            return
        self._start(self._draw(pod, mirror))

    def delete(self, pod: Object) -> None:
        """The static pod is gone: so is its picture."""
        mirror = self._pod_manager.get_mirror_pod(pod)
        if mirror is not None:
            client, meta = MirrorClient(self._client, self._node()), mirror["metadata"]
            self._start(
                client.delete_mirror_pod(meta["name"], meta["namespace"], meta["uid"])
            )

    async def _draw(self, pod: Object, outdated: Object | None) -> None:
        """`outdated`: the mirror that is there, which shows something else or which
        somebody wants gone.
        """
        self._creating.add(full_name(pod))
        client = MirrorClient(self._client, self._node())
        try:
            if outdated is not None:
                meta = outdated["metadata"]
                await client.delete_mirror_pod(
                    meta["name"], meta["namespace"], meta["uid"]
                )
            await client.create_mirror_pod(pod)
        finally:
            self._creating.discard(full_name(pod))
