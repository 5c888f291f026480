"""What a node's kubelet may do, and what is said if roles are missing: everything that
an authorizer might look at, asked in every combination.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.connection import Connection
from generators.programs.control_plane import Server
from lifecycle.agreements.apiserver.entitled import review

WHO = "kube-apiserver v1.36.2"
SPACE = "entitled"
RBAC = "rbac.authorization.k8s.io"
Object = dict[str, Any]
VERBS = (
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
)
NODE = ("system:node:n1", ("system:nodes",))
KINDS: tuple[tuple[str, str, tuple[str, ...], bool, tuple[str, ...]], ...] = (
    ("", "secrets", ("", "status"), True, ("mounted", "pulls", "of-a-volume", "other")),
    (
        "",
        "configmaps",
        ("", "status"),
        True,
        ("mounted", "in-the-environment", "other"),
    ),
    ("", "persistentvolumeclaims", ("", "status"), True, ("claim", "other")),
    ("", "persistentvolumes", ("", "status"), False, ("bound", "other")),
    ("", "serviceaccounts", ("", "token"), True, ("runs-as", "other")),
    ("", "nodes", ("", "status", "proxy"), False, ("n1", "n2")),
    ("", "pods", ("", "status", "eviction", "log"), True, ("here", "there")),
    ("", "events", ("", "status"), True, ("one",)),
    ("coordination.k8s.io", "leases", ("", "status"), True, ("n1", "n2")),
    ("resource.k8s.io", "resourceclaims", ("", "status"), True, ("claimed", "other")),
    (
        "resource.k8s.io",
        "resourceslices",
        ("", "status"),
        False,
        ("slice-1", "slice-2"),
    ),
    ("storage.k8s.io", "volumeattachments", ("", "status"), False, ("to-n1", "to-n2")),
    ("storage.k8s.io", "csinodes", ("", "status"), False, ("n1", "n2")),
)
"""Group, resource, subresources, whether it is in a namespace, and names."""
LEASES = "kube-node-lease"
SELECTED = {
    "pods": ("spec.nodeName", "metadata.name"),
    "resourceslices": ("spec.nodeName", "nodeName"),
}
"""Where a field selector may say which node is meant."""
PEOPLE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("jane", ()),
    ("joe", ("team",)),
    ("mary", ("team", "broken")),
    ("system:node:n1", ()),
    ("system:node:", ("system:nodes",)),
    ("system:serviceaccount:entitled:runs-as", ("system:serviceaccounts",)),
)
PLAIN = (
    ("get", "", "pods", "", SPACE, "here"),
    ("list", "", "pods", "", SPACE, ""),
    ("list", "", "pods", "", "", ""),
    ("get", "", "pods", "log", SPACE, "here"),
    ("get", "", "secrets", "", SPACE, "mounted"),
    ("get", "", "secrets", "", SPACE, "other"),
    ("list", "", "secrets", "", SPACE, ""),
    ("get", "", "nodes", "", "", "n1"),
    ("get", "apps", "deployments", "", SPACE, "web"),
    ("deletecollection", "apps", "deployments", "", "elsewhere", ""),
)
"""What people are asked about."""


def _role(kind: str, name: str, *rules: Object) -> Object:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": {"name": name},
        "rules": list(rules),
    }


def _rule(verbs: str, resources: str, *names: str, group: str = "") -> Object:
    named = {"resourceNames": list(names)} if names else {}
    return {
        "verbs": verbs.split(),
        "apiGroups": [group],
        "resources": resources.split(),
        **named,
    }


def _binding(kind: str, name: str, role: str, *subjects: str) -> Object:
    """Subjects: `User:jane`; the role: `ClusterRole:reads`."""
    role_kind, _, role_name = role.partition(":")
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": role_name},
        "subjects": [
            {"kind": "ServiceAccount", "name": who, "namespace": SPACE}
            if what == "ServiceAccount"
            else {"apiGroup": RBAC, "kind": what, "name": who}
            for what, _, who in (each.partition(":") for each in subjects)
        ],
    }


def _named(kind: str, name: str, group: str = "v1", **fields: Any) -> Object:
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, **fields}


def _pod(name: str, node: str, **spec: Any) -> Object:
    container = {"name": "c", "image": "nginx", **spec.pop("container", {})}
    return _named(
        "Pod", name, spec={"nodeName": node, "containers": [container], **spec}
    )


def _volume(name: str, **spec: Any) -> Object:
    return _named(
        "PersistentVolume",
        name,
        spec={
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {
                "driver": "csi.example.com",
                "volumeHandle": name,
                "nodePublishSecretRef": {"name": "of-a-volume", "namespace": SPACE},
            },
            **spec,
        },
    )


def _attachment(node: str) -> Object:
    spec = {
        "attacher": "csi.example.com",
        "nodeName": node,
        "source": {"persistentVolumeName": "bound"},
    }
    return _named("VolumeAttachment", f"to-{node}", "storage.k8s.io/v1", spec=spec)


def _slice(number: int) -> Object:
    pool = {"name": f"n{number}", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "dra.example.com", "nodeName": f"n{number}", "pool": pool}
    device = {"devices": [{"name": "gpu"}]}
    return _named(
        "ResourceSlice",
        f"slice-{number}",
        "resource.k8s.io/v1",
        spec={**spec, **device},
    )


CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
    "volumeName": "bound",
    "storageClassName": "",
}
NEEDS = {
    "serviceAccountName": "runs-as",
    "imagePullSecrets": [{"name": "pulls"}],
    "volumes": [
        {"name": "s", "secret": {"secretName": "mounted"}},
        {"name": "c", "configMap": {"name": "mounted"}},
        {"name": "p", "persistentVolumeClaim": {"claimName": "claim"}},
    ],
    "resourceClaims": [{"name": "r", "resourceClaimName": "claimed"}],
    "container": {"envFrom": [{"configMapRef": {"name": "in-the-environment"}}]},
}
CORE, IN_SPACE = "/api/v1", f"/api/v1/namespaces/{SPACE}"
ROLES, CLUSTER_ROLES = f"/apis/{RBAC}/v1/namespaces/{SPACE}", f"/apis/{RBAC}/v1"
OBJECTS: tuple[tuple[str, Object], ...] = (
    (f"{IN_SPACE}/serviceaccounts", _named("ServiceAccount", "runs-as")),
    (
        f"{IN_SPACE}/persistentvolumeclaims",
        _named("PersistentVolumeClaim", "claim", spec=CLAIM),
    ),
    (
        f"{CORE}/persistentvolumes",
        _volume("bound", claimRef={"namespace": SPACE, "name": "claim"}),
    ),
    (f"{CORE}/persistentvolumes", _volume("other")),
    (f"{CORE}/nodes", _named("Node", "n1")),
    (f"{CORE}/nodes", _named("Node", "n2")),
    (f"{IN_SPACE}/pods", _pod("here", "n1", **NEEDS)),
    (f"{IN_SPACE}/pods", _pod("there", "n2", serviceAccountName="runs-as")),
    ("/apis/storage.k8s.io/v1/volumeattachments", _attachment("n1")),
    ("/apis/storage.k8s.io/v1/volumeattachments", _attachment("n2")),
    ("/apis/resource.k8s.io/v1/resourceslices", _slice(1)),
    ("/apis/resource.k8s.io/v1/resourceslices", _slice(2)),
    (
        f"{CLUSTER_ROLES}/clusterroles",
        _role("ClusterRole", "entitled-reads", _rule("get list", "pods nodes")),
    ),
    (
        f"{ROLES}/roles",
        _role(
            "Role",
            "entitled-here",
            _rule("get list", "pods"),
            _rule("get", "secrets", "mounted"),
            _rule("get", "pods/log"),
        ),
    ),
    (
        f"{CLUSTER_ROLES}/clusterrolebindings",
        _binding(
            "ClusterRoleBinding",
            "entitled-all",
            "ClusterRole:entitled-reads",
            "User:jane",
        ),
    ),
    (
        f"{ROLES}/rolebindings",
        _binding(
            "RoleBinding", "here", "Role:entitled-here", "User:jane", "Group:team"
        ),
    ),
    (
        f"{ROLES}/rolebindings",
        _binding(
            "RoleBinding",
            "account",
            "ClusterRole:entitled-reads",
            "ServiceAccount:runs-as",
        ),
    ),
    (
        f"{ROLES}/rolebindings",
        _binding("RoleBinding", "no-role", "Role:gone", "User:joe", "Group:broken"),
    ),
    (
        f"{CLUSTER_ROLES}/clusterrolebindings",
        _binding(
            "ClusterRoleBinding", "entitled-no-role", "ClusterRole:gone-too", "User:joe"
        ),
    ),
)
"""Where each is made."""


def answers(server: Server) -> Iterator[Answer]:
    """All of it."""
    admin = server.admin
    namespace(admin, SPACE)
    made = []
    for path, each in OBJECTS:
        reply = admin("POST", path, each)
        if reply.status != 201:
            raise ValueError(f"{path}: {reply.message}")
        made.append(_bare(each | reply.body))
    yield Answer("entities/all", WHO, "the objects that decide", made)
    for group, plural, subresources, namespaced, names in KINDS:
        asked = [
            (verb, group, plural, sub, space, name, *selected)
            for verb, sub in product(VERBS, subresources)
            for space, name, *selected in _places(plural, verb, namespaced, names)
        ]
        about = f"a node, about {plural}"
        yield _answer(admin, f"entitled/{about}", *NODE, asked)
    for user, groups in PEOPLE:
        who = f"{user} of {', '.join(groups) or 'no group'}"
        yield _answer(admin, f"entitled/{who}", user, groups, list(PLAIN))
    for path, each in reversed(OBJECTS):
        admin("DELETE", f"{path}/{each['metadata']['name']}?gracePeriodSeconds=0")


def _places(
    plural: str, verb: str, namespaced: bool, names: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    spaces: tuple[str, ...] = ("",)
    if namespaced:
        spaces = (SPACE, LEASES) if plural == "leases" else (SPACE,)
    for space in spaces:
        for name in names:
            yield space, name
        yield space, ""
    if namespaced:
        yield "", names[0]
    if plural in SELECTED and verb in ("list", "watch", "deletecollection"):
        for key, node in product(SELECTED[plural], ("n1", "n2")):
            yield "", "", f"{key}={node}"


def _answer(
    admin: Connection,
    question: str,
    user: str,
    groups: tuple[str, ...],
    asked: list[tuple[str, ...]],
) -> Answer:
    answers = []
    for each in asked:
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        reply = admin("POST", path, review(user, groups, each))
        if reply.status != 201:
            raise ValueError(reply.message)
        answers.append([*each, reply.body["status"]])
    return Answer(
        question,
        WHO,
        "a SubjectAccessReview for each combination: verb, group, resource,"
        " subresource, namespace, name, at times a field selector; and its status",
        {"user": user, "groups": list(groups), "asked": answers},
    )


def _bare(made: Object) -> Object:
    """Without bookkeeping."""
    kept = {"name", "namespace", "annotations"}
    meta = {key: value for key, value in made["metadata"].items() if key in kept}
    stated = {key: value for key, value in made.items() if key != "status"}
    return {**stated, "metadata": meta}
