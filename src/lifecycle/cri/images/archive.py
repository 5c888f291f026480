"""Reading an archive of images: what `docker save` writes, and OCI's layout as a tar.

Docker's archive has a `manifest.json` that lists, for each image, its configuration,
its names and its layers; there is no manifest as a registry has it, so it is made here.
OCI's layout has an `index.json` that leads to manifests, and blobs named by their
hashes. New versions of Docker write both into one file.

Upstream: moby `image/tarexport/load.go`; OCI image-spec v1.1 `image-layout.md`;
containerd `core/images/archive/importer.go`. Left out: Docker's format before 1.10,
compression other than gzip, foreign layers.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from lifecycle.cri.images.oci_image import (
    CONFIG,
    LAYER,
    MANIFEST,
    BuiltImage,
    digest_of_bytes,
    machine,
)
from lifecycle.cri.images.reference import normalized_name

PLAIN_LAYER = "application/vnd.oci.image.layer.v1.tar"
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


def read_archive(path: Path) -> dict[str, BuiltImage]:
    """The images of an archive by normalised name.

    Raises OSError; ValueError in one line for what is no archive of images, is damaged,
    has no names, or has nothing for this machine.
    """
    try:
        with tarfile.open(path, mode="r:*") as archive:
            files = {m.name.removeprefix("./").strip("/"): m for m in archive}
            reader = _Reader(path, archive, files)
            if "manifest.json" in files:
                images = dict(reader.docker())
            elif "index.json" in files:
                images = dict(reader.layout())
            else:
                raise ValueError(
                    f"{path}: no image archive: neither manifest.json (docker save)"
                    " nor index.json (OCI layout) is in it"
                )
    except (tarfile.TarError, EOFError):
        raise ValueError(f"{path}: no image archive: not a readable tar") from None
    except (KeyError, TypeError, AttributeError, orjson.JSONDecodeError) as error:
        raise ValueError(f"{path}: damaged image archive: {error}") from None
    if not images:
        raise ValueError(f"{path}: the images in it have no names: save them by name")
    return images


class _Reader:
    def __init__(
        self, path: Path, archive: tarfile.TarFile, files: dict[str, tarfile.TarInfo]
    ) -> None:
        self._path, self._archive, self._files = path, archive, files

    def _read(self, name: str) -> bytes:
        content = self._archive.extractfile(self._files[name])
        if content is None:
            raise ValueError(f"{self._path}: damaged image archive: {name} is no file")
        return content.read()

    def _blob(self, digest: str) -> bytes:
        data = self._read("blobs/" + digest.replace(":", "/"))
        self._check(digest_of_bytes(data), digest)
        return data

    def _check(self, digest: str, expected: str) -> None:
        if digest != expected:
            raise ValueError(
                f"{self._path}: damaged image archive: {expected} is {digest}"
            )

    def docker(self) -> Iterator[tuple[str, BuiltImage]]:
        for entry in orjson.loads(self._read("manifest.json")):
            tags = entry.get("RepoTags") or ()
            if not tags:
                continue
            config = self._read(entry["Config"])
            document = orjson.loads(config)
            self._check_machine(document.get("architecture"), tags[0])
            layers = [self._read(name) for name in entry["Layers"]]
            diff_ids = document["rootfs"]["diff_ids"]
            for data, diff_id in zip(layers, diff_ids, strict=True):
                if data[:2] != b"\x1f\x8b":
                    self._check(digest_of_bytes(data), diff_id)
            image = _assembled(config, layers)
            for tag in tags:
                yield normalized_name(tag), image

    def layout(self) -> Iterator[tuple[str, BuiltImage]]:
        for entry in orjson.loads(self._read("index.json"))["manifests"]:
            notes = entry.get("annotations") or {}
            name = next((notes[key] for key in _NAMES if notes.get(key)), "")
            if name:
                yield normalized_name(name), self._image(entry, name)

    def _image(self, entry: dict[str, Any], name: str) -> BuiltImage:
        document = orjson.loads(self._blob(entry["digest"]))
        if "manifests" in document:  # one image for each kind of machine
            mine = [
                item
                for item in document["manifests"]
                if (item.get("platform") or {}).get("architecture") == machine()
            ]
            if not mine:
                raise ValueError(
                    f"{self._path}: {name} is not for this machine ({machine()})"
                )
            return self._image(mine[0], name)
        digests = [document["config"], *document["layers"]]
        blobs = {item["digest"]: self._blob(item["digest"]) for item in digests}
        config = orjson.loads(blobs[document["config"]["digest"]])
        self._check_machine(config.get("architecture"), name)
        blobs[entry["digest"]] = self._blob(entry["digest"])
        return BuiltImage(entry["digest"], document["config"]["digest"], blobs)

    def _check_machine(self, architecture: str | None, name: str) -> None:
        if architecture and architecture != machine():
            raise ValueError(
                f"{self._path}: {name} is for {architecture}, this machine is"
                f" {machine()}"
            )


def _assembled(config: bytes, layers: list[bytes]) -> BuiltImage:
    """With the manifest that Docker's archive does not have."""
    blobs: dict[str, bytes] = {}

    def keep(data: bytes, media_type: str) -> dict[str, Any]:
        digest = digest_of_bytes(data)
        blobs[digest] = data
        return {"mediaType": media_type, "digest": digest, "size": len(data)}

    described = keep(config, CONFIG)
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": described,
        "layers": [
            keep(data, LAYER if data[:2] == b"\x1f\x8b" else PLAIN_LAYER)
            for data in layers
        ],
    }
    digest = keep(orjson.dumps(manifest), MANIFEST)["digest"]
    return BuiltImage(digest, described["digest"], blobs)
