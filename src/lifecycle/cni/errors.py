"""What goes wrong, as CNI says it: a number, a message, details – one JSON object on
standard output and exit code 1.

Upstream: `containernetworking/cni`, `pkg/types/types.go` (`Error`), CNI v1.3. Here are
the well-known codes that somebody says; from 100 up they are a plugin's own.
"""

from __future__ import annotations

from typing import Any

UNKNOWN = 0
INCOMPATIBLE_CNI_VERSION = 1
UNKNOWN_CONTAINER = 3
INVALID_ENVIRONMENT_VARIABLES = 4
DECODING_FAILURE = 6
INVALID_NETWORK_CONFIG = 7
INVALID_NET_NS = 8
INTERNAL = 999


class CNIError(Exception):
    """An error with its code. Everything that a plugin does not number itself is
    999.
    """

    def __init__(self, msg: str, code: int = INTERNAL, details: str = "") -> None:
        super().__init__(msg)
        self.msg = msg
        self.code = code
        self.details = details

    def __str__(self) -> str:
        return f"{self.msg}; {self.details}" if self.details else self.msg

    def as_json(self) -> dict[str, Any]:
        """As it stands on standard output; `details` only if there are any."""
        body: dict[str, Any] = {"code": self.code, "msg": self.msg}
        return {**body, "details": self.details} if self.details else body

    def wrapped(self, prefix: str) -> CNIError:
        """The same error, told with more words before it; the code stays (Go's
        `%w`).
        """
        return CNIError(f"{prefix}: {self}", self.code)
