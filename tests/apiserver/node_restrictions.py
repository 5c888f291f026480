"""What a node may not do though it has all rights: requests, and how a real API server is asked for its answers.

`KUBE_BIN=… python -m tests.apiserver.node_restrictions` asks, and keeps them in `node_restriction_answers.json`. The cluster's
administrator asks in the name of a node, and nodes have all rights: no authorizer has anything to say, only NodeRestriction has.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.apiserver.questions import keep
from tests.differential.answers import settled
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "node_restriction_answers.json"
NODE = "one"
AS_A_NODE = {
    "Impersonate-User": f"system:node:{NODE}",
    "Impersonate-Group": "system:nodes",
    "User-Agent": "differential",
}
ALL_RIGHTS = {
    "metadata": {"name": "nodes-may-do-anything"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}],
}

PODS, NODES = "/api/v1/namespaces/default/pods", "/api/v1/nodes"
CSI, LEASES = "/apis/storage.k8s.io/v1/csinodes", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
SLICES, CLAIMS = "/apis/resource.k8s.io/v1/resourceslices", "/api/v1/namespaces/default/persistentvolumeclaims"
TOKENS = "/api/v1/namespaces/default/serviceaccounts/default/token"
SPEC = {"containers": [{"name": "c", "image": "i"}]}
OWNER = {"apiVersion": "v1", "kind": "Node", "name": NODE, "uid": "u", "controller": True}


CONFIG_SOURCE = {"configMap": {"name": "x", "namespace": "y", "kubeletConfigKey": "z"}}


def _mirror(name: str, *owners: dict[str, Any], node: str = NODE) -> dict[str, Any]:
    annotations = {"kubernetes.io/config.mirror": "x"}
    meta = {"name": name, "annotations": annotations, "ownerReferences": list(owners)}
    return {"metadata": meta, "spec": {"nodeName": node, **SPEC}}


def _slice(node: str) -> dict[str, Any]:
    return {
        "driver": "d.example.com",
        "nodeName": node,
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
    }


ASKED: tuple[tuple[str, str, Any], ...] = (
    ("POST", PODS, _mirror("early", OWNER)),
    ("POST", NODES, {"metadata": {"name": NODE}}),
    ("POST", NODES, {"metadata": {"name": "other"}}),
    ("POST", NODES, {"metadata": {"name": NODE, "labels": {"node-restriction.kubernetes.io/a": "b"}}}),
    ("POST", NODES, {"metadata": {"name": NODE, "labels": {"kubernetes.io/nope": "b", "x.k8s.io/y": "z"}}}),
    ("POST", NODES, {"metadata": {"name": NODE}, "spec": {"configSource": CONFIG_SOURCE}}),
    ("PATCH", f"{NODES}/{NODE}", {"metadata": {"labels": {"kubernetes.io/hostname": "h", "free": "yes"}}}),
    ("PATCH", f"{NODES}/{NODE}", {"metadata": {"labels": {"node-role.kubernetes.io/x": ""}}}),
    ("PATCH", f"{NODES}/{NODE}", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
    ("PATCH", f"{NODES}/{NODE}", {"metadata": {"ownerReferences": [{**OWNER, "name": "x"}]}}),
    ("PATCH", f"{NODES}/{NODE}/status", {"status": {"phase": "Running"}}),
    ("PATCH", f"{NODES}/other/status", {"status": {"phase": "Running"}}),
    ("DELETE", f"{NODES}/other", None),
    ("POST", CSI, {"metadata": {"name": NODE}, "spec": {"drivers": []}}),
    ("POST", CSI, {"metadata": {"name": "other"}, "spec": {"drivers": []}}),
    ("PATCH", f"{CSI}/other", {"metadata": {"labels": {"a": "b"}}}),
    ("DELETE", f"{CSI}/other", None),
    ("POST", LEASES, {"metadata": {"name": NODE}, "spec": {}}),
    ("POST", LEASES, {"metadata": {"name": "other"}, "spec": {}}),
    ("POST", LEASES.replace("kube-node-lease", "default"), {"metadata": {"name": NODE}, "spec": {}}),
    ("PATCH", f"{LEASES}/other", {"spec": {"holderIdentity": "x"}}),
    ("DELETE", f"{LEASES}/other", None),
    ("POST", SLICES, {"metadata": {"name": "mine"}, "spec": _slice(NODE)}),
    ("POST", SLICES, {"metadata": {"name": "theirs"}, "spec": _slice("other")}),
    ("DELETE", f"{SLICES}/mine", None),
    ("POST", PODS, {"metadata": {"name": "plain"}, "spec": {"nodeName": NODE, **SPEC}}),
    ("POST", PODS, _mirror("unowned")),
    ("POST", PODS, _mirror("elsewhere", OWNER, node="other")),
    ("POST", PODS, _mirror("two-owners", OWNER, {**OWNER, "name": "other"})),
    ("POST", PODS, _mirror("stranger", OWNER)),
    ("POST", PODS, _mirror("no-kind", {**OWNER, "kind": "Pod"})),
    ("POST", PODS, _mirror("no-controller", {**OWNER, "controller": False})),
    ("POST", PODS, _mirror("blocking", {**OWNER, "blockOwnerDeletion": True})),
    ("PATCH", f"{PODS}/plain/status", {"status": {"phase": "Running"}}),
    ("DELETE", f"{PODS}/plain", None),
    ("POST", f"{PODS}/plain/binding", {"metadata": {"name": "plain"}, "target": {"kind": "Node", "name": NODE}}),
    ("POST", f"{PODS}/plain/eviction", {"metadata": {"name": "plain"}}),
    ("PATCH", f"{CLAIMS}/c", {"metadata": {"labels": {"a": "b"}}}),
    ("POST", CLAIMS, {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}}),
    ("POST", TOKENS, {"spec": {"audiences": [], "expirationSeconds": 600}}),
    ("POST", TOKENS, {"spec": {"expirationSeconds": 600, "boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "x"}}}),
    ("POST", TOKENS, {"spec": {"expirationSeconds": 600, "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "x"}}}),
    ("POST", TOKENS, {"spec": {"expirationSeconds": 600, "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "x", "uid": "u"}}}),
)  # fmt: skip


async def answers(target: Target) -> list[Any]:
    """To all of them in turn, a node having all rights."""
    accounts, bindings = (
        "/api/v1/namespaces/default/serviceaccounts",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    )
    for path, first in ((accounts, {"metadata": {"name": "default"}}), (bindings, ALL_RIGHTS)):
        await target.request("POST", path, {"Content-Type": "application/json"}, json.dumps(first).encode())
    said = []
    for method, path, document in ASKED:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        body = b"" if document is None else json.dumps(document).encode()
        code, headers, text = await target.request(method, path, {"Content-Type": kind, **AS_A_NODE}, body)
        said.append(settled(code, headers, text, body.decode()))
    return said


if __name__ == "__main__":
    keep(ANSWERS, answers)
