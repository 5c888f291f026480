"""Where images are already, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.plugins.image_locality import MB, ImageLocality
from tests.scheduler.cluster_model import make_node


def scores(nodes: dict[str, dict[str, int]], *images: str, **spec: Any) -> dict[str, int]:
    """Nodes: name to images with their sizes in MB."""
    cache, snapshot = Cache(), Snapshot()
    for name, present in nodes.items():
        node = make_node(name)
        node["status"]["images"] = [{"names": [image], "sizeBytes": size * MB} for image, size in present.items()]
        cache.add_node(node)
    cache.update_snapshot(snapshot)
    containers: list[Object] = [{"name": f"c{i}", "image": image} for i, image in enumerate(images)]
    info = PodInfo({"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": containers, **spec}})
    plugin, state = ImageLocality(), CycleState()
    plugin.pre_score(state, info, snapshot.node_info_list, snapshot)
    return {node.name: plugin.score(state, info, node) for node in snapshot.node_info_list}


def test_size_counts_between_two_bounds_and_by_the_share_of_nodes_that_have_it() -> None:
    nodes = {"a": {"big:1": 523}, "b": {"small:1": 40, "big:1": 523}, "c": {}}
    # big: 523 · 2/3 = 348; 100 · (348 - 23) / (1000 - 23) = 33
    assert scores(nodes, "big:1") == {"a": 33, "b": 33, "c": 0}
    # small: 40 · 1/3 = 13, below the 23 that count
    assert scores(nodes, "small:1") == {"a": 0, "b": 0, "c": 0}
    # both, bound 2000: b has 348 + 13 = 361, 100 · (361 - 23) / (2000 - 23) = 17; a has 348: 16
    assert scores(nodes, "big:1", "small:1") == {"a": 16, "b": 17, "c": 0}


def test_more_than_a_thousand_megabytes_per_image_count_no_more() -> None:
    assert scores({"a": {"huge:1": 5000}}, "huge:1") == {"a": 100}


@pytest.mark.parametrize(
    ("present", "wanted", "expected"),
    [
        ("nginx:latest", "nginx", 48),
        ("registry:5000/nginx:latest", "registry:5000/nginx", 48),
        ("docker.io/library/nginx:1.27", "nginx:1.27", 0),  # compared as written
        ("nginx@sha256:ab", "nginx@sha256:ab", 48),
    ],
)
def test_names_are_compared_with_a_tag(present: str, wanted: str, expected: int) -> None:
    assert scores({"a": {present: 500}}, wanted) == {"a": expected}  # 100 · 477 / 977


def test_init_containers_and_image_volumes_count_too() -> None:
    init = [{"name": "i", "image": "tool:1"}]
    volumes: list[Object] = [{"name": "v", "image": {"reference": "model:1"}}, {"name": "e", "emptyDir": {}}]
    nodes = {"a": {"tool:1": 600, "model:1": 900}}
    # three images, bound 3000: 100 · (1500 - 23) / (3000 - 23)
    assert scores(nodes, "web:1", initContainers=init, volumes=volumes) == {"a": 49}
