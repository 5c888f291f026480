"""Kinds of attack on whoever acts later: controllers, kube-proxy, kubelets, admission, each of which watches what anybody may write.

Selectors that are asked about each pod, addresses times ports, variables that double, annotations that double, crowds that are let go.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import (
    ADMISSION,
    CREATES,
    MAPS,
    NAMESPACES,
    PODS,
    REVIEWS,
    SPACE,
    admission,
    config_map,
    pod,
)
from benchmarks.attacks.table import attack, request

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


async def come_and_go(who: Attacker, count: int = 10) -> set[int]:
    """Pods, which all that have a selector are asked about."""
    statuses = await who.many(count, "POST", PODS, pod())
    await asyncio.sleep(3)
    statuses.add(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    await asyncio.sleep(2)
    return statuses


@attack("budgets: 200 with selectors of 200 KB, ten pods, and one that is evicted")
async def budgets(who: Attacker) -> set[int]:
    statuses: set[int] = set()
    for number in range(200):
        words = [f"{number}-{i}" for i in range(15_000)]
        spec = {"minAvailable": 1, "selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": words}]}}
        body = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": f"b{number}"},
            "spec": spec,
        }
        statuses.add(await who.ask("POST", BUDGETS, body))
    statuses |= await come_and_go(who)
    evicted = {**pod(), "metadata": {"name": "evicted"}}
    statuses.add(await who.ask("POST", PODS, evicted))
    await asyncio.sleep(5)  # a pod that does not run yet goes without asking any budget
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "evicted"}}
    statuses |= await who.many(
        5, "POST", f"{PODS}/evicted/eviction", {**eviction, "deleteOptions": {"dryRun": ["All"]}}
    )
    statuses.add(await who.ask("POST", f"{PODS}/evicted/eviction", eviction))
    await asyncio.sleep(2)
    statuses.add(await who.ask("DELETE", BUDGETS))
    await asyncio.sleep(2)
    return statuses


@attack("services: 200 with selectors of 200 KB, and ten pods")
async def selecting_services(who: Attacker) -> set[int]:
    statuses: set[int] = set()
    for number in range(200):
        spec = {"ports": [{"port": 80}], "selector": {f"k{number}-{i}": "v" for i in range(12_000)}}
        body = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"s{number}", "labels": {"of": "attack"}},
            "spec": spec,
        }
        statuses.add(await who.ask("POST", f"{SPACE}/services", body))
    statuses |= await come_and_go(who)
    statuses.add(await who.ask("DELETE", f"{SPACE}/services?labelSelector=of%3Dattack"))
    await asyncio.sleep(2)
    return statuses


@attack("owner: 2,000 dependents that are let go at once")
async def orphans(who: Attacker) -> set[int]:
    statuses = {await who.ask("POST", MAPS, config_map("owner"))}
    owner = (await who.read(f"{MAPS}/owner"))["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
    made = config_map(metadata={"ownerReferences": [reference], "labels": {"of": "owner"}})
    for _ in range(40):
        statuses |= await who.many(50, "POST", MAPS, made)
    await asyncio.sleep(1)
    statuses.add(await who.ask("DELETE", f"{MAPS}/owner?propagationPolicy=Orphan"))
    await asyncio.sleep(8)
    statuses.add(await who.ask("DELETE", f"{MAPS}?labelSelector=of%3Downer"))
    await asyncio.sleep(2)
    return statuses


@attack("namespace: 3,000 objects in one that is deleted")
async def full_namespace(who: Attacker) -> set[int]:
    statuses = {
        await who.ask("POST", NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "full"}})
    }
    for _ in range(60):
        statuses |= await who.many(50, "POST", f"{NAMESPACES}/full/configmaps", config_map())
    statuses.add(await who.ask("DELETE", f"{NAMESPACES}/full"))
    await asyncio.sleep(8)
    return statuses


@attack("pod: 28 variables, each twice the last")
async def doubling_variables(who: Attacker) -> list[Any]:
    twice = [{"name": f"E{i}", "value": f"$(E{i - 1})$(E{i - 1})"} for i in range(1, 28)]
    container = {"name": "c", "image": "nginx", "env": [{"name": "E0", "value": "x" * 10}, *twice]}
    body = {**pod(containers=[container]), "metadata": {"name": "doubling"}}
    statuses = [await who.ask("POST", PODS, body)]
    await asyncio.sleep(5)
    return [*statuses, await who.ask("DELETE", f"{PODS}/doubling?gracePeriodSeconds=0")]


@attack("pod: a word of 400,000 brackets that nobody closes")
async def open_brackets(who: Attacker) -> list[Any]:
    container = {"name": "c", "image": "busybox:1.36", "command": ["sleep", "$(" * 400_000]}
    statuses = [await who.ask("POST", PODS, {**pod(containers=[container]), "metadata": {"name": "brackets"}})]
    await asyncio.sleep(5)
    return [*statuses, await who.ask("DELETE", f"{PODS}/brackets?gracePeriodSeconds=0")]


@attack("pod: 5,000 volumes from ConfigMaps")
async def volumes(who: Attacker) -> list[Any]:
    made = [{"name": f"v{i}", "configMap": {"name": "victim", "optional": True}} for i in range(5_000)]
    mounts = [{"name": f"v{i}", "mountPath": f"/v/{i}"} for i in range(5_000)]
    body = {**pod(volumes=made, containers=[{"name": "c", "image": "nginx", "volumeMounts": mounts}])}
    statuses = [await who.ask("POST", PODS, {**body, "metadata": {"name": "volumes"}})]
    await asyncio.sleep(5)
    return [*statuses, await who.ask("DELETE", f"{PODS}/volumes?gracePeriodSeconds=0")]


@attack("node: 20,000 images, 10,000 addresses, 3,000 taints")
async def node(who: Attacker) -> list[Any]:
    taints = [{"key": f"k{i}", "effect": "PreferNoSchedule"} for i in range(3_000)]
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "vast"}, "spec": {"taints": taints},
            "status": {"images": [{"names": [f"i{i}"], "sizeBytes": 1 << 30} for i in range(20_000)],
                       "addresses": [{"type": "InternalIP", "address": f"10.9.{i >> 8}.{i & 255}"} for i in range(10_000)]}}  # fmt: skip
    statuses: list[Any] = [await who.ask("POST", "/api/v1/nodes", body)]
    statuses.append(await come_and_go(who))
    return [*statuses, await who.ask("DELETE", "/api/v1/nodes/vast")]


# -- who somebody is ------------------------------------------------------------------
def token(head: bytes, claims: bytes = b"{}") -> str:
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (head, claims, b"x"))


ISSUER = b'{"iss":"https://kubernetes.default.svc.cluster.local","a":{' + b'"a":1,' * 80_000 + b'"b":1}}'
for told, parts in {
    "a head of 300,000 brackets": (b"[" * 300_000,),
    "claims of 300,000 brackets": (b"{}", b"[" * 300_000),
    "claims of 500 KB, signed by nobody": (b'{"alg":"none"}', ISSUER),
}.items():
    request(f"token: {told}", 3, "GET", MAPS, Authorization=f"Bearer {token(*parts)}")
request("token review: claims of 2 MB", 3, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", lambda: {
    "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
    "spec": {"token": token(b'{"alg":"RS256"}', b'{"a":' * 350_000), "audiences": [f"a{i}" for i in range(10_000)]}})  # fmt: skip
request("access review: 2,000 at once", 2_000, "POST", REVIEWS, lambda: {
    "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
    "spec": {"user": "x", "groups": ["a"], "resourceAttributes": {"verb": "get", "resource": "pods"}}})  # fmt: skip


# -- admission ----------------------------------------------------------------------------
def doubling(number: int, kind: str) -> dict[str, Any]:
    twice = "object.metadata.annotations.a + object.metadata.annotations.a"
    patch = f"[JSONPatch{{op: 'replace', path: '/metadata/annotations/a', value: {twice}}}]"
    apply = f"Object{{metadata: Object.metadata{{annotations: {{'a': {twice}}}}}}}"
    mutation: dict[str, Any] = (
        {"patchType": kind, "jsonPatch": {"expression": patch}}
        if kind == "JSONPatch"
        else {"patchType": kind, "applyConfiguration": {"expression": apply}}
    )
    spec = {"matchConstraints": {"resourceRules": [CREATES]}, "mutations": [mutation], "reinvocationPolicy": "IfNeeded",
            "failurePolicy": "Fail"}  # fmt: skip
    return admission("MutatingAdmissionPolicy", f"twice{number}", spec=spec)


@attack("policies: thirty that double an annotation")
async def doubling_policies(who: Attacker) -> set[int]:
    statuses: set[int] = set()
    kinds = f"{ADMISSION}/mutatingadmissionpolic"
    for number in range(30):
        made = doubling(number, "JSONPatch" if number % 2 else "ApplyConfiguration")
        bound = admission("MutatingAdmissionPolicyBinding", f"twice{number}", spec={"policyName": f"twice{number}"})
        statuses |= {await who.ask("POST", f"{kinds}ies", made), await who.ask("POST", f"{kinds}ybindings", bound)}
    await asyncio.sleep(1)
    large = config_map(metadata={"annotations": {"a": "x" * 1000}})
    statuses |= await who.many(3, "POST", f"{MAPS}?dryRun=All", large)
    for path in (f"{kinds}ybindings", f"{kinds}ies"):
        await who.ask("DELETE", f"{path}?labelSelector=of%3Dattack")
    await asyncio.sleep(0.5)
    return statuses


# -- other controllers --------------------------------------------------------------------
@attack("cron jobs: 200 that never come")
async def cron_jobs(who: Attacker) -> set[int]:
    path, statuses = "/apis/batch/v1/namespaces/default/cronjobs", set()
    template = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x"}], "restartPolicy": "Never"}}}}
    for number in range(200):
        zone = ["Africa/Casablanca", "America/New_York", "Pacific/Apia", "Asia/Gaza"][number % 4]
        spec = {
            "schedule": f"{number % 60} 0 30,31 2 *",
            "timeZone": zone,
            "jobTemplate": template,
            "startingDeadlineSeconds": 2**62,
        }
        body = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": f"never{number}"}, "spec": spec}
        statuses.add(await who.ask("POST", path, body))
    for number in range(50):
        late = {"status": {"lastScheduleTime": "9999-12-31T23:59:59Z"}}
        statuses.add(
            await who.ask("PATCH", f"{path}/never{number}/status", late, Content_Type="application/merge-patch+json")
        )
    await asyncio.sleep(3)
    statuses.add(await who.ask("DELETE", path))
    return statuses


@attack("autoscaler: 2,000 metrics")
async def metrics(who: Attacker) -> list[Any]:
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    metric = [
        {"type": "Pods", "pods": {"metric": {"name": f"m{i}"}, "target": {"type": "AverageValue", "averageValue": "1"}}}
        for i in range(2_000)
    ]
    spec = {
        "maxReplicas": 2**31 - 1,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"},
        "metrics": metric,
    }
    body = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "many"},
        "spec": spec,
    }
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {
        "replicas": 1, "revisionHistoryLimit": 2**31 - 1, "selector": {"matchLabels": {"a": "x"}},
        "template": {"metadata": {"labels": {"a": "x"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}}  # fmt: skip
    statuses: list[Any] = [
        await who.ask("POST", "/apis/apps/v1/namespaces/default/deployments", deployment),
        await who.ask("POST", path, body),
    ]
    await asyncio.sleep(20)
    return [
        *statuses,
        await who.ask("DELETE", f"{path}/many"),
        await who.ask("DELETE", "/apis/apps/v1/namespaces/default/deployments/x"),
    ]
