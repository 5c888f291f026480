"""Building a container image: layers, a configuration and a manifest, each named by the
hash of its bytes.

An image is nothing but blobs. A layer is a tar archive of files that it adds or, by
names beginning with `.wh.`, takes away. The configuration says what to run and lists
the layers' hashes unpacked (`diff_ids`); its own hash is the image's id. The manifest
lists the configuration and the layers as they are stored, and its hash is the digest
that a registry knows. Same content, same hash: builds here are reproducible, all times
are zero.

Upstream: OCI image-spec v1.1 (`manifest.md`, `config.md`, `layer.md`,
`image-layout.md`). Left out: signatures, several platforms in one index.
"""

from __future__ import annotations

import gzip
import io
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from lifecycle.api import fast_json

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
INDEX = "application/vnd.oci.image.index.v1+json"


@dataclass(slots=True, frozen=True)
class File:
    """An entry of a layer: `link` makes it a symbolic link, a name ending in `/` a
    directory.
    """

    content: bytes = b""
    mode: int = 0o644
    link: str = ""
    uid: int = 0
    gid: int = 0


@dataclass(slots=True)
class BuiltImage:
    """`blobs` by digest; `manifest` and `config` are digests among them."""

    manifest: str
    config: str
    blobs: dict[str, bytes] = field(default_factory=dict)


def digest_of_bytes(data: bytes) -> str:
    """`sha256:…`."""
    return "sha256:" + sha256(data).hexdigest()


def machine() -> str:
    """This machine in OCI's words."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(
        platform.machine(), platform.machine()
    )


def layer(files: Mapping[str, File]) -> bytes:
    """A tar archive of these files, directories on the way included."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        directories: set[str] = set()
        for name, file in files.items():
            parts = name.strip("/").split("/")
            for depth in range(1, len(parts)):
                directory = "/".join(parts[:depth])
                if (
                    directory not in directories
                    and directory + "/" not in files
                    and directory not in files
                ):
                    directories.add(directory)
                    archive.addfile(
                        _entry(directory, File(mode=0o755), tarfile.DIRTYPE)
                    )
            kind = (
                tarfile.DIRTYPE
                if name.endswith("/")
                else tarfile.SYMTYPE
                if file.link
                else tarfile.REGTYPE
            )
            entry = _entry(name.strip("/"), file, kind)
            archive.addfile(
                entry, io.BytesIO(file.content) if kind == tarfile.REGTYPE else None
            )
    return buffer.getvalue()


def _entry(name: str, file: File, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname, entry.uid, entry.gid = (
        kind,
        file.mode,
        file.link,
        file.uid,
        file.gid,
    )
    entry.size = len(file.content) if kind == tarfile.REGTYPE else 0
    return entry


@dataclass(slots=True, frozen=True)
class PackedLayer:
    """A layer as it is stored. `diff_id` is the digest of what it unpacks to."""

    diff_id: str
    compressed: bytes


def pack(files: Mapping[str, File], level: int = 9) -> PackedLayer:
    """A layer that several images may have: it is compressed once. `level`: 1 is the
    fastest, 9 the smallest.
    """
    archive = layer(files)
    compressed = gzip.compress(archive, level, mtime=0)
    return PackedLayer(digest_of_bytes(archive), compressed)


def build(
    layers: Sequence[Mapping[str, File] | PackedLayer], config: Mapping[str, Any]
) -> BuiltImage:
    """An image of these layers, lowest first. `config` has OCI's keys: `Entrypoint`,
    `Cmd`, `Env`, `WorkingDir`, `User`.
    """
    blobs: dict[str, bytes] = {}

    def keep(data: bytes, media_type: str) -> dict[str, Any]:
        digest = digest_of_bytes(data)
        blobs[digest] = data
        return {"mediaType": media_type, "digest": digest, "size": len(data)}

    packed = [each if isinstance(each, PackedLayer) else pack(each) for each in layers]
    stored = [keep(each.compressed, LAYER) for each in packed]
    document = {
        "architecture": machine(),
        "os": "linux",
        "config": dict(config),
        "rootfs": {
            "type": "layers",
            "diff_ids": [each.diff_id for each in packed],
        },
    }
    described = keep(fast_json.dumps(document), CONFIG)
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": described,
        "layers": stored,
    }
    return BuiltImage(
        keep(fast_json.dumps(manifest), MANIFEST)["digest"], described["digest"], blobs
    )


def layout(images: Mapping[str, BuiltImage]) -> bytes:
    """Images by name as one archive in OCI's layout: what `ctr images import` reads."""
    files = {"oci-layout": File(b'{"imageLayoutVersion":"1.0.0"}')}
    manifests = []
    for name, image in images.items():
        for digest, data in image.blobs.items():
            files["blobs/" + digest.replace(":", "/")] = File(data)
        manifests.append(
            {
                "mediaType": MANIFEST,
                "digest": image.manifest,
                "size": len(image.blobs[image.manifest]),
                "annotations": {
                    "io.containerd.image.name": name,
                    "org.opencontainers.image.ref.name": name,
                },
                "platform": {"architecture": machine(), "os": "linux"},
            }
        )
    files["index.json"] = File(
        fast_json.dumps(
            {"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}
        )
    )
    return layer(files)
