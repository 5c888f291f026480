"""Starting the launcher, and waiting for processes that may not be one's children.

After a restart of the runtime the shims are somebody else's children, so `waitpid` does
not help. A *pidfd* is a file that stands for a process and becomes readable when it
ends; anyone may hold one.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.sandbox.network import in_network
from lifecycle.cri.sandbox.own_program import own_program

SOURCE = str(Path(__file__).resolve().parents[3])


def command(module: str, *words: str) -> list[str]:
    """A Python that starts fast: without `site` and user settings."""
    return [sys.executable, "-S", "-s", "-m", f"lifecycle.cri.sandbox.{module}", *words]


def environment() -> dict[str, str]:
    """Just enough to find the package."""
    return {
        "PYTHONPATH": SOURCE,
        "PATH": os.environ.get("PATH", ""),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


async def launch(directory: Path, host_netns: str = "") -> tuple[int, int]:
    """Start the bundle's container in a session of its own; the ids of its process and
    its shim. Raises RuntimeServiceError.

    `host_netns`: the node's network namespace, if it is not ours; pods on the node's
    network live there.
    """

    def start() -> dict[str, object]:
        with (directory / "shim.log").open("wb") as log, in_network(host_netns):
            shim = subprocess.Popen(
                command("launch", str(directory)),
                executable=own_program(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd="/",
                env=environment(),
                start_new_session=True,
            )
        _SHIMS[shim.pid] = shim
        assert shim.stdout is not None
        line = shim.stdout.readline()
        shim.stdout.close()
        if not line:
            shim.wait()
            del _SHIMS[shim.pid]
            return {
                "error": (
                    (directory / "shim.log").read_text()[-500:].strip()
                    or "the shim ended"
                )
            }
        answer: dict[str, object] = json.loads(line)
        if "error" in answer:
            shim.wait()
            del _SHIMS[shim.pid]
        return {**answer, "shim": shim.pid}

    answer = await asyncio.to_thread(start)
    if "error" in answer:
        raise RuntimeServiceError(
            "failed to create containerd task: failed to create shim task: OCI runtime"
            " create failed: runc create failed: unable to start container process:"
            f" {answer['error']}: unknown"
        )
    return int(str(answer["pid"])), int(str(answer["shim"]))


_SHIMS: dict[int, subprocess.Popen[bytes]] = {}
"""Shims that this process started: they must be buried when they end."""


async def wait_for(pid: int) -> None:
    """Return when process `pid` has ended."""
    shim = _SHIMS.get(pid)
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    try:
        loop.add_reader(fd, ended.set)
        await ended.wait()
        if shim is not None:
            shim.wait()
    finally:
        with suppress(RuntimeError):
            loop.remove_reader(fd)
        os.close(fd)
        if shim is not None:
            forget(pid)


def forget(pid: int) -> None:
    """This process is not interested in that shim any longer; it goes on without us."""
    shim = _SHIMS.pop(pid, None)
    if shim is not None and shim.poll() is None:
        shim.returncode = 0  # or Python complains when this object goes
