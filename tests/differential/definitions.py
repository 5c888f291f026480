"""Custom resources for the fuzzer: kinds that no server knows by itself, defined on both before the first case.

Of one the schema says as much as a schema can, of the other nothing at all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from tests.differential.player import Target

GROUP = "shop.example.com"
PATIENCE = 200
"""Looks, a tenth of a second apart, until a server publishes what was defined."""

_ITEM = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "count": {"type": "integer", "format": "int32", "minimum": 0, "default": 1},
        "when": {"type": "string", "format": "date-time"},
    },
}
_SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "string", "enum": ["small", "large"]},
        "color": {"type": "string", "pattern": "^[a-z]+$", "default": "red", "nullable": True},
        "replicas": {"type": "integer", "minimum": 0, "maximum": 9},
        "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0, "multipleOf": 0.5},
        "port": {"x-kubernetes-int-or-string": True},
        "ready": {"type": "boolean"},
        "note": {"type": "string", "nullable": True, "format": "byte"},
        "items": {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": _ITEM},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "steps": {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": False},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 3},
        "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": {"type": "integer"}}},
        "inner": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    },
    "x-kubernetes-validations": [
        {"rule": "!has(self.replicas) || self.replicas != 7", "message": "seven is unlucky"},
        {"rule": "self.size == oldSelf.size || self.size == 'large'", "reason": "FieldValueForbidden", "fieldPath": ".size"},
    ],
}  # fmt: skip
_STATUS = {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}}


def definition(plural: str, kind: str, schema: Any, **more: Any) -> dict[str, Any]:
    """That of a kind in a namespace, with one version."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **more}
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


DEFINITIONS = (
    definition(
        "widgets",
        "Widget",
        {"type": "object", "required": ["spec"], "properties": {"spec": _SPEC, "status": _STATUS}},
        subresources={"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
        additionalPrinterColumns=[
            {"name": "Size", "type": "string", "jsonPath": ".spec.size"},
            {"name": "Ratio", "type": "number", "jsonPath": ".spec.ratio", "priority": 1},
        ],
        selectableFields=[{"jsonPath": ".spec.size"}],
    ),
    definition("anythings", "Anything", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
)  # fmt: skip

PLAIN: dict[str, dict[str, Any]] = {
    "Widget": {
        "spec": {"size": "small", "items": [{"name": "a"}, {"name": "b", "count": 2}], "free": {"x": 1, "y": [True]}, "tags": ["t"]}
    },
    "Anything": {"any": {"x": 1, "y": [0, {"z": "s"}], "ratio": 1.5}, "spec": {"replicas": 2}},
}  # fmt: skip
"""Objects of these kinds that are taken."""


async def define(target: Target, definitions: Sequence[dict[str, Any]] = DEFINITIONS) -> None:
    """Define them on a server, and wait until it publishes them. Raises RuntimeError if it does not."""
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    for each in definitions:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        status, _, answer = await target.request("POST", path, headers, json.dumps(each).encode())
        if status not in (201, 409):
            raise RuntimeError(
                f"the definition of {each['spec']['names']['kind']} was answered with {status}: {answer!r}"
            )
    for _ in range(PATIENCE):
        status, _, answer = await target.request(
            "GET", f"/openapi/v3/apis/{GROUP}/v1", {"Accept": "application/json"}, b""
        )
        if status == 200 and all(each["spec"]["names"]["kind"].encode() in answer for each in definitions):
            return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"{GROUP}/v1 is not published")
