"""Which cluster a notebook talks to.

One variable decides. `LIFECYCLE_CLUSTER=recorded` (or nothing): the recording of kind
1.36.2. `LIFECYCLE_CLUSTER=kind`, or the name of a kubeconfig context: a live cluster.
`LIFECYCLE_RECORDINGS` names the folder of recordings; left out, it is looked for beside
the package's repository and upwards from the current directory.
"""

from __future__ import annotations

import os
from pathlib import Path

from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.live import ALLOWED_CONTEXT, LiveCluster
from lifecycle.inspector.recording import Recording

DEFAULT_RECORDING = "kind-1.36.2"


def recordings_directory() -> Path:
    """The folder that holds the recordings. Raises InspectorError saying where it was
    looked for.
    """
    named = os.environ.get("LIFECYCLE_RECORDINGS")
    if named:
        if not Path(named).is_dir():
            raise InspectorError(f"LIFECYCLE_RECORDINGS={named} is not a folder")
        return Path(named)
    here = Path.cwd()
    roots = [here, *here.parents, *Path(__file__).resolve().parents]
    for root in roots:
        folder = root / "recordings"
        if folder.is_dir() and any(folder.glob("*/http")):
            return folder
    raise InspectorError(
        f"no recordings/ folder in {here} or above it; LIFECYCLE_RECORDINGS can"
        " name one (the repository has it, the installed package does not)"
    )


def open_recording(name: str = DEFAULT_RECORDING) -> Recording:
    """A recording by name, or by path. Raises InspectorError naming the recordings
    there are.
    """
    if Path(name).is_dir() and (Path(name) / "http").is_dir():
        return Recording(name)
    folder = recordings_directory()
    if not (folder / name).is_dir():
        there = sorted(path.parent.name for path in folder.glob("*/http"))
        raise InspectorError(
            f"no recording {name!r} in {folder}; there are: {', '.join(there)}"
        )
    return Recording(folder / name)


def open_cluster(
    name: str | None = None, *, recording: str = DEFAULT_RECORDING
) -> Recording | LiveCluster:
    """The cluster that `name`, or else `LIFECYCLE_CLUSTER`, asks for: `recorded`,
    `kind`, or a kubeconfig context.
    """
    choice = name or os.environ.get("LIFECYCLE_CLUSTER") or "recorded"
    if choice == "recorded":
        return open_recording(recording)
    return LiveCluster(ALLOWED_CONTEXT if choice == "kind" else choice)
