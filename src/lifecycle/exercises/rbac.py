"""Role-based access control: may this user do that?

The cases are the recorded access reviews whose answer hung on roles alone: the shortcut
for `system:masters` and the Node authorizer have no part in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from lifecycle.agreements.apiserver.authorization import in_words, recorded_policy
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.authz.access_review_spec import request_info_from, user_from
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

GROUP = "rbac.authorization.k8s.io"
KINDS = {
    "roles": "Role",
    "roleBindings": "RoleBinding",
    "clusterRoles": "ClusterRole",
    "clusterRoleBindings": "ClusterRoleBinding",
}
OTHER_AUTHORIZERS = {"system:masters", "system:nodes"}

CONTRACT = """\
authorize(policy, spec) -> bool

policy: {"roles": [...], "roleBindings": [...], "clusterRoles": [...],
        "clusterRoleBindings": [...]}, objects as the API shows them (aggregated
        ClusterRoles already hold their rules).
spec:   the spec of a SubjectAccessReview: "user", "groups", and "resourceAttributes"
        (verb, group, version, resource, subresource, namespace, name) or
        "nonResourceAttributes" (verb, path). An empty part may be missing. Returns
        whether some role allows it."""

STARTER = '''\
def authorize(policy, spec):
    """Whether some role, through some binding, allows what the spec asks for."""
    subjects = {spec.get("user", ""), *spec.get("groups", [])}
    return False
'''


def _policy(reader: StaticReader) -> Object:
    return {key: list(reader.list(resource(f"{key.lower()}.{GROUP}"))) for key in KINDS}


def cases() -> Iterator[Case]:
    """About 2,400 questions of a real cluster, and some that nobody asked there."""
    recording = open_recording()
    policy = _policy(recorded_policy(recording))
    for exchange in recording.exchanges("authz"):
        if not exchange.path.endswith("/subjectaccessreviews"):
            continue
        spec = exchange.body["spec"]
        if OTHER_AUTHORIZERS.isdisjoint(spec.get("groups") or ()):
            yield Case(
                spec.get("user") or "(no name)",
                in_words(request_info_from(spec)).replace("/", "∕"),
                bool(exchange.response["status"]["allowed"]),
                _ask(policy, spec),
                policy,
                spec,
            )
    yield from _small_policy()


def _small_policy() -> Iterator[Case]:
    """What the recorded questions do not tell apart: the same questions by everybody to
    a policy with one of each kind of rule.
    """
    answers = ours()
    for user, attributes in product(PEOPLE, QUESTIONS):
        kind = "nonResourceAttributes" if "path" in attributes else "resourceAttributes"
        spec: Object = {"user": user, "groups": PEOPLE[user], kind: attributes}
        label = f"{user}: {in_words(request_info_from(spec))}"
        if attributes.get("group") and "path" not in attributes:
            label += f" of {attributes['group']}"
        yield Case(
            "a small policy",
            f"{label} {attributes.get('name', '')}".strip().replace("/", "∕"),
            bool(answers(SMALL, spec)),
            _ask(SMALL, spec),
            SMALL,
            spec,
        )


def _bound(
    kind: str, name: str, role: str, subjects: list[Object], namespace: str = ""
) -> Object:
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {
        "metadata": meta,
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
        "subjects": subjects,
    }


def _rule(verbs: str, resources: str, groups: str = "", **more: list[str]) -> Object:
    return {
        "verbs": verbs.split(),
        "apiGroups": groups.split(",") if groups else [""],
        "resources": resources.split(),
        **more,
    }


def _role(name: str, *rules: Object, namespace: str = "") -> Object:
    return {
        "metadata": (
            {"name": name, "namespace": namespace} if namespace else {"name": name}
        ),
        "rules": list(rules),
    }


SMALL: Object = {
    "roles": [
        _role("reader", _rule("get list", "pods"), namespace="shop"),
        _role("reader", _rule("delete", "pods"), namespace="other"),
    ],
    "clusterRoles": [
        _role("reader", _rule("update", "pods")),
        _role("logs", _rule("get", "pods/log")),
        _role("one-secret", _rule("get", "secrets", resourceNames=["key"])),
        _role("scaler", _rule("update", "*/scale", "apps,batch")),
        _role("operator", _rule("*", "*", "*")),
        _role("prober", {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/api/*"]}),
    ],
    "roleBindings": [
        _bound("Role", "readers", "reader", [{"kind": "User", "name": "jane"}], "shop"),
        _bound(
            "ClusterRole", "logs", "logs", [{"kind": "Group", "name": "devs"}], "shop"
        ),
        _bound(
            "ClusterRole",
            "secret",
            "one-secret",
            [{"kind": "ServiceAccount", "name": "robot", "namespace": "shop"}],
            "shop",
        ),
        _bound(
            "ClusterRole",
            "visitor",
            "scaler",
            [{"kind": "ServiceAccount", "name": "robot", "namespace": "other"}],
            "shop",
        ),
        _bound(
            "ClusterRole",
            "gone",
            "no-such-role",
            [{"kind": "User", "name": "jane"}],
            "other",
        ),
    ],
    "clusterRoleBindings": [
        _bound(
            "ClusterRole", "operators", "operator", [{"kind": "User", "name": "boss"}]
        ),
        _bound("ClusterRole", "probers", "prober", [{"kind": "Group", "name": "devs"}]),
        _bound("ClusterRole", "scalers", "scaler", [{"kind": "Group", "name": "ops"}]),
    ],
}
PEOPLE: dict[str, list[str]] = {
    "jane": [],
    "joe": ["devs"],
    "devs": ["jane"],
    "olga": ["ops"],
    "boss": [],
    "robot": [],
    "system:serviceaccount:shop:robot": ["system:serviceaccounts"],
    "system:serviceaccount:other:robot": ["system:serviceaccounts"],
}
QUESTIONS: list[Object] = [
    {"verb": "get", "version": "v1", "resource": "pods", "namespace": "shop"},
    {
        "verb": "get",
        "version": "v1",
        "resource": "pods",
        "namespace": "shop",
        "name": "p",
    },
    {"verb": "get", "version": "v1", "resource": "pods", "namespace": "other"},
    {"verb": "list", "version": "v1", "resource": "pods"},
    {"verb": "delete", "version": "v1", "resource": "pods", "namespace": "shop"},
    {"verb": "update", "version": "v1", "resource": "pods", "namespace": "shop"},
    {
        "verb": "get",
        "version": "v1",
        "resource": "pods",
        "subresource": "log",
        "namespace": "shop",
    },
    {
        "verb": "get",
        "version": "v1",
        "resource": "pods",
        "subresource": "log",
        "namespace": "other",
    },
    {
        "verb": "get",
        "version": "v1",
        "resource": "secrets",
        "namespace": "shop",
        "name": "key",
    },
    {
        "verb": "get",
        "version": "v1",
        "resource": "secrets",
        "namespace": "shop",
        "name": "lock",
    },
    {"verb": "get", "version": "v1", "resource": "secrets", "namespace": "shop"},
    {
        "verb": "get",
        "group": "metrics.k8s.io",
        "version": "v1",
        "resource": "pods",
        "namespace": "shop",
    },
    {
        "verb": "update",
        "group": "apps",
        "version": "v1",
        "resource": "deployments",
        "subresource": "scale",
        "namespace": "shop",
    },
    {
        "verb": "update",
        "group": "apps",
        "version": "v1",
        "resource": "deployments",
        "namespace": "shop",
    },
    {
        "verb": "update",
        "version": "v1",
        "resource": "replicationcontrollers",
        "subresource": "scale",
        "namespace": "shop",
    },
    {
        "verb": "update",
        "group": "batch",
        "version": "v1",
        "resource": "jobs",
        "subresource": "scale",
        "namespace": "other",
    },
    {"verb": "get", "path": "/healthz"},
    {"verb": "get", "path": "/healthz/etcd"},
    {"verb": "get", "path": "/api/v1"},
    {"verb": "get", "path": "/api"},
    {"verb": "post", "path": "/api/v1"},
]


def _ask(policy: Object, spec: Object) -> Callable[[Attempt], object]:
    return lambda authorize: authorize(policy, spec)


def ours() -> Attempt:
    """The book's RBAC authorizer behind the contract."""
    authorizers: dict[int, RBACAuthorizer] = {}

    def authorize(policy: Object, spec: Object) -> bool:
        if id(policy) not in authorizers:
            objects = [
                {"apiVersion": f"{GROUP}/v1", "kind": kind, **obj}
                for key, kind in KINDS.items()
                for obj in policy[key]
            ]
            authorizers[id(policy)] = RBACAuthorizer(StaticReader(objects))
        return (
            authorizers[id(policy)]
            .authorize(user_from(spec), request_info_from(spec))
            .allowed
        )

    return authorize


EXERCISE = Exercise(
    "rbac",
    "Role-based access control",
    CONTRACT,
    STARTER,
    "recorded access reviews; for the small policy the book's own",
    cases,
    ours,
    ("authz",),
)
