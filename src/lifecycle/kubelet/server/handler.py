"""The kubelet's API: a handful of paths, no resources.

`/pods` shows what the kubelet has been told, `/runningpods/` what the runtime has;
`/containerLogs`, `/exec`, `/attach` and `/portForward` are what the API server calls
for `kubectl logs` and its relatives. Everything but a refusal by the guard in front
(`auth.py`) is plain text and old: the API predates most of Kubernetes' conventions.

Upstream: `pkg/kubelet/server/server.go` (`Server`, `InstallDefaultHandlers`,
`InstallDebuggingHandlers`), v1.36. Left out: `/stats`, `/debug`, `/checkpoint`,
`/run`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.clock import Clock
from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventResponse
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.node_access import NodeAccess
from lifecycle.kubelet.logs.files import RealLogFile
from lifecycle.kubelet.logs.read import (
    ALL_STREAMS,
    InvalidLogOptions,
    LogFile,
    log_options,
    read_logs,
)
from lifecycle.kubelet.server import port_forward, remote_command
from lifecycle.kubelet.server.container_logs import (
    NoLogsError,
    container_for_logs,
    find_container,
)
from lifecycle.kubelet.server.plain_text import plain_text
from lifecycle.kubelet.server.system_logs import SystemLogs

READ, STREAM = ("GET",), ("GET", "POST")
METHODS = {
    **dict.fromkeys(("pods", "runningpods", "containerLogs", "logs"), READ),
    **dict.fromkeys(("exec", "attach", "portForward"), STREAM),
}
"""What go-restful lets through, by the first part of a path."""
_NO_SPLIT_STREAMS = (
    "unable to return the given log stream: {}. Please enable PodLogsQuerySplitStreams"
    " feature gate in kubelet"
)


class KubeletServer:
    """Answers requests. `pods()`: what the kubelet runs; `status(uid)`: the newest
    status of a pod, if any.

    `runtime`: the container runtime; one that keeps its logs itself has `read_log` and
    `log_grown`. `metrics`: what other parts of the kubelet have for `/metrics`.
    `system_logs`: the folder that `/logs` shows.
    """

    def __init__(
        self,
        runtime: Any,
        clock: Clock,
        *,
        pods: Callable[[], Iterable[Object]],
        status: Callable[[str], Object | None],
        configuration: Callable[[], Object] = dict,
        metrics: Iterable[Callable[[], str]] = (),
        system_logs: Path | None = None,
    ) -> None:
        self._runtime = runtime
        self._clock = clock
        self._pods = pods
        self._status = status
        self._configuration = configuration
        self._metrics_of_others = tuple(metrics)
        self._followed: dict[str, asyncio.Event] = {}
        self._system_logs = SystemLogs(system_logs)
        self.requests: dict[tuple[str, int], int] = {}
        """How often each path's first word was answered with which status."""

    async def __call__(self, request: Request) -> Response:
        """Answer."""
        parts = [part for part in request.path.split("/") if part]
        response = await self._route(request, parts)
        key = (parts[0] if parts else "/", response.status)
        self.requests[key] = self.requests.get(key, 0) + 1
        return response

    async def _route(self, request: Request, parts: list[str]) -> Response:
        if parts and request.method not in METHODS.get(parts[0], (request.method,)):
            return plain_text(405, "405: Method Not Allowed")
        match parts:
            case ["healthz"] | ["healthz", "ping" | "log" | "syncloop"]:
                return plain_text(200, "ok")
            case ["pods"]:
                return _json(_pod_list(self._pods()))
            case ["runningpods"]:
                return _json(await self._running_pods())
            case ["configz"]:
                return _json({"kubeletconfig": self._configuration()})
            case ["metrics"]:
                return Response(
                    200,
                    {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
                    body=await self._metrics(),
                )
            case ["logs", *_]:
                return await self._system_logs.serve(request)
            case ["containerLogs", namespace, name, container]:
                return await self._container_logs(request, namespace, name, container)
            case ["exec" | "attach" as what, namespace, name, *uid, container] if (
                len(uid) <= 1
            ):
                return await self._command(request, what, namespace, name, container)
            case ["portForward", namespace, name, *uid] if len(uid) <= 1:
                return await self._port_forward(request, namespace, name)
            case [first, *_] if first in METHODS:
                return plain_text(404, "404: Page Not Found")
        return plain_text(404, "404 page not found\n")

    def container_event(self, event: ContainerEventResponse) -> None:
        """The runtime says that something happened: whoever follows that container's
        log looks up.
        """
        followed = self._followed.get(event.container_id)
        if followed is not None:
            followed.set()

    def _find(self, namespace: str, name: str) -> Object | None:
        """Whose uid does not matter: upstream looks for the name if there is one
        (`FindPod`).
        """
        for pod in self._pods():
            metadata = pod["metadata"]
            if metadata["name"] == name and metadata["namespace"] == namespace:
                return pod
        return None

    # -- what is there -----------------------------------------------------------------

    async def _running_pods(self) -> Object:
        items = []
        for sandbox in await self._runtime.list_pod_sandbox():
            running = [
                {
                    "name": status.metadata.name,
                    "image": status.image_ref,
                    "resources": {},
                }
                for status in reversed(await self._runtime.list_containers(sandbox.id))
                if status.state is ContainerState.RUNNING
            ]
            if running:
                metadata = {
                    "name": sandbox.metadata.name,
                    "namespace": sandbox.metadata.namespace,
                    "uid": sandbox.metadata.uid,
                }
                items.append(
                    {
                        "metadata": metadata,
                        "spec": {"containers": running},
                        "status": {},
                    }
                )
        return _pod_list(items)

    async def _metrics(self) -> bytes:
        statuses = await self._runtime.list_containers()
        by_state: dict[str, int] = {}
        for status in statuses:
            name = status.state.value.removeprefix("CONTAINER_").lower()
            by_state[name] = by_state.get(name, 0) + 1
        sandboxes = [
            s
            for s in await self._runtime.list_pod_sandbox()
            if s.state.value == "SANDBOX_READY"
        ]
        lines = ["# TYPE kubelet_running_containers gauge"]
        lines += [
            f'kubelet_running_containers{{container_state="{k}"}} {v}'
            for k, v in sorted(by_state.items())
        ]
        lines += [
            "# TYPE kubelet_running_pods gauge",
            f"kubelet_running_pods {len(sandboxes)}",
        ]
        lines.append("# TYPE kubelet_http_requests_total counter")
        for (path, code), count in sorted(self.requests.items()):
            lines.append(
                f'kubelet_http_requests_total{{code="{code}",path="{path}"}} {count}'
            )
        others = (metrics() for metrics in self._metrics_of_others)
        return ("\n".join(lines) + "\n" + "".join(others)).encode()

    # -- logs --------------------------------------------------------------------------

    async def _container_logs(
        self, request: Request, namespace: str, name: str, container: str
    ) -> Response:
        try:
            options = log_options(request, self._clock.now())
        except ValueError:
            return plain_text(400, '{"message": "Unable to decode query."}')
        except InvalidLogOptions:
            return plain_text(422, '{"message": "Invalid request."}')
        pod = self._find(namespace, name)
        if pod is None:
            return plain_text(404, f'pod "{name}" does not exist')
        if find_container(pod, container) is None:
            return plain_text(404, f'container "{container}" not found in pod "{name}"')
        if options.stream != ALL_STREAMS:
            return plain_text(400, _NO_SPLIT_STREAMS.format(go_quote(options.stream)))
        status = self._status(pod["metadata"]["uid"]) or pod.get("status") or {}
        try:
            container_id = container_for_logs(name, status, container, options.previous)
            run = await self._runtime.container_status(container_id)
            file = self._log_file(run)
            file.size()
        except NoLogsError as error:
            return plain_text(400, str(error))
        except RuntimeServiceError:
            return plain_text(
                400,
                f"unable to retrieve container logs for containerd://{container_id}",
            )
        except FileNotFoundError as error:
            return plain_text(
                400, f"failed to try resolving symlinks in path {str(error)!r}"
            )
        ended = asyncio.Event()

        async def stream() -> AsyncIterator[bytes]:
            if options.follow and run.state is ContainerState.RUNNING:
                self._followed[run.id] = ended
            try:
                running = not (
                    options.previous or run.state is not ContainerState.RUNNING
                )
                async for piece in read_logs(
                    file, options, lambda: running and not ended.is_set(), ended
                ):
                    yield piece
            finally:
                self._followed.pop(run.id, None)

        return Response(
            200,
            {"Content-Type": "text/plain"},
            stream=stream(),  # type: ignore[arg-type]
            encode_frame=_as_it_is,
        )

    def _log_file(self, run: ContainerStatus) -> LogFile:
        if isinstance(self._runtime, NodeAccess):
            return RealLogFile(run.log_path)
        return _RuntimeLogFile(self._runtime, run.log_path)

    # -- streams -----------------------------------------------------------------------

    async def _running(self, pod: Object, container: str) -> ContainerStatus | None:
        for sandbox in await self._runtime.list_pod_sandbox(pod["metadata"]["uid"]):
            for status in await self._runtime.list_containers(sandbox.id):
                if (
                    status.metadata.name == container
                    and status.state is ContainerState.RUNNING
                ):
                    return status
        return None

    async def _command(
        self, request: Request, what: str, namespace: str, name: str, container: str
    ) -> Response:
        try:
            options = remote_command.new_options(request)
        except ValueError as error:
            return plain_text(400, str(error))
        pod = self._find(namespace, name)
        if pod is None:
            return plain_text(404, "pod does not exist")
        status = await self._running(pod, container)
        if status is None:
            return plain_text(500, f'container not found ("{container}")')
        command = tuple(request.query.get("command", ()))

        async def run(streams: Streams) -> int | None:
            if what == "exec":
                code: int = await self._runtime.exec(
                    status.id, command, streams, options.tty
                )
                return code
            await self._runtime.attach(status.id, streams, options.tty)
            return None

        return remote_command.serve(request, options, command, run)

    async def _port_forward(
        self, request: Request, namespace: str, name: str
    ) -> Response:
        pod = self._find(namespace, name)
        if pod is None:
            return plain_text(404, "pod does not exist")
        ready = [
            s
            for s in await self._runtime.list_pod_sandbox(pod["metadata"]["uid"])
            if s.state.value == "SANDBOX_READY"
        ]
        if not ready:
            return plain_text(500, f'pod not found ("{name}_{namespace}")')

        async def forward(port: int, streams: Streams) -> None:
            await self._runtime.port_forward(ready[0].id, port, streams)

        return port_forward.serve(
            request, forward, f"{ready[0].id}, uid "
        )  # the runtime's server knows of no uid


class _RuntimeLogFile:
    """A log that the runtime keeps itself, as the hollow one does."""

    def __init__(self, runtime: Any, path: str) -> None:
        self._runtime, self._path = runtime, path

    def read(self, offset: int = 0, size: int = -1) -> bytes:
        """See `LogFile`."""
        try:
            data: bytes = self._runtime.read_log(self._path, offset, size)
        except FileNotFoundError:
            # a real runtime opens the file before it knows whether the program can be
            # run
            return b""
        return data

    def size(self) -> int:
        """See `LogFile`."""
        try:
            size: int = self._runtime.log_size(self._path)
        except FileNotFoundError:
            return 0
        return size

    async def grown(self, size: int) -> None:
        """See `LogFile`."""
        await self._runtime.log_grown(self._path, size)


def _as_it_is(piece: Any) -> bytes:
    return bytes(piece)


def _pod_list(pods: Iterable[Object]) -> Object:
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": list(pods)}


def _json(obj: Object) -> Response:
    return Response(
        200, {"Content-Type": "application/json"}, body=fast_json.dumps(obj)
    )
