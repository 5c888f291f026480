"""The node authorizer: what a kubelet may do, and only for its own node and pods.

RBAC cannot say "the secrets of the pods that run here", because that set changes with
every binding. So kubelets have an authorizer of their own: identity first
(`system:node:NAME` in group `system:nodes`), then one small rule for each type that
needs care, and for the rest the same static list for all nodes. What it cannot see –
the body of a create – the NodeRestriction admission plugin checks.

Upstream: `plugin/pkg/auth/authorizer/node/node_authorizer.go` (`NodeAuthorizer`),
`pkg/auth/nodeidentifier/default.go` (`NodeIdentity`), rules in
`bootstrappolicy/policy.go` (`NodeRules`), v1.36. Left out: pod certificate requests.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.fields import parse_field_selector
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.api.status import StatusError
from lifecycle.apiserver.authz.authorizer import (
    ALLOW,
    NO_OPINION,
    Decision,
    UserRules,
    Verdict,
)
from lifecycle.apiserver.authz.node_graph import NodeGraph
from lifecycle.apiserver.authz.policy_rule import rule_allows
from lifecycle.apiserver.bootstrap.policy import node_rules
from lifecycle.apiserver.storage.object_reader import ObjectReader

NODE_PREFIX = "system:node:"
NODES_GROUP = "system:nodes"
NODE_LEASES = "kube-node-lease"

READ = ("get", "list", "watch")
OWN_OBJECT_VERBS = ("get", "create", "update", "patch", "delete")


def node_identity(user: UserInfo) -> tuple[str, bool]:
    """The node's name and whether the user is a node at all. Upstream:
    `defaultNodeIdentifier.NodeIdentity`.
    """
    if not user.name.startswith(NODE_PREFIX) or NODES_GROUP not in user.groups:
        return "", False
    return user.name.removeprefix(NODE_PREFIX), True


def _no(reason: str = "") -> Verdict:
    return Verdict(Decision.NO_OPINION, reason)


def _selects(field_selector: str, field: str, value: str) -> bool:
    """Whether a field selector demands a value of a field. One that cannot be read
    demands nothing.
    """
    try:
        return parse_field_selector(field_selector).requires_exact_match(field) == value
    except StatusError:
        return False


class NodeAuthorizer:
    """Decides for kubelets; has no opinion about anybody else."""

    def __init__(
        self, reader: ObjectReader, rules: tuple[Object, ...] | None = None
    ) -> None:
        self.graph = NodeGraph(reader)
        self._rules = node_rules() if rules is None else rules
        self._static: dict[tuple[str, ...], bool] = {}
        self._special: dict[tuple[str, str], Callable[[str, RequestInfo], Verdict]] = {
            ("", "secrets"): lambda node, info: self._read_namespaced(
                node, "secret", info
            ),
            ("", "configmaps"): lambda node, info: self._read_namespaced(
                node, "configmap", info
            ),
            ("", "persistentvolumeclaims"): self._claim,
            ("", "persistentvolumes"): lambda node, info: self._get(node, "pv", info),
            ("", "serviceaccounts"): self._service_account,
            ("", "nodes"): self._node,
            ("", "pods"): self._pod,
            ("coordination.k8s.io", "leases"): self._lease,
            ("resource.k8s.io", "resourceclaims"): lambda node, info: self._get(
                node, "resourceclaim", info
            ),
            ("resource.k8s.io", "resourceslices"): self._resource_slice,
            ("storage.k8s.io", "volumeattachments"): lambda node, info: self._get(
                node, "volumeattachment", info
            ),
            ("storage.k8s.io", "csinodes"): self._csi_node,
        }

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Allow what the node needs; say why not in upstream's words."""
        node, is_node = node_identity(user)
        if not is_node:
            return NO_OPINION
        if not node:
            return _no(f"unknown node for user {go_quote(user.name)}")
        if info.is_resource_request:
            special = self._special.get((info.group, info.resource))
            if special is not None:
                return special(node, info)
        return ALLOW if self._static_rules_allow(info) else NO_OPINION

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Nodes' rights cannot be listed, and the answer says so."""
        if node_identity(user)[1]:
            return UserRules(
                incomplete=True,
                errors=["node authorizer does not support user rule resolution"],
            )
        return UserRules()

    def _static_rules_allow(self, info: RequestInfo) -> bool:
        key: tuple[str, ...] = (info.verb, info.path)
        if info.is_resource_request:
            key = (info.verb, info.group, info.resource, info.subresource)
        known = self._static.get(key)
        if known is None:  # the node rules name no objects, so names do not matter
            known = self._static[key] = any(
                rule_allows(rule, info) for rule in self._rules
            )
        return known

    def _related(self, node: str, kind: str, info: RequestInfo) -> Verdict:
        if not info.name:
            return _no("No Object name found")
        if self.graph.has_path(node, kind, info.namespace, info.name):
            return ALLOW
        return _no(f"no relationship found between node '{node}' and this object")

    def _get(self, node: str, kind: str, info: RequestInfo) -> Verdict:
        if info.verb != "get":
            return _no("can only get individual resources of this type")
        if info.subresource:
            return _no("cannot get subresource")
        return self._related(node, kind, info)

    def _read_namespaced(self, node: str, kind: str, info: RequestInfo) -> Verdict:
        if info.verb not in READ:
            return _no("can only read resources of this type")
        if info.subresource:
            return _no("cannot read subresource")
        if not info.namespace:
            return _no("can only read namespaced object of this type")
        return self._related(node, kind, info)

    def _claim(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource != "status":
            return self._get(node, "pvc", info)
        if info.verb not in ("update", "patch"):
            return _no("can only get/update/patch this type")
        return self._related(node, "pvc", info)

    def _service_account(self, node: str, info: RequestInfo) -> Verdict:
        """Those of its own pods: to read for credential providers, and for tokens."""
        if info.verb == "get" and not info.subresource:
            return self._read_namespaced(node, "serviceaccount", info)
        if info.verb != "create" or not info.name:
            return _no("can only create tokens for individual service accounts")
        if info.subresource != "token":
            return _no("can only create token subresource of serviceaccount")
        return self._related(node, "serviceaccount", info)

    def _lease(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb not in OWN_OBJECT_VERBS:
            return _no("can only get, create, update, patch, or delete a node lease")
        if info.namespace != NODE_LEASES:
            return _no(
                f"can only access leases in the {go_quote(NODE_LEASES)} system"
                " namespace"
            )
        if info.verb != "create" and info.name != node:
            return _no(
                "can only access node lease with the same name as the requesting node"
            )
        return ALLOW

    def _csi_node(self, node: str, info: RequestInfo) -> Verdict:
        if info.verb not in OWN_OBJECT_VERBS:
            return _no("can only get, create, update, patch, or delete a CSINode")
        if info.subresource:
            return _no("cannot authorize CSINode subresources")
        if info.verb != "create" and info.name != node:
            return _no(
                "can only access CSINode with the same name as the requesting node"
            )
        return ALLOW

    def _resource_slice(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource:
            return _no("cannot authorize ResourceSlice subresources")
        if info.verb == "create":
            return ALLOW
        if info.verb in ("get", "update", "patch", "delete"):
            return self._related(node, "resourceslice", info)
        if info.verb in ("watch", "list", "deletecollection"):
            if _selects(info.field_selector, "spec.nodeName", node):
                return ALLOW
            return _no(
                "can only list/watch/deletecollection resourceslices with nodeName"
                " field selector"
            )
        return _no(
            "only the following verbs are allowed for a ResourceSlice: "
            "get, watch, list, create, update, patch, delete, deletecollection"
        )

    def _node(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource == "status":
            return ALLOW if info.verb in ("update", "patch") else NO_OPINION
        if info.subresource:
            return NO_OPINION
        if info.verb in ("create", "update", "patch"):
            return ALLOW
        if info.verb in READ:
            if info.name == node:
                return ALLOW
            what = f"'{info.name}'" if info.name else "all nodes"
            return _no(f"node '{node}' cannot read {what}, only its own Node object")
        return NO_OPINION

    def _pod(self, node: str, info: RequestInfo) -> Verdict:
        if info.subresource == "status":
            return ALLOW if info.verb in ("update", "patch") else NO_OPINION
        if info.subresource == "eviction":
            return ALLOW if info.verb == "create" else NO_OPINION
        if info.subresource:
            return NO_OPINION
        if info.verb == "get":
            return self._get(node, "pod", info)
        if info.verb in ("list", "watch"):
            if _selects(info.field_selector, "spec.nodeName", node):
                return ALLOW
            if info.name:
                return self._related(node, "pod", info)
            return _no("can only list/watch pods with spec.nodeName field selector")
        return ALLOW if info.verb in ("create", "delete") else NO_OPINION
