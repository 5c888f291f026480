"""The real cluster – live kind or a recording – behind one interface.

`open_cluster()` gives a `Recording` or a `LiveCluster`; both offer `client` (the
official Python client), `get(path)`, `node(name).run(command)`, `kubectl(...)` and
`provenance`.
"""

from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.live import LiveCluster
from lifecycle.inspector.opening import (
    open_cluster,
    open_recording,
    recordings_directory,
)
from lifecycle.inspector.provenance import Provenance
from lifecycle.inspector.recording import Recording

__all__ = [
    "Exchange",
    "InspectorError",
    "LiveCluster",
    "Provenance",
    "Recording",
    "open_cluster",
    "open_recording",
    "recordings_directory",
]
