"""Discovery on disk: one file for the groups, one for each group and version, trusted
for six hours.

`~/.kube/cache/discovery/<host_port>/servergroups.json` and
`…/<group>/<version>/serverresources.json` hold the old form of discovery, even if the
server answered in the new one. Nothing tells the cache that the server has changed. It
notices when a name is looked up in vain: then everything that this process did not
write itself is thrown out, and the server is asked again.

Upstream: `client-go/discovery/cached/disk/cached_discovery.go`
(`CachedDiscoveryClient`), `cli-runtime/pkg/genericclioptions/config_flags.go`
(`computeDiscoverCacheDir`, `getDefaultCacheDir`), v1.36.2.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from lifecycle.api import fast_json
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.discovery.discovery_client import Discovery

TTL = 6 * 60 * 60.0
"""Seconds for which a file is believed. Ten minutes until 1.23."""
_illegal = re.compile(r"[^(\w/.)]", re.ASCII)


def default_cache_directory(environ: Mapping[str, str] | None = None) -> Path:
    """`$KUBECACHEDIR`, or `~/.kube/cache`."""
    environ = os.environ if environ is None else environ
    if environ.get("KUBECACHEDIR"):
        return Path(environ["KUBECACHEDIR"])
    return Path(environ.get("HOME", "~")).expanduser() / ".kube" / "cache"


def compute_discover_cache_dir(parent: Path, host: str) -> Path:
    """The folder of one server: its address without the scheme, with `_` for whatever
    might trouble a file system.
    """
    schemeless = host.replace("https://", "", 1).replace("http://", "", 1)
    return parent / _illegal.sub("_", schemeless)


class CachedDiscoveryClient:
    """`Discovery` with a folder in front of it. `now` gives seconds since 1970, as file
    times are.
    """

    def __init__(
        self,
        delegate: Discovery,
        directory: Path,
        ttl: float = TTL,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._delegate = delegate
        self._directory = directory
        self._ttl = ttl
        self._now = now
        self._our_files: set[Path] = set()
        self._invalidated = False
        self._fresh = True

    @property
    def fresh(self) -> bool:
        """All files that were used were written by this process."""
        return self._fresh

    def invalidate(self) -> None:
        """Ignore all files that are there; what is asked from now on comes from the
        server.
        """
        self._our_files = set()
        self._fresh = True
        self._invalidated = True
        self._delegate.invalidate()

    async def server_groups(self) -> Object:
        """The APIGroupList, from disk if it may be."""
        path = self._directory / "servergroups.json"
        cached = self._cached_file(path, "APIGroupList")
        if cached is not None:
            return cached
        live = await self._delegate.server_groups()
        if live.get("groups"):
            self._write(path, live)
        return live

    async def server_resources(self, group_version: str) -> Object:
        """The APIResourceList of a group and version, from disk if it may be."""
        path = self._directory / group_version / "serverresources.json"
        cached = self._cached_file(path, "APIResourceList")
        if cached is not None:
            return cached
        live = await self._delegate.server_resources(group_version)
        if live.get("resources"):
            self._write(path, live)
        return live

    def _cached_file(self, path: Path, kind: str) -> Object | None:
        """What a file holds; None if it is not there, not to be trusted, too old, or
        not what it should be.
        """
        ours = path in self._our_files
        if self._invalidated and not ours:
            return None
        try:
            if self._now() > path.stat().st_mtime + self._ttl:
                return None
            document = fast_json.loads(path.read_bytes())
        except (OSError, fast_json.JSONDecodeError):
            return None
        if not isinstance(document, dict) or document.get("kind") != kind:
            return None
        self._fresh = self._fresh and ours
        return document

    def _write(self, path: Path, document: Object) -> None:
        """Write beside, then rename: a reader sees the old file or the new one, never
        half of it. A full disk is no error.
        """
        try:
            path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(marshal(document).encode() + b"\n")
                os.chmod(beside, 0o660)
                os.rename(beside, path)
            except OSError:
                Path(beside).unlink(missing_ok=True)
                return
        except OSError:
            return
        self._our_files.add(path)
