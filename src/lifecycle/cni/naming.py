"""What may be a container's ID, a network's name, an interface's name.

Upstream: `containernetworking/cni`, `pkg/utils/utils.go`, CNI v1.3.
"""

from __future__ import annotations

import re

from lifecycle.cni import errors
from lifecycle.cni.errors import CNIError

MAX_INTERFACE_NAME_LENGTH = 15  # Linux' IFNAMSIZ, less the closing zero


def _valid(text: str) -> bool:
    return re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9_.\-]*", text) is not None


def validate_container_id(container_id: str) -> None:
    """Raises CNIError."""
    if not container_id:
        raise CNIError("missing containerID", errors.UNKNOWN_CONTAINER)
    if not _valid(container_id):
        raise CNIError(
            "invalid characters in containerID",
            errors.INVALID_ENVIRONMENT_VARIABLES,
            container_id,
        )


def validate_network_name(name: str) -> None:
    """Raises CNIError."""
    if not name:
        raise CNIError("missing network name:", errors.INVALID_NETWORK_CONFIG)
    if not _valid(name):
        raise CNIError(
            "invalid characters found in network name",
            errors.INVALID_NETWORK_CONFIG,
            name,
        )


def validate_interface_name(name: str) -> None:
    """Raises CNIError."""
    code = errors.INVALID_ENVIRONMENT_VARIABLES
    if not name:
        raise CNIError("interface name is empty", code)
    if len(name.encode()) > MAX_INTERFACE_NAME_LENGTH:
        limit = (
            f"interface name should be less than {MAX_INTERFACE_NAME_LENGTH + 1}"
            " characters"
        )
        raise CNIError("interface name is too long", code, limit)
    if name in (".", ".."):
        raise CNIError("interface name is . or ..", code)
    if any(char in "/:" or char.isspace() for char in name):
        raise CNIError("interface name contains / or : or whitespace characters", code)
