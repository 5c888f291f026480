"""ImageLocality: where the image is already, the pod starts sooner.

The size of each present image counts, scaled by how many nodes have it (an image that
is on one node only must not pull every pod there), between 23 MB (nothing to gain) and
1000 MB per image (no more to gain). Images count whether containers run them or volumes
bring them in.

Upstream: `pkg/scheduler/framework/plugins/imagelocality/image_locality.go`, v1.36.
Image names are compared as the pod writes them, with `:latest` added if there is no
tag: `nginx:1.27` does not match a node's `docker.io/library/nginx:1.27`, which is why
kind's nodes all score 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    PreScorePlugin,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import Status

MB = 1024 * 1024
MIN_THRESHOLD = 23 * MB
MAX_CONTAINER_THRESHOLD = 1000 * MB


def normalized_image_name(name: str) -> str:
    """`:latest` if there is neither tag nor digest."""
    return name if name.rfind(":") > name.rfind("/") else name + ":latest"


def image_names(info: PodInfo) -> list[str]:
    """The images of a pod, of its containers and of its volumes."""
    spec = info.pod["spec"]
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    volumes = [
        volume["image"] for volume in spec.get("volumes") or () if volume.get("image")
    ]
    names = [c.get("image") for c in containers] + [
        volume.get("reference") for volume in volumes
    ]
    return [normalized_image_name(name or "") for name in names]


class ImageLocality(PreScorePlugin, ScorePlugin):
    """Scores by the images present."""

    name = "ImageLocality"

    def pre_score(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: SharedLister,
    ) -> Status | None:
        """Remember the spread of the pod's images over the nodes."""
        state.write(self.name, (image_names(info), spreads(info, snapshot)))
        return None

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """0 … 100."""
        images, spread = state.read(self.name)
        return score_of([node.images.get(image) for image in images], spread)


def spreads(info: PodInfo, snapshot: SharedLister) -> list[float]:
    """For each of the pod's images, the share of the nodes that have it."""
    total = max(len(snapshot), 1)
    return [snapshot.image_nodes.get(image, 0) / total for image in image_names(info)]


def score_of(sizes: Sequence[int | None], spread: Sequence[float]) -> int:
    """0 … 100, from the size of each image on a node (None: not there) and the images'
    spreads. Upstream: `sumImageScores`, `calculatePriority`.
    """
    total = sum(
        int(size * share)
        for size, share in zip(sizes, spread, strict=True)
        if size is not None
    )
    highest = MAX_CONTAINER_THRESHOLD * len(sizes)
    total = min(max(total, MIN_THRESHOLD), highest)
    return MAX_NODE_SCORE * (total - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)
