"""One set of schemas for all servers.

OpenAPI v3 has a document for each group version, so there is little to merge: the added
server's addresses join the index, hash and all, and its documents are passed through. A
client that has a document of that hash need not ask again, whoever serves it. In
OpenAPI v2 everything is one document, and has to be put together.

Upstream: `kube-aggregator/pkg/controllers/openapiv3/aggregator/aggregator.go`,
`openapi/aggregator/aggregator.go`, v1.36. Left out: renaming definitions of v2 that two
servers define differently (the first one counts), its protobuf form for added servers.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Response
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.aggregation.api_services import group_version
from lifecycle.apiserver.aggregation.discovery import Fetch

ROOT = "/openapi/v3"


def document_name(api_service: Object) -> str:
    """The document of a group version, below the root."""
    group, version = group_version(api_service)
    return f"apis/{group}/{version}" if group else f"api/{version}"


async def fetch_index(fetch: Fetch) -> Object:
    """The paths of an added server's index; nothing if it has none."""
    answer = await fetch(ROOT, "application/json")
    if answer.status != 200:
        return {}
    try:
        document = await read_body(answer)
    except fast_json.JSONDecodeError:
        return {}
    paths = document.get("paths") if isinstance(document, dict) else None
    return paths if isinstance(paths, dict) else {}


async def fetch_v2(fetch: Fetch) -> Object:
    """An added server's v2 document; empty if it has none, or something else."""
    answer = await fetch("/openapi/v2", "application/json")
    if answer.status != 200:
        return {}
    try:
        document = await read_body(answer)
    except fast_json.JSONDecodeError:
        return {}
    parts = isinstance(document, dict) and [
        document.get(part) or {} for part in ("paths", "definitions")
    ]
    return document if parts and all(isinstance(part, dict) for part in parts) else {}


def merged_index(local: Object, added: Iterable[tuple[str, Object]]) -> Object:
    """The index with the documents of added servers, each only for what its APIService
    stands for.
    """
    paths = dict(local["paths"])
    for name, theirs in added:
        if name in theirs:
            paths[name] = theirs[name]
    return {**local, "paths": dict(sorted(paths.items()))}


def merged_v2(local: Object, added: Iterable[tuple[str, Object]]) -> Object:
    """The v2 document with the paths below each `/apis/<group>/<version>` and the
    definitions of added servers.
    """
    paths, definitions = dict(local["paths"]), dict(local["definitions"])
    for name, theirs in added:
        for path, item in (theirs.get("paths") or {}).items():
            if path.startswith(f"/{name}/"):
                paths.setdefault(path, item)
        for key, schema in (theirs.get("definitions") or {}).items():
            definitions.setdefault(key, schema)
    return {**local, "paths": paths, "definitions": definitions}


async def read_body(response: Response) -> Object:
    """The same, which may be long. Raises JSONDecodeError."""
    return await beside(len(response.body or b""), body_of, response)


def body_of(response: Response) -> Object:
    """The JSON of an answer."""
    document: Object = (
        response.obj
        if response.obj is not None
        else fast_json.loads(response.body or b"{}")
    )
    return document
