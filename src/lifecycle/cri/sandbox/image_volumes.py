"""Volumes that are images: their layers put together once more, for reading only.

A container's own image gets a layer on top that it may write to. An image that is only
looked at needs none: the kernel puts its layers together beside the container, and what
the container mounts of it, the root or a path below, is bound into the container. All
of that happens in the container's own mount namespace and ends with it. Nothing in it
can be executed.

Upstream: the contract of `Mount.image` and `Mount.image_sub_path` in
`cri-api/pkg/apis/runtime/v1/api.proto`, v1.36; containerd does it in
`internal/cri/server/container_image_mount.go`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.images.store import ImageStore
from lifecycle.cri.sandbox.rootfs import IMAGE

OPTIONS = ("rbind", "rprivate", "ro", "noexec")


async def image_volumes(
    mounts: Sequence[Fields], images: ImageStore, directory: Path
) -> list[dict[str, Any]]:
    """What `rootfs.mount_one` needs for each of the mounts that name an image; its
    places are made below `directory`. Raises RuntimeServiceError for an image that is
    not here and a path that is not in it.
    """
    made: list[dict[str, Any]] = []
    for index, mount in enumerate(mounts):
        name = (mount.get("image") or {}).get("image")
        if not name:
            continue
        image_id = images.find(name)
        if not image_id:
            raise RuntimeServiceError(
                f'rpc error: code = NotFound desc = image "{name}" of a mount is not'
                " here"
            )
        place = directory / "images" / str(index)
        place.mkdir(parents=True)
        entry: dict[str, Any] = {
            "destination": mount["container_path"],
            "type": IMAGE,
            "source": str(place),
            "sub_path": _checked(mount.get("image_sub_path") or "", name),
            "options": list(OPTIONS),
        }
        if images.overlay:
            empty = directory / "images" / "empty"
            empty.mkdir(exist_ok=True)
            names = images.get(image_id)["layers"]
            entry["layers"] = [str(empty), *names]  # below the store, as the root's are
            layers = [str(images.layers / each) for each in names]
        else:
            await asyncio.to_thread(images.lay_out, image_id, place)
            layers = [str(place)]
        if not _has(layers, entry["sub_path"]):
            raise RuntimeServiceError(
                f'rpc error: code = Unknown desc = path "{entry["sub_path"]}" is not in'
                f' image "{name}"'
            )
        made.append(entry)
    return made


def _has(layers: Sequence[str], path: str) -> bool:
    return any(os.path.lexists(f"{layer}/{path}") for layer in layers)


def _checked(path: str, name: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise RuntimeServiceError(
            f'rpc error: code = InvalidArgument desc = path "{path}" leads out of image'
            f' "{name}"'
        )
    return path
