"""Where pods come from: the API server, by watch; a directory and a URL, by looking
every 20 seconds.

The watch asks for `spec.nodeName=<node>`, so that the API server does the sorting: the
kubelet never sees another node's pods, nor those that nobody has placed yet.

Pods of the other two are *static*: the kubelet runs them whether or not there is an API
server (kubeadm runs the API server itself that way). They get the node's name behind
their own, a uid made from their contents, and tolerate everything that would evict
them. The directory is also looked at when the kernel says that something in it changed.

Upstream: `pkg/kubelet/config/apiserver.go` (`NewSourceApiserver`), `file.go`,
`file_linux.go`, `http.go`, `common.go` (`applyDefaults`), v1.36.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import yaml

from lifecycle.api.clock import Clock
from lifecycle.api.defaults.pods import set_pod_defaults
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.kubelet.config import (
    API,
    CONFIG_HASH,
    CONFIG_SEEN,
    CONFIG_SOURCE,
    FILE,
    HTTP,
    PodConfig,
)

log = logging.getLogger(__name__)

FILE_CHECK_FREQUENCY = HTTP_CHECK_FREQUENCY = 20.0
"""Seconds between looks at manifests: the settings `fileCheckFrequency`,
`httpCheckFrequency`. Pods from the API server know no such thing.
"""

Send = Callable[[list[Object]], object]


def new_source_apiserver(
    client: Client, node_name: str, config: PodConfig
) -> SharedInformer:
    """An informer for the node's pods that feeds `config`; not yet started."""

    def added(pod: Object) -> None:
        config.changed(API, pod)

    def removed(pod: Object) -> None:
        config.removed(API, pod)

    def updated(old: Object, new: Object) -> None:
        if (
            old["metadata"]["uid"] != new["metadata"]["uid"]
        ):  # deleted and made again while no watch ran
            config.removed(API, old)
        config.changed(API, new)

    informer = SharedInformer(
        client, resource("pods"), field_selector=f"spec.nodeName={node_name}"
    )
    informer.add_event_handler(added, updated, removed)
    return informer


def apply_defaults(
    pod: Object, source: str, origin: str, node_name: str, now: str
) -> Object:
    """A static pod as the kubelet runs it. `origin`: path or URL. The uid is a hash of
    pod, node and origin.
    """
    made = copy.deepcopy(pod)
    made.setdefault("apiVersion", "v1")
    made.setdefault("kind", "Pod")
    meta, spec = made.setdefault("metadata", {}), made.setdefault("spec", {})
    if not meta.get("uid"):
        digest = hashlib.md5(
            orjson.dumps(pod, option=orjson.OPT_SORT_KEYS), usedforsecurity=False
        )
        if source == FILE:
            digest.update(f"host:{node_name}file:{origin}".encode())
        else:
            digest.update(f"url:{origin}".encode())
        meta["uid"] = digest.hexdigest()
    meta["name"] = f"{meta.get('name', '')}-{node_name.lower()}"
    meta.setdefault("namespace", "default")
    spec["nodeName"] = node_name
    annotations = meta.setdefault("annotations", {})
    annotations |= {CONFIG_HASH: meta["uid"], CONFIG_SOURCE: source, CONFIG_SEEN: now}
    everything = {"operator": "Exists", "effect": "NoExecute"}
    if everything not in spec.setdefault("tolerations", []):
        spec["tolerations"].append(everything)
    set_pod_defaults(made)
    made["status"] = {"phase": "Pending"}
    return made


def decode_pods(text: bytes, where: str) -> list[Object]:
    """The pods in a manifest, YAML or JSON: one Pod or a list. Raises ValueError."""
    try:
        document: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(
            f"{where}: couldn't parse as pod({error}), please check config file"
        ) from None
    if not isinstance(document, dict) or document.get("kind") not in ("Pod", "PodList"):
        raise ValueError(
            f"{where}: couldn't parse as pod(Object 'Kind' is missing), please check"
            " config file"
        )
    pods = document.get("items") or [] if document["kind"] == "PodList" else [document]
    for pod in pods:
        if not (pod.get("metadata") or {}).get("name") or not (
            pod.get("spec") or {}
        ).get("containers"):
            raise ValueError(
                f"{where}: invalid pod: metadata.name and spec.containers are required"
            )
    return list(pods)


class SourceFile:
    """Manifests in a directory (or one file). Files whose names begin with a dot, and
    what cannot be read as a pod, are passed over.
    """

    def __init__(
        self,
        path: Path,
        node_name: str,
        send: Send,
        clock: Clock,
        *,
        period: float = FILE_CHECK_FREQUENCY,
    ) -> None:
        self._path = path
        self._node_name = node_name
        self._send = send
        self._clock = clock
        self._period = period
        self._seen: dict[str, str] = {}

    def list_config(self) -> list[Object]:
        """The pods that are there now."""
        if not self._path.exists():
            return []
        files = sorted(self._path.iterdir()) if self._path.is_dir() else [self._path]
        pods = []
        for file in files:
            if file.name.startswith(".") or not file.is_file():
                continue
            try:
                for pod in decode_pods(file.read_bytes(), str(file)):
                    made = apply_defaults(
                        pod, FILE, str(file), self._node_name, self._clock.timestamp()
                    )
                    # a pod that is only read again was seen when it was first read
                    annotations = made["metadata"]["annotations"]
                    annotations[CONFIG_SEEN] = self._seen.setdefault(
                        made["metadata"]["uid"], annotations[CONFIG_SEEN]
                    )
                    pods.append(made)
            except (ValueError, OSError) as error:
                log.warning("could not process manifest file %s: %s", file, error)
        return pods

    async def run(self) -> None:
        """Look, and look again, until cancelled."""
        from lifecycle.kubelet.file_watch import changed_or_later

        while True:
            self._send(self.list_config())
            await changed_or_later(self._path, self._period)


class SourceURL:
    """A manifest at a URL. As long as it answers nothing useful, what it said last
    stays.
    """

    def __init__(
        self,
        url: str,
        node_name: str,
        send: Send,
        clock: Clock,
        *,
        period: float = HTTP_CHECK_FREQUENCY,
    ) -> None:
        self._url = url
        self._node_name = node_name
        self._send = send
        self._clock = clock
        self._period = period
        self._data = b""

    async def fetch(self, session: aiohttp.ClientSession) -> None:
        """Ask once. Raises ValueError, aiohttp.ClientError."""
        async with session.get(self._url) as response:
            data = await response.read()
            if response.status != 200:
                raise ValueError(f"{self._url}: {response.status} {response.reason}")
        if not data:
            self._send([])
            raise ValueError(f"zero-length data received from {self._url}")
        if data == self._data:
            return
        now = self._clock.timestamp()
        self._send(
            [
                apply_defaults(p, HTTP, self._url, self._node_name, now)
                for p in decode_pods(data, self._url)
            ]
        )
        self._data = data

    async def run(self) -> None:
        """Ask, and ask again, until cancelled."""
        async with aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=10)
        ) as session:
            while True:
                try:
                    await self.fetch(session)
                except (ValueError, aiohttp.ClientError, TimeoutError) as error:
                    log.warning("failed to read pods from URL: %s", error)
                await asyncio.sleep(self._period)
