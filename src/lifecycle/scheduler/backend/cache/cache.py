"""What the scheduler believes about the cluster.

Binding takes a round trip; the next pod must not wait for it. So a pod that has been
given a node is *assumed* to be there at once. The watch confirms it later (`add_pod`),
or the binding failed and it is forgotten (`forget_pod`). Either way the cache is right
in the end.

Upstream: `pkg/scheduler/backend/cache/cache.go` (`cacheImpl`), v1.36. Left out: the
expiry of assumed pods (off upstream too: a duration of 0), and the list ordered by
change; a set of changed names does its job here.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.backend.cache.node_tree import NodeTree, zone_key
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.resources import pod_requests, same_in_force


class Cache:
    """Nodes and the pods on them, real and assumed. Keys of pods are
    `namespace/name`.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self._tree = NodeTree()
        self._placed: dict[str, str] = {}
        """Pod key to node name, of every pod in the cache."""
        self._assumed: set[str] = set()
        self._changed: set[str] = set()
        self._layout_changed = True
        self._image_nodes: dict[str, int] = {}
        """On how many nodes an image is."""
        self._image_sizes: dict[str, int] = {}
        """How large it is: as the first node said."""

    def __contains__(self, key: str) -> bool:
        return key in self._placed

    # -- pods --------------------------------------------------------------------------

    def assume_pod(self, info: PodInfo) -> None:
        """Believe that the pod runs on its `spec.nodeName`. Raises KeyError if it is in
        the cache already.
        """
        if info.key in self._placed:
            raise KeyError(info.key)
        self._assumed.add(info.key)
        self._add(info)

    def forget_pod(self, key: str) -> None:
        """The binding failed: the assumed pod is not there."""
        if key in self._assumed:
            self._remove(key)

    def add_pod(self, pod: Object) -> None:
        """The watch says where a pod is; confirms an assumption or corrects it."""
        metadata = pod["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        placed = self._placed.get(key)
        if placed is not None and placed == pod["spec"]["nodeName"]:
            self._assumed.discard(key)
            self._replace(key, placed, pod)
            return
        if placed is not None:
            self._remove(key)
        self._add(PodInfo(pod))

    def update_pod(self, pod: Object) -> None:
        """A pod on a node changed; most often only its status."""
        self.add_pod(pod)

    def remove_pod(self, pod: Object) -> None:
        """The pod is gone."""
        metadata = pod["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        if key in self._placed:
            self._remove(key)

    def _add(self, info: PodInfo) -> None:
        name = info.pod["spec"]["nodeName"]
        node = self.nodes.get(name)
        if node is None:  # the pod was seen before its node
            node = self.nodes[name] = NodeInfo(name=name)
        node.add_pod(info)
        self._placed[info.key] = name
        self._changed.add(name)

    def _remove(self, key: str) -> None:
        name = self._placed.pop(key)
        self._assumed.discard(key)
        node = self.nodes[name]
        node.remove_pod(key)
        self._changed.add(name)
        if node.node is None and not node.pods:
            del self.nodes[name]
            self._changed.discard(name)

    def _replace(self, key: str, name: str, pod: Object) -> None:
        """A newer object of a pod that stays where it is. If nothing the scheduler
        looks at changed, neither does the generation.
        """
        node = self.nodes[name]
        info = node.pods[key]
        old, info_pod = info.pod["metadata"], info.pod
        new = pod["metadata"]
        if (
            old.get("labels") == new.get("labels")
            and old.get("deletionTimestamp") == new.get("deletionTimestamp")
            and info_pod["spec"] == pod["spec"]
            and (same_in_force(info_pod, pod) or info.requests == pod_requests(pod))
        ):
            info.pod = pod
            return
        node.remove_pod(key)
        node.add_pod(PodInfo(pod, info))
        self._changed.add(name)

    # -- nodes -------------------------------------------------------------------------

    def add_node(self, node: Object) -> NodeInfo:
        """A node came or changed."""
        name = node["metadata"]["name"]
        info = self.nodes.get(name)
        if info is None:
            info = self.nodes[name] = NodeInfo(node)
            self._tree.add_node(name, zone_key(info.labels))
            self._layout_changed = True
            self._count_images((), info)
            return info
        known, zone = info.node is not None, zone_key(info.labels)
        images = info.images if known else {}
        info.set_node(node)
        self._changed.add(name)
        self._count_images(images, info)
        if not known or zone != zone_key(info.labels):
            if known:
                self._tree.remove_node(name, zone)
            self._tree.add_node(name, zone_key(info.labels))
            self._layout_changed = True
        return info

    def remove_node(self, node: Object) -> None:
        """A node is gone; its pods stay until the watch says that they are."""
        name = node["metadata"]["name"]
        info = self.nodes.get(name)
        if info is None:
            return
        self._tree.remove_node(name, zone_key(info.labels))
        if info.node is not None:
            self._count_images(info.images, None)
        info.remove_node()
        self._changed.discard(name)
        self._layout_changed = True
        if not info.pods:
            del self.nodes[name]

    def _count_images(self, before: Iterable[str], info: NodeInfo | None) -> None:
        """A node has other images than before: a new table, as snapshots keep theirs.
        An image is as large as the first node said that reported it, everywhere and as
        long as any node has it. Upstream: `addNodeImageStates`,
        `removeNodeImageStates`.
        """
        now = info.images if info is not None else {}
        gone, come = set(before), set(now)
        counts, sizes = self._image_nodes, self._image_sizes
        if gone != come:
            counts = dict(counts)
            for image in gone - come:
                counts[image] -= 1
                if not counts[image]:
                    del counts[image], sizes[image]
            for image in come - gone:
                counts[image] = counts.get(image, 0) + 1
            self._image_nodes = counts
        sizes |= {image: now[image] for image in come if counts[image] == 1}
        if info is not None:
            info.images = {image: sizes[image] for image in now}

    # -- the picture -------------------------------------------------------------------

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Bring a snapshot up to date: copies of the nodes that changed since, or a new
        list if nodes came or went.

        One snapshot per cache: what it has taken is not kept for another.
        """
        snapshot.image_nodes = self._image_nodes
        if self._layout_changed:
            names = self._tree.list()
            infos = []
            for name in names:
                info = self.nodes[name]
                old = snapshot.node_info_map.get(name)
                infos.append(
                    old
                    if old is not None and old.generation == info.generation
                    else info.clone()
                )
            snapshot.rebuild(infos)
            self._layout_changed = False
            self._changed.clear()
            return
        if not self._changed:
            return
        for name in self._changed:
            changed = self.nodes.get(name)
            if changed is not None and changed.node is not None:
                snapshot.replace(changed.clone())
        self._changed.clear()
