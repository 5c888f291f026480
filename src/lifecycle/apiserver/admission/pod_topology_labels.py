"""PodTopologyLabels: a pod learns the zone and region it runs in.

When a pod is bound, the zone and region labels of its node are copied onto the binding,
from where they reach the pod. A program can then read them through the downward API
without any right to look at nodes.

Upstream: `plugin/pkg/admission/podtopologylabels/admission.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.storage.object_reader import ObjectReader

LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


class PodTopologyLabels(Plugin):
    """Looks at bindings, and at pods created with a node already chosen. One that is
    posted to the old collection of `bindings`, or that does not say that its target is
    a node, it passes over.
    """

    name = "PodTopologyLabels"
    operations = frozenset({CREATE})
    resources = frozenset({("", "pods")})
    subresources = frozenset({"", "binding"})

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._nodes = resource("nodes")

    def admit(self, attributes: Attributes) -> None:
        """Copy the node's labels onto the binding (or the pod), over those of the same
        name.
        """
        obj = attributes.obj
        if obj is None:
            return
        if attributes.subresource == "binding":
            target = obj.get("target") or {}
            node_name = target.get("name", "") if target.get("kind") == "Node" else ""
        else:
            node_name = obj["spec"].get("nodeName", "")
        labels = self._labels(node_name) if node_name else {}
        if labels:
            meta = obj.setdefault("metadata", {})
            meta["labels"] = (meta.get("labels") or {}) | labels

    def _labels(self, node_name: str) -> Object:
        node = self._reader.get(self._nodes, "", node_name)
        theirs = ((node or {}).get("metadata") or {}).get("labels") or {}
        return {label: theirs[label] for label in LABELS if label in theirs}
