"""Mirror pods: what the API server gets to see of static pods.

The kubelet runs a static pod from its manifest. For each it creates a pod of the same
name through the API, so that `kubectl get pods` shows it. That one is a picture:
deleting it ends nothing, and it is drawn again; only the manifest counts. The
annotation `config.mirror` carries the static pod's hash: if it is another, the picture
is outdated.

Upstream: `pkg/kubelet/pod/mirror_client.go` (`CreateMirrorPod`, `DeleteMirrorPod`),
`pod_manager.go` (`TranslatePodUID`), `kubelet.go` (`tryReconcileMirrorPods`), v1.36.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client
from lifecycle.kubelet.config import CONFIG_HASH, CONFIG_MIRROR

log = logging.getLogger(__name__)


def is_mirror_pod(pod: Object) -> bool:
    """Whether a pod is only a picture of one."""
    return CONFIG_MIRROR in (pod["metadata"].get("annotations") or {})


def is_mirror_pod_of(mirror: Object, pod: Object) -> bool:
    """Whether it still shows what the static pod is."""
    annotations = mirror["metadata"].get("annotations") or {}
    return bool(
        annotations.get(CONFIG_MIRROR)
        == (pod["metadata"].get("annotations") or {}).get(CONFIG_HASH)
    )


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
        except StatusError as error:
            if error.reason == "AlreadyExists":
                there = await self._client.get(
                    resource("pods"), meta["name"], meta["namespace"]
                )
                return is_mirror_pod_of(there, pod)
            log.debug(
                "failed creating a mirror pod for %s: %s", meta["name"], error.message
            )
            return False

    async def delete_mirror_pod(self, name: str, namespace: str, uid: str) -> None:
        """Take it away at once. Again does no harm."""
        try:
            await self._client.delete(
                resource("pods"), name, namespace, uid=uid, grace_period=0
            )
        except StatusError as error:
            log.debug("failed deleting a mirror pod: %s", error.message)


class MirrorPods:
    """The pictures of one node's static pods. `node` is the Node as known now, empty
    before it is; `start` runs something beside.
    """

    def __init__(
        self,
        client: Client,
        node: Callable[[], Object],
        start: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._client = client
        self._node = node
        self._start = start
        self._known: dict[tuple[str, str], Object] = {}
        self._creating: set[tuple[str, str]] = set()

    def known(self, pod: Object) -> Object | None:
        """The picture of a static pod, if there is one that shows it as it is."""
        found = self._known.get(_key(pod))
        return found if found is not None and is_mirror_pod_of(found, pod) else None

    def note(self, pod: Object) -> bool:
        """Whether what came from the API server is a picture; then it is remembered,
        and nothing else is to be done with it.
        """
        if not is_mirror_pod(pod):
            return False
        self._known[_key(pod)] = pod
        return True

    def forget(self, pod: Object) -> bool:
        """Whether what is gone was a picture."""
        return is_mirror_pod(pod) and self._known.pop(_key(pod), None) is not None

    def make(self, pod: Object) -> None:
        """Show a static pod to the API server, if it is not shown as it is. Upstream:
        `tryReconcileMirrorPods`.
        """
        known = self._known.get(_key(pod))
        good = (
            known is not None
            and is_mirror_pod_of(known, pod)
            and not known["metadata"].get("deletionTimestamp")
        )
        if not self._node() or good or _key(pod) in self._creating:
            return
        if (
            known is not None
        ):  # outdated, or somebody wants it gone: once it is, another will be drawn
            self.remove(pod)
        else:
            self._start(self._create(pod))

    def remove(self, pod: Object) -> None:
        """The static pod is gone: so is its picture."""
        known = self._known.get(_key(pod))
        if known is not None:
            client, meta = MirrorClient(self._client, self._node()), known["metadata"]
            self._start(
                client.delete_mirror_pod(meta["name"], meta["namespace"], meta["uid"])
            )

    async def _create(self, pod: Object) -> None:
        self._creating.add(_key(pod))
        try:
            await MirrorClient(self._client, self._node()).create_mirror_pod(pod)
        finally:
            self._creating.discard(_key(pod))


def _key(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]
