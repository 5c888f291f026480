"""One value in a kubeconfig, named by its path: `current-context`,
`contexts.NAME.namespace`.

A name may have dots in it: it goes on until a part follows that is a field.

Upstream: `kubectl/pkg/cmd/config/navigation_step_parser.go` (`newNavigationSteps`),
`set.go` (`modifyConfig`), v1.36. Left out: values inside `exec`, `auth-provider` and
`preferences`.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flag_values import go_base64

_TEXTS = {
    "clusters": ("server", "tls-server-name", "certificate-authority", "proxy-url"),
    "users": (
        "client-certificate",
        "client-key",
        "token",
        "tokenFile",
        "act-as",
        "act-as-uid",
        "username",
        "password",
    ),
    "contexts": ("cluster", "user", "namespace"),
}
_BYTES = ("certificate-authority-data", "client-certificate-data", "client-key-data")
_BOOLEANS = ("insecure-skip-tls-verify", "disable-compression")
_OTHERS = {
    "clusters": ("extensions",),
    "users": (
        "act-as-groups",
        "act-as-user-extra",
        "auth-provider",
        "exec",
        "extensions",
    ),
    "contexts": ("extensions",),
}
_FIELDS = {
    "clusters": {*_TEXTS["clusters"], *_BOOLEANS, _BYTES[0], *_OTHERS["clusters"]},
    "users": {*_TEXTS["users"], *_BYTES[1:], *_OTHERS["users"]},
    "contexts": {*_TEXTS["contexts"], *_OTHERS["contexts"]},
}
_IN_FILES = {
    "act-as": "as",
    "act-as-uid": "as-uid",
    "act-as-groups": "as-groups",
    "act-as-user-extra": "as-user-extra",
}
_TYPES = {
    "clusters": "map[string]*api.Cluster",
    "users": "map[string]*api.AuthInfo",
    "contexts": "map[string]*api.Context",
}


@dataclass(slots=True, frozen=True)
class Place:
    """A field of an entry; a whole entry without `field`, a whole section without
    `name`; `current-context` without `section`.
    """

    section: str = ""
    name: str = ""
    field: str = ""


def place_of(path: str) -> Place:
    """What a path names. Raises CommandError."""
    section, *parts = path.split(".")
    if section == "current-context" and not parts:
        return Place()
    if section in ("current-context", "kind", "apiVersion"):
        if parts:
            raise CommandError(f"unable to parse one or more field values of {path}")
        raise CommandError(f"{section} cannot be changed by this kubectl")
    if section in ("preferences", "extensions"):
        raise CommandError(f"{section} cannot be changed by this kubectl")
    if section not in _FIELDS:
        raise CommandError(f"unable to parse {path} after [] at api.Config")
    if not parts:
        return Place(section)
    at = next(
        (i for i, part in enumerate(parts[1:], 1) if part in _FIELDS[section]),
        len(parts),
    )
    name, rest = ".".join(parts[:at]), parts[at:]
    if len(rest) > 1:
        raise CommandError(f"unable to parse one or more field values of {path}")
    return Place(section, name, _IN_FILES.get(rest[0], rest[0]) if rest else "")


def decoded(place: Place, value: str, *, raw: bool) -> Any:
    """The value that a text means for a field. Raises CommandError for a field that
    holds no single value.
    """
    if not place.section:
        return value
    if not place.field:
        raise CommandError(f"can't set a map to a value: {_TYPES[place.section]}")
    if place.field in _BYTES:
        try:
            content = value.encode() if raw else go_base64(value)
        except ValueError as error:
            raise CommandError(f"error decoding input value: {error}") from None
        return base64.b64encode(content).decode()
    if place.field in _BOOLEANS:
        if value not in _TRUE and value not in _FALSE:
            raise CommandError(f'strconv.ParseBool: parsing "{value}": invalid syntax')
        return value in _TRUE
    if place.field in _OTHERS[place.section] or place.field in (
        "as-groups",
        "as-user-extra",
    ):
        raise CommandError(f"{place.field} holds no single value")
    return value


_TRUE, _FALSE = (
    ("1", "t", "T", "TRUE", "true", "True"),
    ("0", "f", "F", "FALSE", "false", "False"),
)
