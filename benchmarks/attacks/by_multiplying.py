"""Kinds of attack in which two lists meet that are each long and harmless: taints and tolerations, variables and containers, loops of
expressions and what each round looks at.
"""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import (
    ADMISSION,
    CREATES,
    CUSTOM,
    DEFINITIONS,
    MAPS,
    PODS,
    RBAC,
    SPACE,
    admission,
    config_map,
    definition,
    pod,
    policy,
    rights,
)
from benchmarks.attacks.scene import served
from benchmarks.attacks.table import attack

EVERYTHING = [{"operator": "Exists"}]
"""What tolerates the only node."""
POLICIES = f"{ADMISSION}/mutatingadmissionpolic"


async def runs_for(who: Attacker, seconds: float, **spec: Any) -> list[int]:
    """A pod for a while."""
    statuses = [await who.ask("POST", PODS, {**pod(**spec), "metadata": {"name": "multiplied"}})]
    await asyncio.sleep(seconds)
    statuses.append(await who.ask("DELETE", f"{PODS}/multiplied?gracePeriodSeconds=0"))
    await asyncio.sleep(2)
    return statuses


@attack("pod: 20,000 tolerations beside 10,000 taints")
async def tolerant(who: Attacker) -> list[int]:
    taints = [{"key": f"k{i}", "effect": "NoSchedule"} for i in range(10_000)]
    made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "tainted"}, "spec": {"taints": taints}}
    statuses = [await who.ask("POST", "/api/v1/nodes", made)]
    tolerated = [{"key": f"k{i}", "operator": "Exists"} for i in range(20_000)]
    statuses += await runs_for(who, 6, tolerations=tolerated)
    return [*statuses, await who.ask("DELETE", "/api/v1/nodes/tainted")]


@attack("pod: 4,000 containers that run")
async def crowded(who: Attacker) -> list[int]:
    containers = [{"name": f"c{i}", "image": "nginx"} for i in range(4_000)]
    return await runs_for(who, 10, containers=containers, tolerations=EVERYTHING)


@attack("pod: 50 times 50,000 variables in each of five containers")
async def well_informed(who: Attacker) -> list[int]:
    statuses = [await who.ask("POST", MAPS, config_map("names", data={f"K{i}": "" for i in range(50_000)}))]
    sources = [{"prefix": f"P{i}_", "configMapRef": {"name": "names"}} for i in range(50)]
    containers = [{"name": f"c{i}", "image": "nginx", "envFrom": sources} for i in range(5)]
    statuses += await runs_for(who, 12, containers=containers, tolerations=EVERYTHING)
    return [*statuses, await who.ask("DELETE", f"{MAPS}/names")]


@attack("pod: 100,000 words with two variables each")
async def wordy(who: Attacker) -> list[int]:
    variables = [{"name": "X", "value": "y" * 20}]
    container = {"name": "c", "image": "busybox:1.36", "args": ["$(X)$(Y)"] * 100_000, "env": variables}
    return await runs_for(who, 6, containers=[container], tolerations=EVERYTHING)


@attack("pod: 1,500 containers with two probes a second")
async def probed(who: Attacker) -> list[int]:
    probe = {"httpGet": {"port": 80}, "periodSeconds": 1}
    container = {"image": "nginx", "livenessProbe": probe, "readinessProbe": probe}
    containers = [{"name": f"c{i}", **container} for i in range(1_500)]
    return await runs_for(who, 12, containers=containers, tolerations=EVERYTHING)


@attack("pods: 6,000 terms about each of 300 nodes, demanded and preferred")
async def particular(who: Attacker) -> list[Any]:
    room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node{i}", "labels": {"n": str(i)}},
            "status": status,
        }
        for i in range(300)
    ]
    for first in range(0, 300, 50):
        await asyncio.gather(*(who.ask("POST", "/api/v1/nodes", node) for node in nodes[first : first + 50]))
    terms = [{"matchExpressions": [{"key": f"k{i}", "operator": "In", "values": ["a"]}]} for i in range(6_000)]
    demanded = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    weighed = [{"weight": 1, "preference": term} for term in terms]
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": weighed}
    statuses: list[Any] = []
    for affinity in (demanded, preferred):
        statuses.append(await runs_for(who, 6, affinity={"nodeAffinity": affinity}, tolerations=EVERYTHING))
    statuses.append(await who.ask("DELETE", "/api/v1/nodes?labelSelector=n"))
    await asyncio.sleep(2)
    return statuses


def mutating(name: str, kind: str, field: str, expression: str, data: dict[str, str]) -> None:
    """Enter a policy that makes something of each key of a map."""

    @attack(f"mutating policy: {name}")
    async def do(who: Attacker) -> list[Any]:
        mutation = {"patchType": kind, field: {"expression": expression}}
        rules = {"resourceRules": [{**CREATES, "resources": ["secrets"]}]}
        spec = {"matchConstraints": rules, "mutations": [mutation] * 3, "reinvocationPolicy": "IfNeeded"}
        bound = {"policyName": "multiply"}
        statuses: list[Any] = [
            await who.ask("POST", f"{POLICIES}ies", admission("MutatingAdmissionPolicy", "multiply", spec=spec)),
            await who.ask(
                "POST", f"{POLICIES}ybindings", admission("MutatingAdmissionPolicyBinding", "multiply", spec=bound)
            ),
        ]
        await asyncio.sleep(1)
        made = {**config_map(), "kind": "Secret", "stringData": data}
        statuses.append(await who.many(3, "POST", f"{SPACE}/secrets?dryRun=All", made))
        await who.ask("DELETE", f"{POLICIES}ybindings/multiply")
        await who.ask("DELETE", f"{POLICIES}ies/multiply")
        return statuses


KEYS = {f"k{i}": "" for i in range(20_000)}
mutating("a patch for each of 9,000 keys", "JSONPatch", "jsonPatch",
         "object.stringData.map(k, JSONPatch{op: 'add', path: '/stringData/' + k + 'y', value: k + k})",
         dict(list(KEYS.items())[:9_000]))  # fmt: skip
mutating("a text made of 20,000 keys", "ApplyConfiguration", "applyConfiguration",
         "Object{metadata: Object.metadata{annotations: {'a': object.stringData.map(k, k).join('')}}}", KEYS)  # fmt: skip


@attack("policy: 9,000 looks at a map of 60,000 keys")
async def looks(who: Attacker) -> list[Any]:
    kinds = f"{ADMISSION}/validatingadmissionpolic"
    spec = policy("object.metadata.annotations.all(k, object.data == object.data)")["spec"]
    bound = {"policyName": "looks", "validationActions": ["Deny"]}
    statuses: list[Any] = [
        await who.ask("POST", f"{kinds}ies", admission("ValidatingAdmissionPolicy", "looks", spec=spec)),
        await who.ask("POST", f"{kinds}ybindings", admission("ValidatingAdmissionPolicyBinding", "looks", spec=bound)),
    ]
    await asyncio.sleep(1)
    notes = {f"a{i}": "" for i in range(9_000)}
    made = config_map(data={f"k{i}": "v" for i in range(60_000)}, metadata={"annotations": notes})
    statuses.append(await who.many(3, "POST", f"{MAPS}?dryRun=All", made))
    await who.ask("DELETE", f"{kinds}ybindings/looks")
    await who.ask("DELETE", f"{kinds}ies/looks")
    return statuses


@attack("CRD: a rule that makes a list of 9,000 three times")
async def growing_rule(who: Attacker) -> list[Any]:
    words = {"type": "array", "maxItems": 9_000, "items": {"type": "string", "maxLength": 10}}
    rule = {"rule": "self.words.map(x, x).filter(x, x != '').map(x, [x]).size() > 0"}
    spec = {"type": "object", "properties": {"words": words}, "x-kubernetes-validations": [rule]}
    made = definition("growings", {"type": "object", "properties": {"spec": spec}})
    statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
    await served(who, f"{CUSTOM}/growings")
    spec = {"words": [str(i) for i in range(3_000)]}
    thing = {"apiVersion": "attack.example/v1", "kind": "Growing", "metadata": {"name": "g"}, "spec": spec}
    statuses.append(await who.many(5, "POST", f"{CUSTOM}/growings?dryRun=All", thing))
    return [*statuses, await who.ask("DELETE", f"{DEFINITIONS}/growings.attack.example")]


@attack("rules review: 40,000 rules, ten times at once")
async def many_rights(who: Attacker) -> list[Any]:
    statuses: list[Any] = []
    for number in range(4):
        name = f"wide{number}"
        rules = [{"apiGroups": [f"g{number}-{i}"], "resources": ["x"], "verbs": ["get"]} for i in range(10_000)]
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "wide"}
        statuses.append(await who.ask("POST", f"{RBAC}/clusterroles", rights("ClusterRole", name, rules=rules)))
        bound = rights("ClusterRoleBinding", name, roleRef=reference, subjects=[subject])
        statuses.append(await who.ask("POST", f"{RBAC}/clusterrolebindings", bound))
    await asyncio.sleep(1)
    asked = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": "default"},
    }
    reviews = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    statuses.append(await who.many(10, "POST", reviews, asked, Impersonate_User="wide"))
    for number in range(4):
        await who.ask("DELETE", f"{RBAC}/clusterrolebindings/wide{number}")
        await who.ask("DELETE", f"{RBAC}/clusterroles/wide{number}")
    return statuses


@attack("metrics: 3,000 groups that there are not, and who asks then")
async def unknown_groups(who: Attacker) -> set[int]:
    for part in range(30):
        paths = (f"/apis/g{part}-{i}.example/v1/{'r' * 50}{i}/n" for i in range(100))
        await asyncio.gather(*(who.ask("GET", path) for path in paths))
    return await who.many(4, "GET", "/metrics")
