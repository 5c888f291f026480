"""What attacks are made of: paths, content types, and objects that a server takes."""

from __future__ import annotations

from typing import Any

MIB = 1 << 20
SPACE = "/api/v1/namespaces/default"
MAPS = f"{SPACE}/configmaps"
WIDGETS = "/apis/attack.example/v1/namespaces/default/widgets"
YAML = {"Content_Type": "application/yaml"}
PROTOBUF = {"Content_Type": "application/vnd.kubernetes.protobuf"}
JSON_PATCH = {"Content_Type": "application/json-patch+json"}
MERGE = {"Content_Type": "application/merge-patch+json"}
STRATEGIC = {"Content_Type": "application/strategic-merge-patch+json"}
APPLY = {"Content_Type": "application/apply-patch+yaml"}
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
CREATES = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
PODS = f"{SPACE}/pods"
NAMESPACES = "/api/v1/namespaces"
BIG = "/api/v1/namespaces/big/configmaps"
MANY = f"{NAMESPACES}/many/configmaps"
CUSTOM = "/apis/attack.example/v1/namespaces/default"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def config_map(name: str = "", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name} if name else {"generateName": "attack-"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, **fields.pop("metadata", {})}, **fields}


def pod(**spec: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "nginx"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "attack-"}, "spec": spec}


def protobuf(raw: bytes, kind: bytes = b"ConfigMap") -> bytes:
    meta = b"\n\x02v1\x12" + bytes([len(kind)]) + kind
    size, length = len(raw), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return b"k8s\x00\n" + bytes([len(meta)]) + meta + b"\x12" + length + bytes([size]) + raw


def policy(expression: str, variables: int = 0) -> dict[str, Any]:
    named = [{"name": "v0", "expression": "[1,2,3,4,5,6,7,8,9,10]"}]
    named += [{"name": f"v{i}", "expression": f"variables.v{i - 1} + variables.v{i - 1}"} for i in range(1, variables)]
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "attack"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "variables": named,
            "validations": [{"expression": expression}],
        },
    }


def definition(plural: str, schema: dict[str, Any]) -> dict[str, Any]:
    kind = plural[:-1].capitalize()
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.attack.example"},
        "spec": {
            "group": "attack.example",
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": plural[:-1], "kind": kind, "listKind": f"{kind}List"},
            "versions": [version],
        },
    }


def rights(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **more}


def admission(kind: str, name: str, **more: Any) -> dict[str, Any]:
    meta = {"name": name, "labels": {"of": "attack"}}
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": meta, **more}


OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
