"""The bootstrap policy: the roles, bindings and classes that every fresh cluster has.

An API server that starts on an empty store writes these objects itself, before anybody
could ask for them, and puts them right again at every start
(`rbac.authorization.kubernetes.io/autoupdate`). Without them nobody but
`system:masters` could do anything.

They are facts, not logic, so they are kept as data: `policy.json`, one object a line
(made from a recording by `generators/policy.py`), holds the defaults that Kubernetes
v1.36.2 publishes. The three roles that aggregate others (`admin`, `edit`, `view`) have
no rules here: the aggregation controller fills them in. Server-given fields are left
out, and so is one controller role that only the recorded build had.

Upstream: `plugin/pkg/auth/authorizer/rbac/bootstrappolicy` (`policy.go`,
`controller_policy.go`, `namespace_policy.go`),
`apiserver/pkg/apis/flowcontrol/bootstrap/default.go`, `pkg/apis/scheduling/types.go`
(`SystemPriorityClasses`), v1.36. What exists already is completed by `reconcile`. Left
out: kubeadm's own roles (`kubeadm:*`), which come with a recording.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object

SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
"""Namespaces that the API server keeps in existence. Upstream:
`pkg/controlplane/controller/systemnamespaces`.
"""


def bootstrap_objects() -> list[Object]:
    """All default objects, in an order that can be written as is: classes, flow
    schemas, cluster roles, roles, each with its bindings.

    The objects are new with each call; roles in `kube-system` and `kube-public` need
    those namespaces to exist first.
    """
    policy = fast_json.loads(files(__package__).joinpath("policy.json").read_bytes())
    loaded: list[Object] = policy["objects"]
    return loaded


def system_namespaces() -> list[Object]:
    """The namespaces of a fresh cluster, labelled with their own names as all are."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }
        for name in SYSTEM_NAMESPACES
    ]


@cache
def node_rules() -> tuple[Object, ...]:
    """What every node may do, whoever its pods are: the rules of ClusterRole
    `system:node`. Upstream: `NodeRules`.
    """
    for obj in bootstrap_objects():
        if obj["kind"] == "ClusterRole" and obj["metadata"]["name"] == "system:node":
            return tuple(obj["rules"])
    raise LookupError("system:node")
