"""What a kubelet writes onto a container to know it again: as containerd told of those that the real one had made."""

from __future__ import annotations

import json

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.kubelet.kuberuntime.container_config import hash_container
from tests.conftest import RECORDINGS

LISTED = sorted(RECORDINGS.glob("kind-1.36.2*/node/*/crictl-ps.txt"))


def _containers(text: str) -> list[Object]:
    return list(json.loads(text.partition("\n")[2])["containers"])


@pytest.mark.parametrize("listed", LISTED, ids=lambda file: f"{file.parts[-4]}-{file.parts[-2]}")
def test_a_container_has_the_hash_that_the_real_kubelet_gave_it(listed) -> None:
    recorded = {
        (each["metadata"]["name"], each["image"]["userSpecifiedImage"]): each["annotations"][
            "io.kubernetes.container.hash"
        ]
        for each in _containers(listed.read_text())
    }
    ours = {(name, image): hash_container({"image": image, "name": name}) for name, image in recorded}
    assert len(ours) >= 2
    assert ours == recorded


def test_a_container_is_made_of_what_was_pulled_and_says_what_was_asked_for() -> None:
    """By then the tag may be another image's. Upstream: `generateContainerConfig`, `Image` and `UserSpecifiedImage`."""

    async def scene(node: OneNode) -> tuple[str, str]:
        await node.run_pod("p")
        config = node.runtime.container_configs["p", "c"]
        return config.image, config.user_specified_image

    made_of, asked_for = on_one_node(scene)
    assert made_of.startswith("sha256:")
    assert asked_for == "nginx:1.27"
