"""Versions of the CNI protocol: which are known, which is newer, and whether a plugin
speaks a configuration's.

Upstream: `containernetworking/cni`, `pkg/version` (`ParseVersion`,
`GreaterThanOrEqualTo`, `PluginDecoder`, `Reconciler`), CNI v1.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.go.json.decode import unmarshal_object
from lifecycle.api.go.strconv import atoi
from lifecycle.cni.errors import CNIError

CURRENT = "1.1.0"
ALL = ("0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0")


def parse_version(version: str) -> tuple[int, int, int]:
    """Three numbers. No version at all means 0.1.0, which had no such field. Raises
    CNIError.
    """
    if not version:
        return 0, 1, 0
    parts = version.split(".")
    if len(parts) >= 4:
        raise CNIError(f'invalid version "{version}": too many parts')
    numbers = [0, 0, 0]
    for index, (part, name) in enumerate(
        zip(parts, ("major", "minor", "micro"), strict=False)
    ):
        try:
            numbers[index] = atoi(part)
        except ValueError as error:
            raise CNIError(
                f'failed to convert {name} version part "{part}": {error}'
            ) from None
    return numbers[0], numbers[1], numbers[2]


def greater_than_or_equal_to(version: str, other: str) -> bool:
    """Raises CNIError for what is not a version."""
    return parse_version(version) >= parse_version(other)


def greater_than(version: str, other: str) -> bool:
    """Raises CNIError for what is not a version."""
    return parse_version(version) > parse_version(other)


def version_info(supported: Sequence[str] = ALL) -> dict[str, Any]:
    """What a plugin answers to the command VERSION."""
    return {"cniVersion": CURRENT, "supportedVersions": list(supported)}


def decode_version_info(text: str | bytes) -> list[str]:
    """The versions that a plugin says it supports. Raises CNIError."""
    try:
        info = unmarshal_object(text)
    except ValueError as error:
        raise CNIError(f"decoding version info: {error}") from None
    if not info.get("cniVersion"):
        raise CNIError("decoding version info: missing field cniVersion")
    if not info.get("supportedVersions"):
        if info["cniVersion"] == "0.2.0":
            return ["0.1.0", "0.2.0"]
        raise CNIError("decoding version info: missing field supportedVersions")
    return list(info["supportedVersions"])


def incompatible(config_version: str, supported: Sequence[str]) -> str:
    """Why a configuration cannot be used with a plugin, in words; empty if it can."""
    if config_version in supported:
        return ""
    listed = " ".join(f'"{version}"' for version in supported)
    return f'config is "{config_version}", plugin supports [{listed}]'
