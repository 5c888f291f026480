"""A small registry: it serves images from memory, to anyone or only to those with a
password.

Pulling is three kinds of GET: the manifest by tag or digest, the configuration and the
layers by digest. A registry that wants to know who asks answers 401 with a
`WWW-Authenticate` header: `Basic`, or `Bearer` with the address of a token service that
takes the password and gives a token good for one repository.

Upstream: OCI distribution-spec v1.1 (pull), `distribution/docs/spec/auth/token.md`.
Left out: push, tags list, ranges.
"""

from __future__ import annotations

import base64
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from lifecycle.cri.images.oci_image import MANIFEST, BuiltImage


@dataclass(slots=True)
class Repository:
    """Images by tag. `password` of user `reader` is needed to pull; empty: open to all.
    `scheme`: `basic` or `bearer`.
    """

    tags: Mapping[str, BuiltImage]
    password: str = ""
    scheme: str = "basic"


def _problem(
    status: int, code: str, message: str, headers: dict[str, str] | None = None
) -> web.Response:
    body = {"errors": [{"code": code, "message": message, "detail": None}]}
    return web.json_response(body, status=status, headers=headers)


class Registry:
    """`async with Registry({"library/shell": Repository({"1": image})}) as registry:`;
    pull `registry.name("library/shell:1")`.
    """

    def __init__(
        self, repositories: Mapping[str, Repository], sock: socket.socket | None = None
    ) -> None:
        self._repositories = repositories
        self._sock = sock  # bound already, in some other network namespace
        self._tokens: dict[str, str] = {}
        self._runner: web.AppRunner | None = None
        self.host = ""
        self.requests: list[str] = []
        """What was asked, and the answer's status: `GET /v2/… 200`."""

    async def __aenter__(self) -> Registry:
        app = web.Application(middlewares=[self._record])
        app.router.add_get("/v2/", self._hello)
        app.router.add_get("/token", self._token)
        app.router.add_get("/v2/{repository:.+}/manifests/{reference}", self._manifest)
        app.router.add_get("/v2/{repository:.+}/blobs/{digest}", self._blob)
        self._runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.5)
        await self._runner.setup()
        site = (
            web.SockSite(self._runner, self._sock)
            if self._sock
            else web.TCPSite(self._runner, "127.0.0.1", 0)
        )
        await site.start()
        address, port = self._runner.addresses[0][:2]
        self.host = f"{address}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def name(self, image: str) -> str:
        """An image's full name here."""
        return f"{self.host}/{image}"

    @web.middleware
    async def _record(self, request: web.Request, handler: Any) -> web.StreamResponse:
        answer: web.StreamResponse = await handler(request)
        self.requests.append(f"{request.method} {request.path} {answer.status}")
        return answer

    async def _hello(self, request: web.Request) -> web.Response:
        return web.json_response({})

    def _refusal(self, request: web.Request, name: str) -> web.Response | None:
        """401, or None for those who may."""
        repository = self._repositories.get(name)
        if repository is None:
            return _problem(
                404, "NAME_UNKNOWN", "repository name not known to registry"
            )
        if not repository.password:
            return None
        authorization = request.headers.get("Authorization", "")
        if repository.scheme == "basic":
            if (
                authorization
                == "Basic "
                + base64.b64encode(f"reader:{repository.password}".encode()).decode()
            ):
                return None
            challenge = 'Basic realm="registry"'
        else:
            if self._tokens.get(authorization.removeprefix("Bearer ")) == name:
                return None
            challenge = (
                "Bearer"
                f' realm="http://{self.host}/token",service="registry",scope="repository:{name}:pull"'
            )
        return _problem(
            401,
            "UNAUTHORIZED",
            "authentication required",
            {"WWW-Authenticate": challenge},
        )

    async def _token(self, request: web.Request) -> web.Response:
        _, _, rest = request.query.get("scope", "").partition("repository:")
        name = rest.rpartition(":")[0]
        repository = self._repositories.get(name)
        authorization = request.headers.get("Authorization", "")
        credentials = "" if repository is None else f"reader:{repository.password}"
        if (
            repository is None
            or authorization
            != "Basic " + base64.b64encode(credentials.encode()).decode()
        ):
            return _problem(401, "UNAUTHORIZED", "incorrect username or password")
        token = secrets.token_urlsafe(16)
        self._tokens[token] = name
        return web.json_response({"token": token, "expires_in": 300})

    async def _manifest(self, request: web.Request) -> web.Response:
        name, reference = (
            request.match_info["repository"],
            request.match_info["reference"],
        )
        refusal = self._refusal(request, name)
        if refusal is not None:
            return refusal
        for tag, image in self._repositories[name].tags.items():
            if reference in (tag, image.manifest):
                headers = {"Docker-Content-Digest": image.manifest}
                return web.Response(
                    body=image.blobs[image.manifest],
                    content_type=MANIFEST,
                    headers=headers,
                )
        return _problem(404, "MANIFEST_UNKNOWN", "manifest unknown")

    async def _blob(self, request: web.Request) -> web.Response:
        name, digest = request.match_info["repository"], request.match_info["digest"]
        refusal = self._refusal(request, name)
        if refusal is not None:
            return refusal
        for image in self._repositories[name].tags.values():
            if digest in image.blobs:
                headers = {"Docker-Content-Digest": digest}
                return web.Response(
                    body=image.blobs[digest],
                    content_type="application/octet-stream",
                    headers=headers,
                )
        return _problem(404, "BLOB_UNKNOWN", "blob unknown to registry")
