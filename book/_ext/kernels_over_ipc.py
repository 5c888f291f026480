"""Kernels are spoken to over files, not over ports.

Whoever starts a kernel looks for five free ports, lets them go and tells the kernel to
take them. With two kernels at once, and clusters in their cells, somebody else has
taken one of them by then now and then. A path that nobody else knows cannot be lost,
and a stranger on the machine cannot listen to it.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import jupyter_client
from jupyter_core.paths import jupyter_runtime_dir
from traitlets import default


class KernelManagerOverIpc(jupyter_client.AsyncKernelManager):
    """A kernel manager that takes files where it would take ports."""

    @default("transport")
    def _transport_default(self) -> str:
        return "ipc"

    @default("ip")
    def _ip_default(self) -> str:
        """How the files' names begin: five of them, in a folder of the user's own."""
        folder = Path(jupyter_runtime_dir())
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(folder / f"ipc-{secrets.token_hex(8)}")


def install() -> None:
    """nbclient asks Jupyter's client for this name, and takes no word from us."""
    setattr(jupyter_client, "AsyncKernelManager", KernelManagerOverIpc)  # noqa: B010


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    install()
    return {"parallel_read_safe": True, "parallel_write_safe": True}
