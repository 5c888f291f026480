"""Lifecycle hooks: what is run in a container right after its start and right before its end.

The kubelet runs them itself: it asks the runtime for a command, or the container's server for a page, or waits. No
runtime ever hears of a hook. A page that cannot be had is a failure, one that says 500 is not.

Upstream: `pkg/kubelet/lifecycle/handlers.go` (`handlerRunner.Run`), v1.36.
"""

from __future__ import annotations

import asyncio

from lifecycle.api.wire import Object
from lifecycle.cri.runtime import Runtime, RuntimeServiceError


def port_number(container: Object, port: int | str) -> int:
    """A port by number, or by the name of one of the container's ports. Raises ValueError."""
    if isinstance(port, int):
        return port
    for declared in container.get("ports") or ():
        if declared.get("name") == port:
            return int(declared["containerPort"])
    return int(port)


class HookRunner:
    """Runs `exec`, `httpGet` and `sleep` handlers; any other fails."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def run(self, container_id: str, container: Object, hook: Object, ip: str, *, timeout: float = 0.0) -> str:
        """Why it failed; empty if it did not. A `timeout` of 0 means none."""
        try:
            if "exec" in hook:
                command = tuple(hook["exec"].get("command") or ())
                result = await self._runtime.exec_sync(container_id, command, timeout)
                return "" if result.exit_code == 0 else f"command terminated with exit code {result.exit_code}"
            if "httpGet" in hook:
                get = hook["httpGet"]
                number = port_number(container, get["port"])
                code, why = await self._runtime.http_get(get.get("host") or ip, number, get.get("path") or "/", timeout)
                return why if code == 0 else ""
            if "sleep" in hook:
                seconds = float(hook["sleep"]["seconds"])
                await asyncio.sleep(min(seconds, timeout) if timeout else seconds)
                return ""
        except (RuntimeServiceError, ValueError) as error:
            return str(error)
        return f"invalid handler: {hook}"  # `tcpSocket` is in the API, and nothing was ever behind it
