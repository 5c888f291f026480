"""What this machine has of the programs and libraries that make more of the book run.

Nothing here is needed to read the book or start an embedded cluster. Each line names a
program or an extra, whether it is there, and what it is for.
"""

from __future__ import annotations

import shutil
import sys

from lifecycle.api.extras import EXTRAS, install_line, is_installed

PROGRAMS = {
    "kubectl": "talk to the embedded cluster as you would to any other",
    "etcd": "keep a cluster's objects in a real etcd (--store etcd:URL)",
    "docker": "run a real kind cluster to compare with",
    "kind": "create that cluster (make cluster)",
    "chromium": "check the built book as a reader sees it (make book)",
    "chromedriver": "drive that Chromium from the tests",
    "git": "clone the book",
    "make": "run its two commands",
}


def checkup(path: str) -> list[str]:
    """One line for each program: found or missing, and its use. `path` is a PATH as in
    the environment.
    """
    width = max(map(len, PROGRAMS))
    lines = []
    for program, use in PROGRAMS.items():
        place = shutil.which(program, path=path)
        lines.append(
            f"{'ok     ' if place else 'missing'}  {program:<{width}} "
            f" {use}{f' ({place})' if place else ''}"
        )
    return lines


def extras() -> list[str]:
    """One line for each extra of the distribution: found or missing, and its use."""
    lines = []
    for name, extra in EXTRAS.items():
        here = is_installed(name)
        line = f"{'ok     ' if here else 'missing'}  [{name}]  {extra.purpose}"
        lines.append(line if here else f"{line}: {install_line(name)}")
    return lines


def real_containers() -> list[str]:
    """One line for each of `--runtime sandbox` and `--runtime containerd`, or one for
    each thing that is missing for it.
    """
    from lifecycle.cluster.linux.requirements import missing

    lines = []
    for runtime in ("sandbox", "containerd"):
        unmet = missing(runtime)
        lines += [f"missing  --runtime {runtime}: {why}" for why in unmet] or [
            f"ok       --runtime {runtime}"
        ]
    return lines


def abandoned() -> list[str]:
    """One line for each run with real containers whose process is gone but not its
    traces.
    """
    if sys.platform != "linux":
        return []
    from lifecycle.cluster.linux.clean import leftovers
    from lifecycle.cluster.linux.run_state import runs

    lines = []
    for run in runs():
        if not run.owned():
            remains = leftovers(run)
            lines.append(
                f"left     run {run.id}: {len(remains)} things, such as {remains[0]}:"
                " lifecycle doctor --clean"
            )
    return lines
