"""Kernels are forked from a process that has loaded what they need: `kernel_nursery`.

Where forking is not to be trusted (on a Mac, libraries keep threads that it loses), and
for kernels of another Python, each is started as Jupyter starts it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from forked_process import ForkedProcess
from jupyter_client.provisioning.factory import EntryPoint, KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

LAUNCHED_BY = [sys.executable, "-m", "ipykernel_launcher"]
NURSERY = Path(__file__).with_name("kernel_nursery.py")


class ForkingProvisioner(LocalProvisioner):
    """Where a kernel comes from."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """A fork, if that can be had; returns how the kernel is spoken to."""
        if sys.platform != "linux" or cmd[:3] != LAUNCHED_BY:
            return await super().launch_kernel(cmd, **kwargs)
        self.cwd = kwargs.get("cwd")
        self.process = ForkedProcess(NURSERY, cmd[3:], kwargs["env"], self.cwd)
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def install() -> None:
    """Whoever starts a kernel asks Jupyter's factory for the default provisioner."""
    factory = KernelProvisionerFactory.instance()
    module, name = ForkingProvisioner.__module__, ForkingProvisioner.__name__
    factory.provisioners[name] = EntryPoint(
        name, f"{module}:{name}", factory.GROUP_NAME
    )
    factory.default_provisioner_name = name


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    install()
    return {"parallel_read_safe": True, "parallel_write_safe": True}
