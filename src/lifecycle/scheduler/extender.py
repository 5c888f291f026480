"""Extenders: somebody else's opinion, over HTTP.

Before plugins could be compiled in, this was the way to extend the scheduler, and it
still is for those who cannot build their own. After the plugins have filtered, each
extender may filter further; its scores are added to the plugins' (scaled to them); one
extender may bind; and one that knows of preemption may strike victims. An extender that
cannot be reached fails the pod's attempt, unless it is `ignorable`. One that manages
certain resources is asked only for pods that request them.

Upstream: `pkg/scheduler/extender.go` (`HTTPExtender`),
`kube-scheduler/extender/v1/types.go` (whose JSON has capital letters), v1.36. Left out:
TLS client certificates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import (
    MAX_NODE_SCORE,
    Diagnosis,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.plugins.default_preemption import Candidate

MAX_EXTENDER_PRIORITY = 10
DEFAULT_EXTENDER_TIMEOUT = 5.0
NAME = "extender"


class ExtenderError(Exception):
    """The extender could not be asked, or said no. The text is what users see."""


@dataclass(slots=True, frozen=True)
class ExtenderConfig:
    """One extender as configured. `http_timeout` in seconds."""

    url_prefix: str
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 1
    http_timeout: float = DEFAULT_EXTENDER_TIMEOUT
    node_cache_capable: bool = False
    ignorable: bool = False
    managed_resources: frozenset[str] = frozenset()
    ignored_by_scheduler: frozenset[str] = frozenset()


def extender_config(entry: Mapping[str, Any]) -> ExtenderConfig:
    """Read one entry of `extenders`. Raises ValueError for a prioritizer without a
    positive weight.
    """
    if entry.get("prioritizeVerb") and entry.get("weight", 0) <= 0:
        text = "must have a positive weight applied to it"
        raise ValueError(
            f"extenders[0].weight: Invalid value: {entry.get('weight', 0)}: {text}"
        )
    managed = entry.get("managedResources") or ()
    return ExtenderConfig(
        entry["urlPrefix"],
        entry.get("filterVerb", ""),
        entry.get("prioritizeVerb", ""),
        entry.get("preemptVerb", ""),
        entry.get("bindVerb", ""),
        entry.get("weight", 1),
        _seconds(entry.get("httpTimeout")),
        bool(entry.get("nodeCacheCapable")),
        bool(entry.get("ignorable")),
        frozenset(item["name"] for item in managed),
        frozenset(item["name"] for item in managed if item.get("ignoredByScheduler")),
    )


def _seconds(given: str | float | None) -> float:
    if given is None:
        return DEFAULT_EXTENDER_TIMEOUT
    if isinstance(given, int | float):
        return float(given)
    units = (("ms", 0.001), ("s", 1.0), ("m", 60.0))
    return next(
        float(given[: -len(unit)]) * factor
        for unit, factor in units
        if given.endswith(unit)
    )


class HTTPExtender:
    """Asks one extender. `close` when done."""

    def __init__(self, config: ExtenderConfig) -> None:
        self.config = config
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """Its address."""
        return self.config.url_prefix

    def is_interested(self, pod: Object) -> bool:
        """Whether it manages something the pod asks for; one without managed resources
        is always asked.
        """
        managed = self.config.managed_resources
        if not managed:
            return True
        spec = pod["spec"]
        for container in (*spec["containers"], *(spec.get("initContainers") or ())):
            resources = container.get("resources") or {}
            if any(
                managed & (resources.get(part) or {}).keys()
                for part in ("requests", "limits")
            ):
                return True
        return False

    async def filter(
        self, info: PodInfo, nodes: Sequence[NodeInfo], diagnosis: Diagnosis
    ) -> list[NodeInfo]:
        """The nodes that it leaves; what it refuses goes into the diagnosis. Raises
        ExtenderError.
        """
        if not self.config.filter_verb:
            return list(nodes)
        answer = await self._send(self.config.filter_verb, self._args(info, nodes))
        if answer.get("Error"):
            raise ExtenderError(answer["Error"])
        by_name = {node.name: node for node in nodes}
        if self.config.node_cache_capable and answer.get("NodeNames") is not None:
            left = answer["NodeNames"]
        elif answer.get("Nodes") is not None:
            left = [
                node["metadata"]["name"] for node in answer["Nodes"].get("items") or ()
            ]
        else:
            left = []
        for name in left:
            if name not in by_name:
                raise ExtenderError(
                    f'extender "{self.name}" claims a filtered node "{name}" which is not found in the input node list'
                )
        for name, reason in (answer.get("FailedNodes") or {}).items():
            diagnosis.add(name, unschedulable(self.name, reason))
        for name, reason in (answer.get("FailedAndUnresolvableNodes") or {}).items():
            diagnosis.add(name, unresolvable(self.name, reason))
        return [by_name[name] for name in left]

    async def prioritize(
        self, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> dict[str, int]:
        """Node → score to add: 0 … 10 times the weight, brought to the plugins' scale.
        Raises ExtenderError.
        """
        if not self.config.prioritize_verb:
            return {}
        answer = await self._send(self.config.prioritize_verb, self._args(info, nodes))
        scale = self.config.weight * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
        return {entry["Host"]: entry["Score"] * scale for entry in answer or ()}

    async def bind(self, pod: Object, node: str) -> None:
        """Let it bind the pod. Raises ExtenderError."""
        meta = pod["metadata"]
        args = {
            "PodName": meta["name"],
            "PodNamespace": meta["namespace"],
            "PodUID": meta["uid"],
            "Node": node,
        }
        answer = await self._send(self.config.bind_verb, args)
        if answer.get("Error"):
            raise ExtenderError(answer["Error"])

    async def process_preemption(
        self, info: PodInfo, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        """The candidates it leaves, with fewer victims perhaps. Raises
        ExtenderError.
        """
        if not self.config.preempt_verb:
            return list(candidates)
        victims: Any = {}
        for candidate in candidates:
            pods = [
                {"UID": v.uid} if self.config.node_cache_capable else v.pod
                for v in candidate.victims
            ]
            victims[candidate.node] = {
                "Pods": pods,
                "NumPDBViolations": candidate.pdb_violations,
            }
        key = (
            "NodeNameToMetaVictims"
            if self.config.node_cache_capable
            else "NodeNameToVictims"
        )
        answer = await self._send(
            self.config.preempt_verb, {"Pod": info.pod, key: victims}
        )
        by_node = {candidate.node: candidate for candidate in candidates}
        left = []
        for name, chosen in (answer.get("NodeNameToMetaVictims") or {}).items():
            if name not in by_node:
                raise ExtenderError(
                    f'extender "{self.name}" claims a node "{name}" that was not a candidate'
                )
            known = {victim.uid: victim for victim in by_node[name].victims}
            uids = [pod["UID"] for pod in chosen.get("Pods") or ()]
            missing = [uid for uid in uids if uid not in known]
            if missing:
                raise ExtenderError(
                    f"extender: {self.name} claims to preempt pod (UID: {missing[0]})"
                    f" on node: {name}, but the pod is not found on that node"
                )
            if uids:
                left.append(
                    Candidate(
                        name,
                        [known[uid] for uid in uids],
                        chosen.get("NumPDBViolations", 0),
                    )
                )
            elif not self.config.ignorable:
                raise ExtenderError(
                    f'expected at least one victim pod on node "{name}"'
                )
        return left

    async def close(self) -> None:
        """Close its connections."""
        if self._session is not None:
            await self._session.close()

    def _args(self, info: PodInfo, nodes: Sequence[NodeInfo]) -> Object:
        if self.config.node_cache_capable:
            return {
                "Pod": info.pod,
                "Nodes": None,
                "NodeNames": [node.name for node in nodes],
            }
        return {
            "Pod": info.pod,
            "Nodes": {"metadata": {}, "items": [node.node for node in nodes]},
            "NodeNames": None,
        }

    async def _send(self, verb: str, args: Object) -> Any:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=self.config.http_timeout)
            self._session = aiohttp.ClientSession(timeout=timeout)
        url = f"{self.config.url_prefix.rstrip('/')}/{verb}"
        headers = {"content-type": "application/json"}
        try:
            async with self._session.post(
                url, data=orjson.dumps(args), headers=headers
            ) as response:
                body = await response.read()
                if response.status != 200:
                    raise ExtenderError(
                        f"failed {verb} with extender at URL {self.config.url_prefix}, code {response.status}"
                    )
                return orjson.loads(body) or {}
        except (TimeoutError, aiohttp.ClientError, ValueError) as error:
            raise ExtenderError(
                f'Post "{url}": {error or "context deadline exceeded"}'
            ) from error
