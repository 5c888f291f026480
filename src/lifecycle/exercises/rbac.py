"""Role-based access control: may this user do that?

The cases are the recorded access reviews whose answer hung on roles alone: the shortcut for `system:masters` and the
Node authorizer have no part in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lifecycle.agreements.authorization import in_words, recorded_policy
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.apiserver.authz.access_review_spec import request_info_from, user_from
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.object_reader import StaticReader
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

policy: {"roles": [...], "roleBindings": [...], "clusterRoles": [...], "clusterRoleBindings": [...]}, objects as the API shows them
        (aggregated ClusterRoles already hold their rules).
spec:   the spec of a SubjectAccessReview: "user", "groups", and "resourceAttributes" (verb, group, version, resource,
        subresource, namespace, name) or "nonResourceAttributes" (verb, path). An empty part may be missing.
Returns whether some role allows it."""

STARTER = '''\
def authorize(policy, spec):
    """Whether some role, through some binding, allows what the spec asks for."""
    subjects = {spec.get("user", ""), *spec.get("groups", [])}
    return False
'''


def _policy(reader: StaticReader) -> Object:
    return {key: list(reader.list(resource(f"{key.lower()}.{GROUP}"))) for key in KINDS}


def cases() -> Iterator[Case]:
    """About 2,400 questions of a real cluster."""
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


def _ask(policy: Object, spec: Object) -> Callable[[Attempt], bool]:
    return lambda authorize: bool(authorize(policy, spec))


def ours() -> Attempt:
    """The book's RBAC authorizer behind the contract."""
    known: dict[int, RBACAuthorizer] = {}

    def authorize(policy: Object, spec: Object) -> bool:
        if id(policy) not in known:
            objects = [
                {"apiVersion": f"{GROUP}/v1", "kind": kind, **obj} for key, kind in KINDS.items() for obj in policy[key]
            ]
            known[id(policy)] = RBACAuthorizer(StaticReader(objects))
        return known[id(policy)].authorize(user_from(spec), request_info_from(spec)).allowed

    return authorize


EXERCISE = Exercise(
    "rbac",
    "Role-based access control",
    CONTRACT,
    STARTER,
    "access reviews of the recorded cluster",
    cases,
    ours,
    ("authz",),
)
