"""Where a scene for kubelets is played: a namespace beside a node, and what a pod there may have become."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from tests.live.kubelet_sides import NODE
from tests.live.stage import Objects, Stage

LONGEST = 60.0
"""Seconds that nothing is waited for to become quiet: a probe that fails each second is told of 25 times, and no more."""
WHILE = "sleep 3"
"""Long enough for both to see that it runs."""
FOREVER = ["sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait"]


class NodeStage(Stage):
    """A scene's namespace beside a node. `image`: a shell with the usual tools; `manifests`: where static pods are."""

    def __init__(self, stage: Stage, image: str, manifests: Path) -> None:
        super().__init__(stage.client, stage.namespace)
        self.image = image
        self.manifests = manifests
        self.written: list[Path] = []
        """Manifests of static pods."""

    async def open(self) -> None:
        """The namespace, with what the controllers would put into it."""
        await self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}, "")
        await self.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
        data = {"ca.crt": "trust me\n"}
        await self.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}, "data": data}
        )

    def pod(self, name: str, *containers: Object, **spec: Any) -> Object:
        """A pod for the node; `labels` and `annotations` go into its metadata."""
        meta: Object = {"name": name}
        meta |= {key: spec.pop(key) for key in ("labels", "annotations") if key in spec}
        for container in (*containers, *spec.get("initContainers", ())):
            container.setdefault("image", self.image)
        spec = {"nodeName": NODE, "terminationGracePeriodSeconds": 1, **spec, "containers": list(containers)}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}

    async def run(self, name: str, *containers: Object, **spec: Any) -> Object:
        """Create it."""
        return await self.create(self.pod(name, *containers, **spec))

    def write(self, pod: Object) -> Path:
        """Have a static pod, all at once."""
        pod["metadata"]["namespace"] = self.namespace
        del pod["spec"]["nodeName"]
        path = self.manifests / f"{pod['metadata']['name']}.json"
        unseen = path.with_name(f".{path.name}")
        unseen.write_text(json.dumps(pod))
        unseen.rename(path)
        self.written.append(path)
        return path

    async def settle(self, quiet: float) -> None:
        """Wait until no pod has changed and nothing was told for so many seconds."""
        changed = asyncio.Event()

        async def listen(name: str) -> None:
            async for _ in await self.client.watch(resource(name), self.namespace):
                changed.set()

        listeners = [asyncio.create_task(listen(name)) for name in ("pods", "events")]
        try:
            async with asyncio.timeout(LONGEST):
                while True:
                    changed.clear()
                    try:
                        await asyncio.wait_for(changed.wait(), quiet)
                    except TimeoutError:
                        return
        finally:
            for listener in listeners:
                listener.cancel()
            await asyncio.gather(*listeners, return_exceptions=True)

    async def becomes(self, name: str, condition: Callable[[Object], Any]) -> Object:
        """Wait until a pod is so."""
        return (await self.until("pods", lambda items: name in items and condition(items[name])))[name]

    async def told(self, name: str, reason: str, text: str = "") -> None:
        """Wait for an event about a pod."""

        def there(items: Objects) -> bool:
            return any(
                e["involvedObject"]["name"] == name and e["reason"] == reason and text in e["message"]
                for e in items.values()
            )

        await self.until("events", there)


def container(name: str = "c", script: str = "", **fields: Any) -> Object:
    """One that runs until it is told to end, or a script."""
    return {"name": name, "command": ["sh", "-c", script] if script else FOREVER, **fields}


def phase(name: str) -> Callable[[Object], bool]:
    return lambda pod: bool(pod.get("status", {}).get("phase") == name)


def ended(name: str) -> Callable[[Object], bool]:
    """Over, and its sandbox has been stopped."""
    return both(phase(name), true("PodReadyToStartContainers", "False"))


def true(kind: str, status: str = "True") -> Callable[[Object], bool]:
    """A condition is so."""
    return lambda pod: any(
        c["type"] == kind and c["status"] == status for c in pod.get("status", {}).get("conditions", ())
    )


def entry(pod: Object, name: str = "c") -> Object:
    """A container's status."""
    status = pod.get("status", {})
    for each in (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())):
        if each["name"] == name:
            return dict(each)
    return {"state": {}, "lastState": {}, "restartCount": 0, "ready": False}


def waits(reason: str, name: str = "c") -> Callable[[Object], bool]:
    return lambda pod: (entry(pod, name)["state"].get("waiting") or {}).get("reason") == reason


def restarted(count: int, name: str = "c") -> Callable[[Object], bool]:
    return lambda pod: entry(pod, name)["restartCount"] >= count


def both(*conditions: Callable[[Object], Any]) -> Callable[[Object], bool]:
    return lambda pod: all(condition(pod) for condition in conditions)


def probe(*command: str, **fields: Any) -> Object:
    return {"exec": {"command": list(command)}, "periodSeconds": 1, "timeoutSeconds": 10, **fields}
