"""Who answers which path, when the path is no resource.

Upstream: `apiserver/pkg/server/mux/pathrecorder.go`, `server/handler.go` (`director`),
`server/routes/{index,version,openapi}.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.published import published_bytes
from lifecycle.api.status import generic_not_found, method_not_allowed
from lifecycle.apiserver.endpoints.document import document, page_not_found
from lifecycle.apiserver.non_resource.discovery import group_names, serve_discovery
from lifecycle.apiserver.non_resource.health import ENDPOINTS, Check, Health
from lifecycle.apiserver.non_resource.merged import MergedDocuments
from lifecycle.apiserver.non_resource.openapi_v2 import serve_openapi_v2
from lifecycle.apiserver.non_resource.openapi_v3 import serve_openapi_v3
from lifecycle.apiserver.non_resource.openid_metadata import (
    CONFIGURATION_PATH,
    JWKS_PATH,
    OpenIDMetadata,
)
from lifecycle.apiserver.non_resource.served_groups import ServedGroups


class NonResourceHandler:
    """Serves every path that names no resource.

    `openid` answers the two documents about service account tokens. `checks` are the
    health checks that can fail. `served` is what is served beside the published groups.
    `address` gives the server as clients reach it, `host:port`. `more` is what else
    there is to read: by the beginning of the path, a function of the rest. `zpages` are
    `/statusz` and `/flagz`.
    """

    def __init__(
        self,
        openid: OpenIDMetadata | None = None,
        *,
        address: Callable[[], str] = lambda: "127.0.0.1:6443",
        checks: dict[str, Check] | None = None,
        served: ServedGroups | None = None,
        more: Mapping[str, Callable[[str], Response | None]] | None = None,
        zpages: Mapping[str, Callable[[Request], Response]] | None = None,
    ) -> None:
        self._address = address
        self.health = Health(checks)
        self._merged = MergedDocuments(served) if served is not None else None
        self._readable = more or {}
        self._zpages = zpages or {}
        self._others: dict[str, Handler] = {}
        if openid is not None:
            self._others = {
                CONFIGURATION_PATH: openid.configuration,
                JWKS_PATH: openid.jwks,
            }

    async def serve(self, request: Request) -> Response:
        """The answer; 404 for what nobody knows. Raises StatusError for what an API
        refuses.
        """
        path = request.path
        if not path.startswith("/"):  # what CONNECT asks for is no path
            return page_not_found()
        if len(path) > 1:
            path = path.rstrip("/") or "/"
        if path in self._others:
            return await self._others[path](request)
        first = path.split("/", 2)[1]
        if first in ENDPOINTS:
            return self.health.serve(request, path)
        if path in self._zpages:
            return self._zpages[path](request)
        reading = request.method in ("GET", "HEAD")
        if path == "/":
            return document(
                request, published_bytes("discovery/root.json"), "application/json"
            )
        if path == "/version":
            _check_read_only(reading)
            return document(
                request, published_bytes("discovery/version.json"), "application/json"
            )
        if path == "/openapi/v2":
            merged = (
                await self._merged.openapi_v2(request)
                if self._merged is not None
                else None
            )
            return merged or serve_openapi_v2(request)
        if first == "openapi" and (path + "/").startswith("/openapi/v3/"):
            merged = (
                await self._merged.openapi_v3(request, path)
                if self._merged is not None
                else None
            )
            return merged or serve_openapi_v3(request, path)
        if reading and (answer := self._more(path)) is not None:
            return answer
        response = (
            self._merged.discovery(request, path) if self._merged is not None else None
        )
        if response is None:
            response = serve_discovery(request, path, self._address())
        if response is not None:
            _check_read_only(reading or _is_aggregators(path))
            return response
        return self.unknown(path)

    def _more(self, path: str) -> Response | None:
        for prefix, serve in self._readable.items():
            if path.startswith(prefix):
                return serve(path.removeprefix(prefix))
        return None

    def unknown(self, path: str) -> Response:
        """404: a `Status` below `/api` and below a built-in group, which have routers
        of their own; plain text everywhere else.
        """
        parts = path.split("/")
        if parts[1] == "api" or (
            parts[1] == "apis" and len(parts) > 2 and parts[2] in group_names()
        ):
            raise generic_not_found()
        return page_not_found()


def _is_aggregators(path: str) -> bool:
    """Whether the aggregator itself answers, which does not look at the method: the
    groups, and each but its own.
    """
    parts = path.split("/")
    return (
        parts[1] == "apis"
        and len(parts) < 4
        and parts[2:] != ["apiregistration.k8s.io"]
    )


def _check_read_only(reading: bool) -> None:
    if not reading:
        raise method_not_allowed()
