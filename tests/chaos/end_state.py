"""What a cluster comes to, without what chance decides; and what is left behind that should not be.

Chance decides names, uids, addresses, moments and, with them, revisions. Besides, two runs of one scenario may differ in the
following, and that is all. Each was looked up in upstream's source, v1.36:

- *where*: on which node a pod runs, unless it is a DaemonSet's. The scheduler scores what is there when a pod comes, and draws lots
  among equals (`schedule_one.go`, `selectHost`).
- *on the way*: which old ReplicaSets and ControllerRevisions there are, the numbers of all, and how often a replica set was scaled
  (its generation). A controller that was away while a template came and went never saw it. What must hold all the same is in
  `revisions.py`.
- *restarts*: a kubelet that is killed may leave a container that was created and not started, and the next one makes another, with
  one restart more (`kubelet/container/helpers.go`, `ShouldContainerBeRestarted`; `kuberuntime_container.go`, `startContainer`). So a
  container may have one more for each time that the kubelet of its node was killed since its pod was made.
- *finished pods of a Job* that are gone: a node that nobody hears from for minutes loses all its pods, also those that have nothing
  left to do (`tainteviction/taint_eviction.go`, `handleNodeUpdate`, asks for no phase), and a drained node as well. Which node that
  concerns is chance. So those count that have ever succeeded (`endings.py`, `of_jobs`); that they do not go without a reason is an
  invariant. Pods of a Job that were asked to end have failed as often as chance had them on that node.
- *endpoints of finished pods* that were no longer ready before they ended: see `endings.py`, `unnoticed`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from lifecycle.api.http.wire import Object
from tests.chaos.endings import of_jobs, unnoticed
from tests.chaos.history import WORKLOADS, History
from tests.chaos.invariants.registry import TERMINAL, containers, controller_of, is_ready
from tests.chaos.world import ChaosCluster

COUNTS = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "unavailableReplicas", "currentReplicas")
DAEMON_COUNTS = (
    "desiredNumberScheduled",
    "currentNumberScheduled",
    "numberReady",
    "numberMisscheduled",
    "numberAvailable",
)


def latest(history: History, rows: tuple[str, ...] = ()) -> dict[str, Object]:
    """All objects at the end, by key."""
    objects: dict[str, Object] = {}
    for change in history.changes:
        if not rows or change.row in rows:
            if change.kind == "DELETED":
                objects.pop(change.key, None)
            else:
                objects[change.key] = change.obj
    return objects


def end_state(history: History) -> dict[str, Any]:
    """By key, what must be the same. Pods without names of their own are counted, by what they look like."""
    state: dict[str, Any] = of_jobs(history)
    pods: Counter[str] = Counter()
    objects = latest(history)
    names = {obj["metadata"]["uid"]: key for key, obj in objects.items()}
    begun = {each.obj["metadata"]["uid"]: each.at for each in history.changes if each.kind == "ADDED"}
    for key, obj in objects.items():
        row, owner = key.split()[0], controller_of(obj)
        if row == "replicasets.apps":
            if obj["spec"].get("replicas", 1):
                status, owned_by = _counts(obj, COUNTS), names.get(_uid(owner))
                state[key] = {"spec": obj["spec"], "status": status, "owner": owned_by}
        elif row in WORKLOADS:
            state[key] = _workload(obj)
        elif row == "pods":
            if owner is not None and owner["kind"] == "Job" and obj["status"].get("phase") in TERMINAL:
                continue
            node, since = obj["spec"].get("nodeName"), begun[obj["metadata"]["uid"]]
            killed = sum(at >= since for at in history.killed.get(f"kubelet {node}", ()))
            look = {
                "phase": obj["status"].get("phase"),
                "ready": is_ready(obj),
                "restarts": [max(0, each["restartCount"] - killed) for _, each in containers(obj)],
                "template": (obj["metadata"].get("annotations") or {}).get("template"),
            }
            by_name = owner is None or owner["kind"] == "StatefulSet"
            which = key if by_name else "pods of"
            whose = names.get(_uid(owner), owner and owner["name"])
            where = f" on {node}" if owner is not None and owner["kind"] == "DaemonSet" else ""
            pods[f"{which} {whose}{where} {look}"] += 1
        elif row == "services":
            state[key] = {name: value for name, value in obj["spec"].items() if not name.startswith("clusterIP")}
        elif row == "endpointslices.discovery.k8s.io" and obj["addressType"] == "IPv4" and owner is not None:
            passed_over = unnoticed(history, objects[names[owner["uid"]]]) if owner["uid"] in names else set()
            ends = Counter(
                str(each.get("conditions"))
                for each in obj.get("endpoints") or ()
                if each["conditions"]["ready"] or (each.get("targetRef") or {}).get("uid") not in passed_over
            )
            name = f"endpoints of {owner['name']}"
            state[name] = state.get(name, Counter()) + ends
        elif row == "poddisruptionbudgets.policy":
            status = obj.get("status") or {}
            state[key] = {name: status.get(name) for name in ("currentHealthy", "desiredHealthy", "expectedPods")}
        elif row == "nodes":
            ready = [each["status"] for each in obj["status"]["conditions"] if each["type"] == "Ready"]
            state[key] = {"taints": obj["spec"].get("taints"), "away": obj["spec"].get("unschedulable"), "ready": ready}
        elif row == "namespaces":
            state[key] = obj["status"].get("phase")
    state.update(pods)
    return state


def _uid(owner: Object | None) -> str:
    return owner["uid"] if owner else ""


def _counts(obj: Object, names: tuple[str, ...]) -> Object:
    return {name: (obj.get("status") or {}).get(name, 0) for name in names}


def _workload(obj: Object) -> Object:
    status = obj.get("status") or {}
    state: Object = {"spec": obj["spec"], "generation": obj["metadata"]["generation"]}
    if obj["kind"] == "Job":
        state["succeeded"], state["active"] = status.get("succeeded", 0), status.get("active", 0)
        state["completedIndexes"] = status.get("completedIndexes", "")
    else:
        state["observed"] = status.get("observedGeneration")
        state |= _counts(obj, (*COUNTS, *DAEMON_COUNTS))
    state["conditions"] = sorted(
        f"{each['type']}={each['status']} {each.get('reason', '')}" for each in status.get("conditions") or ()
    )
    if obj["kind"] == "Job":
        spec = state["spec"]
        # the Job's own uid is in its selector
        state["spec"] = {name: value for name, value in spec.items() if name not in ("selector", "template")}
    return state


def differences(calm: dict[str, Any], stormy: dict[str, Any]) -> list[str]:
    """One line for each."""
    lines = []
    for key in sorted({*calm, *stormy}):
        if calm.get(key) != stormy.get(key):
            lines.append(f"{key}: {_shown(calm.get(key), stormy.get(key))}")
    return lines


def _shown(calm: Any, stormy: Any) -> str:
    if isinstance(calm, dict) and isinstance(stormy, dict):
        parts = [f"{n} {calm.get(n)} → {stormy.get(n)}" for n in {**calm, **stormy} if calm.get(n) != stormy.get(n)]
        return ", ".join(parts)[:600]
    return f"{calm} → {stormy}"[:600]


def left_behind(history: History) -> list[str]:
    """Objects whose reason to exist is gone."""
    objects = latest(history)
    uids = {obj["metadata"]["uid"]: obj for obj in objects.values()}
    problems = []
    for key, obj in objects.items():
        owner = controller_of(obj)
        if owner is not None and owner["uid"] not in uids and not key.startswith(("leases", "ipaddresses")):
            problems.append(f"{key}: its owner {owner['kind']} {owner['name']} is gone")
        if "deletionTimestamp" in obj["metadata"]:
            problems.append(f"{key}: deleted at {obj['metadata']['deletionTimestamp']}, and still there")
        if key.startswith("pods ") and obj["status"].get("phase") in TERMINAL and owner and owner["kind"] != "Job":
            problems.append(f"{key}: {obj['status']['phase']} ({obj['status'].get('reason')}), and nobody cleans up")
        if key.startswith("endpointslices"):
            for endpoint in obj.get("endpoints") or ():
                pod = endpoint.get("targetRef") or {}
                if pod.get("kind") == "Pod" and pod["uid"] not in uids:
                    problems.append(f"{key}: the pod {pod['name']} is gone")
        if key.startswith("endpoints "):
            for subset in obj.get("subsets") or ():
                for address in (*(subset.get("addresses") or ()), *(subset.get("notReadyAddresses") or ())):
                    pod = address.get("targetRef") or {}
                    if pod and pod["uid"] not in uids:
                        problems.append(f"{key}: the pod {pod['name']} is gone")
    addresses = {obj["spec"].get("clusterIP") for key, obj in objects.items() if key.startswith("services ")}
    for key in objects:
        if key.startswith("ipaddresses") and key.split()[1] not in addresses:
            problems.append(f"{key}: no Service has it")
    return problems


async def leaked(cluster: ChaosCluster) -> list[str]:
    """What runs on nodes for pods that there are no longer, and what components believe that is not so."""
    problems = []
    pods = latest(cluster.history, ("pods",))
    uids = {pod["metadata"]["uid"]: pod for pod in pods.values()}
    for node, runtime in cluster.runtimes.items():
        for box in await runtime.list_pod_sandbox():
            pod = uids.get(box.metadata.uid)
            if box.state == 0 and (pod is None or pod["spec"].get("nodeName") != node):
                problems.append(f"{node}: the sandbox of {box.metadata.name} runs, and its pod is gone")
    for informer in cluster.beliefs():
        kept = {f"{o['metadata'].get('namespace', '')}/{o['metadata']['name']}": o for o in informer.indexer.list()}
        cacher = cluster.server.cachers[(informer.resource.group, informer.resource.plural)]
        cacher.catch_up()
        there = {
            f"{c.obj['metadata'].get('namespace', '')}/{c.obj['metadata']['name']}": c.obj for c in cacher.ordered()
        }
        for key in sorted({*kept, *there}):
            ours, theirs = (
                each.get(key, {"metadata": {}})["metadata"].get("resourceVersion") for each in (kept, there)
            )
            if ours != theirs:
                problems.append(f"informer of {informer.resource.plural}: {key} at {ours}, the server has {theirs}")
    return problems


def tasks() -> Counter[str]:
    """What runs on the loop, by name; numbers that asyncio gives are left out."""
    return Counter(_name(task) for task in asyncio.all_tasks() if not task.done())


def _name(task: asyncio.Task[Any]) -> str:
    name = task.get_name()
    return getattr(task.get_coro(), "__qualname__", name) if name.startswith("Task-") else name


def more(stormy: Counter[str], calm: Counter[str], what: str) -> list[str]:
    """What there is more of."""
    return [f"{what} {name}: {calm[name]} → {count}" for name, count in sorted(stormy.items()) if count > calm[name]]


def watchers(cluster: ChaosCluster) -> Counter[str]:
    """Open watches on the server, by resource."""
    return Counter({key[1]: len(cacher.watchers()) for key, cacher in cluster.server.cachers.items()})
