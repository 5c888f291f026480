"""One probe: ask a container how it is, once.

Upstream: `pkg/kubelet/prober/prober.go` (`probe`, `runProbe`), `pkg/probe/http/http.go`, `pkg/probe/tcp/tcp.go`,
`pkg/probe/exec/exec.go`, v1.36. Left out: HTTPS, redirects. On a hollow node a gRPC probe passes where something listens.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.cri.node_access import NodeAccess
from lifecycle.cri.runtime import Runtime, RuntimeServiceError
from lifecycle.kubelet.hooks import port_number
from lifecycle.kubelet.probes import grpc_health


class Prober:
    """Asks through the runtime and its network."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def probe(self, probe: Object, container: Object, container_id: str, ip: str) -> tuple[bool, str]:
        """Whether it passed, and the output if not."""
        timeout = float(probe.get("timeoutSeconds") or 1)
        try:
            if "exec" in probe:
                command = tuple(probe["exec"].get("command") or ())
                result = await self._runtime.exec_sync(container_id, command, timeout)
                return result.exit_code == 0, result.stdout + result.stderr
            if "httpGet" in probe:
                get = probe["httpGet"]
                number = port_number(container, get["port"])
                code, why = await self._runtime.http_get(get.get("host") or ip, number, get.get("path") or "/", timeout)
                if code == 0:
                    return False, why
                return 200 <= code < 400, f"HTTP probe failed with statuscode: {code}"
            if "tcpSocket" in probe:
                number = port_number(container, probe["tcpSocket"]["port"])
                why = await self._runtime.tcp_connect(probe["tcpSocket"].get("host") or ip, number, timeout)
                return not why, why
            if "grpc" in probe:
                return await self._grpc(ip, int(probe["grpc"]["port"]), probe["grpc"].get("service") or "", timeout)
        except (RuntimeServiceError, ValueError) as error:
            return False, str(error)
        return True, ""

    async def _grpc(self, ip: str, port: int, service: str, timeout: float) -> tuple[bool, str]:
        if not isinstance(self._runtime, NodeAccess):  # a runtime of make-believe: there is no network to go through
            refused = await self._runtime.tcp_connect(ip, port, timeout)
            return not refused, grpc_health.connect_timeout(f"{ip}:{port}", timeout) if refused else ""
        why = await grpc_health.check(ip, port, service, timeout)
        return not why, why
