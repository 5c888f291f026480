"""Kinds of attack on control loops by what is asked of them: too many of a thing, too much of it, too often, or about too many others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import MERGE, PODS, SPACE, pod
from benchmarks.attacks.scene import in_portions
from benchmarks.attacks.table import attack

APPS = "/apis/apps/v1/namespaces/default"
BATCH = "/apis/batch/v1/namespaces/default"
SCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
CLAIMS = f"{SPACE}/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
STORAGE = "/apis/storage.k8s.io/v1"
BILLIONS = 2**31 - 1
OURS = {"of": "crowd"}
CROWD = "labelSelector=of%3Dcrowd"
NOWHERE = {"containers": [{"name": "c", "image": "nginx"}], "schedulingGates": [{"name": "example.com/never"}]}


def workload(kind: str, name: str, template: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    app = {"app": name}
    made = {"metadata": {"labels": app}, "spec": template or NOWHERE}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "labels": OURS},
            "spec": {"selector": {"matchLabels": app}, "template": made, **spec}}  # fmt: skip


async def for_a_while(who: Attacker, path: str, body: dict[str, Any], seconds: float = 8) -> list[Any]:
    """Something that makes pods; it goes, and they go."""
    statuses: list[Any] = [await who.ask("POST", path, body)]
    await asyncio.sleep(seconds)
    statuses.append(await who.ask("DELETE", f"{path}/{body['metadata']['name']}?propagationPolicy=Background"))
    await asyncio.sleep(1)
    for _ in range(3):
        statuses.append(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    await asyncio.sleep(2)
    return statuses


def enter(name: str, path: str, make: Callable[[], dict[str, Any]], seconds: float = 8) -> None:
    async def do(who: Attacker) -> list[Any]:
        return await for_a_while(who, path, make(), seconds)

    attack(name)(do)


enter("replica set: two billion pods", f"{APPS}/replicasets", lambda: workload("ReplicaSet", "vast", replicas=BILLIONS))
enter("deployment: two billion pods, a million percent more at a time", f"{APPS}/deployments",
      lambda: workload("Deployment", "surging", replicas=BILLIONS,
                       strategy={"rollingUpdate": {"maxSurge": "1000000%", "maxUnavailable": "100%"}}))  # fmt: skip
enter("statefulset: two billion pods, all at once", f"{APPS}/statefulsets",
      lambda: workload("StatefulSet", "parallel", replicas=BILLIONS, serviceName="x", podManagementPolicy="Parallel",
                       ordinals={"start": 2**30}))  # fmt: skip
enter("statefulset: a hundred claims for each of a thousand pods", f"{APPS}/statefulsets",
      lambda: workload("StatefulSet", "claiming", replicas=1_000, serviceName="x", podManagementPolicy="Parallel",
                       volumeClaimTemplates=[{"metadata": {"name": f"v{i}"}, "spec": {
                           "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}}
                           for i in range(100)]))  # fmt: skip
enter("job: two billion pods at once", f"{BATCH}/jobs", lambda: {
    "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "vast"},
    "spec": {"completions": BILLIONS, "parallelism": BILLIONS, "backoffLimit": BILLIONS,
             "template": {"spec": {**NOWHERE, "restartPolicy": "Never"}}}})  # fmt: skip
enter("job: 1,000 rules about exit codes, 255 codes each", f"{BATCH}/jobs", lambda: {
    "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "ruled"},
    "spec": {"completions": 60, "parallelism": 60, "backoffLimit": 60,
             "podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": {
                 "operator": "In", "values": list(range(10, 255))}} for _ in range(20)]},
             "template": {"spec": {"containers": [{"name": f"c{i}", "image": "busybox:1.36", "command": ["false"]}
                                                  for i in range(20)], "restartPolicy": "Never"}}}})  # fmt: skip


@attack("replica sets: 500 who want the same pods, and 50 pods")
async def rivals(who: Attacker) -> list[Any]:
    def rival(i: int) -> dict[str, Any]:
        made = workload("ReplicaSet", f"rival{i}", replicas=0)
        made["spec"]["selector"] = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
        return made

    statuses: list[Any] = [await in_portions([who.ask("POST", f"{APPS}/replicasets", rival(i)) for i in range(500)])]
    made = {**pod(**NOWHERE), "metadata": {"generateName": "prey-", "labels": {"app": "x"}}}
    statuses.append(await who.many(50, "POST", PODS, made))
    await asyncio.sleep(5)
    statuses.append(await who.ask("DELETE", f"{APPS}/replicasets?{CROWD}&propagationPolicy=Orphan"))
    statuses.append(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    await asyncio.sleep(3)
    return statuses


@attack("deployments: 300 made, changed and deleted together")
async def deployments(who: Attacker) -> list[Any]:
    path, change = f"{APPS}/deployments", {"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}
    made = [workload("Deployment", f"d{i}", replicas=2) for i in range(300)]
    statuses: list[Any] = [await in_portions([who.ask("POST", path, body) for body in made])]
    statuses.append(await in_portions([who.ask("PATCH", f"{path}/d{i}", change, **MERGE) for i in range(300)]))
    await asyncio.sleep(4)
    statuses.append(await who.ask("DELETE", f"{path}?{CROWD}&propagationPolicy=Background"))
    await asyncio.sleep(6)
    return statuses


@attack("daemon sets: 300, each with 1,000 terms about nodes")
async def daemons(who: Attacker) -> list[Any]:
    terms = [{"matchExpressions": [{"key": f"k{i}", "operator": "Gt", "values": [str(i)]}]} for i in range(1_000)]
    demanded = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    template = {"containers": [{"name": "c", "image": "nginx"}], "affinity": demanded}
    made = [workload("DaemonSet", f"d{i}", template) for i in range(300)]
    statuses: list[Any] = [await in_portions([who.ask("POST", f"{APPS}/daemonsets", body) for body in made])]
    for number in range(20):
        change = {"metadata": {"labels": {"k5": str(number)}}}
        statuses.append(await who.ask("PATCH", "/api/v1/nodes/lifecycle-control-plane", change, **MERGE))
    await asyncio.sleep(4)
    statuses.append(await who.ask("DELETE", f"{APPS}/daemonsets?{CROWD}"))
    await asyncio.sleep(3)
    change = {"metadata": {"labels": {"k5": None}}}
    return [set(map(str, statuses)), await who.ask("PATCH", "/api/v1/nodes/lifecycle-control-plane", change, **MERGE)]


# -- autoscalers --------------------------------------------------------------------------
def scaler(name: str, target: str, **spec: Any) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name, "labels": OURS},
            "spec": {"scaleTargetRef": reference, "maxReplicas": 10, **spec}}  # fmt: skip


@attack("autoscalers: 500 about one deployment")
async def scalers(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await who.ask("POST", f"{APPS}/deployments", workload("Deployment", "scaled", replicas=3))]
    made = [scaler(f"h{i}", "scaled") for i in range(500)]
    statuses.append(await in_portions([who.ask("POST", SCALERS, body) for body in made]))
    await asyncio.sleep(16)
    statuses.append(await who.ask("DELETE", f"{SCALERS}?{CROWD}"))
    return [*statuses, await who.ask("DELETE", f"{APPS}/deployments/scaled")]


@attack("autoscaler: 15,000 policies, and metrics with selectors of 1 MB")
async def policies(who: Attacker) -> list[Any]:
    rules = [{"type": "Percent", "value": BILLIONS, "periodSeconds": 1800 - i % 1800} for i in range(15_000)]
    behaviour = {"scaleUp": {"policies": rules}, "scaleDown": {"policies": rules, "stabilizationWindowSeconds": 3600}}
    words = {"matchExpressions": [{"key": "a", "operator": "In", "values": [f"v{i}" for i in range(60_000)]}]}
    metric = {"type": "External", "external": {"metric": {"name": "x", "selector": words},
                                               "target": {"type": "Value", "value": "1"}}}  # fmt: skip
    statuses: list[Any] = [await who.ask("POST", f"{APPS}/deployments", workload("Deployment", "scaled", replicas=3))]
    statuses.append(await who.ask("POST", SCALERS, scaler("ruled", "scaled", behavior=behaviour)))
    statuses.append(await who.ask("POST", SCALERS, scaler("choosy", "scaled", metrics=[metric])))
    await asyncio.sleep(18)
    statuses.append(await who.ask("DELETE", f"{SCALERS}?{CROWD}"))
    return [*statuses, await who.ask("DELETE", f"{APPS}/deployments/scaled")]


@attack("autoscaler: the use of 2,000 containers in 100 pods")
async def container_metrics(who: Attacker) -> list[Any]:
    metrics = [
        {"type": "ContainerResource", "containerResource": {
            "container": f"c{i}", "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
        for i in range(2_000)
    ]  # fmt: skip
    statuses: list[Any] = [await who.ask("POST", f"{APPS}/deployments", workload("Deployment", "scaled", replicas=100))]
    statuses.append(await who.ask("POST", SCALERS, scaler("many", "scaled", metrics=metrics)))
    await asyncio.sleep(18)
    statuses.append(await who.ask("DELETE", f"{SCALERS}?{CROWD}"))
    return [*statuses, await who.ask("DELETE", f"{APPS}/deployments/scaled")]


# -- cron jobs ----------------------------------------------------------------------------
def cron(name: str, schedule: str, **spec: Any) -> dict[str, Any]:
    template = {"spec": {"suspend": True, "template": {"spec": {**NOWHERE, "restartPolicy": "Never"}}}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name, "labels": OURS},
            "spec": {"schedule": schedule, "jobTemplate": template, **spec}}  # fmt: skip


async def crons(who: Attacker, made: list[dict[str, Any]], last: str = "") -> list[Any]:
    path = f"{BATCH}/cronjobs"
    statuses: list[Any] = [await in_portions([who.ask("POST", path, body) for body in made])]
    if last:
        told = {"status": {"lastScheduleTime": last}}
        names = [each["metadata"]["name"] for each in made]
        statuses.append(await in_portions([who.ask("PATCH", f"{path}/{n}/status", told, **MERGE) for n in names]))
    await asyncio.sleep(6)
    statuses.append(await who.ask("DELETE", f"{path}?{CROWD}&propagationPolicy=Background"))
    await asyncio.sleep(2)
    return statuses


@attack("cron jobs: 300 that should have come each minute since 1970")
async def late(who: Attacker) -> list[Any]:
    zones = ["UTC", "America/New_York", "Asia/Gaza", "Antarctica/Troll"]
    return await crons(
        who, [cron(f"late{i}", "* * * * *", timeZone=zones[i % 4]) for i in range(300)], "1970-01-01T00:00:00Z"
    )


@attack("cron jobs: schedules of 1 MB")
async def long_schedules(who: Attacker) -> list[Any]:
    words = [
        ",".join(["0"] * 500_000),
        ",".join(["1-59/7"] * 140_000),
        "*/" + "0" * 900_000 + "7",
        "@every " + "1h" * 400_000,
    ]
    made = [cron(f"long{i}", word if word[0] == "@" else f"{word} 0 29 2 *") for i, word in enumerate(words)]
    return await crons(who, made)


@attack("cron jobs: 100 with a thousand jobs behind each")
async def history(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await in_portions([
        who.ask("POST", f"{BATCH}/cronjobs", cron(f"old{i}", "0 0 1 1 *", successfulJobsHistoryLimit=BILLIONS))
        for i in range(100)])]  # fmt: skip
    uids = {
        each["metadata"]["name"]: each["metadata"]["uid"] for each in (await who.read(f"{BATCH}/cronjobs"))["items"]
    }
    template = {"suspend": True, "template": {"spec": {**NOWHERE, "restartPolicy": "Never"}}}
    bodies = []
    for number in range(2_000):
        name = f"old{number % 100}"
        owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": name, "uid": uids[name], "controller": True}
        bodies.append({"apiVersion": "batch/v1", "kind": "Job", "metadata": {
            "generateName": "old-", "labels": OURS, "ownerReferences": [owner]}, "spec": template})  # fmt: skip
    statuses.append(await in_portions([who.ask("POST", f"{BATCH}/jobs", body) for body in bodies]))
    await asyncio.sleep(5)
    statuses.append(await who.ask("DELETE", f"{BATCH}/cronjobs?{CROWD}&propagationPolicy=Background"))
    await asyncio.sleep(6)
    return [*statuses, await who.ask("DELETE", f"{BATCH}/jobs?{CROWD}&propagationPolicy=Background")]


# -- volumes ------------------------------------------------------------------------------
def volume(i: int, **more: Any) -> dict[str, Any]:
    spec = {"capacity": {"storage": f"{i % 50 + 1}Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"pv{i}", "labels": OURS},
            "spec": {**spec, **more}}  # fmt: skip


def claim(i: int, **more: Any) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": f"{i % 50 + 1}Gi"}},
        "storageClassName": "",
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": f"pvc{i}", "labels": OURS},
            "spec": {**spec, **more}}  # fmt: skip


async def matched(who: Attacker, volumes: list[dict[str, Any]], claims: list[dict[str, Any]]) -> list[Any]:
    statuses: list[Any] = [await in_portions([who.ask("POST", VOLUMES, body) for body in volumes])]
    statuses.append(await in_portions([who.ask("POST", CLAIMS, body) for body in claims]))
    await asyncio.sleep(8)
    statuses.append(await who.ask("DELETE", f"{CLAIMS}?{CROWD}"))
    statuses.append(await who.ask("DELETE", f"{VOLUMES}?{CROWD}"))
    await asyncio.sleep(3)
    return statuses


@attack("volumes: 2,000, and 2,000 claims that they fit")
async def pairs(who: Attacker) -> list[Any]:
    return await matched(who, [volume(i) for i in range(2_000)], [claim(i) for i in range(2_000)])


@attack("volumes: 1,000, and 500 claims with 3,000 terms that none fits")
async def choosy(who: Attacker) -> list[Any]:
    terms = [{"key": "of", "operator": "NotIn", "values": [f"x{i}"]} for i in range(3_000)]
    terms.append({"key": "of", "operator": "In", "values": ["nobody"]})
    claims = [claim(i, selector={"matchExpressions": terms}) for i in range(500)]
    return await matched(who, [volume(i) for i in range(1_000)], claims)


@attack("volumes: 1,000 bound to nodes by 500 terms, and pods that wait for one")
async def local(who: Attacker) -> list[Any]:
    terms = [{"matchExpressions": [{"key": f"k{i}", "operator": "In", "values": ["a"]}]} for i in range(500)]
    later = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "later"},
             "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}  # fmt: skip
    statuses: list[Any] = [await who.ask("POST", f"{STORAGE}/storageclasses", later)]
    made = [
        volume(i, storageClassName="later", nodeAffinity={"required": {"nodeSelectorTerms": terms}})
        for i in range(1_000)
    ]
    statuses.append(await in_portions([who.ask("POST", VOLUMES, body) for body in made]))
    claims = [claim(i, storageClassName="later") for i in range(50)]
    statuses.append(await in_portions([who.ask("POST", CLAIMS, body) for body in claims]))
    used = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": f"pvc{i}"}} for i in range(50)]
    statuses.append(await who.many(20, "POST", PODS, pod(volumes=used, tolerations=[{"operator": "Exists"}])))
    await asyncio.sleep(6)
    statuses.append(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    for path in (f"{CLAIMS}?{CROWD}", f"{VOLUMES}?{CROWD}", f"{STORAGE}/storageclasses/later"):
        statuses.append(await who.ask("DELETE", path))
    await asyncio.sleep(3)
    return statuses


# -- who has precedence -------------------------------------------------------------------
@attack("pods: 300 that many less important ones are in the way of")
async def precedence(who: Attacker) -> list[Any]:
    priorities = "/apis/scheduling.k8s.io/v1/priorityclasses"
    for name, value in (("small", 1), ("great", 1_000)):
        made = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        await who.ask("POST", priorities, made)

    def sized(name: str, cpu: str) -> dict[str, Any]:
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
        return pod(containers=[container], priorityClassName=name, tolerations=[{"operator": "Exists"}],
                   terminationGracePeriodSeconds=0)  # fmt: skip

    statuses: list[Any] = [await who.many(90, "POST", PODS, sized("small", "1m"))]
    await asyncio.sleep(4)
    statuses.append(await in_portions([who.ask("POST", PODS, sized("great", "100")) for _ in range(200)]))
    statuses.append(await in_portions([who.ask("POST", PODS, sized("great", "500m")) for _ in range(100)]))
    await asyncio.sleep(8)
    for _ in range(2):
        statuses.append(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    for name in ("small", "great"):
        statuses.append(await who.ask("DELETE", f"{priorities}/{name}"))
    await asyncio.sleep(2)
    return statuses


@attack("nodes: 1,000 that join, say nothing and leave")
async def nodes(who: Attacker) -> list[Any]:
    def node(i: int) -> dict[str, Any]:
        room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
        status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}", "labels": OURS}, "status": status}

    statuses: list[Any] = [await in_portions([who.ask("POST", "/api/v1/nodes", node(i)) for i in range(1_000)])]
    await asyncio.sleep(6)
    statuses.append(await who.ask("DELETE", f"/api/v1/nodes?{CROWD}"))
    await asyncio.sleep(4)
    statuses.append(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    return statuses


@attack("pods: 500 with 1,000 gates each, which go one by one")
async def gates(who: Attacker) -> list[Any]:
    made = pod(schedulingGates=[{"name": f"example.com/g{i}"} for i in range(1_000)])
    statuses: list[Any] = [await in_portions([who.ask("POST", PODS, made) for _ in range(500)])]
    names = [each["metadata"]["name"] for each in (await who.read(PODS))["items"]]
    free = {"spec": {"schedulingGates": None}}
    statuses.append(await in_portions([who.ask("PATCH", f"{PODS}/{name}", free, **MERGE) for name in names]))
    await asyncio.sleep(4)
    return [*statuses, await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0")]
