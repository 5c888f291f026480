"""Kinds of attack by those who say what is right: definitions whose rules look at every item, unions of a hundred ways, columns with
conditions; and webhooks that say more than they were asked.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import (
    CUSTOM,
    DEFINITIONS,
    MERGE,
    OPEN,
    TABLE,
    definition,
)
from benchmarks.attacks.by_amplification import defined
from benchmarks.attacks.by_backends import admitting
from benchmarks.attacks.hostile_backend import say
from benchmarks.attacks.scene import served
from benchmarks.attacks.table import ATTACKS, attack

TEXT = {"type": "string", "maxLength": 100_000}


# -- definitions ----------------------------------------------------------------------------
def array(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"l": {"type": "array", "items": items, **more}}}


def ruled(*rules: str, **schema: Any) -> dict[str, Any]:
    return {**schema, "x-kubernetes-validations": [{"rule": rule} for rule in rules]}


def kept(name: str, schema: dict[str, Any], first: dict[str, Any], change: Any, **headers: str) -> None:
    """Enter a definition, an object, and a change of it."""

    async def do(who: Attacker) -> list[Any]:
        made, path = definition("kepts", schema), f"{CUSTOM}/kepts"
        statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
        await served(who, path)
        head = {"apiVersion": "attack.example/v1", "kind": made["spec"]["names"]["kind"], "metadata": {"name": "k"}}
        statuses.append(await who.ask("POST", path, {**head, **first}))
        statuses.append(await who.many(3, "PATCH", f"{path}/k?dryRun=All", change, **headers or MERGE))
        statuses.append(await who.ask("DELETE", f"{DEFINITIONS}/kepts.attack.example"))
        await asyncio.sleep(1)
        return statuses

    ATTACKS[name] = do


item = {"type": "object", "required": ["a"], "properties": {"a": TEXT, "b": {"type": "string"}}}
items = [{"a": f"n{i}", "b": "x"} for i in range(15_000)]
keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}
kept(
    "CRD: 15,000 keyed items, of which one changes",
    array(item, **keyed),
    {"l": items},
    {"l": [*items[:-1], {"a": "z"}]},
)
kept("CRD: 15,000 items that look at what they were", array({**item, "properties": {**item["properties"], "b": ruled(
    "self == oldSelf || self != 'never'", type="string", maxLength=10)}}, **keyed, maxItems=20_000), {"l": items},
    {"l": [{**each, "b": "y"} for each in items]})  # fmt: skip
kept("CRD: 15,000 items by five keys, backwards", array({"type": "object", "required": list("abcde"), "properties": {
    k: {"type": "string"} for k in "abcde"}}, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list("abcde")}),
    {"l": [{k: f"{k}{i}" for k in "abcde"} for i in range(15_000)]},
    {"l": [{k: f"{k}{i}" for k in "abcde"} for i in range(15_000)][::-1]})  # fmt: skip
kept("CRD: rules that read 3,000 addresses, amounts and times", array(ruled(
    "isIP(self) || isQuantity(self) || isURL(self) || cidr('10.0.0.0/8').containsIP('10.0.0.1')", **{**TEXT, "maxLength": 40}),
    maxItems=3_000), {"l": [f"10.0.{i >> 8}.{i & 255}" for i in range(3_000)]}, {"l": ["100Mi", "http://x"] * 1_500})  # fmt: skip
kept("CRD: rules that take 90 KB apart", ruled(
    "self.t.split(',').size() > 1", "self.t.findAll('a').size() > 1", "self.t.replace('a', 'bb').size() > 1", type="object",
    properties={"t": TEXT}), {"t": "a," * 45_000}, {"t": "b,a" * 30_000})  # fmt: skip
kept("CRD: 40 unions of 100 ways, for 500 items", array({"type": "object", "x-kubernetes-preserve-unknown-fields": True, "allOf": [
    {"oneOf": [{"required": [f"k{i}-{j}"]} for j in range(100)]} for i in range(40)]}),
    {"l": [{"k1-1": 1}] * 500}, {"l": [{}] * 500})  # fmt: skip


@attack("CRD: properties 60 deep, each with 2 more")
async def deep(who: Attacker) -> list[Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        schema = {
            "type": "object",
            "properties": {"a": schema, "b": {"type": "string", "enum": [f"e{i}" for i in range(300)]}},
        }
    inner: Any = "x"
    for _ in range(60):
        inner = {"a": inner, "b": "e299"}
    return await defined(who, definition("deeps", schema), inner, times=10)


@attack("CRD: a scale, columns with conditions, and fields to select by")
async def looked_through(who: Attacker) -> list[Any]:
    made = definition("scaleds", OPEN)
    version = made["spec"]["versions"][0]
    version["subresources"] = {
        "status": {},
        "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"},
    }
    path = '.spec.l[?(@.a=="' + "x" * 5_000 + '")].b'
    version["additionalPrinterColumns"] = [{"name": f"c{i}", "type": "string", "jsonPath": path} for i in range(20)]
    where = f"{CUSTOM}/scaleds"
    statuses: list[Any] = [await who.ask("POST", DEFINITIONS, made)]
    await served(who, where)
    head = {"apiVersion": "attack.example/v1", "kind": made["spec"]["names"]["kind"]}
    for number in range(5):
        spec = {"n": 1, "l": [{"a": str(i), "b": "y"} for i in range(10_000)]}
        statuses.append(await who.ask("POST", where, {**head, "metadata": {"name": f"s{number}"}, "spec": spec}))
    statuses.append(await who.many(4, "GET", where, **TABLE))
    statuses.append(await who.many(100, "PATCH", f"{where}/s1/scale", {"spec": {"replicas": 3}}, **MERGE))
    statuses.append(await who.ask("DELETE", f"{DEFINITIONS}/scaleds.attack.example"))
    await asyncio.sleep(1)
    return statuses


# -- webhooks -------------------------------------------------------------------------------
def hooked(name: str, response: Any, *, times: int = 10, wait: float = 0.0) -> None:
    """Enter a webhook that says something odd."""

    async def answer(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(wait)
        said = {"uid": json.loads(body)["request"]["uid"], "allowed": True, **response()}
        await say(writer, {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": said})

    admitting(name, answer, "Validating", times=times, size=10_000)


hooked("2 MB of warnings", lambda: {"warnings": ["w" * 100 + str(i) for i in range(20_000)]})
hooked("100,000 remarks for the audit log", lambda: {"auditAnnotations": {f"k{i}": "v" for i in range(100_000)}})
hooked("a refusal of 2 MB", lambda: {"allowed": False, "status": {"message": "m" * 2_000_000, "code": 418}})
hooked("answers that take three seconds, 300 at once", dict, times=300, wait=3.0)
