"""Pulling: ask a registry for a manifest and its blobs, show a password if it wants
one, and check every hash.

A name is `HOST/REPOSITORY:TAG` or `…@DIGEST`. Registries on loopback are spoken to
without TLS, as containerd does.

Upstream: OCI distribution-spec v1.1; containerd `core/remotes/docker/resolver.go`,
`authorizer.go`; `internal/cri/server/images/image_pull.go` (`ParseAuth`). Left out:
mirrors, resuming, Docker's old manifest schema 1.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp

from lifecycle.api import fast_json
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.images.oci_image import (
    INDEX,
    MANIFEST,
    BuiltImage,
    digest_of_bytes,
    machine,
)
from lifecycle.cri.images.reference import normalized_name

DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_INDEX = "application/vnd.docker.distribution.manifest.list.v2+json"
MAX_MANIFEST = 4 * 1024 * 1024
"""Bytes of a manifest or a configuration: what the distribution-spec asks a registry to
take.
"""
MAX_BLOB = 4 * 1024**3
"""Bytes of a layer as it is sent. Ours: it is held in memory until it is unpacked."""
_CODES = {"not found": "NotFound", "failed precondition": "FailedPrecondition"}
"""What gRPC calls what goes wrong, by how the words of it end."""
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')


def credentials(auth: AuthConfig | None) -> str:
    """`username:password`, or nothing. Raises ValueError for an `auth` that is not
    base64 of such a pair. Upstream: `ParseAuth`.
    """
    if auth is None:
        return ""
    if auth.username:
        return f"{auth.username}:{auth.password}"
    if not auth.auth:
        return ""
    try:
        pair = base64.b64decode(auth.auth, validate=True).decode().rstrip("\0")
    except ValueError:
        at = re.match("[A-Za-z0-9+/]*", auth.auth)
        where = at.end() if at else 0
        raise ValueError(f"illegal base64 data at input byte {where}") from None
    if ":" not in pair:
        raise ValueError(f'invalid decoded auth: "{pair}"')
    return pair


class _NotThere(Exception):
    """The registry does not know it."""


class Puller:
    """One pull of one image."""

    def __init__(
        self, session: aiohttp.ClientSession, image: str, auth: AuthConfig | None
    ) -> None:
        self.name = normalized_name(image)
        self._session = session
        self.host, _, rest = self.name.partition("/")
        if "@" in rest:
            self.repository, _, self.reference = rest.partition("@")
            self.repository = self.repository.partition(":")[0]
        else:
            self.repository, _, self.reference = rest.rpartition(":")
        local = self.host.split(":")[0] in ("127.0.0.1", "localhost")
        self._base = (
            f"{'http' if local else 'https'}://"
            f"{'registry-1.docker.io' if self.host == 'docker.io' else self.host}"
        )
        self._pair = ""
        self._auth = auth
        self._header = (
            f"Bearer {auth.registry_token}" if auth and auth.registry_token else ""
        )

    def _failure(self, why: str) -> RuntimeServiceError:
        return self._unusable(f'failed to resolve reference "{self.name}": {why}')

    def _unusable(self, why: str) -> RuntimeServiceError:
        """The image is there, but cannot be had."""
        code = next(
            (code for end, code in _CODES.items() if why.endswith(end)), "Unknown"
        )
        return RuntimeServiceError(
            f"rpc error: code = {code} desc = failed to pull and unpack image"
            f' "{self.name}": {why}'
        )

    async def _get(
        self, path: str, accept: str, limit: int = MAX_MANIFEST, again: bool = True
    ) -> tuple[bytes, str]:
        """Body and content type. A body of more than `limit` bytes is not read to its
        end.
        """
        headers = {"Accept": accept}
        if self._header:
            headers["Authorization"] = self._header
        url = f"{self._base}/v2/{self.repository}/{path}"
        try:
            async with self._session.get(url, headers=headers) as answer:
                if answer.status == 401 and again:
                    challenge = answer.headers.get("WWW-Authenticate", "")
                    try:
                        self._pair = credentials(self._auth)
                    except ValueError as error:
                        raise self._failure(str(error)) from None
                    if self._pair or challenge.lower().startswith("bearer"):
                        await self._answer_challenge(challenge)
                        return await self._get(path, accept, limit, again=False)
                if answer.status in (401, 403):
                    what = path.replace("/", " ")
                    code = f"{answer.status} {answer.reason}"
                    raise self._failure(
                        f"pulling from host {self.host} failed with status code"
                        f" [{what}]: {code}"
                    )
                if answer.status == 404:
                    raise _NotThere
                if answer.status != 200:
                    raise self._failure(
                        f"unexpected status code {url}: {answer.status} {answer.reason}"
                    )
                body = bytearray()
                async for piece in answer.content.iter_chunked(65536):
                    body += piece
                    if len(body) > limit:
                        raise self._failure(
                            f"unexpected size of {path}: more than {limit} bytes"
                        )
                return bytes(body), answer.content_type
        except aiohttp.ClientError as error:
            raise self._failure(
                f'failed to do request: Head "{url}": {error}'
            ) from None

    async def _answer_challenge(self, challenge: str) -> None:
        """`Basic` wants the password itself; `Bearer` a token, which even those without
        a password may ask for.
        """
        basic = "Basic " + base64.b64encode(self._pair.encode()).decode()
        scheme, _, rest = challenge.partition(" ")
        if scheme.lower() == "basic":
            self._header = basic
            return
        fields = dict(_CHALLENGE.findall(rest))
        query = {key: fields[key] for key in ("service", "scope") if key in fields}
        headers = {"Authorization": basic} if self._pair else {}
        async with self._session.get(
            fields["realm"], params=query, headers=headers
        ) as answer:
            if answer.status != 200:
                kind = "oauth" if self._pair else "anonymous"
                why = f"unexpected status: {answer.status} {answer.reason}"
                raise self._failure(
                    f"failed to authorize: failed to fetch {kind} token: {why}"
                )
            token = await answer.json()
        self._header = "Bearer " + (token.get("token") or token.get("access_token"))

    async def _content(
        self, where: str, kind: str, described: Mapping[str, Any], limit: int
    ) -> bytes:
        """What a descriptor describes; `kind`: what its digest is one of. Nothing else
        is taken for it.
        """
        digest, media_type = described["digest"], described["mediaType"]
        try:
            data, _ = await self._get(f"{where}/{digest}", media_type, limit)
        except _NotThere:
            raise self._unusable(
                "failed to copy: httpReadSeeker: failed open: could not fetch content"
                f" descriptor {digest} ({media_type}) from remote: not found"
            ) from None
        return self._committed(data, kind, digest)

    def _committed(self, data: bytes, kind: str, digest: str) -> bytes:
        if digest_of_bytes(data) != digest:
            raise self._unusable(
                f'failed commit on ref "{kind}-{digest}": unexpected commit digest'
                f" {digest_of_bytes(data)}, expected {digest}: failed precondition"
            )
        return data

    async def _layer(self, described: Mapping[str, Any]) -> bytes:
        """No more is read than the manifest says it has."""
        limit = min(int(described["size"]), MAX_BLOB)
        return await self._content("blobs", "layer", described, limit)

    async def pull(
        self, have: Callable[[str], bool] = lambda digest: False
    ) -> BuiltImage:
        """All its blobs, without those layers that one has already. Raises
        RuntimeServiceError.
        """
        kinds = ", ".join((MANIFEST, DOCKER_MANIFEST, INDEX, DOCKER_INDEX))
        try:
            data, kind = await self._get(f"manifests/{self.reference}", kinds)
        except _NotThere:
            raise self._failure(f"{self.name}: not found") from None
        digest = digest_of_bytes(data)
        if self.reference.startswith("sha256:"):
            several = kind in (INDEX, DOCKER_INDEX)
            self._committed(data, "index" if several else "manifest", self.reference)
        document = fast_json.loads(data)
        image = BuiltImage(digest, "", {digest: data})
        if kind in (INDEX, DOCKER_INDEX):  # one image per machine: choose ours
            mine = [
                item
                for item in document["manifests"]
                if (item.get("platform") or {}).get("architecture") == machine()
                and (item.get("platform") or {}).get("os") == "linux"
            ]
            if not mine:
                raise self._unusable("no match for platform in manifest: not found")
            data = await self._content("manifests", "manifest", mine[0], MAX_MANIFEST)
            image.blobs[digest_of_bytes(data)] = data
            document = fast_json.loads(data)
        image.config = document["config"]["digest"]
        image.blobs[image.config] = await self._content(
            "blobs", "config", document["config"], MAX_MANIFEST
        )
        for described in document["layers"]:
            if not have(described["digest"]):
                image.blobs[described["digest"]] = await self._layer(described)
        return image
