"""What users do in a scenario. They are patient: what fails is tried again, until it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from tests.chaos.scenario import WORKERS, Action

PODS, NODES = resource("pods"), resource("nodes")
KINDS = {
    "deployment": resource("deployments.apps"),
    "stateful_set": resource("statefulsets.apps"),
    "daemon_set": resource("daemonsets.apps"),
    "job": resource("jobs.batch"),
}
TAINT = "chaos.example/taint"
NAMESPACE = "default"


class Users:
    """Each verb of an `Action` is a method; what it is about may be gone, then it does nothing."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._drains: dict[str, asyncio.Task[None]] = {}
        self._kinds: dict[str, Resource] = {}
        """What a name means: there may still be something else of that name, which was deleted and is not gone."""

    async def act(self, action: Action) -> None:
        """Do one thing."""
        await getattr(self, action.verb)(action.name, **dict(action.arguments))

    async def go_home(self) -> None:
        """Nobody drains any more, and every node takes pods again."""
        for drain in self._drains.values():
            drain.cancel()
        await asyncio.gather(*self._drains.values(), return_exceptions=True)
        for node in WORKERS:
            await self.untaint(node)
            await self.uncordon(node)

    async def _patiently(self, do: Callable[[], Awaitable[Any]], done: tuple[int, ...] = ()) -> Any:
        """Until it is done; answers of `done` mean that it is."""
        while True:
            try:
                return await do()
            except StatusError as error:
                if error.code in done:
                    return None
                if error.code < 500 and error.code not in (409, 429):
                    raise
            await asyncio.sleep(1)

    # -- creating -----------------------------------------------------------------------------------------------------

    async def _create(self, row: Resource, name: str, spec: Object) -> None:
        obj = {"apiVersion": row.api_version, "kind": row.kind, "metadata": {"name": name}, "spec": spec}
        if row in KINDS.values():
            self._kinds[name] = row
        while await self._patiently(lambda: self._client.create(row, obj, NAMESPACE), (409,)) is None:
            there = await self._patiently(lambda: self._client.get(row, name, NAMESPACE), (404,))
            if there is not None and "deletionTimestamp" not in there["metadata"]:
                return  # what seemed to fail was done
            await asyncio.sleep(1)

    async def deployment(
        self, name: str, *, replicas: int, strategy: str, min_ready: int, probe: bool, init: bool, grace: int
    ) -> None:
        """One of nginx; `strategy` is maxSurge/maxUnavailable, a share for both, or Recreate."""
        surge, _, unavailable = strategy.partition("/")
        rolling = {"maxSurge": _number(surge), "maxUnavailable": _number(unavailable or surge)}
        spec = {
            "replicas": replicas,
            "minReadySeconds": min_ready,
            "selector": {"matchLabels": {"app": name}},
            "strategy": {"type": "Recreate"}
            if strategy == "Recreate"
            else {"type": "RollingUpdate", "rollingUpdate": rolling},
            "template": _template(name, probe, init, grace),
        }
        await self._create(KINDS["deployment"], name, spec)

    async def stateful_set(
        self, name: str, *, replicas: int, parallel: bool, probe: bool, init: bool, grace: int
    ) -> None:
        """Without volumes."""
        spec = {
            "replicas": replicas,
            "serviceName": name,
            "selector": {"matchLabels": {"app": name}},
            "podManagementPolicy": "Parallel" if parallel else "OrderedReady",
            "template": _template(name, probe, init, grace),
        }
        await self._create(KINDS["stateful_set"], name, spec)

    async def daemon_set(self, name: str, *, probe: bool, init: bool, grace: int) -> None:
        """On every node that takes it."""
        spec = {"selector": {"matchLabels": {"app": name}}, "template": _template(name, probe, init, grace)}
        await self._create(KINDS["daemon_set"], name, spec)

    async def job(self, name: str, *, completions: int, parallelism: int, indexed: bool) -> None:
        """Each pod sleeps for five seconds."""
        template = _template(name, False, False, 1)
        container = {"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 5"]}
        spec = {
            "completions": completions,
            "parallelism": parallelism,
            "completionMode": "Indexed" if indexed else "NonIndexed",
            "backoffLimit": 1000,
            "template": {**template, "spec": {**template["spec"], "restartPolicy": "Never", "containers": [container]}},
        }
        await self._create(KINDS["job"], name, spec)

    async def service(self, name: str) -> None:
        """For the pods of a workload."""
        spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
        await self._create(resource("services"), name, spec)

    async def disruption_budget(self, name: str) -> None:
        """One pod of a workload may be away."""
        spec = {"selector": {"matchLabels": {"app": name}}, "maxUnavailable": 1}
        await self._create(resource("poddisruptionbudgets.policy"), name, spec)

    # -- changing -------------------------------------------------------------------------------------------------------

    async def _patch(self, name: str, patch: Object) -> None:
        row = self._kinds.get(name)
        if row is not None:
            await self._patiently(lambda: self._client.patch(row, name, NAMESPACE, patch), (404,))

    async def scale(self, name: str, *, replicas: int) -> None:
        """To so many."""
        await self._patch(name, {"spec": {"replicas": replicas}})

    async def roll_out(self, name: str, *, template: int) -> None:
        """A new template."""
        await self._patch(name, {"spec": {"template": {"metadata": {"annotations": {"template": str(template)}}}}})

    async def delete(self, name: str, *, propagation: str) -> None:
        """A workload, and what it owns."""
        row = self._kinds.get(name)
        if row is not None:
            await self._patiently(lambda: self._client.delete(row, name, NAMESPACE, propagation=propagation), (404,))

    async def delete_pod(self, name: str, *, index: int) -> None:
        """One of a workload's."""
        listed = await self._patiently(lambda: self._client.list(PODS, NAMESPACE, label_selector=f"app={name}"))
        names = sorted(pod["metadata"]["name"] for pod in listed.get("items") or ())
        if index < len(names):
            await self._patiently(lambda: self._client.delete(PODS, names[index], NAMESPACE), (404,))

    # -- nodes ----------------------------------------------------------------------------------------------------------

    async def _patch_node(self, name: str, spec: Object) -> None:
        await self._patiently(lambda: self._client.patch(NODES, name, "", {"spec": spec}))

    async def cordon(self, name: str) -> None:
        """No new pods."""
        await self._patch_node(name, {"unschedulable": True})

    async def uncordon(self, name: str) -> None:
        """New pods again."""
        if name in self._drains:
            self._drains.pop(name).cancel()
        await self._patch_node(name, {"unschedulable": None})

    async def drain(self, name: str) -> None:
        """No new pods, and the old ones are evicted; that goes on until it is done, or the node is uncordoned."""
        await self.cordon(name)
        if name not in self._drains:
            self._drains[name] = asyncio.create_task(self._evict(name), name=f"drain {name}")

    async def _evict(self, node: str) -> None:
        while True:
            listed = await self._patiently(
                lambda: self._client.list(PODS, NAMESPACE, field_selector=f"spec.nodeName={node}")
            )
            pods = [pod for pod in listed.get("items") or () if not _of_a_daemon_set(pod)]
            if not pods:
                return
            for pod in pods:
                if "deletionTimestamp" in pod["metadata"]:
                    continue
                name = pod["metadata"]["name"]
                eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
                try:
                    await self._client.create(PODS, eviction, NAMESPACE, name=name, subresource="eviction")
                except StatusError as error:
                    if error.code not in (404, 409, 429) and error.code < 500:
                        raise
            await asyncio.sleep(5)

    async def taint(self, name: str, *, effect: str) -> None:
        """Pods of users do not tolerate this."""
        await self._change_taints(name, [{"key": TAINT, "effect": effect}])

    async def untaint(self, name: str) -> None:
        """As it was."""
        await self._change_taints(name, [])

    async def _change_taints(self, name: str, more: list[Object]) -> None:
        async def change() -> None:
            node = await self._client.get(NODES, name)
            taints = [taint for taint in node["spec"].get("taints") or () if taint["key"] != TAINT]
            await self._client.update(NODES, {**node, "spec": {**node["spec"], "taints": [*taints, *more]}})

        await self._patiently(change)


def _number(text: str) -> int | str:
    return text if "%" in text else int(text) if text.isdigit() else 0


def _of_a_daemon_set(pod: Object) -> bool:
    return any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences") or ())


def _template(name: str, probe: bool, init: bool, grace: int) -> Object:
    container: Object = {"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": "100m"}}}
    if probe:
        container["readinessProbe"] = {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 2}
    spec: Object = {"containers": [container], "terminationGracePeriodSeconds": grace}
    if init:
        spec["initContainers"] = [{"name": "first", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 1"]}]
    return {"metadata": {"labels": {"app": name}}, "spec": spec}
