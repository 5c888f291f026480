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

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.scheduler.config import ExtenderConfig
from lifecycle.scheduler.framework.handle import Candidate, ExtenderError
from lifecycle.scheduler.framework.interface import MAX_NODE_SCORE
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import unresolvable, unschedulable
from lifecycle.scheduler.framework.types import Diagnosis

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = late_import("aiohttp")

MAX_EXTENDER_PRIORITY = 10
NAME = "extender"


class HTTPExtender:
    """Asks one extender. `close` when done."""

    def __init__(self, config: ExtenderConfig) -> None:
        self.config = config
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """Its address."""
        return self.config.url_prefix

    @property
    def ignorable(self) -> bool:
        """Whether a pod may be scheduled without its answer."""
        return self.config.ignorable

    @property
    def is_binder(self) -> bool:
        """Whether it binds pods itself."""
        return bool(self.config.bind_verb)

    @property
    def supports_preemption(self) -> bool:
        """Whether it has a say in who is pushed out."""
        return bool(self.config.preempt_verb)

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
                    f'extender "{self.name}" claims a filtered node "{name}" which is'
                    " not found in the input node list"
                )
        for name, reason in (answer.get("FailedNodes") or {}).items():
            diagnosis.set(name, unschedulable(self.name, reason))
        for name, reason in (answer.get("FailedAndUnresolvableNodes") or {}).items():
            diagnosis.set(name, unresolvable(self.name, reason))
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
                raise ExtenderError(f'nodeinfo not found for node name "{name}"')
            known = {victim.uid: victim for victim in by_node[name].victims}
            uids = [pod["UID"] for pod in chosen.get("Pods") or ()]
            missing = [uid for uid in uids if uid not in known]
            if missing:
                raise ExtenderError(
                    f"extender: {self.name} claims to preempt pod (UID:"
                    f" &{{{missing[0]}}}) on node: {name}, but the pod is not found on"
                    " that node"
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
                url, data=fast_json.dumps(args), headers=headers
            ) as response:
                body = await response.read()
                if response.status != 200:
                    raise ExtenderError(
                        f"failed {verb} with extender at URL {url},"
                        f" code {response.status}"
                    )
                return fast_json.loads(body) or {}
        except (TimeoutError, aiohttp.ClientError, ValueError) as error:
            raise ExtenderError(
                f'Post "{url}": {error or "context deadline exceeded"}'
            ) from error
