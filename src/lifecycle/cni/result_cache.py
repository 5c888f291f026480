"""The results libcni keeps, one file for each attachment:
`<dir>/results/<network>-<container>-<interface>`.

DEL comes minutes or months after ADD, perhaps from a runtime that was restarted
meanwhile. The file holds what ADD was given and what came of it, so that DEL and CHECK
can hand plugins their `prevResult`.

Upstream: `containernetworking/cni`, `libcni/api.go` (`cachedInfo`, `cacheAdd`,
`getCachedResult`, `GetCachedAttachments`), CNI v1.3.
"""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import unmarshal, unmarshal_object
from lifecycle.api.go.json.encode import marshal
from lifecycle.cni import results
from lifecycle.cni.errors import CNIError

CNI_CACHE_V1 = "cniCacheV1"
DEFAULT_CACHE_DIR = "/var/lib/cni"


@dataclass(slots=True, frozen=True)
class RuntimeConf:
    """One attachment as the runtime sees it. `capability_args` reach a plugin only if
    its configuration asks for them.
    """

    container_id: str
    netns: str
    if_name: str
    args: Sequence[tuple[str, str]] = ()
    capability_args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class NetworkAttachment:
    """An attachment found in the cache."""

    network: str
    runtime: RuntimeConf
    config: str


def cached_info(
    result: results.Result, config: str, name: str, rt: RuntimeConf
) -> dict[str, Any]:
    """The file's content, in the order of its fields."""
    info: dict[str, Any] = {
        "kind": CNI_CACHE_V1,
        "containerId": rt.container_id,
        "config": base64.b64encode(config.encode()).decode(),
        "ifName": rt.if_name,
        "networkName": name,
    }
    optional = {
        "netns": rt.netns,
        "cniArgs": [list(pair) for pair in rt.args],
        "capabilityArgs": dict(rt.capability_args),
        "result": result,
    }
    return info | {key: value for key, value in optional.items() if value}


class ResultCache:
    """The files of one directory."""

    def __init__(self, directory: str | Path = DEFAULT_CACHE_DIR) -> None:
        self._results = Path(directory) / "results"

    def path(self, name: str, rt: RuntimeConf) -> Path:
        """Raises CNIError if a part of the file's name is missing."""
        if not (name and rt.container_id and rt.if_name):
            parts = (go_quote(name), go_quote(rt.container_id), go_quote(rt.if_name))
            raise CNIError(
                "cache file path requires network name ({}), container ID ({}), and"
                " interface name ({})".format(*parts)
            )
        return self._results / f"{name}-{rt.container_id}-{rt.if_name}"

    def add(
        self, result: results.Result, config: str, name: str, rt: RuntimeConf
    ) -> None:
        """Keep a result; for root's eyes only."""
        path = self.path(name, rt)
        self._results.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = cached_info(unmarshal(marshal(result)), config, name, rt)
        with open(
            os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w"
        ) as file:
            file.write(_marshalled(info))

    def delete(self, name: str, rt: RuntimeConf) -> None:
        """Forget a result, if there is one. That it stays is no error."""
        with contextlib.suppress(CNIError, OSError):
            self.path(name, rt).unlink(missing_ok=True)

    def result(self, name: str, version: str, rt: RuntimeConf) -> results.Result | None:
        """The kept result in the version that the configuration has by now; None if
        there is none. Raises CNIError.
        """
        try:
            raw = unmarshal_object(self.path(name, rt).read_text())
        except OSError:
            return None
        except ValueError as error:
            raise CNIError(f"decoding version from network config: {error}") from None
        if raw.get("kind") == CNI_CACHE_V1:
            raw = raw.get("result") or {}
        # else: before 2019 the file was the bare result
        result = results.create(raw.get("cniVersion") or "0.1.0", raw)
        try:
            return results.convert(result, version)
        except CNIError as error:
            raise error.wrapped(
                f"failed to convert cached result to config version {go_quote(version)}"
            ) from None

    def attachments(self, container_id: str = "") -> Iterator[NetworkAttachment]:
        """All attachments, or one container's."""
        if not self._results.is_dir():
            return
        for path in sorted(self._results.iterdir()):
            try:
                raw = unmarshal_object(path.read_text())
                config = base64.b64decode(raw.get("config", ""), validate=True).decode()
            except (OSError, ValueError):
                continue
            if (
                raw.get("kind") != CNI_CACHE_V1
                or not raw.get("ifName")
                or not raw.get("networkName")
            ):
                continue
            owner = raw.get("containerId", "")
            if container_id and owner != container_id:
                continue
            rt = RuntimeConf(
                owner,
                raw.get("netns", ""),
                raw["ifName"],
                [(key, value) for key, value in raw.get("cniArgs", ())],
                raw.get("capabilityArgs", {}),
            )
            yield NetworkAttachment(raw["networkName"], rt, config)


def _marshalled(info: Mapping[str, Any]) -> str:
    """A struct whose maps are sorted: Go's order."""
    parts = [
        f"{marshal(key)}:{marshal(value, sort_keys=True)}"
        for key, value in info.items()
    ]
    return "{" + ",".join(parts) + "}"
