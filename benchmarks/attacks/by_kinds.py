"""Kinds of attack with objects of kinds that few people write by hand, each as large as it may be: devices, ingresses, flow schemas,
jobs' indexes, endpoints; and with fields that have very many owners.
"""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import APPLY, MANY, MAPS, MERGE, PODS, SPACE, TABLE, config_map, pod
from benchmarks.attacks.by_objects import JOBS
from benchmarks.attacks.scene import many_maps
from benchmarks.attacks.table import attack, request

INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
DEVICES = "/apis/resource.k8s.io/v1"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

request("tokens: 500 signed at once", 500, "POST", f"{SPACE}/serviceaccounts/default/token", lambda: {
    "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})  # fmt: skip


@attack("list: 2,000 objects, 1,000 times at once")
async def lists(who: Attacker) -> set[int]:
    await many_maps(who)
    return await who.many(1_000, "GET", f"{MANY}?limit=500")


@attack("lease: 1,000 PATCHes at once")
async def lease(who: Attacker) -> set[int]:
    made = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {}}
    statuses = {await who.ask("POST", LEASES, made)}
    return statuses | await who.many(1_000, "PATCH", f"{LEASES}/l", {"spec": {"holderIdentity": "x"}}, **MERGE)


@attack("apply: 60 managers of 2,000 fields each")
async def appliers(who: Attacker) -> set[int]:
    statuses = set()
    for number in range(60):
        mine = config_map("shared", data={f"k{number // 2}-{i}": "v" for i in range(2_000)})
        statuses.add(await who.ask("PATCH", f"{MAPS}/shared?fieldManager=m{number}&force=true", mine, **APPLY))
    last = config_map("shared", data={"z": "y"})
    statuses |= await who.many(5, "PATCH", f"{MAPS}/shared?fieldManager=m7&force=true", last, **APPLY)
    return statuses | {await who.ask("DELETE", f"{MAPS}/shared")}


def _path(number: int) -> dict[str, Any]:
    return {
        "path": f"/p{number}",
        "pathType": "Prefix",
        "backend": {"service": {"name": "x", "port": {"number": 80}}},
    }


@attack("ingress: 12,000 paths of one host, and 8,000 hosts")
async def ingresses(who: Attacker) -> set[int]:
    head = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"generateName": "i-"}}
    one = {"rules": [{"host": "*.a.example", "http": {"paths": [_path(i) for i in range(12_000)]}}]}
    many = {
        "tls": [{"hosts": [f"h{i}.example"]} for i in range(15_000)],
        "rules": [{"host": f"h{i}.example", "http": {"paths": [_path(i)]}} for i in range(8_000)],
    }
    statuses = await who.many(2, "POST", INGRESSES, {**head, "spec": one})
    statuses |= await who.many(2, "POST", INGRESSES, {**head, "spec": many})
    statuses |= await who.many(2, "GET", INGRESSES, **TABLE)
    return statuses | {await who.ask("DELETE", INGRESSES)}


@attack("flow schemas: 150 of 100 rules, and 300 requests")
async def flow_schemas(who: Attacker) -> set[int]:
    crowd = [{"kind": "User", "user": {"name": f"u{i}"}} for i in range(20)]
    rules = [
        {
            "subjects": crowd,
            "resourceRules": [{"verbs": ["get"], "apiGroups": [f"g{i}"], "resources": ["x"], "clusterScope": True}],
        }
        for i in range(100)
    ]
    statuses = set()
    for number in range(150):
        level = {"name": "global-default"}
        spec = {"matchingPrecedence": 1_000 + number, "priorityLevelConfiguration": level, "rules": rules}
        meta = {"name": f"f{number}", "labels": {"of": "attack"}}
        made = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": meta, "spec": spec}
        statuses.add(await who.ask("POST", FLOWS, made))
    statuses |= await who.many(300, "GET", f"{MAPS}?limit=1", Impersonate_User="nobody")
    return statuses | {await who.ask("DELETE", f"{FLOWS}?labelSelector=of%3Dattack")}


@attack("deployment: a template of 500 KB, changed 15 times")
async def templates(who: Attacker) -> set[int]:
    def template(number: int) -> dict[str, Any]:
        variables = [{"name": f"E{i}", "value": "v" * 50} for i in range(6_000)]
        meta = {"labels": {"a": "large"}, "annotations": {"x": str(number)}}
        return {"metadata": meta, "spec": {"containers": [{"name": "c", "image": "x", "env": variables}]}}

    spec = {"replicas": 5, "selector": {"matchLabels": {"a": "large"}}, "template": template(0)}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "large"}, "spec": spec}
    statuses = {await who.ask("POST", DEPLOYMENTS, made)}
    for number in range(15):
        change = {"spec": {"template": template(number)}}
        statuses.add(await who.ask("PATCH", f"{DEPLOYMENTS}/large", change, **MERGE))
        await asyncio.sleep(0.3)
    statuses.add(await who.ask("DELETE", f"{DEPLOYMENTS}/large"))
    await asyncio.sleep(4)
    return statuses


@attack("job: every other of 98,000 indexes is done")
async def scattered_indexes(who: Attacker) -> list[int]:
    spec = {
        "completionMode": "Indexed", "completions": 100_000, "parallelism": 1_000, "backoffLimitPerIndex": 1,
        "maxFailedIndexes": 10_000,
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "registry.invalid/x:1"}]}},
    }  # fmt: skip
    made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "scattered"}, "spec": spec}
    done = {"completedIndexes": ",".join(str(2 * i) for i in range(49_000)), "failedIndexes": "1"}
    statuses = [
        await who.ask("POST", JOBS, made),
        await who.ask("PATCH", f"{JOBS}/scattered/status", {"status": done}, **MERGE),
    ]
    await asyncio.sleep(6)
    statuses.append(await who.ask("DELETE", f"{JOBS}/scattered?propagationPolicy=Background"))
    await asyncio.sleep(3)
    return [*statuses, await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0")]


@attack("endpoints: 30,000 addresses, mirrored")
async def mirrored(who: Attacker) -> list[int]:
    head = {"apiVersion": "v1", "metadata": {"name": "mirrored"}}
    subsets = [
        {
            "addresses": [
                {"ip": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}"} for i in range(k * 15_000, (k + 1) * 15_000)
            ],
            "ports": [{"port": 80 + k}],
        }
        for k in range(2)
    ]
    statuses = [
        await who.ask("POST", f"{SPACE}/services", {**head, "kind": "Service", "spec": {"ports": [{"port": 80}]}}),
        await who.ask("POST", f"{SPACE}/endpoints", {**head, "kind": "Endpoints", "subsets": subsets}),
    ]
    await asyncio.sleep(4)
    statuses.append(await who.ask("DELETE", f"{SPACE}/services/mirrored"))
    await asyncio.sleep(2)
    return statuses


@attack("devices: 60 slices of 128, and four claims with 256 selectors")
async def devices(who: Attacker) -> list[Any]:
    head, driver, node = {"apiVersion": "resource.k8s.io/v1"}, "d.example.com", "lifecycle-control-plane"
    selector = {"cel": {"expression": f"device.driver == '{driver}'"}}
    kind = {**head, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}}
    statuses: list[Any] = [await who.ask("POST", f"{DEVICES}/deviceclasses", kind)]
    about = {
        "attributes": {f"a{i}": {"string": "x" * 60} for i in range(28)},
        "capacity": {"mem": {"value": "1Gi"}},
    }
    for number in range(60):
        spec = {
            "driver": driver, "pool": {"name": "p", "generation": 1, "resourceSliceCount": 60}, "nodeName": node,
            "devices": [{"name": f"d{number}-{i}", **about} for i in range(128)],
        }  # fmt: skip
        slice_ = {**head, "kind": "ResourceSlice", "metadata": {"name": f"s{number}"}, "spec": spec}
        statuses.append(await who.ask("POST", f"{DEVICES}/resourceslices", slice_))
    known = f"device.attributes['{driver}']"
    asked = [{"cel": {"expression": f"{known}.a{i}.contains('x') && {known}.a1 == 'z'"}} for i in range(16)]
    wanted = [
        {"name": f"r{i}", "exactly": {"deviceClassName": "gpu", "count": 2, "selectors": asked}} for i in range(16)
    ]
    claims = f"{DEVICES}/namespaces/default/resourceclaims"
    for number in range(4):
        claim = {
            **head,
            "kind": "ResourceClaim",
            "metadata": {"name": f"c{number}"},
            "spec": {"devices": {"requests": wanted}},
        }
        statuses.append(await who.ask("POST", claims, claim))
        made = pod(
            resourceClaims=[{"name": "c", "resourceClaimName": f"c{number}"}], tolerations=[{"operator": "Exists"}]
        )
        statuses.append(await who.ask("POST", PODS, made))
    await asyncio.sleep(10)
    await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0")
    for path in (f"{DEVICES}/resourceslices", claims, f"{DEVICES}/deviceclasses"):
        statuses.append(await who.ask("DELETE", path))
    return statuses


@attack("daemon sets: 40 with 200 KB about nodes, and a node that changes 100 times")
async def daemon_sets(who: Attacker) -> set[int]:
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    words = [f"v{i}" for i in range(100)]
    terms = [{"matchExpressions": [{"key": f"k{i}", "operator": "In", "values": words}]} for i in range(300)]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    statuses = set()
    for number in range(40):
        labels = {"a": f"d{number}"}
        pods = {
            "metadata": {"labels": labels},
            "spec": {"affinity": affinity, "containers": [{"name": "c", "image": "x"}]},
        }
        spec = {"selector": {"matchLabels": labels}, "template": pods}
        made = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": f"d{number}"}, "spec": spec}
        statuses.add(await who.ask("POST", path, made))
    for number in range(100):
        change = {"metadata": {"labels": {"n": str(number)}}}
        statuses.add(await who.ask("PATCH", "/api/v1/nodes/lifecycle-control-plane", change, **MERGE))
    statuses.add(await who.ask("DELETE", path))
    await asyncio.sleep(2)
    return statuses
