"""`api/published/<version>.zip`: what a cluster published about its own API.

From a recording: its scenario *discovery* holds `/version`, health and discovery in
both forms; its scenario *openapi*, the folder `openapi/`, holds the `/openapi/v3`
documents, one file each, `/` written as `_` in its name.

The recording in this repository came without its `openapi/` folder, because the archive
keeps those six megabytes already. Where the folder is missing, the documents are
carried over from the archive that is there: then only the discovery documents are made
anew. zlib decides the archive's last bytes: another zlib may pack the same documents
differently.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from generators.exchanges import read_exchanges
from generators.first_line import provenance
from lifecycle.api import fast_json

DAY = (2026, 11, 21, 0, 0, 0)
"""When the recording was made, for every document alike."""

FIRST = {
    "/version": "version.json",
    "/": "root.json",
    "/openapi/v3": "openapi-index.json",
    "/readyz?verbose": "readyz.txt",
    "/livez?verbose": "livez.txt",
}
LEGACY = ("/api", "/apis", "/api/v1")
AGGREGATED = ("/api", "/apis")


def generate(recording: Path, before: Path) -> bytes:
    """The archive. `before` is the archive that is there, for its OpenAPI documents.
    Raises FileNotFoundError for a folder that is no recording.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        openapi = list(_openapi(recording / "openapi", before))
        for name, document in [*openapi, *_discovery(recording)]:
            info = zipfile.ZipInfo(name, DAY)
            archive.writestr(info, document, zipfile.ZIP_DEFLATED)
        what = "What the API server of a recorded kind cluster publishes about its API"
        source = f"recordings/{recording.name} (discovery, openapi)"
        archive.comment = provenance(what, source, "published").encode()
    return packed.getvalue()


def _openapi(folder: Path, before: Path) -> Iterator[tuple[str, bytes]]:
    if folder.is_dir():
        for file in sorted(folder.glob("*.json")):
            yield f"openapi/{file.name.replace('_', '/')}", file.read_bytes()
    else:
        with zipfile.ZipFile(before) as archive:
            for name in archive.namelist():
                if name.startswith("openapi/"):
                    yield name, archive.read(name)


def _discovery(recording: Path) -> Iterator[tuple[str, bytes]]:
    legacy: dict[str, bytes] = {}
    aggregated: dict[str, bytes] = {}
    for exchange in read_exchanges(recording, "discovery"):
        if exchange["status"] == 200:
            answer = exchange["response"]
            text = (
                answer.encode() if isinstance(answer, str) else fast_json.dumps(answer)
            )
            as_list = "as=APIGroupDiscoveryList" in exchange["accept"]
            (aggregated if as_list else legacy)[exchange["path"]] = text
    for path, name in FIRST.items():
        yield f"discovery/{name}", legacy[path]
    for path in LEGACY:
        yield f"discovery/legacy{path}.json", legacy[path]
    for path in AGGREGATED:
        yield f"discovery/aggregated{path}.json", aggregated[path]
    for path, document in legacy.items():
        if path.count("/") == 3 and path.startswith("/apis/"):
            yield f"discovery/legacy{path}.json", document
