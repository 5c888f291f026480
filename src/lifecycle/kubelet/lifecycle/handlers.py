"""Lifecycle hooks: what is run in a container right after its start and right before
its end.

The kubelet runs them itself: it asks the runtime for a command, or the container's
server for a page, or waits. No runtime ever hears of a hook. A page that cannot be had
is a failure, one that says 500 is not.

Upstream: `pkg/kubelet/lifecycle/handlers.go` (`handlerRunner.Run`), v1.36.
"""

from __future__ import annotations

import asyncio

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.net import join_host_port
from lifecycle.api.go.strconv import atoi
from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_network import NO_TLS
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.kubelet.container.container_facts import format_pod
from lifecycle.kubelet.container.ref import PodEvent
from lifecycle.kubelet.lifecycle.http_get_action import HOOK, http_get, in_plain


def port_number(container: Object, port: int | str) -> int:
    """A port by number, or by the name of one of the container's ports. Raises
    ValueError.
    """
    if isinstance(port, int):
        return port
    for declared in container.get("ports") or ():
        if declared.get("name") == port:
            return int(declared["containerPort"])
    return atoi(port)


class HookRunner:
    """Runs `exec`, `httpGet` and `sleep` handlers; any other fails. `event` tells of a
    hook that was asked in plain though it wanted TLS.
    """

    def __init__(self, runtime: Runtime, event: PodEvent = lambda *_: None) -> None:
        self._runtime = runtime
        self._event = event
        self._running: set[asyncio.Task[None]] = set()

    def keep(self, task: asyncio.Task[None]) -> None:
        """Let a hook go on that nobody waits for any more."""
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def stop(self) -> None:
        """No more of those."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def run(
        self, pod: Object, container_id: str, container: Object, hook: Object, ip: str
    ) -> str:
        """Why it failed, as the container's `waiting` state says it; empty if it did
        not. It may take any time.
        """
        where = (
            f"for Container {go_quote(container['name'])} in Pod"
            f" {go_quote(format_pod(pod))} failed - error: "
        )
        if "exec" in hook:
            command = tuple(hook["exec"].get("command") or ())
            error, output = await self._exec(container_id, command)
            command_line = " ".join(command)
            return (
                f"Exec lifecycle hook ([{command_line}]) {where}{error}, message:"
                f" {go_quote(output)}"
                if error
                else ""
            )
        if "httpGet" in hook:
            get = hook["httpGet"]
            try:
                number = port_number(container, get["port"])
            except ValueError as failure:
                return f"HTTP lifecycle hook ({get.get('path', '')}) {where}{failure}"
            answer = await http_get(self._runtime, get, number, ip, 0.0, HOOK)
            if not answer.status and answer.text.endswith(NO_TLS):
                # before 1.26 every hook was asked in plain, whatever its scheme
                plain = await http_get(
                    self._runtime, in_plain(get), number, ip, 0.0, HOOK
                )
                if plain.status:
                    answer = plain
                    self._tell(pod, join_host_port(get.get("host") or ip, number))
            return (
                ""
                if answer.status
                else f"HTTP lifecycle hook ({get.get('path', '')}) {where}{answer.text}"
            )
        if "sleep" in hook:
            await asyncio.sleep(float(hook["sleep"]["seconds"]))
            return ""
        # `tcpSocket` is in the API, and nothing was ever behind it
        return f"Cannot run handler: invalid handler: {hook}"

    def _tell(self, pod: Object, host: str) -> None:
        """It did without TLS."""
        message = (
            f"request to HTTPS lifecycle hook {host} got HTTP response, retry with HTTP"
            " succeeded"
        )
        self._event(pod, "Warning", "LifecycleHTTPFallback", message, "")

    async def _exec(
        self, container_id: str, command: tuple[str, ...]
    ) -> tuple[str, str]:
        """What went wrong, empty if nothing, and the command's output."""
        try:
            result = await self._runtime.exec_sync(container_id, command, 0.0)
        except RuntimeServiceError as error:
            return str(error), ""
        if not result.exit_code:
            return "", ""
        message = (
            f"command '{' '.join(command)}' exited with {result.exit_code}:"
            f" {result.stderr}"
        )
        return message, result.stdout + result.stderr
