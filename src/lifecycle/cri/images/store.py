"""The images on a node: names, configurations and unpacked layers, on disk.

Layers are shared: two images with the same lower layer have it once. A layer is
unpacked beside its place and moved there when it is whole, so a crash in between leaves
nothing half.

Upstream: containerd's content store, snapshotter and image store, in one directory.
Left out: garbage collection of content that is being pulled, compression other than
gzip.
"""

from __future__ import annotations

import asyncio
import builtins
import os
import tarfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp

from lifecycle.api import fast_json
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig, Image
from lifecycle.cri.images.layers import unpack
from lifecycle.cri.images.oci_image import BuiltImage, digest_of_bytes
from lifecycle.cri.images.pull import Puller
from lifecycle.cri.images.reference import normalized_name
from lifecycle.cri.images.small_file import read_small
from lifecycle.cri.removal import remove_tree

SHORT = 16
"""Digits of a layer's hash in its directory's name: the kernel's overlay options must
fit one page.
"""


class ImageStore:
    """Below `root`: `images.json` and `layers/`. `overlay`: whether the kernel puts
    layers together.
    """

    def __init__(self, root: Path, overlay: bool = True) -> None:
        self.root = root
        self.layers = root / "layers"
        self.overlay = overlay
        self.layers.mkdir(parents=True, exist_ok=True)
        self._file = root / "images.json"
        self._images: dict[str, dict[str, Any]] = {}
        self._unpacking = asyncio.Lock()
        if self._file.exists():
            self._images = fast_json.loads(self._file.read_bytes())

    def _save(self) -> None:
        new = self._file.with_suffix(".new")
        new.write_bytes(fast_json.dumps(self._images))
        os.rename(new, self._file)

    def add(self, name: str, image: BuiltImage) -> str:
        """Unpack an image and give it a name; its id, the configuration's hash. Raises
        ValueError if a blob is not what its name says.
        """
        manifest, directories = self._unpack_layers(image)
        return self._register(name, image, manifest, directories)

    def _unpack_layers(self, image: BuiltImage) -> tuple[dict[str, Any], list[str]]:
        """The image's manifest, and its layers' directories, lowest first. Takes time:
        not on a loop.
        """
        manifest = fast_json.loads(image.blobs[image.manifest])
        if "layers" not in manifest:  # an index: the manifest is another blob
            documents = [
                fast_json.loads(blob)
                for blob in image.blobs.values()
                if blob[:1] == b"{"
            ]
            manifest = next(
                m
                for m in documents
                if (m.get("config") or {}).get("digest") == image.config
            )
        directories = []
        for described in manifest["layers"]:
            directory = described["digest"].partition(":")[2][:SHORT]
            if not (self.layers / directory).exists():
                data = image.blobs[described["digest"]]
                if digest_of_bytes(data) != described["digest"]:
                    raise ValueError(
                        f"layer {described['digest']} is not what its name says"
                    )
                self._unpack(data, directory)
            directories.append(directory)
        return manifest, directories

    def _register(
        self,
        name: str,
        image: BuiltImage,
        manifest: dict[str, Any],
        directories: builtins.list[str],
    ) -> str:
        full = normalized_name(name)
        config = fast_json.loads(image.blobs[image.config])
        size = (
            sum(layer["size"] for layer in manifest["layers"])
            + manifest["config"]["size"]
        )
        known = self._images.setdefault(
            image.config,
            {
                "tags": [],
                "digests": [],
                "size": size,
                "layers": directories,
                "config": config.get("config") or {},
            },
        )
        for other in self._images.values():  # a tag moves
            if full in other["tags"]:
                other["tags"].remove(full)
        if "@" not in full:
            known["tags"].append(full)
        repository = full.partition("@")[0]
        repository = (
            repository.rsplit(":", 1)[0]
            if ":" in repository.rsplit("/", 1)[-1]
            else repository
        )
        reference = f"{repository}@{image.manifest}"
        if reference not in known["digests"]:
            known["digests"].append(reference)
        self._save()
        return image.config

    def _unpack(self, data: bytes, directory: str) -> None:
        beside = self.layers / (directory + ".new")
        remove_tree(beside)
        try:
            unpack(data, beside, self.overlay)
        except BaseException:
            with suppress(OSError):
                remove_tree(beside)
            raise
        if not self.overlay:
            (self.layers / (directory + ".tar")).write_bytes(
                data
            )  # laid over others when a container is made
        os.rename(beside, self.layers / directory)

    async def pull(self, name: str, auth: AuthConfig | None) -> str:
        """From its registry; its id. Raises RuntimeServiceError."""
        here = {path.name for path in self.layers.iterdir()}
        async with aiohttp.ClientSession() as session:
            puller = Puller(session, name, auth)
            image = await puller.pull(
                lambda digest: digest.partition(":")[2][:SHORT] in here
            )
        try:
            async with self._unpacking:  # two images may have a layer in common
                manifest, directories = await asyncio.to_thread(
                    self._unpack_layers, image
                )
        except (ValueError, EOFError, OSError, tarfile.TarError, zlib.error) as error:
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = failed to pull and unpack image"
                f' "{puller.name}": failed to extract layer: {error}'
            ) from None
        return self._register(puller.name, image, manifest, directories)

    def find(self, name: str) -> str:
        """The id of an image, by id (whole or its beginning), tag or digest; empty if
        it is not here.
        """
        if name in self._images:
            return name
        bare = name.removeprefix("sha256:")
        if len(bare) >= 4 and all(c in "0123456789abcdef" for c in bare):
            for image_id in self._images:
                if image_id.removeprefix("sha256:").startswith(bare):
                    return image_id
        full = normalized_name(name)
        return next(
            (
                i
                for i, known in self._images.items()
                if full in known["tags"] or full in known["digests"]
            ),
            "",
        )

    def get(self, image_id: str) -> dict[str, Any]:
        """`tags`, `digests`, `size`, `layers` (directories, lowest first), `config`.
        Raises KeyError.
        """
        return self._images[image_id]

    def describe(self, image_id: str) -> Image:
        """In CRI's terms."""
        known = self._images[image_id]
        user = str(known["config"].get("User") or "").partition(":")[0]
        uid = int(user) if user.isdigit() else None if user else 0
        return Image(
            image_id,
            tuple(known["tags"]),
            tuple(known["digests"]),
            known["size"],
            uid,
            "" if uid is not None else user,
        )

    def list(self) -> list[Image]:
        """Largest first."""
        return sorted(
            (self.describe(image_id) for image_id in self._images),
            key=lambda image: -image.size,
        )

    def remove(self, name: str) -> None:
        """The image with all its names, and the layers that no other image has. Again
        does no harm.
        """
        known = self._images.pop(self.find(name), None)
        if known is None:
            return
        self._save()
        used = {layer for image in self._images.values() for layer in image["layers"]}
        for layer in known["layers"]:
            if layer not in used:
                with suppress(OSError):
                    remove_tree(self.layers / layer)
                (self.layers / f"{layer}.tar").unlink(missing_ok=True)

    def lay_out(self, image_id: str, target: Path) -> None:
        """Without overlay: all layers, one over the other, into `target`."""
        for layer in self._images[image_id]["layers"]:
            unpack((self.layers / f"{layer}.tar").read_bytes(), target, overlay=False)

    def read_file(self, image_id: str, name: str) -> str:
        """A text file of the image, from the topmost layer that has it; empty if none
        does. Links are not followed, neither to it nor on the way to it. Raises
        ValueError for one that is larger than such files are.
        """
        for layer in reversed(self._images[image_id]["layers"]):
            path = self.layers / layer / name.lstrip("/")
            if Path(os.path.realpath(path)) == path.absolute() and path.is_file():
                return read_small(path).decode(errors="replace")
        return ""

    def usage(self) -> tuple[int, int]:
        """Bytes and inodes."""
        size = inodes = 0
        for directory, _, files in os.walk(self.root):
            inodes += 1 + len(files)
            size += sum(
                os.lstat(os.path.join(directory, name)).st_size for name in files
            )
        return size, inodes
