"""kube-proxy's programs, run in a node's network namespace by its path instead of a
name below `/run/netns`.

`ip netns` would leave a mount of that directory on the machine, for ever. A child
begins in the namespace of the thread that starts it, so a thread goes there, starts it,
and comes back.
"""

from __future__ import annotations

import asyncio
import subprocess

from lifecycle.cri.sandbox.network import in_network
from lifecycle.proxy.iptables.runner import CommandRunner


class PathCommandRunner(CommandRunner):
    """`namespace` is a path."""

    async def _run(self, *command: str, stdin: str = "") -> tuple[int, str, str]:
        started: list[subprocess.Popen[bytes]] = []

        def run() -> tuple[int, str, str]:
            pipe = subprocess.PIPE
            with in_network(self.namespace):
                process = subprocess.Popen(
                    command, stdin=pipe, stdout=pipe, stderr=pipe
                )
            started.append(process)
            output, error = process.communicate(stdin.encode())
            return process.returncode, output.decode(), error.decode()

        try:
            return await asyncio.to_thread(run)
        except asyncio.CancelledError:
            for process in started:
                process.kill()
            raise
