"""The real kubectl, run as a command."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from lifecycle.inspector.errors import InspectorError


def kubectl_on_path() -> bool:
    """Whether there is a kubectl to run."""
    return shutil.which("kubectl") is not None


def run_kubectl(
    args: Sequence[str], *, context: str, config_file: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run kubectl in one context; the caller looks at `returncode`. Raises
    InspectorError when there is no kubectl.
    """
    program = shutil.which("kubectl")
    if program is None:
        raise InspectorError("kubectl is not on PATH")
    env = dict(os.environ)
    if config_file:
        env["KUBECONFIG"] = config_file
    return subprocess.run(
        [program, "--context", context, *args],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
