"""From joining to Ready: what kubeadm does for a node that has registered, and what it
waits for.

Upstream: kubeadm `app/phases/markcontrolplane/markcontrolplane.go`, kind
`pkg/cluster/internal/create/actions/waitforready`.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.nodes import NodeShape

NAMED = 3
"""Nodes that an error names, of thousands it may be about."""


class NodesReady:
    """Nodes that are waited for. `managed`: a controller taints and untaints nodes."""

    def __init__(self, shapes: Iterable[NodeShape], *, managed: bool) -> None:
        self._shapes = {shape.name: shape for shape in shapes}
        self._managed = managed
        self.waiting = set(self._shapes)
        """Names of those that are not Ready yet."""

    def summary(self) -> str:
        """Those that are not Ready yet, in the order in which they were given: the
        first by their names, the others by their number.
        """
        names = [name for name in self._shapes if name in self.waiting]
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        return ", ".join(names[:NAMED]) + more

    async def wait(self, watcher: Client, kubeadm: Client) -> None:
        """Watch nodes until all are Ready, and mark those of the control plane."""
        if not self.waiting:  # a control plane without machines
            return
        unmarked = {name: shape for name, shape in self._shapes.items() if shape.labels}
        stream = await watcher.watch(
            resource("nodes"), resource_version="0", bookmarks=False
        )
        async for frame in stream:
            name = frame.object["metadata"]["name"]
            if name in unmarked:
                await mark_control_plane(kubeadm, unmarked.pop(name))
            if is_ready(frame.object, managed=self._managed):
                self.waiting.discard(name)
            if not self.waiting:
                return


async def mark_control_plane(client: Client, shape: NodeShape) -> None:
    """What kubeadm does once the kubelet has registered: a kubelet may not give itself
    the labels of a control plane.
    """
    await client.patch(
        resource("nodes"), shape.name, "", {"metadata": {"labels": dict(shape.labels)}}
    )


def is_ready(node: Object, *, managed: bool = True) -> bool:
    """Whether a Node's Ready condition is True and, if a controller manages nodes, the
    not-ready taint is gone.
    """
    conditions = node.get("status", {}).get("conditions", ())
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    taints = node.get("spec", {}).get("taints", ())
    return ready and not (
        managed
        and any(taint["key"] == "node.kubernetes.io/not-ready" for taint in taints)
    )
