"""NodeRestriction: a kubelet speaks only for itself, also where the authorizer could
not see what it wrote.

The node authorizer lets every kubelet create pods, write nodes, ask for tokens. Here
the objects are at hand, and each is held to the node's own name: mirror pods bound to
it, its own Node without new taints or labels that would draw work to it, tokens for
pods that run on it.

Upstream: `plugin/pkg/admission/noderestriction/admission.go` (`Plugin.Admit`), v1.36.
Left out: resource slices beyond their node name, and in the refusal of a claim's status
the difference.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import not_found
from lifecycle.apiserver.admission.attributes import CREATE, DELETE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.node_audiences import NodeAudiences
from lifecycle.apiserver.authz.node import NODE_LEASES, node_identity
from lifecycle.apiserver.authz.node_graph import MIRROR_POD, references
from lifecycle.apiserver.cel.authorizer import Ask
from lifecycle.apiserver.storage.object_reader import ObjectReader

RESTRICTION = "node-restriction.kubernetes.io"
KUBELET_LABELS = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
KUBELET_LABEL_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")


class NodeRestriction(Plugin):
    """Looks at what kubelets write. `authorize` answers which further token audiences a
    node may use.
    """

    name = "NodeRestriction"
    operations = frozenset({CREATE, UPDATE, DELETE})
    resources = frozenset(
        {
            ("", "pods"),
            ("", "nodes"),
            ("", "persistentvolumeclaims"),
            ("", "serviceaccounts"),
            ("coordination.k8s.io", "leases"),
            ("storage.k8s.io", "csinodes"),
            ("resource.k8s.io", "resourceslices"),
        }
    )
    subresources = None

    def __init__(self, reader: ObjectReader, authorize: Ask | None = None) -> None:
        self._reader = reader
        self._audiences = NodeAudiences(reader, authorize)
        self._pods = resource("pods")
        self._nodes = resource("nodes")
        self._checks: dict[tuple[str, str], Callable[[str, Attributes], None]] = {
            ("pods", ""): self._pod,
            ("pods", "status"): self._pod_status,
            ("pods", "eviction"): self._pod_eviction,
            ("nodes", ""): self._node,
            ("nodes", "status"): self._node,
            ("persistentvolumeclaims", ""): self._claim,
            ("persistentvolumeclaims", "status"): self._claim_status,
            ("serviceaccounts", "token"): self._token,
            ("leases", ""): self._lease,
            ("csinodes", ""): self._csi_node,
            ("resourceslices", ""): self._resource_slice,
        }

    def admit(self, attributes: Attributes) -> None:
        """Refuse what is not the node's own; other users pass."""
        user = attributes.user
        if user is None or not user.name.startswith("system:node:"):
            return
        node, is_node = node_identity(user)
        if not is_node:
            return
        if not node:
            raise attributes.forbidden(
                f"could not determine node from user {go_quote(user.name)}"
            )
        check = self._checks.get((attributes.resource.plural, attributes.subresource))
        if check is not None:
            check(node, attributes)
        elif attributes.resource.plural == "pods":
            allowed = "'status' and 'eviction'"
            raise attributes.forbidden(
                f"unexpected pod subresource {go_quote(attributes.subresource)}, only"
                f" {allowed} are allowed"
            )

    def _existing_pod(self, attributes: Attributes, name: str) -> Object:
        pod = self._reader.get(self._pods, attributes.namespace, name)
        if pod is None:
            raise not_found("pod", name)  # as the lister calls it
        return pod

    def _pod(self, node: str, attributes: Attributes) -> None:
        if attributes.operation == CREATE:
            assert attributes.obj is not None
            why = self._pod_is_not_ours(node, attributes.obj)
            if why:
                raise attributes.forbidden(why)
        elif attributes.operation == DELETE:
            if (
                self._existing_pod(attributes, attributes.name)["spec"].get("nodeName")
                != node
            ):
                raise attributes.forbidden(
                    f"node {go_quote(node)} can only delete pods with spec.nodeName set"
                    " to itself"
                )
        else:
            raise attributes.forbidden(
                f"unexpected operation {go_quote(attributes.operation)}, node"
                f" {go_quote(node)} can only create and delete mirror pods"
            )

    def _pod_is_not_ours(self, node: str, pod: Object) -> str:
        """What is wrong with a pod that a node creates; "" if nothing."""
        me, meta = f"node {go_quote(node)}", pod["metadata"]
        if MIRROR_POD not in (meta.get("annotations") or {}):
            return (
                f"pod does not have {go_quote(MIRROR_POD)} annotation, {me} can only"
                " create mirror pods"
            )
        if pod["spec"].get("nodeName", "") != node:
            return f"{me} can only create pods with spec.nodeName set to itself"
        owners = meta.get("ownerReferences") or []
        if len(owners) > 1:
            return (
                f"{me} can only create pods with a single owner reference set to itself"
            )
        to_itself = f"{me} can only create pods with an owner reference set to itself"
        if not owners:
            return to_itself
        owner = owners[0]
        if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != (
            "v1",
            "Node",
            node,
        ):
            return to_itself
        if not owner.get("controller"):
            return (
                f"{me} can only create pods with a controller owner reference set to"
                " itself"
            )
        if owner.get("blockOwnerDeletion"):
            return f"{me} must not set blockOwnerDeletion on an owner reference"
        stored = self._reader.get(self._nodes, "", node)
        if stored is None:
            raise not_found("node", node)
        if owner.get("uid") != stored["metadata"].get("uid"):
            return (
                f"node {node} UID mismatch: expected {owner.get('uid')} got"
                f" {stored['metadata'].get('uid')}"
            )
        if pod["spec"].get("serviceAccountName"):
            return f"{me} can not create pods that reference a service account"
        kinds = {kind for kind, _ in references(pod)}
        for kind, word in (
            ("secret", "secrets"),
            ("configmap", "configmaps"),
            ("pvc", "persistentvolumeclaims"),
        ):
            if kind in kinds:
                return f"{me} can not create pods that reference {word}"
        return ""

    def _pod_status(self, node: str, attributes: Attributes) -> None:
        if attributes.operation != UPDATE:
            raise attributes.forbidden(
                f"unexpected operation {go_quote(attributes.operation)}"
            )
        old, new = attributes.old_obj or {}, attributes.obj or {}
        if (old.get("spec") or {}).get("nodeName") != node:
            raise attributes.forbidden(
                f"node {go_quote(node)} can only update pod status for pods with"
                " spec.nodeName set to itself"
            )
        if (old["metadata"].get("labels") or {}) != (
            new["metadata"].get("labels") or {}
        ):
            raise attributes.forbidden(
                f"node {go_quote(node)} cannot update labels through pod status"
            )

    def _pod_eviction(self, node: str, attributes: Attributes) -> None:
        name = attributes.name or ((attributes.obj or {}).get("metadata") or {}).get(
            "name", ""
        )
        if not name:
            raise attributes.forbidden("could not determine pod from request data")
        if self._existing_pod(attributes, name)["spec"].get("nodeName") != node:
            raise attributes.forbidden(
                f"node {node} can only evict pods with spec.nodeName set to itself"
            )

    def _node(self, node: str, attributes: Attributes) -> None:
        name = attributes.name
        if attributes.operation == CREATE and not name:
            name = (attributes.obj or {}).get("metadata", {}).get("name", "")
        if name != node:
            raise attributes.forbidden(
                f"node {go_quote(node)} is not allowed to modify node {go_quote(name)}"
            )
        if attributes.operation == DELETE or attributes.obj is None:
            return
        old: Object = attributes.old_obj or {"metadata": {}}
        # The node authorizer lets a node read what its spec refers to: it must not
        # write the reference itself.
        config_source = (attributes.obj.get("spec") or {}).get("configSource")
        if config_source is not None and attributes.operation == CREATE:
            raise attributes.forbidden(
                f"node {go_quote(node)} is not allowed to create pods with a non-nil"
                " configSource"
            )
        if config_source is not None and config_source != (old.get("spec") or {}).get(
            "configSource"
        ):
            raise attributes.forbidden(
                f"node {go_quote(node)} is not allowed to update configSource to a new"
                " non-nil configSource"
            )
        new_labels = attributes.obj["metadata"].get("labels") or {}
        old_labels = old["metadata"].get("labels") or {}
        forbidden = [
            label
            for label in sorted(new_labels.keys() | old_labels.keys())
            if new_labels.get(label) != old_labels.get(label) and not _may_label(label)
        ]
        if attributes.operation == CREATE:
            if forbidden:
                listed = ", ".join(forbidden)
                raise attributes.forbidden(
                    f"node {go_quote(node)} is not allowed to set the following labels:"
                    f" {listed}"
                )
            return
        if ((attributes.obj.get("spec") or {}).get("taints") or []) != (
            (old.get("spec") or {}).get("taints") or []
        ):
            raise attributes.forbidden(
                f"node {go_quote(node)} is not allowed to modify taints"
            )
        if (attributes.obj["metadata"].get("ownerReferences") or []) != (
            old["metadata"].get("ownerReferences") or []
        ):
            raise attributes.forbidden(
                f"node {go_quote(node)} is not allowed to modify ownerReferences"
            )
        if forbidden:
            raise attributes.forbidden(
                f"is not allowed to modify labels: {', '.join(forbidden)}"
            )

    def _claim(self, node: str, attributes: Attributes) -> None:
        raise attributes.forbidden("may only update PVC status")

    def _claim_status(self, node: str, attributes: Attributes) -> None:
        """What has become larger, and nothing else: with an owner that is gone, say,
        the claim would go too, and the volume.
        """
        if attributes.operation != UPDATE:
            raise attributes.forbidden(
                f"unexpected operation {go_quote(attributes.operation)}"
            )
        if _without_growth(attributes.old_obj) != _without_growth(attributes.obj):
            raise attributes.forbidden(
                f"node {go_quote(node)} is not allowed to update fields other than"
                " status.quantity and status.conditions"
            )

    def _token(self, node: str, attributes: Attributes) -> None:
        if attributes.operation != CREATE:
            return
        bound = ((attributes.obj or {}).get("spec") or {}).get("boundObjectRef") or {}
        if (bound.get("apiVersion"), bound.get("kind")) != (
            "v1",
            "Pod",
        ) or not bound.get("name"):
            raise attributes.forbidden("node requested token not bound to a pod")
        if not bound.get("uid"):
            raise attributes.forbidden(
                "node requested token with a pod binding without a uid"
            )
        pod = self._existing_pod(attributes, bound["name"])
        uid = pod["metadata"].get("uid")
        if bound["uid"] != uid:
            raise attributes.forbidden(
                f"the UID in the bound object reference ({bound['uid']}) does not match"
                f" the UID in record ({uid}). The object might have been deleted and"
                " then recreated"
            )
        if pod["spec"].get("nodeName") != node:
            raise attributes.forbidden(
                "node requested token bound to a pod scheduled on a different node"
            )
        self._audiences.validate(attributes, pod)

    def _lease(self, node: str, attributes: Attributes) -> None:
        if attributes.namespace != NODE_LEASES:
            raise attributes.forbidden(
                f"can only access leases in the {go_quote(NODE_LEASES)} system"
                " namespace"
            )
        if _name(attributes) != node:
            raise attributes.forbidden(
                "can only access node lease with the same name as the requesting node"
            )

    def _csi_node(self, node: str, attributes: Attributes) -> None:
        if _name(attributes) != node:
            raise attributes.forbidden(
                "can only access CSINode with the same name as the requesting node"
            )

    def _resource_slice(self, node: str, attributes: Attributes) -> None:
        if (
            attributes.operation == CREATE
            and (attributes.obj or {}).get("spec", {}).get("nodeName") != node
        ):
            raise attributes.forbidden(
                "can only create ResourceSlice with the same NodeName as the requesting"
                " node"
            )


GROWTH = ("capacity", "conditions", "allocatedResources", "allocatedResourceStatuses")


def _without_growth(claim: Object | None) -> Object:
    """A claim without what the kubelet may say of it, and without what changes with
    every write.
    """
    claim = claim or {"metadata": {}}
    status = {k: v for k, v in (claim.get("status") or {}).items() if k not in GROWTH}
    always = ("resourceVersion", "managedFields")
    meta = {k: v for k, v in claim["metadata"].items() if k not in always}
    return {**claim, "metadata": meta, "status": status}


def _name(attributes: Attributes) -> str:
    """The object's name; a create does not have it in the URL."""
    if attributes.operation == CREATE and attributes.obj is not None:
        return str(attributes.obj["metadata"].get("name", ""))
    return attributes.name


def _may_label(label: str) -> bool:
    """Whether a kubelet may set a label: its own, and all that are not Kubernetes'."""
    namespace = label.partition("/")[0] if "/" in label else ""
    if namespace == RESTRICTION or namespace.endswith(f".{RESTRICTION}"):
        return False
    kubernetes = any(
        namespace == own or namespace.endswith(f".{own}")
        for own in ("kubernetes.io", "k8s.io")
    )
    if not kubernetes or label in KUBELET_LABELS:
        return True
    return any(
        namespace == own or namespace.endswith(f".{own}")
        for own in KUBELET_LABEL_NAMESPACES
    )
