"""Images on a node, and what to show a registry for them.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` (`Image`, `AuthConfig`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class Image:
    """An image on the node: `repo_tags` and `repo_digests` are its names."""

    id: str
    repo_tags: tuple[str, ...]
    repo_digests: tuple[str, ...]
    size: int
    uid: int | None = None
    username: str = ""
    pinned: bool = False


@dataclass(slots=True, frozen=True)
class AuthConfig:
    """What to show a registry. All empty: nothing. `auth` is base64 of
    `username:password`.
    """

    username: str = ""
    password: str = ""
    auth: str = ""
    server_address: str = ""
    identity_token: str = ""
    registry_token: str = ""
