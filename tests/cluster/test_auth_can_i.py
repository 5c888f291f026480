"""`kubectl auth can-i` with real kubectl: the chapter on authorization shows these lines."""

from __future__ import annotations

import pytest

from lifecycle.cluster.background import BackgroundCluster
from tests.cluster.conftest import Kubectl

pytestmark = pytest.mark.real

RBAC = "rbac.authorization.k8s.io"


def test_what_jane_may_do(cluster: BackgroundCluster, kubectl: Kubectl, namespace: str) -> None:
    rights = cluster.client.RbacAuthorizationV1Api()
    rules = [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["create", "get"]}]
    rights.create_namespaced_role(namespace, {"metadata": {"name": "deployer"}, "rules": rules})
    subject = {"apiGroup": RBAC, "kind": "User", "name": "jane"}
    reference = {"apiGroup": RBAC, "kind": "Role", "name": "deployer"}
    binding = {"metadata": {"name": "deployers"}, "roleRef": reference, "subjects": [subject]}
    rights.create_namespaced_role_binding(namespace, binding)

    assert kubectl("auth", "can-i", "create", "deployments.apps", "--as", "jane").stdout == "yes\n"
    refused = kubectl("auth", "can-i", "delete", "deployments.apps", "--as", "jane", check=False)
    assert (refused.stdout, refused.returncode) == ("no\n", 1)
    assert kubectl("auth", "can-i", "delete", "deployments.apps").stdout == "yes\n"
    pods = kubectl("get", "pods", "--as", "jane", check=False)
    assert pods.stderr == (
        'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" '
        f'in the namespace "{namespace}"\n'
    )
