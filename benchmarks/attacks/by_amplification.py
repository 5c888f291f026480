"""Kinds of attack in which a small request is dear because of what somebody wrote before, or in which an order, a repetition or a
default makes much of little.

Definitions, quotas, roles, webhooks, long selectors over many objects, the past.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import (
    ADMISSION,
    APPLY,
    BIG,
    CREATES,
    CUSTOM,
    DEFINITIONS,
    JSON_PATCH,
    MANY,
    MAPS,
    MERGE,
    OPEN,
    PODS,
    RBAC,
    REVIEWS,
    SPACE,
    STRATEGIC,
    TABLE,
    WIDGETS,
    admission,
    config_map,
    definition,
    pod,
    rights,
)
from benchmarks.attacks.scene import many_maps, served
from benchmarks.attacks.table import attack, request
from lifecycle.apiserver.admission.webhook_server import WebhookServer, json_patch

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
GROUP = "rbac.authorization.k8s.io"


def shuffled(count: int) -> dict[str, str]:
    keys = [f"k{number}" for number in range(count)]
    random.Random(7).shuffle(keys)
    return dict.fromkeys(keys, "")


async def defined(who: Attacker, made: dict[str, Any], *objects: dict[str, Any], times: int = 2) -> list[Any]:
    """A definition, objects of its kind, the documents that tell of it, and its end."""
    names = made["spec"]["names"]
    path = f"{CUSTOM}/{names['plural']}"
    statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
    await served(who, path)
    head = {"apiVersion": "attack.example/v1", "kind": names["kind"], "metadata": {"generateName": "d-"}}
    for each in objects:
        statuses.append(await who.many(times, "POST", path, {**head, **each}))
    for document in ("/openapi/v3/apis/attack.example/v1", "/openapi/v2"):
        statuses.append(await who.ask("GET", document))
    statuses.append(await who.ask("DELETE", f"{DEFINITIONS}/{names['plural']}.attack.example"))
    await asyncio.sleep(1)
    return statuses


# -- keys in no order ------------------------------------------------------------------
request("data: 190,000 keys in no order", 2, "POST", MAPS, lambda: config_map(data=shuffled(190_000)))
request(
    "merge patch: 190,000 keys in no order", 2, "PATCH", f"{MAPS}/victim", lambda: {"data": shuffled(190_000)}, **MERGE
)
request(
    "JSON patch: 190,000 keys in no order", 2, "PATCH", f"{MAPS}/victim",
    lambda: [{"op": "add", "path": "/data", "value": shuffled(190_000)}], **JSON_PATCH,
)  # fmt: skip
request(
    "apply: 60,000 keys in no order", 2, "PATCH", f"{MAPS}/unordered?fieldManager=x&force=true",
    lambda: config_map("unordered", data=shuffled(60_000)), **APPLY,
)  # fmt: skip


# -- many objects, and as many terms ----------------------------------------------------
@attack("field selector: 20,000 terms about 2,000 objects")
async def field_terms(who: Attacker) -> set[int]:
    await many_maps(who)
    return await who.many(
        2, "GET", f"{MANY}?fieldSelector=" + ",".join(f"metadata.name!%3Da{i}" for i in range(20_000))
    )


@attack("selector: 60,000 terms, and 90,000 words, about 2,000 objects")
async def label_terms(who: Attacker) -> set[int]:
    await many_maps(who)
    terms, words = ",".join(f"!z{i}" for i in range(60_000)), ",".join(f"x{i}" for i in range(90_000))
    statuses = await who.many(2, "GET", f"{MANY}?labelSelector={terms}")
    return statuses | await who.many(2, "GET", f"{MANY}?labelSelector=a%20notin%20({words})")


@attack("watches: 60 with selectors of 400 KB, and ten changes")
async def watched_terms(who: Attacker) -> set[int]:
    await many_maps(who)
    await who.unread(30, f"{MANY}?watch=1&labelSelector=" + ",".join(f"!z{i}" for i in range(60_000)), seconds=3)
    terms = ",".join(f"metadata.name!%3Da{i}" for i in range(20_000))
    await who.unread(30, f"{MANY}?watch=1&fieldSelector={terms}", seconds=3)
    return {await who.ask("PATCH", f"{MANY}/m1", {"data": {"n": str(i)}}, **MERGE) for i in range(10)}


@attack("list: 40 MB of the past, four at once")
async def past(who: Attacker) -> set[int]:
    version = (await who.read(f"{MAPS}?limit=1"))["metadata"]["resourceVersion"]
    await who.ask("PATCH", f"{MAPS}/victim", {"data": {"n": version}}, **MERGE)
    return await who.many(4, "GET", f"{BIG}?resourceVersion={version}&resourceVersionMatch=Exact")


@attack("strategic patch: 12,000 variables, in another order, and deleted")
async def variables(who: Attacker) -> list[Any]:
    path, names = "/apis/apps/v1/namespaces/default/deployments", [f"E{i}" for i in range(12_000)]
    container = {"name": "c", "image": "x", "env": [{"name": name, "value": "v"} for name in names]}
    template = {"metadata": {"labels": {"a": "env"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"a": "env"}}, "template": template}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "env"}, "spec": spec}
    statuses: list[Any] = [await who.ask("POST", path, made)]
    reordered = {
        "$setElementOrder/env": [{"name": name} for name in reversed(names)],
        "env": [{"name": name, "value": "w"} for name in reversed(names)],
    }
    for change in (reordered, {"env": [{"name": name, "$patch": "delete"} for name in names]}):
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", **change}]}}}}
        statuses.append(await who.many(2, "PATCH", f"{path}/env?dryRun=All", patch, **STRATEGIC))
    return [*statuses, await who.ask("DELETE", f"{path}/env")]


@attack("JSON patch: 9,000 removals at the head of a long list")
async def removals(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await who.ask("PATCH", f"{WIDGETS}/w", {"any": {"l": ["v"] * 200_000}}, **MERGE)]
    patch = [{"op": "remove", "path": "/any/l/0"}] * 9_000
    statuses.append(await who.many(2, "PATCH", f"{WIDGETS}/w?dryRun=All", patch, **JSON_PATCH))
    return [*statuses, await who.ask("PATCH", f"{WIDGETS}/w", {"any": {"l": None}}, **MERGE)]


# -- definitions -----------------------------------------------------------------------
@attack("CRD: 1,000 alternatives for 3,000 words")
async def alternatives(who: Attacker) -> list[Any]:
    word = {"type": "string", "anyOf": [{"pattern": f"^x{i}$"} for i in range(1_000)]}
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": word}}}
    return await defined(who, definition("words", schema), {"l": ["y"] * 300})


@attack("CRD: 35,000 fields, and an object with one")
async def fields(who: Attacker) -> list[Any]:
    schema = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(35_000)}}
    return await defined(who, definition("fields", schema), {"p1": "v"})


@attack("CRD: 4,000 rules, and 4,000 fields that they look at")
async def rules(who: Attacker) -> list[Any]:
    ruled = {f"p{i}": [{"rule": f"self != 'a{i}'"}] for i in range(4_000)}
    text = {"type": "string", "maxLength": 10}
    properties = {name: {**text, "x-kubernetes-validations": rule} for name, rule in ruled.items()}
    schema = {"type": "object", "properties": properties}
    return await defined(who, definition("ruleds", schema), {"p1": "b"}, dict.fromkeys(properties, "b"))


@attack("CRD: a default of 10 KB for each of 20,000 items")
async def defaults(who: Attacker) -> list[Any]:
    filled = {**OPEN, "default": {f"k{i}": "v" for i in range(1_000)}}
    items = {"type": "object", "properties": {"d": filled}}
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": items}}}
    return await defined(who, definition("fills", schema), {"l": [{}] * 20_000})


@attack("CRD: 50 columns through 20,000 items, watched as tables")
async def watched_tables(who: Attacker) -> list[Any]:
    made = definition("tabled", OPEN)
    columns = [{"name": f"c{i}", "type": "string", "jsonPath": ".spec[*].a"} for i in range(50)]
    made["spec"]["versions"][0]["additionalPrinterColumns"] = columns
    path = f"{CUSTOM}/tabled"
    statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
    await served(who, path)
    await who.unread(20, f"{path}?watch=1", seconds=0.5, **TABLE)
    head = {"apiVersion": "attack.example/v1", "kind": made["spec"]["names"]["kind"]}
    for number in range(3):
        body = {**head, "metadata": {"name": f"t{number}"}, "spec": [{"a": i} for i in range(20_000)]}
        statuses.append(await who.ask("POST", path, body))
    await asyncio.sleep(2)
    return [*statuses, await who.ask("DELETE", f"{DEFINITIONS}/tabled.attack.example")]


@attack("CRDs: 300 come and go")
async def definitions(who: Attacker) -> set[int]:
    statuses: set[int] = set()
    for start in range(0, 300, 10):
        made = [definition(f"m{i}ls", OPEN) for i in range(start, start + 10)]
        statuses |= set(await asyncio.gather(*(who.ask("POST", DEFINITIONS, each) for each in made)))
    await asyncio.sleep(3)
    for start in range(0, 300, 10):
        names = [f"{DEFINITIONS}/m{i}ls.attack.example" for i in range(start, start + 10)]
        statuses |= set(await asyncio.gather(*(who.ask("DELETE", name) for name in names)))
    await asyncio.sleep(3)
    return statuses


# -- admission -------------------------------------------------------------------------
@attack("webhook: a patch that adds 100,000 keys")
async def patching_webhook(who: Attacker) -> list[Any]:
    with WebhookServer(lambda _: json_patch({"op": "add", "path": "/data", "value": shuffled(100_000)})) as server:
        hook = {
            "name": "h.attack.example", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail", "rules": [CREATES], "clientConfig": server.client_config(),
        }  # fmt: skip
        path = f"{ADMISSION}/mutatingwebhookconfigurations"
        made = admission("MutatingWebhookConfiguration", "attack", webhooks=[hook])
        statuses: list[Any] = [await who.ask("POST", path, made)]
        await asyncio.sleep(0.5)
        statuses.append(await who.many(2, "POST", f"{MAPS}?dryRun=All", config_map(data={"a": "b"})))
        return [*statuses, await who.ask("DELETE", f"{path}/attack")]


@attack("webhooks: 3,000 with long selectors, for somebody else")
async def other_webhooks(who: Attacker) -> set[int]:
    hook = {
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore", "rules": [CREATES],
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "objectSelector": {"matchExpressions": [{"key": f"k{i}", "operator": "Exists"} for i in range(50)]},
        "namespaceSelector": {"matchExpressions": [{"key": f"k{i}", "operator": "DoesNotExist"} for i in range(50)]},
    }  # fmt: skip
    hooks = [{**hook, "name": f"h{number}.attack.example"} for number in range(150)]
    path, statuses = f"{ADMISSION}/validatingwebhookconfigurations", set()
    for number in range(20):
        made = admission("ValidatingWebhookConfiguration", f"many{number}", webhooks=hooks)
        statuses.add(await who.ask("POST", path, made))
    await asyncio.sleep(0.5)
    statuses |= await who.many(20, "POST", f"{MAPS}?dryRun=All", config_map(data={"a": "b"}))
    statuses.add(await who.ask("DELETE", f"{path}?labelSelector=of%3Dattack"))
    return statuses


@attack("quota: 30,000 things, and what is created beside it")
async def quota(who: Attacker) -> list[Any]:
    path, hard = f"{SPACE}/resourcequotas", {f"count/r{i}.example.com": "1000" for i in range(30_000)}
    body = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
    statuses: list[Any] = [await who.ask("POST", path, body)]
    await asyncio.sleep(2)
    statuses.append(await who.many(20, "POST", MAPS, config_map(data={"a": "b"})))
    await asyncio.sleep(2)
    return [*statuses, await who.ask("DELETE", f"{path}/q")]


# -- rights ----------------------------------------------------------------------------
@attack("roles: ten that are made of each other and of 12,000 rules")
async def aggregated(who: Attacker) -> set[int]:
    path, ring, statuses = f"{RBAC}/clusterroles", {"of": "attack"}, set()
    head = {"apiVersion": f"{GROUP}/v1", "kind": "ClusterRole"}
    for number in range(20):
        some = [{"apiGroups": ["x"], "resources": [f"r{number}-{i}"], "verbs": ["get"]} for i in range(600)]
        statuses.add(
            await who.ask("POST", path, {**head, "metadata": {"name": f"leaf{number}", "labels": ring}, "rules": some})
        )
    rule = {"clusterRoleSelectors": [{"matchLabels": ring}]}
    for number in range(10):
        made = {**head, "metadata": {"name": f"ring{number}", "labels": ring}, "rules": [], "aggregationRule": rule}
        statuses.add(await who.ask("POST", path, made))
    await asyncio.sleep(10)
    statuses.add(await who.ask("DELETE", f"{path}?labelSelector=of%3Dattack"))
    await asyncio.sleep(1)
    return statuses


@attack("bindings: 20 with 15,000 subjects each")
async def subjects(who: Attacker) -> set[int]:
    path, statuses = f"{RBAC}/clusterrolebindings", set()
    everyone = [{"kind": "User", "apiGroup": GROUP, "name": f"u{i}"} for i in range(15_000)]
    role = {"kind": "ClusterRole", "name": "none", "apiGroup": GROUP}
    for number in range(20):
        made = rights("ClusterRoleBinding", f"crowd{number}", roleRef=role, subjects=everyone)
        statuses.add(await who.ask("POST", path, made))
    await asyncio.sleep(1)
    statuses |= await who.many(10, "GET", MAPS, Impersonate_User="bob")
    for number in range(20):
        statuses.add(await who.ask("DELETE", f"{path}/crowd{number}"))
    return statuses


request(
    "access review: a selector of 50,000 terms", 2, "POST", REVIEWS,
    lambda: {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
             "spec": {"user": "x", "resourceAttributes": {"verb": "list", "resource": "pods", "labelSelector": {
                 "requirements": [{"key": f"k{i}", "operator": "In", "values": ["a"]} for i in range(50_000)]}}}},
)  # fmt: skip
request(
    "signing request: 150,000 usages", 2, "POST", REQUESTS,
    lambda: {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
             "metadata": {"generateName": "c-"}, "spec": {"request": "AAAA", "usages": ["client auth"] * 150_000,
                                                         "signerName": "kubernetes.io/kube-apiserver-client"}},
)  # fmt: skip


# -- things that get into each other's way ----------------------------------------------
request(
    "pod: 30,000 ports, each beside all others", 2, "POST", f"{PODS}?dryRun=All",
    lambda: pod(containers=[{"name": "c", "image": "x", "ports": [{"containerPort": 80}] * 30_000}]),
)  # fmt: skip
request(
    "pod: 20,000 files in one volume", 2, "POST", f"{PODS}?dryRun=All",
    lambda: pod(volumes=[{"name": "v", "secret": {"secretName": "s", "items": [
        {"key": "k", "path": f"p{i}"} for i in range(20_000)]}}]),
)  # fmt: skip
request(
    "pod: 10,000 claims of one container", 2, "POST", f"{PODS}?dryRun=All",
    lambda: pod(containers=[{"name": "c", "image": "x", "resources": {"claims": [
        {"name": f"c{i}"} for i in range(10_000)]}}],
        resourceClaims=[{"name": f"c{i}", "resourceClaimName": "x"} for i in range(10_000)]),
)  # fmt: skip


@attack("service: 90 ports of 200 pods, and 40 that are evicted")
async def crowd(who: Attacker) -> set[int]:
    labels = {"a": "crowd"}
    ports = [{"port": 80 + i, "name": f"p{i}"} for i in range(90)]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "crowd"},
        "spec": {"selector": labels, "ports": ports},
    }
    statuses = {await who.ask("POST", f"{SPACE}/services", service)}
    for start in range(0, 200, 40):
        bodies = [{**pod(), "metadata": {"name": f"crowd-{i}", "labels": labels}} for i in range(start, start + 40)]
        statuses |= set(await asyncio.gather(*(who.ask("POST", PODS, body) for body in bodies)))
    await asyncio.sleep(5)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction"}
    for number in range(40):
        body = {**eviction, "metadata": {"name": f"crowd-{number}", "namespace": "default"}}
        statuses.add(await who.ask("POST", f"{PODS}/crowd-{number}/eviction", body))
    statuses.add(await who.ask("DELETE", f"{PODS}?labelSelector=a%3Dcrowd&gracePeriodSeconds=0"))
    statuses.add(await who.ask("DELETE", f"{SPACE}/services/crowd"))
    await asyncio.sleep(3)
    return statuses
