"""A directory of executables, as `CNI_PATH` wants them: small files, each of which
starts one of our plugins.

A plugin runs twice in a pod's life, and others wait for it. So the launcher starts
Python without what a plugin does not need: no `site`, no user directory, no
environment; it names the places to import from itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PLUGINS = {
    "bridge": "lifecycle.cni.plugins.bridge",
    "host-local": "lifecycle.cni.plugins.host_local.plugin",
    "loopback": "lifecycle.cni.plugins.loopback",
    "portmap": "lifecycle.cni.plugins.portmap",
    "ptp": "lifecycle.cni.plugins.ptp",
    "static": "lifecycle.cni.plugins.static",
}

_LAUNCHER = """#!{python} -IS
import sys
sys.path.insert(0, {root!r})
from {module} import main
sys.exit(main())
"""


def write_launchers(directory: str | Path) -> Path:
    """Write one executable for each plugin; the directory. Existing ones are
    replaced.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    root = str(Path(__file__).resolve().parents[2])
    for name, module in PLUGINS.items():
        path = directory / name
        fresh = path.with_name(f".{name}.{os.getpid()}")
        fresh.write_text(
            _LAUNCHER.format(python=sys.executable, root=root, module=module)
        )
        fresh.chmod(0o755)
        fresh.replace(path)  # somebody may be running the old one
    return directory
