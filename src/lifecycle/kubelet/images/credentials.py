"""Which credentials fit which image.

Credentials come under the names of registries, perhaps with a part of a path, perhaps
with `*` in the host's name. An image is asked for with every one that fits, the most
specific first; names without a registry belong to Docker's hub. Pull secrets come
before what the node itself knows (its `config.json`, credential provider plugins).

Upstream: `pkg/credentialprovider/keyring.go` (`BasicDockerKeyring`, `URLsMatch`),
`config.go` (`ReadDockerConfigJSONFile`, `decodeDockerConfigFieldAuth`),
`secrets/secrets.go` (`MakeDockerKeyring`), v1.36.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.image import AuthConfig

DOCKER_CONFIG_JSON, DOCKER_CFG = (
    "kubernetes.io/dockerconfigjson",
    "kubernetes.io/dockercfg",
)
DEFAULT_REGISTRY_KEY = "index.docker.io"
DEFAULT_REGISTRIES = ("docker.io", "index.docker.io")
CONFIG_PATHS = ("config.json", ".docker/config.json", ".dockercfg")

DockerConfig = dict[str, AuthConfig]
"""Credentials by registry, as the file spells it."""
Provider = Callable[[str], DockerConfig]
"""A credential provider plugin: takes an image, answers with what it knows for it."""


class CredentialError(Exception):
    """That is not a Docker configuration."""


@dataclass(slots=True, frozen=True)
class TrackedAuth:
    """Credentials, and the secret they came from: its namespace, name and uid; empty
    for the node's own.
    """

    auth: AuthConfig
    secret: tuple[str, str, str] = ("", "", "")


def decode_docker_config(text: bytes, *, nested: bool) -> DockerConfig:
    """A Docker configuration file; `nested`: with `auths` around it, as
    `dockerconfigjson` is. Raises CredentialError.
    """
    try:
        document = unmarshal(text)
        entries = (document.get("auths") or {}) if nested else document
        return {registry: _entry(entry) for registry, entry in entries.items()}
    except (ValueError, AttributeError, TypeError, binascii.Error) as error:
        raise CredentialError(str(error)) from None


def _entry(entry: Mapping[str, str]) -> AuthConfig:
    """`auth` is both names in one, and wins over them."""
    name, password = entry.get("username", ""), entry.get("password", "")
    if entry.get("auth"):
        decoded = base64.b64decode(
            entry["auth"] + "=" * (-len(entry["auth"]) % 4)
        ).decode()
        name, colon, password = decoded.partition(":")
        if not colon:
            raise ValueError(
                "unable to parse auth field, must be formatted as"
                " base64(username:password)"
            )
    return AuthConfig(username=name, password=password)


def _key(registry: str) -> str:
    """A registry as the file spells it → host and path, without scheme and version.
    Upstream: `BasicDockerKeyring.Add`.
    """
    rest = registry.split("://", 1)[-1]
    host, slash, path = rest.partition("/")
    path = slash + path
    if path.startswith(("/v1/", "/v2/")):
        path = path[3:]
    return host + (path if path not in ("", "/") else "")


def _split(target: str) -> tuple[list[str], str, str]:
    host, slash, path = target.partition("/")
    name, _, port = host.partition(":")
    return name.split("."), port, slash + path


def urls_match(glob: str, target: str) -> bool:
    """Whether `glob` covers `target`: same port, as many parts in the host, each
    fitting, and the path a prefix.
    """
    glob_parts, glob_port, glob_path = _split(glob)
    parts, port, path = _split(target)
    if (
        glob_port != port
        or len(glob_parts) != len(parts)
        or not path.startswith(glob_path)
    ):
        return False
    return all(
        fnmatch.fnmatchcase(part, pattern)
        for part, pattern in zip(parts, glob_parts, strict=True)
    )


def is_default_registry(image: str) -> bool:
    """Whether an image is Docker's hub's: it names no other registry."""
    first, slash, _ = image.partition("/")
    if not first:
        return False
    return not slash or first in DEFAULT_REGISTRIES or not any(c in first for c in ".:")


class Keyring:
    """Credentials by registry."""

    def __init__(self) -> None:
        self._credentials: dict[str, list[TrackedAuth]] = {}

    def add(
        self, config: DockerConfig, secret: tuple[str, str, str] = ("", "", "")
    ) -> None:
        """More credentials. Of equal names the first added comes first."""
        for registry, auth in config.items():
            self._credentials.setdefault(_key(registry), []).append(
                TrackedAuth(auth, secret)
            )

    def lookup(self, image: str) -> list[TrackedAuth]:
        """All that fit, the longest match first. `image` without tag or digest."""
        matching: list[TrackedAuth] = []
        for key in sorted(self._credentials, reverse=True):
            if urls_match(key, image):
                matching += self._credentials[key]
        if not matching and is_default_registry(image):
            matching = self._credentials.get(DEFAULT_REGISTRY_KEY, [])
        return list(matching)


def keyring_from_secrets(secrets: Iterable[Object]) -> Keyring:
    """The credentials in pull secrets, in order; secrets of other types are passed
    over. Raises CredentialError.
    """
    keyring = Keyring()
    for secret in secrets:
        data, meta = secret.get("data") or {}, secret["metadata"]
        for kind, key, nested in (
            (DOCKER_CONFIG_JSON, ".dockerconfigjson", True),
            (DOCKER_CFG, ".dockercfg", False),
        ):
            if secret.get("type") == kind and data.get(key):
                source = (meta["namespace"], meta["name"], meta.get("uid", ""))
                keyring.add(
                    decode_docker_config(base64.b64decode(data[key]), nested=nested),
                    source,
                )
    return keyring


class NodeCredentials:
    """What the node itself knows: plugins, then the first configuration file found in
    `directories`.
    """

    def __init__(
        self, directories: Sequence[Path] = (), providers: Sequence[Provider] = ()
    ) -> None:
        self._directories = directories
        self._providers = providers

    def lookup(self, image: str) -> list[TrackedAuth]:
        """All that fit. The files are read each time: whoever renews them need not
        tell. Raises CredentialError.
        """
        keyring = Keyring()
        for provide in self._providers:
            keyring.add(provide(image))
        for path in (
            directory / name for directory in self._directories for name in CONFIG_PATHS
        ):
            if path.is_file():
                keyring.add(
                    decode_docker_config(
                        path.read_bytes(), nested=path.name == "config.json"
                    )
                )
                break
        return keyring.lookup(image)


def lookup_credentials(
    image: str, secrets: Iterable[Object], node: NodeCredentials
) -> list[TrackedAuth]:
    """With what to ask for an image, in order: pull secrets, then the node's own.
    Raises CredentialError.
    """
    return [*keyring_from_secrets(secrets).lookup(image), *node.lookup(image)]
