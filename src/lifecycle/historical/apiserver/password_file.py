"""Passwords in a file: how a user and a password could be enough, until Kubernetes
1.19.

`--basic-auth-file` named a CSV of `password,user,uid,"group1,group2"`, read once at the
start; changing a password meant restarting the server. A wrong password was a *wrong
credential*, so it ended in a 401 – where today the same header is no credential at all,
and its sender is anonymous.

Upstream: v1.18
`apiserver/plugin/pkg/authenticator/password/passwordfile/passwordfile.go`,
`request/basicauth/basicauth.go`; removed by kubernetes/kubernetes#89069. It
stood in the union between the front proxy and client certificates.
"""

from __future__ import annotations

import base64
import binascii
import csv
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lifecycle.api.http.wire import Request, UserInfo
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity

INVALID = "invalid username/password combination"


class Entry(NamedTuple):
    """One line of the file."""

    user: UserInfo
    password: str


class BasicAuthAuthenticator:
    """Compares the header's password with the file's."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = dict(entries)

    def authenticate_request(self, request: Request) -> Identity | None:
        """Whose password it is; None without a `Basic` header. Raises
        AuthenticationError for a wrong one.
        """
        credentials = basic_credentials(request.headers.get("authorization", ""))
        if credentials is None:
            return None
        name, password = credentials
        entry = self._entries.get(name)
        if entry is None or not hmac.compare_digest(
            entry.password.encode(), password.encode()
        ):
            raise AuthenticationError(INVALID)
        return Identity(entry.user)


def basic_credentials(header: str) -> tuple[str, str] | None:
    """User and password of an `Authorization: Basic …` header; None for any other.
    Upstream: Go's `Request.BasicAuth`.
    """
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = (
            base64.b64decode(encoded, validate=True).decode().partition(":")
        )
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if colon else None


def read_password_file(path: Path) -> dict[str, Entry]:
    """The entries of a CSV file. Raises ValueError for a line with too few columns, or
    for an empty password.
    """
    entries: dict[str, Entry] = {}
    with path.open(newline="") as lines:
        for row in csv.reader(lines, skipinitialspace=True):
            if not row:
                continue
            if len(row) < 3:
                raise ValueError(
                    f"password file '{path}' must have at least 3 columns (password,"
                    f" user name, user uid), found {len(row)}"
                )
            groups = (
                tuple(group.strip() for group in row[3].split(","))
                if len(row) > 3
                else ()
            )
            entries[row[1]] = Entry(UserInfo(row[1], groups, row[2]), row[0])
    return entries
