"""Which objects belong to which node, through the pods that run there.

A kubelet may read the secrets, config maps, claims and service accounts of its own
pods, and nobody else's. The relation is a small graph in which every edge points
towards a node: secret → pod → node, volume → claim → pod → node.

Upstream keeps the graph up to date with every event. Ours keeps none: the server's
cache knows the pods of each node, which are some dozens however large the cluster is,
and a question is answered by looking at them.

Upstream: `plugin/pkg/auth/authorizer/node/graph.go` (`Graph.AddPod`, `AddPV`),
`pkg/api/v1/pod/util.go` (`VisitPodSecretNames`), v1.36. Left out: volume plugins other
than CSI with secrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.storage.object_reader import ObjectReader

MIRROR_POD = "kubernetes.io/config.mirror"


class NodeGraph:
    """Answers "is there a path from this object to that node?" from the server's
    caches.
    """

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._pods = resource("pods")
        self._volumes = resource("persistentvolumes")
        self._attachments = resource("volumeattachments.storage.k8s.io")
        self._slices = resource("resourceslices.resource.k8s.io")

    def has_path(self, node: str, kind: str, namespace: str, name: str) -> bool:
        """Whether an object (kind in upstream's words: `secret`, `configmap`, `pvc`, …)
        leads to the node.
        """
        if kind == "pod":
            return self._runs_on(namespace, name, node)
        if kind == "pv":
            return self._volume_leads_to(node, name)
        if kind in ("volumeattachment", "resourceslice"):
            of = self._slices if kind == "resourceslice" else self._attachments
            names_it = self._reader.get(of, "", name)
            return names_it is not None and names_it["spec"].get("nodeName") == node
        if self._needed(node, kind, namespace, name):
            return True
        return kind == "secret" and self._volume_needs_secret(node, namespace, name)

    def _runs_on(self, namespace: str, name: str, node: str) -> bool:
        pod = self._reader.get(self._pods, namespace, name)
        return pod is not None and pod["spec"].get("nodeName") == node

    def _needed(self, node: str, kind: str, namespace: str, name: str) -> bool:
        """Whether a pod on the node refers to the object. A node writes its own mirror
        pods: they must not be able to grant it anything.
        """
        for pod in self._reader.pods_on(node):
            meta = pod["metadata"]
            if (
                meta.get("namespace") == namespace
                and MIRROR_POD not in (meta.get("annotations") or {})
                and (kind, name) in references(pod)
            ):
                return True
        return False

    def _volume_leads_to(self, node: str, name: str) -> bool:
        volume = self._reader.get(self._volumes, "", name)
        claim = (volume or {}).get("spec", {}).get("claimRef")
        return bool(claim) and self._needed(
            node, "pvc", claim.get("namespace", ""), claim.get("name", "")
        )

    def _volume_needs_secret(self, node: str, namespace: str, name: str) -> bool:
        """Whether a persistent volume mounted on the node gets its credentials from the
        secret.
        """
        for volume in self._reader.list(self._volumes):
            csi = volume["spec"].get("csi") or {}
            for key in (
                "nodePublishSecretRef",
                "nodeStageSecretRef",
                "nodeExpandSecretRef",
            ):
                ref = csi.get(key) or {}
                if (ref.get("namespace"), ref.get("name")) == (namespace, name):
                    return self._volume_leads_to(node, volume["metadata"]["name"])
        return False


def references(pod: Object) -> Iterator[tuple[str, str]]:
    """Kind and name of every object in the pod's namespace that it needs."""
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        yield "serviceaccount", spec["serviceAccountName"]
    for ref in spec.get("imagePullSecrets") or ():
        yield "secret", ref.get("name", "")
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            yield from _container_references(container)
    for volume in spec.get("volumes") or ():
        yield from _volume_references(pod, volume)
    for status in (pod.get("status") or {}).get("resourceClaimStatuses") or ():
        if status.get("resourceClaimName"):
            yield "resourceclaim", status["resourceClaimName"]
    for claim in spec.get("resourceClaims") or ():
        if claim.get("resourceClaimName"):
            yield "resourceclaim", claim["resourceClaimName"]


def _container_references(container: Object) -> Iterator[tuple[str, str]]:
    for source in container.get("envFrom") or ():
        if source.get("secretRef"):
            yield "secret", source["secretRef"].get("name", "")
        if source.get("configMapRef"):
            yield "configmap", source["configMapRef"].get("name", "")
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        if source.get("secretKeyRef"):
            yield "secret", source["secretKeyRef"].get("name", "")
        if source.get("configMapKeyRef"):
            yield "configmap", source["configMapKeyRef"].get("name", "")


def _volume_references(pod: Object, volume: Object) -> Iterator[tuple[str, str]]:
    if volume.get("secret"):
        yield "secret", volume["secret"].get("secretName", "")
    if volume.get("configMap"):
        yield "configmap", volume["configMap"].get("name", "")
    if volume.get("persistentVolumeClaim"):
        yield "pvc", volume["persistentVolumeClaim"].get("claimName", "")
    if volume.get("ephemeral"):
        yield "pvc", f"{pod['metadata']['name']}-{volume['name']}"
    for source in (volume.get("projected") or {}).get("sources") or ():
        if source.get("secret"):
            yield "secret", source["secret"].get("name", "")
        if source.get("configMap"):
            yield "configmap", source["configMap"].get("name", "")
    for driver in (
        "csi",
        "cephfs",
        "flexVolume",
        "iscsi",
        "rbd",
        "scaleIO",
        "storageos",
    ):
        settings: dict[str, Any] = volume.get(driver) or {}
        ref = settings.get("nodePublishSecretRef") or settings.get("secretRef")
        if ref:
            yield "secret", ref.get("name", "")
