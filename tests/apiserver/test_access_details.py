"""Smaller rules of access, asked of a whole server: what is refused, and in which words."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from tests.apiserver.asked_server import RBAC, Asked, asked

WRITE_ROLES = {
    "apiGroups": ["rbac.authorization.k8s.io"],
    "resources": ["roles", "rolebindings"],
    "verbs": ["create", "get"],
}
DEFAULT = f"{RBAC}/namespaces/default"
TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
DELETE_PODS = {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}]}


def binding(kind: str, name: str) -> Object:
    return {"metadata": {"name": "b"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}}


def test_a_binding_to_a_role_that_is_not_there_names_the_resource() -> None:
    async def scene(ask: Asked) -> None:
        await ask.may("jane", "writer", WRITE_ROLES)
        found = await ask.refused("POST", f"{DEFAULT}/rolebindings", binding("ClusterRole", "gone"), user="jane")
        assert found == (404, 'clusterroles.rbac.authorization.k8s.io "gone" not found')
        found = await ask.refused("POST", f"{DEFAULT}/rolebindings", binding("Role", "gone"), user="jane")
        assert found == (404, 'roles.rbac.authorization.k8s.io "gone" not found')

    asked(scene)


def test_a_refused_grant_says_which_of_the_authors_own_roles_are_missing() -> None:
    async def scene(ask: Asked) -> None:
        await ask.may("jane", "writer", WRITE_ROLES)
        await ask.bind("jane", "gone")
        code, message = await ask.refused("POST", f"{DEFAULT}/roles", DELETE_PODS, user="jane")
        assert code == 403
        missing = 'resolution errors: [clusterroles.rbac.authorization.k8s.io "gone" not found]'
        assert message.endswith(f'\n{{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}}; {missing}')

    asked(scene)


@pytest.mark.parametrize(
    ("metadata", "code", "words"),
    [
        ({"name": "other"}, 422, "metadata.name: Invalid value: \"other\": must match the service account name if specified"),
        ({"namespace": "x"}, 400, "does not match the namespace"),
        ({"uid": "old"}, 409, "the UID in the token request (old) does not match the UID of the service account (")
    ],
)  # fmt: skip
def test_a_token_request_names_the_account_of_its_path(metadata: Object, code: int, words: str) -> None:
    async def scene(ask: Asked) -> None:
        await ask("POST", ACCOUNTS, {"metadata": {"name": "default"}})
        found = await ask.refused("POST", TOKEN, {"metadata": metadata, "spec": {}})
        assert found[0] == code
        assert words in found[1]

    asked(scene)


def test_a_bound_object_is_named_and_its_version_does_not_matter() -> None:
    async def scene(ask: Asked) -> None:
        await ask("POST", ACCOUNTS, {"metadata": {"name": "default"}})
        unnamed = {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1"}}}
        assert await ask.refused("POST", TOKEN, unnamed) == (400, "Name parameter required.")
        absent = {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v9", "name": "p"}}}
        assert await ask.refused("POST", TOKEN, absent) == (404, 'pods "p" not found')
        elsewhere = {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "g/v1", "name": "p"}}}
        assert await ask.refused("POST", TOKEN, elsewhere) == (
            400, "cannot bind token to object of type g/v1, Kind=Pod",
        )  # fmt: skip

    asked(scene)


def test_a_missing_account_counts_more_than_a_wrong_request() -> None:
    async def scene(ask: Asked) -> None:
        path = TOKEN.replace("/default/token", "/gone/token")
        found = await ask.refused("POST", path, {"spec": {"expirationSeconds": 1}})
        assert found == (404, 'serviceaccounts "gone" not found')

    asked(scene)


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews", 405),
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews/x", 404),
        ("DELETE", "/apis/authorization.k8s.io/v1/subjectaccessreviews/x", 404),
        ("GET", "/apis/authorization.k8s.io/v1/localsubjectaccessreviews", 404),
        ("POST", "/openid/v1/jwks", 405),
        ("DELETE", "/.well-known/openid-configuration", 405),
    ],
)
def test_what_can_only_be_posted_or_only_be_read(method: str, path: str, code: int) -> None:
    async def scene(ask: Asked) -> None:
        assert (await ask(method, path, {} if method == "POST" else None, Accept="*/*"))[0] == code

    asked(scene)


def test_the_issuers_documents_come_in_their_own_media_types_only() -> None:
    async def scene(ask: Asked) -> None:
        found = await ask.refused("GET", "/.well-known/openid-configuration", Accept="text/plain")
        assert found == (406, "406: Not Acceptable\n\nAvailable representations: application/json")
        assert (await ask("GET", "/.well-known/openid-configuration", Accept="application/*"))[0] == 200

    asked(scene)


def test_a_mirror_pod_refers_to_nothing_before_anything_else_is_asked() -> None:
    pod = {
        "metadata": {"name": "m", "annotations": {"kubernetes.io/config.mirror": "x"}},
        "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", "secret": {"secretName": "s"}}],
        },
    }

    async def scene(ask: Asked) -> None:
        found = await ask.refused("POST", "/api/v1/namespaces/default/pods", pod)
        assert found == (403, 'pods "m" is forbidden: a mirror pod may not reference secrets')

    asked(scene)
