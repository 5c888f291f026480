"""One probe: ask a container how it is, once.

There are three outcomes: it is well, it is not, or the question could not be put. The
last is tried three times and then forgotten: an `exec` of a program that is not there,
or a port whose name nobody knows, neither kills nor helps a container.

Upstream: `pkg/kubelet/prober/prober.go` (`probe`, `runProbeWithRetries`),
`pkg/probe/http/http.go`, `pkg/probe/tcp/tcp.go`, `pkg/probe/exec/exec.go`,
`cri-client/pkg/remote_runtime.go` (`ExecSync`), v1.36. On a hollow node a gRPC probe
passes where something listens.
"""

from __future__ import annotations

from lifecycle.api.go.duration import go_duration
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.net import join_host_port
from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.node_access import NodeAccess
from lifecycle.kubelet.container.container_facts import expand_command_only_static
from lifecycle.kubelet.container.expansion import ExpansionError
from lifecycle.kubelet.lifecycle.handlers import port_number
from lifecycle.kubelet.lifecycle.http_get_action import PROBE, http_get
from lifecycle.kubelet.prober import grpc_health

MAX_PROBE_RETRIES = 3
MAX_OUTPUT = 10 * 1024
"""Bytes of a command's output that anybody looks at. Upstream: `maxReadLength`."""


class ProbeError(Exception):
    """The question could not be put."""


class Prober:
    """Asks through the runtime and its network."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def probe(
        self, probe: Object, container: Object, container_id: str, ip: str
    ) -> tuple[bool, str]:
        """Whether it passed, and the output if not; of one that passed, a warning.
        Raises ProbeError.
        """
        for attempt in range(MAX_PROBE_RETRIES):
            try:
                return await self._run_probe(probe, container, container_id, ip)
            except ProbeError:
                if attempt == MAX_PROBE_RETRIES - 1:
                    raise
        raise AssertionError("it returns or raises")

    async def _run_probe(
        self, probe: Object, container: Object, container_id: str, ip: str
    ) -> tuple[bool, str]:
        timeout = float(probe.get("timeoutSeconds") or 1)
        if "exec" in probe:
            try:
                command = expand_command_only_static(
                    probe["exec"].get("command") or (), container.get("env") or ()
                )
            except ExpansionError as error:
                raise ProbeError(str(error)) from None
            return await self._exec(container_id, command, timeout)
        if "httpGet" in probe:
            get = probe["httpGet"]
            number = _port(container, get["port"])
            answer = await http_get(self._runtime, get, number, ip, timeout, PROBE)
            if answer.status == 0:
                return False, answer.text
            if not 200 <= answer.status < 400:
                return False, f"HTTP probe failed with statuscode: {answer.status}"
            if answer.status >= 300:  # it led elsewhere
                return True, f"Probe terminated redirects, Response body: {answer.text}"
            return True, ""
        if "tcpSocket" in probe:
            number = _port(container, probe["tcpSocket"]["port"])
            failure = await self._runtime.tcp_connect(
                probe["tcpSocket"].get("host") or ip, number, timeout
            )
            return not failure, failure
        if "grpc" in probe:
            return await self._grpc(
                ip,
                int(probe["grpc"]["port"]),
                probe["grpc"].get("service") or "",
                timeout,
            )
        raise ProbeError(f"missing probe handler for {container['name']}")

    async def _exec(
        self, container_id: str, command: tuple[str, ...], timeout: float
    ) -> tuple[bool, str]:
        try:
            result = await self._runtime.exec_sync(container_id, command, timeout)
        except RuntimeServiceError as error:
            if error.code != "DeadlineExceeded":
                raise ProbeError(str(error)) from None
            command_line = go_quote(" ".join(command))
            return (
                False,
                f"command timed out: {command_line} timed out after "
                f"{go_duration(timeout)}",
            )
        if result.exit_code == 0:
            return True, ""
        return False, (result.stdout + result.stderr)[:MAX_OUTPUT]

    async def _grpc(
        self, ip: str, port: int, service: str, timeout: float
    ) -> tuple[bool, str]:
        if not isinstance(
            self._runtime, NodeAccess
        ):  # a runtime of make-believe: there is no network to go through
            refused = await self._runtime.tcp_connect(ip, port, timeout)
            return not refused, grpc_health.connect_timeout(
                join_host_port(ip, port), timeout
            ) if refused else ""
        netns = self._runtime.host_netns
        failure = await grpc_health.check(ip, port, service, timeout, netns)
        return not failure, failure


def _port(container: Object, port: int | str) -> int:
    try:
        return port_number(container, port)
    except ValueError as error:
        raise ProbeError(str(error)) from None
