"""Discovery: which groups, versions and resources there are.

Two forms of the same facts. The legacy one is a tree of small documents: `/api`,
`/apis`, then one list of resources for each group and version; a client that wants to
know everything makes some thirty requests. The aggregated one says it all in two
documents, chosen by the Accept header, with an ETag, so that a client which comes back
pays for a 304 only.

The documents are the published ones. What the server adds is its own address in `/api`.

Upstream: `apiserver/pkg/endpoints/discovery/{root,group,version,legacy}.go`,
`discovery/aggregated/{handler,negotiation}.go`, v1.36. Left out: custom resources and
aggregated API services, which have to add their own; `apidiscovery.k8s.io/v2beta1` has
the same shape as v2.
"""

from __future__ import annotations

from functools import cache

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.published import published, published_bytes, published_names
from lifecycle.apiserver.endpoints.document import document, etag_of, is_fresh

LEGACY = "discovery/legacy"
AGGREGATED_VERSIONS = ("v2", "v2beta1")
JSON = "application/json"


@cache
def legacy_paths() -> frozenset[str]:
    """`/api`, `/apis`, `/api/v1`, `/apis/apps/v1` … and the groups themselves,
    `/apis/apps`.
    """
    paths = {
        name.removeprefix(LEGACY).removesuffix(".json")
        for name in published_names(f"{LEGACY}/")
    }
    return frozenset(
        paths
        | {
            f"/apis/{group['name']}"
            for group in published(f"{LEGACY}/apis.json")["groups"]
        }
    )


@cache
def group_names() -> frozenset[str]:
    """The names of all groups but the core one."""
    return frozenset(
        group["name"] for group in published(f"{LEGACY}/apis.json")["groups"]
    )


@cache
def _legacy(path: str) -> bytes:
    if path.startswith("/apis/") and path.count("/") == 2:
        name = path.rpartition("/")[2]
        group = next(
            g for g in published(f"{LEGACY}/apis.json")["groups"] if g["name"] == name
        )
        return fast_json.dumps({"kind": "APIGroup", "apiVersion": "v1", **group})
    return published_bytes(f"{LEGACY}{path}.json")


@cache
def _aggregated(path: str, version: str) -> tuple[bytes, str]:
    """The document of `/api` or `/apis` and its ETag."""
    body = published_bytes(f"discovery/aggregated{path}.json")
    if version != "v2":
        body = body.replace(
            b"apidiscovery.k8s.io/v2", b"apidiscovery.k8s.io/" + version.encode(), 1
        )
    return body, etag_of(body)


def negotiated_aggregation_version(accept: str) -> str | None:
    """The version of the aggregated form that the client prefers to the legacy form, if
    any.
    """
    for clause in accept.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        values = dict(parameter.partition("=")[::2] for parameter in parameters)
        if media_type != JSON:
            continue
        if (
            values.get("g") == "apidiscovery.k8s.io"
            and values.get("as") == "APIGroupDiscoveryList"
        ):
            if values.get("v") in AGGREGATED_VERSIONS:
                return values["v"]
        elif "as" not in values:
            return None
    return None


def serve_discovery(request: Request, path: str, address: str) -> Response | None:
    """The discovery document at a path, None if there is none. `address` is what
    clients reach the server by, `host:port`.
    """
    if path not in legacy_paths():
        return None
    if path in ("/api", "/apis"):
        version = negotiated_aggregation_version(request.headers.get("accept", ""))
        if version is not None:
            return _serve_aggregated(request, path, version)
        if path == "/api":
            listed: Object = published(f"{LEGACY}/api.json")
            cidrs = [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
            return Response(obj={**listed, "serverAddressByClientCIDRs": cidrs})
    return document(request, _legacy(path), JSON)


def _serve_aggregated(request: Request, path: str, version: str) -> Response:
    body, etag = _aggregated(path, version)
    headers = {"Cache-Control": "public", "ETag": f'"{etag}"', "Vary": "Accept"}
    if is_fresh(request, etag):
        return Response(status=304, headers=headers, body=b"")
    headers["Content-Type"] = (
        f"{JSON};g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    )
    return Response(headers=headers, body=body)
