"""Where the scheduler was free: which pods may stand on another node, and why.

A comparison cannot ask the scheduler under comparison whether its choice was a tie. So
the least that every default profile does is computed here anew, from what the answers
and watches of one cluster tell: who was on which node when a pod's turn came. A node
that another one beats – no more pods of the same workload, no less room, as well
balanced, and better in one of these – is not a tie, and whoever chose it has to have
chosen the same node on the other cluster.

What is not known for certain (a pod that went while the choice was made, pods listed
together in an unknown order) counts in favour of the choice. A pod with wishes of its
own (affinity to pods, spreading, preferences, volumes) is weighed by rules that are
not repeated here: it may stand where it may stand at all. Those decisions are compared
with their scores in the scheduling table.

Upstream: `pkg/scheduler/framework/plugins/{noderesources,podtopologyspread}`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.node_selector import required_node_affinity
from lifecycle.api.pods.resources import BY_SPEC, PodResourcesOptions, pod_requests
from lifecycle.api.pods.taints import Tolerations, untolerated
from lifecycle.api.quantity import parse_quantity

_NEVER = float("inf")
_MILLI = -3
_UNSAID = PodResourcesOptions(
    non_missing_container_requests={
        "cpu": parse_quantity("100m"),
        "memory": parse_quantity("200Mi"),
    }
)
"""What a container without requests counts for. Upstream: `DefaultMilliCPURequest`."""
_RESOURCES = ("cpu", "memory")
MOST_TOGETHER = 12
"""More pods that came at once than this are not put into every order."""

Key = tuple[str, str]
"""Namespace and name."""


@dataclass(slots=True)
class _Seen:
    """One pod's life, as far as it was seen. Times are those of the telling."""

    pod: dict[str, Any]
    first: float
    alive: float
    bound: float = _NEVER
    leaving: float = _NEVER
    gone: float = _NEVER

    @property
    def node(self) -> str:
        return str(self.pod["spec"].get("nodeName") or "")

    @property
    def owner(self) -> str:
        owners = self.pod["metadata"].get("ownerReferences") or ()
        return next((o["uid"] for o in owners if o.get("controller")), "")


@dataclass(slots=True)
class Placements:
    """Of one cluster. Feed it `nodes` and then everything that was seen, in order."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    _lives: dict[str, _Seen] = field(default_factory=dict)
    _judged: dict[Key, bool] | None = None

    def seen(self, t: float, documents: Iterable[dict[str, Any]]) -> None:
        """Nodes and pods in an answer that came at `t`."""
        self._judged = None
        for document in documents:
            if document.get("kind") == "Node" and "status" in document:
                self.nodes[document["metadata"]["name"]] = document
            elif document.get("kind") == "Pod" and "spec" in document:
                self._see_pod(t, document)

    def _see_pod(self, t: float, pod: dict[str, Any]) -> None:
        uid = pod["metadata"].get("uid", "")
        if not uid:
            return
        life = self._lives.setdefault(uid, _Seen(pod, t, t))
        life.pod = pod
        if life.node:
            life.bound = min(life.bound, t)
        if pod["metadata"].get("deletionTimestamp"):
            life.leaving = min(life.leaving, t)
        if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
            life.gone = min(life.gone, t)
        if life.gone == _NEVER:
            life.alive = max(life.alive, t)

    def deleted(self, t: float, pod: dict[str, Any]) -> None:
        """A watcher was told that a pod is no more."""
        self._see_pod(t, pod)
        if life := self._lives.get(pod["metadata"].get("uid", "")):
            life.gone = min(life.gone, t)
            life.alive = max(life.alive, t)

    def watched_continuously(self, since: float = float("-inf")) -> None:
        """All that was seen `since` came from a watch: who was not said to be gone was
        there.
        """
        self._judged = None
        for life in self._lives.values():
            if life.first >= since:
                life.alive = life.gone

    def may_be_elsewhere(self, namespace: str, name: str) -> bool:
        """Whether a pod's node was one of several that nothing told apart."""
        if self._judged is None:
            self._judged = self._judge()
        return self._judged.get((namespace, name), False)

    # -- judging -----------------------------------------------------------------------

    def _judge(self) -> dict[Key, bool]:
        judged: dict[Key, bool] = {}
        turns: dict[tuple[float, str], list[_Seen]] = defaultdict(list)
        for life in self._lives.values():
            if life.node and not _pinned(life.pod):
                created = life.pod["metadata"].get("creationTimestamp", "")
                turns[life.first, created].append(life)
        for together in turns.values():
            honest = self._some_order_is_honest(together)
            for life in together:
                metadata = life.pod["metadata"]
                key = metadata.get("namespace", ""), metadata["name"]
                judged[key] = honest and judged.get(key, True)
        return judged

    def _some_order_is_honest(self, together: Sequence[_Seen]) -> bool:
        """Whether pods that came at once can have come in an order in which each of
        them went where nothing was better.
        """
        if len(together) > MOST_TOGETHER:
            return True
        tried: set[tuple[tuple[str, str], ...]] = set()

        def try_rest(placed: list[_Seen], rest: list[_Seen]) -> bool:
            if not rest:
                return True
            state = tuple(sorted((life.owner, life.node) for life in placed))
            if state in tried:
                return False
            tried.add(state)
            return any(
                self._honest(life, placed)
                and try_rest([*placed, life], rest[:i] + rest[i + 1 :])
                for i, life in enumerate(rest)
            )

        return try_rest([], list(together))

    def _honest(self, life: _Seen, placed: Sequence[_Seen]) -> bool:
        fitting = self._fitting(life.pod)
        if life.node not in fitting or len(fitting) < 2:
            return False
        if _has_wishes(life.pod["spec"]):
            return True
        there: dict[str, tuple[list[_Seen], list[_Seen]]] = {
            node: ([], []) for node in fitting
        }
        earlier = set(map(id, placed))
        for other in self._lives.values():
            if other is life or other.node not in there:
                continue
            if id(other) not in earlier and not self._before(other, life):
                continue
            if other.gone < life.first:
                continue
            certain = life.bound < other.gone and life.bound <= other.alive
            there[other.node][0 if certain else 1].append(other)
        chosen = self._merits(life, life.node, *there[life.node], worst=False)
        return not any(
            _better(self._merits(life, node, *there[node], worst=True), chosen)
            for node in fitting
            if node != life.node
        )

    @staticmethod
    def _before(other: _Seen, life: _Seen) -> bool:
        if other.first != life.first:
            return other.first < life.first
        created = (
            one.pod["metadata"].get("creationTimestamp", "") for one in (other, life)
        )
        return next(created) < next(created)

    def _fitting(self, pod: dict[str, Any]) -> list[str]:
        """The nodes that nothing in the pod's own spec rules out."""
        affinity = required_node_affinity(pod["spec"])
        nodes = self.nodes or {life.node: {} for life in self._lives.values()}
        fitting = []
        for name, node in nodes.items():
            labels = (node.get("metadata") or {}).get("labels") or {}
            taints = (node.get("spec") or {}).get("taints") or ()
            tolerations = Tolerations(pod["spec"].get("tolerations") or ())
            if untolerated(taints, tolerations, ("NoSchedule", "NoExecute")):
                continue
            if name and (affinity is None or affinity(name, labels)):
                fitting.append(name)
        return fitting

    def _merits(
        self,
        life: _Seen,
        node: str,
        certain: Sequence[_Seen],
        perhaps: Sequence[_Seen],
        *,
        worst: bool,
    ) -> tuple[int, ...]:
        """What speaks for a node, the more the better; what is uncertain counts for
        it, or (`worst`) against it.
        """
        present = [*certain, *perhaps] if worst else list(certain)
        since = life.first if worst else life.bound
        spread = -sum(
            bool(life.owner) and other.owner == life.owner and other.leaving > since
            for other in present
        )
        room, balance = self._room(node, [other.pod for other in (*present, life)])
        return spread, room, balance

    def _room(self, node: str, pods: Sequence[dict[str, Any]]) -> tuple[int, int]:
        """Scores of the least allocated node, and of the best balanced one."""
        allocatable = (self.nodes.get(node, {}).get("status") or {}).get("allocatable")
        shares, asked = [], []
        for name in _RESOURCES:
            capacity = parse_quantity((allocatable or {}).get(name) or "1000G")
            whole = capacity.scaled(_MILLI)
            shares.append(max(whole - _milli(pods, name, _UNSAID), 0) * 100 // whole)
            asked.append(_milli(pods, name, BY_SPEC) / whole)
        return sum(shares) // len(shares), int(100 - 50 * abs(asked[0] - asked[1]))


def _milli(
    pods: Sequence[dict[str, Any]], name: str, options: PodResourcesOptions
) -> int:
    requests = (pod_requests(pod, options).get(name) for pod in pods)
    return sum(quantity.scaled(_MILLI) for quantity in requests if quantity)


def _better(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """As good in everything, and better in something."""
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def _pinned(pod: dict[str, Any]) -> bool:
    owners = {owner["kind"] for owner in pod["metadata"].get("ownerReferences", ())}
    return bool(owners & {"Node", "DaemonSet"})


def _has_wishes(spec: dict[str, Any]) -> bool:
    affinity = spec.get("affinity") or {}
    preferred = (affinity.get("nodeAffinity") or {}).get(
        "preferredDuringSchedulingIgnoredDuringExecution"
    )
    claims = any("persistentVolumeClaim" in v for v in spec.get("volumes") or ())
    ports = any(
        port.get("hostPort")
        for container in spec["containers"]
        for port in container.get("ports") or ()
    )
    return bool(
        affinity.get("podAffinity")
        or affinity.get("podAntiAffinity")
        or preferred
        or spec.get("topologySpreadConstraints")
        or claims
        or ports
    )
