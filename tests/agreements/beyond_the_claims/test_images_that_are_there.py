"""When a node asks a registry, and what is told of an image that is there, or is not."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lifecycle.api.loop.clock import Clock
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import Image
from lifecycle.kubelet.images.image_manager import ImageError, ImageManager

POD = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {}}
HERE = ("Normal", "Pulled", 'Container image "nginx" already present on machine and can be accessed by the pod')
NEVER = ("Warning", "ErrImageNeverPull", 'Container image "nginx" is not present with pull policy of Never')
PULLING = ("Normal", "Pulling", 'Pulling image "nginx"')
PULLED = (
    "Normal",
    "Pulled",
    'Successfully pulled image "nginx" in 1ms (1ms including waiting). Image size: 7 bytes.',
)
LOOKED = ("Warning", "InspectFailed", 'Failed to inspect image "nginx": no disk')


class _Images:
    """A node's images, and a registry that has all of them."""

    def __init__(self, present: bool, broken: bool = False) -> None:
        self.present, self.broken = present, broken
        self.asked: list[str] = []

    async def image_status(self, image: str) -> Image | None:
        if self.broken:
            raise RuntimeServiceError("no disk")
        return Image("sha256:1", (image,), (), 7) if self.present else None

    async def pull_image(self, image: str, auth: Any = None) -> str:
        self.asked.append(image)
        self.present = True
        return "sha256:1"


def ensured(images: _Images, policy: str | None) -> tuple[str, list[tuple[str, str, str]]]:
    """The image's id, or why there is none; and the events."""
    events = list[tuple[str, str, str]]()

    async def main() -> str:
        container = {"name": "c", "image": "nginx", **({"imagePullPolicy": policy} if policy else {})}
        manager = ImageManager(cast(Any, images), Clock())
        try:
            return await manager.ensure_image_exists(POD, container, lambda *told: events.append(told))
        except ImageError as error:
            return error.reason

    return on_virtual_time(main()), events


@pytest.mark.parametrize(
    ("policy", "present", "found", "events"),
    [
        (None, True, "sha256:1", [HERE]),
        ("IfNotPresent", True, "sha256:1", [HERE]),
        ("Never", True, "sha256:1", [HERE]),
        ("Always", True, "sha256:1", [PULLING, PULLED]),
        (None, False, "sha256:1", [PULLING, PULLED]),
        ("IfNotPresent", False, "sha256:1", [PULLING, PULLED]),
        ("Never", False, "ErrImageNeverPull", [NEVER]),
        ("Always", False, "sha256:1", [PULLING, PULLED]),
    ],
)
def test_what_is_there_is_taken_and_told_unless_its_pod_always_asks(
    policy: str | None, present: bool, found: str, events: list[tuple[str, str, str]]
) -> None:
    """Upstream: `pkg/kubelet/images/image_manager.go` (`EnsureImageExists`, `imagePullPrecheck`)."""
    images = _Images(present)
    assert ensured(images, policy) == (found, events)
    assert images.asked == (["nginx:latest"] if PULLING in events else [])


@pytest.mark.parametrize("policy", ["Always", "IfNotPresent", "Never"])
def test_if_nobody_can_say_whether_it_is_there_it_is_not_pulled(policy: str) -> None:
    images = _Images(present=True, broken=True)
    assert (ensured(images, policy), images.asked) == (("ImageInspectError", [LOOKED]), [])
