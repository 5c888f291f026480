"""The images that somebody gave this machine: what nodes can pull besides the built-in
ones.

One folder for all clusters of a user, in OCI's layout: `index.json` says which names
there are, `blobs/sha256/` has what they are made of. A cluster that is already running
sees what comes later, because it looks here whenever something is pulled.

Upstream: OCI image-spec v1.1 `image-layout.md`. `kind load image-archive` gives images
to nodes; here nodes fetch them.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from lifecycle.cri.images.oci_image import INDEX, MANIFEST, BuiltImage, machine

NAME = "org.opencontainers.image.ref.name"
_VALID = re.compile(
    r"[a-z0-9.:-]+(/[a-z0-9]+([._-]+[a-z0-9]+)*)+:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"
)


def library_folder() -> Path:
    """`$LIFECYCLE_IMAGES`, else `lifecycle/images` where the user's data is kept."""
    given = os.environ.get("LIFECYCLE_IMAGES")
    if given:
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(data) / "lifecycle/images"


class ImageLibrary:
    """The images below `folder`, by normalised name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._blobs = folder / "blobs/sha256"
        self._read: dict[str, BuiltImage] = {}

    def names(self) -> dict[str, str]:
        """The digest of each name's manifest. Raises OSError, ValueError."""
        return {
            entry["annotations"][NAME]: entry["digest"] for entry in self._entries()
        }

    def get(self, name: str) -> BuiltImage | None:
        """The image of a name, or None. Raises OSError if a blob is missing."""
        digest = self.names().get(name)
        if digest is None:
            return None
        if digest not in self._read:
            manifest = self._blob(digest)
            document = orjson.loads(manifest)
            parts = [document["config"], *document["layers"]]
            blobs = {part["digest"]: self._blob(part["digest"]) for part in parts}
            blobs[digest] = manifest
            self._read[digest] = BuiltImage(digest, document["config"]["digest"], blobs)
        return self._read[digest]

    def size(self, digest: str) -> int:
        """Bytes of an image as it is stored."""
        document = orjson.loads(self._blob(digest))
        return sum(part["size"] for part in (document["config"], *document["layers"]))

    def add(self, images: Mapping[str, BuiltImage]) -> None:
        """Keep images under their names; a name that is there moves. Raises OSError,
        and ValueError for what cannot be a name.
        """
        for name in images:
            if not _VALID.fullmatch(name):
                raise ValueError(f"{name}: not a name of an image")
        self._blobs.mkdir(parents=True, exist_ok=True)
        for image in images.values():
            for digest, data in image.blobs.items():
                path = self._blobs / digest.partition(":")[2]
                if not path.exists():
                    _write(path, data)
        with self._locked():
            entries = {entry["annotations"][NAME]: entry for entry in self._entries()}
            entries |= {name: _entry(name, image) for name, image in images.items()}
            index = {
                "schemaVersion": 2,
                "mediaType": INDEX,
                "manifests": [entries[name] for name in sorted(entries)],
            }
            _write(self.folder / "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
            _write(self.folder / "index.json", orjson.dumps(index))

    def _entries(self) -> list[dict[str, Any]]:
        try:
            text = (self.folder / "index.json").read_bytes()
        except FileNotFoundError:
            return []
        try:
            entries: list[dict[str, Any]] = orjson.loads(text)["manifests"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{self.folder / 'index.json'}: not readable; remove the folder and"
                " load the images again"
            ) from None
        return entries

    def _blob(self, digest: str) -> bytes:
        return (self._blobs / digest.partition(":")[2]).read_bytes()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Two commands at once lose nothing."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _entry(name: str, image: BuiltImage) -> dict[str, Any]:
    return {
        "mediaType": MANIFEST,
        "digest": image.manifest,
        "size": len(image.blobs[image.manifest]),
        "annotations": {NAME: name},
        "platform": {"architecture": machine(), "os": "linux"},
    }


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, whoever reads meanwhile."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(data)
    os.replace(beside, path)
