"""Static pods from the manifests in a directory.

The kubelet runs them whether or not there is an API server (kubeadm runs the API server
itself that way). The directory is looked at every 20 seconds, and when the kernel says
that something in it changed.

Upstream: `pkg/kubelet/config/file.go` (`NewSourceFile`), `file_linux.go`, v1.36.
"""

from __future__ import annotations

import logging
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.kubelet.config.apply_defaults import Send, apply_defaults, decode_pods
from lifecycle.kubelet.config.file_watch import changed_or_later
from lifecycle.kubelet.types.pod_update import CONFIG_SEEN, FILE

log = logging.getLogger(__name__)

FILE_CHECK_FREQUENCY = 20.0
"""Seconds between looks: the setting `fileCheckFrequency`."""


class SourceFile:
    """Manifests in a directory (or one file). Files whose names begin with a dot, and
    what cannot be read as a pod, are passed over.
    """

    def __init__(
        self,
        path: Path,
        node_name: str,
        send: Send,
        clock: Clock,
        *,
        period: float = FILE_CHECK_FREQUENCY,
    ) -> None:
        self._path = path
        self._node_name = node_name
        self._send = send
        self._clock = clock
        self._period = period
        self._seen: dict[str, str] = {}

    def list_config(self) -> list[Object]:
        """The pods that are there now."""
        if not self._path.exists():
            return []
        files = sorted(self._path.iterdir()) if self._path.is_dir() else [self._path]
        pods = []
        for file in files:
            if file.name.startswith(".") or not file.is_file():
                continue
            try:
                for pod in decode_pods(file.read_bytes(), str(file)):
                    static_pod = apply_defaults(
                        pod,
                        FILE,
                        str(file),
                        self._node_name,
                        self._clock.nano_timestamp(),
                    )
                    # a pod that is only read again was seen when it was first read
                    annotations = static_pod["metadata"]["annotations"]
                    annotations[CONFIG_SEEN] = self._seen.setdefault(
                        static_pod["metadata"]["uid"], annotations[CONFIG_SEEN]
                    )
                    pods.append(static_pod)
            except (ValueError, OSError) as error:
                log.warning("could not process manifest file %s: %s", file, error)
        return pods

    async def run(self) -> None:
        """Look, and look again, until cancelled."""
        while True:
            self._send(self.list_config())
            await changed_or_later(self._path, self._period)
