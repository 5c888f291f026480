"""The kubelet's side of CRI: every call of `apis/services.py`, made over gRPC on a unix
socket.

Works with any runtime that speaks CRI v1: containerd, CRI-O, or the ones of this
package behind `server.py`. A failed call raises `RuntimeServiceError` with the text
that a Go client prints, `rpc error: code = … desc = …`: this is what users find in
events.

Upstream: `cri-client/pkg/remote_runtime.go`, `remote_image.go`, `util/util_unix.go`
(the socket, 16 MiB messages), v1.36. Left out: the fallback to lists of stats, tracing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from lifecycle.cri import translate
from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventResponse, ContainerEventType
from lifecycle.cri.apis.image import AuthConfig, Image
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
)
from lifecycle.cri.apis.services import ObjectState, VersionResponse
from lifecycle.cri.apis.streams import ExecSyncResponse, Streams
from lifecycle.cri.messages import fields_of, message_class, methods, new
from lifecycle.cri.node_access import NodeAccess
from lifecycle.cri.spdy_executor import run_streams_over_spdy
from lifecycle.cri.streaming_client import ProtocolNotSpoken, forward_port, run_streams

MAX_MESSAGE = 16 * 1024 * 1024
CALL_TIMEOUT = 120.0
"""Seconds for most calls. Upstream: the kubelet's `runtimeRequestTimeout`, 2
minutes.
"""


def go_error(code: str, details: str) -> RuntimeServiceError:
    """The error as Go prints it. `code` in Python's spelling, `NOT_FOUND`."""
    name = (
        "OK" if code == "OK" else "".join(part.capitalize() for part in code.split("_"))
    )
    return RuntimeServiceError(
        f"rpc error: code = {'Canceled' if name == 'Cancelled' else name} desc ="
        f" {details}"
    )


class CriClient(NodeAccess):
    """Implements `Runtime` over a socket. `close` it when done."""

    def __init__(self, socket: str | Path, timeout: float = CALL_TIMEOUT) -> None:
        self._target = f"unix://{socket}"
        self._timeout = timeout
        options = [
            ("grpc.max_receive_message_length", MAX_MESSAGE),
            (
                "grpc.default_authority",
                "localhost",
            ),  # a path is no host name: Go servers refuse it
            ("grpc.use_local_subchannel_pool", 1),
        ]
        self._channel = grpc.aio.insecure_channel(self._target, options=options)
        self._calls: dict[str, Any] = {}
        self._configs: dict[str, PodSandboxConfig] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._needs_spdy = False

    async def close(self) -> None:
        """End the event streams and the connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._channel.close()

    def _call(self, name: str) -> Any:
        if name not in self._calls:
            method = methods()[name]
            make = (
                self._channel.unary_unary
                if method.answers == "one"
                else self._channel.unary_stream
            )
            self._calls[name] = make(
                method.path,
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=message_class(method.response).FromString,
            )
        return self._calls[name]

    async def call(
        self, method: str, request: Fields | None = None, timeout: float | None = None
    ) -> dict[str, Any]:
        """One call with and answering plain dicts: `call("Version", {})`. Raises
        RuntimeServiceError.
        """
        message = new(methods()[method].request, request)
        try:
            return fields_of(
                await self._call(method)(message, timeout=timeout or self._timeout)
            )
        except grpc.aio.AioRpcError as error:
            raise go_error(error.code().name, error.details() or "") from None

    # -- the runtime itself ------------------------------------------------------------

    async def version(self) -> VersionResponse:
        """Name and version."""
        answer = await self.call("Version", {"version": "0.1.0"})
        return VersionResponse(
            answer["runtime_name"],
            answer.get("runtime_version", ""),
            answer.get("runtime_api_version", ""),
        )

    async def status(self) -> dict[str, Any]:
        """Conditions."""
        answer = await self.call("Status")
        conditions = (answer.get("status") or {}).get("conditions") or []
        empty = {"status": False, "reason": "", "message": ""}
        return {
            **answer,
            "conditions": [{**empty, **condition} for condition in conditions],
        }

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """The range of the pods of this node."""
        await self.call(
            "UpdateRuntimeConfig",
            {"runtime_config": {"network_config": {"pod_cidr": pod_cidr}}},
        )

    # -- sandboxes ---------------------------------------------------------------------

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """Takes up to twice the time of other calls, as upstream allows."""
        request = {
            "config": translate.sandbox_config(config),
            "runtime_handler": config.runtime_handler,
        }
        answer = await self.call("RunPodSandbox", request, self._timeout * 2)
        self._configs[answer["pod_sandbox_id"]] = config
        return str(answer["pod_sandbox_id"])

    async def stop_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """And give its address back."""
        await self.call("StopPodSandbox", {"pod_sandbox_id": pod_sandbox_id})

    async def remove_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """And its containers."""
        await self.call("RemovePodSandbox", {"pod_sandbox_id": pod_sandbox_id})
        self._configs.pop(pod_sandbox_id, None)

    async def pod_sandbox_status(self, pod_sandbox_id: str) -> PodSandboxStatus:
        """By id."""
        answer = await self.call("PodSandboxStatus", {"pod_sandbox_id": pod_sandbox_id})
        return translate.read_sandbox_status(answer["status"])

    async def list_pod_sandbox(self, pod_uid: str = "") -> list[PodSandboxStatus]:
        """Newest first, with their addresses: a list on the wire has none, so each is
        asked for.
        """
        items = (await self.call("ListPodSandbox")).get("items") or []
        items = [
            item
            for item in items
            if not pod_uid or (item.get("metadata") or {}).get("uid") == pod_uid
        ]
        items.sort(key=lambda item: -item.get("created_at", 0))
        statuses = await asyncio.gather(
            *(self.pod_sandbox_status(item["id"]) for item in items),
            return_exceptions=True,
        )
        pod_sandboxes: list[PodSandboxStatus] = []
        for status in statuses:
            if isinstance(status, RuntimeServiceError) and status.code == "NotFound":
                continue  # removed in between
            if isinstance(status, BaseException):
                raise status
            pod_sandboxes.append(status)
        return pod_sandboxes

    async def list_states(self) -> list[ObjectState]:
        """Two questions, however many there are. See `StateLister`."""
        sandboxes = (await self.call("ListPodSandbox")).get("items") or []
        uids = {
            item["id"]: (item.get("metadata") or {}).get("uid", "")
            for item in sandboxes
            if self.mine(item.get("labels") or {})
        }
        states = [
            ObjectState(
                item["id"],
                uids[item["id"]],
                PodSandboxState(item.get("state", PodSandboxState.READY.value)),
            )
            for item in sandboxes
            if item["id"] in uids
        ]
        containers = (await self.call("ListContainers")).get("containers") or []
        states += [
            ObjectState(
                item["id"],
                uids[item["pod_sandbox_id"]],
                ContainerState(item.get("state", ContainerState.CREATED.value)),
            )
            for item in containers
            if item["pod_sandbox_id"] in uids
        ]
        return states

    def mine(self, labels: Mapping[str, str]) -> bool:
        """Whether a sandbox with these labels is to be seen."""
        return True

    # -- containers --------------------------------------------------------------------

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig | None = None,
    ) -> str:
        """The sandbox's config goes along: runtimes read the log directory from it."""
        sandbox = sandbox_config or self._configs.get(pod_sandbox_id)
        if sandbox is None:
            status = await self.pod_sandbox_status(pod_sandbox_id)
            sandbox = PodSandboxConfig(status.metadata, labels=status.labels)
        request = {
            "pod_sandbox_id": pod_sandbox_id,
            "config": translate.container_config(config),
            "sandbox_config": translate.sandbox_config(sandbox),
        }
        return str((await self.call("CreateContainer", request))["container_id"])

    async def start_container(self, container_id: str) -> None:
        """Start its program."""
        await self.call("StartContainer", {"container_id": container_id})

    async def stop_container(self, container_id: str, timeout: float) -> None:
        """Waits as long as the program may take, and the usual time on top."""
        request = {"container_id": container_id, "timeout": int(timeout)}
        await self.call("StopContainer", request, self._timeout + timeout)

    async def remove_container(self, container_id: str) -> None:
        """Again does no harm."""
        await self.call("RemoveContainer", {"container_id": container_id})

    async def list_containers(self, pod_sandbox_id: str = "") -> list[ContainerStatus]:
        """Newest first, each with its whole status."""
        request: Fields = (
            {"filter": {"pod_sandbox_id": pod_sandbox_id}} if pod_sandbox_id else {}
        )
        items = (await self.call("ListContainers", request)).get("containers") or []
        items.sort(key=lambda item: -item.get("created_at", 0))
        statuses = await asyncio.gather(
            *(self._status(item["id"], item["pod_sandbox_id"]) for item in items),
            return_exceptions=True,
        )
        containers: list[ContainerStatus] = []
        for status in statuses:
            if isinstance(status, RuntimeServiceError) and status.code == "NotFound":
                continue
            if isinstance(status, BaseException):
                raise status
            containers.append(status)
        return containers

    async def _status(self, container_id: str, pod_sandbox_id: str) -> ContainerStatus:
        answer = await self.call("ContainerStatus", {"container_id": container_id})
        return translate.read_container_status(answer["status"], pod_sandbox_id)

    async def container_status(self, container_id: str) -> ContainerStatus:
        """By id. Which sandbox it is in is asked for too: a status on the wire does not
        say.
        """
        status, listed = await asyncio.gather(
            self._status(container_id, ""),
            self.call("ListContainers", {"filter": {"id": container_id}}),
        )
        for item in listed.get("containers") or ():
            status.pod_sandbox_id = item.get("pod_sandbox_id", "")
        return status

    async def exec_sync(
        self, container_id: str, cmd: tuple[str, ...], timeout: float
    ) -> ExecSyncResponse:
        """The runtime stops it after `timeout` seconds; 0 for never."""
        request = {
            "container_id": container_id,
            "cmd": list(cmd),
            "timeout": int(timeout),
        }
        answer = await self.call(
            "ExecSync", request, timeout + self._timeout if timeout else self._timeout
        )
        stdout, stderr = answer.get("stdout", b""), answer.get("stderr", b"")
        return ExecSyncResponse(
            answer.get("exit_code", 0), translate.text(stdout), translate.text(stderr)
        )

    async def update_container_resources(
        self, container_id: str, resources: Fields
    ) -> None:
        """New limits."""
        await self.call(
            "UpdateContainerResources",
            {"container_id": container_id, "linux": resources},
        )

    async def reopen_container_log(self, container_id: str) -> None:
        """After its log was rotated."""
        await self.call("ReopenContainerLog", {"container_id": container_id})

    async def container_stats(self, container_id: str) -> dict[str, Any]:
        """What it uses."""
        return dict(
            (await self.call("ContainerStats", {"container_id": container_id})).get(
                "stats"
            )
            or {}
        )

    async def list_container_stats(
        self, pod_sandbox_id: str = ""
    ) -> list[dict[str, Any]]:
        """Of all, or those in a sandbox."""
        request: Fields = (
            {"filter": {"pod_sandbox_id": pod_sandbox_id}} if pod_sandbox_id else {}
        )
        return list((await self.call("ListContainerStats", request)).get("stats") or [])

    # -- streams -----------------------------------------------------------------------

    async def exec(
        self,
        container_id: str,
        cmd: tuple[str, ...],
        streams: Streams,
        tty: bool = False,
    ) -> int:
        """The call answers with an address; the streams go there."""
        request = {
            "container_id": container_id,
            "cmd": list(cmd),
            "tty": tty,
            "stdin": streams.stdin is not None,
            "stdout": True,
            "stderr": not tty,
        }
        return await self._run_streams("Exec", request, streams, tty)

    async def attach(
        self, container_id: str, streams: Streams, tty: bool = False
    ) -> None:
        """The same with the container's own process."""
        request = {
            "container_id": container_id,
            "tty": tty,
            "stdin": streams.stdin is not None,
            "stdout": True,
            "stderr": not tty,
        }
        await self._run_streams("Attach", request, streams, tty)

    async def _run_streams(
        self, method: str, request: Fields, streams: Streams, tty: bool
    ) -> int:
        """Over a WebSocket, or SPDY for a runtime that turned out not to speak version
        5. An address is good for one try.
        """
        if not self._needs_spdy:
            try:
                return await run_streams(
                    (await self.call(method, request))["url"], streams, self.host_netns
                )
            except ProtocolNotSpoken:
                self._needs_spdy = True
        return await run_streams_over_spdy(
            (await self.call(method, request))["url"], streams, tty, self.host_netns
        )

    async def port_forward(
        self, pod_sandbox_id: str, port: int, streams: Streams
    ) -> None:
        """One connection."""
        request = {"pod_sandbox_id": pod_sandbox_id, "port": [port]}
        await forward_port(
            (await self.call("PortForward", request))["url"],
            port,
            streams,
            self.host_netns,
        )

    def get_container_events(
        self, handler: Callable[[ContainerEventResponse], None]
    ) -> None:
        """Listens in a task of its own until `close`. A runtime without events
        (containerd before 1.7) never calls.
        """
        task = asyncio.get_running_loop().create_task(self._listen(handler))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self, handler: Callable[[ContainerEventResponse], None]) -> None:
        try:
            async for message in self._call("GetContainerEvents")(
                new("GetEventsRequest")
            ):
                event = fields_of(message)
                metadata = (event.get("pod_sandbox_status") or {}).get("metadata") or {}
                handler(
                    ContainerEventResponse(
                        event.get("container_id", ""),
                        ContainerEventType(
                            event.get("container_event_type", "CONTAINER_CREATED_EVENT")
                        ),
                        event.get("created_at", 0),
                        (event.get("pod_sandbox_status") or {}).get("id", ""),
                        metadata.get("uid", ""),
                    )
                )
        except grpc.aio.AioRpcError:
            return

    # -- images ------------------------------------------------------------------------

    async def list_images(self) -> list[Image]:
        """Largest first."""
        images = (await self.call("ListImages")).get("images") or []
        return sorted(
            (translate.read_image(item) for item in images), key=lambda item: -item.size
        )

    async def image_status(self, image: str) -> Image | None:
        """An answer without an image says that it is not here."""
        fields = (await self.call("ImageStatus", {"image": {"image": image}})).get(
            "image"
        )
        return translate.read_image(fields) if fields else None

    async def pull_image(self, image: str, auth: AuthConfig | None = None) -> str:
        """Without a deadline of its own, as upstream: large images take long."""
        request: dict[str, Any] = {"image": {"image": image}}
        if auth is not None:
            request["auth"] = translate.auth_config(auth)
        return str((await self.call("PullImage", request, 3600.0))["image_ref"])

    async def remove_image(self, image: str) -> None:
        """By any name."""
        await self.call("RemoveImage", {"image": {"image": image}})

    async def image_fs_info(self) -> list[dict[str, Any]]:
        """Where and how much."""
        return list((await self.call("ImageFsInfo")).get("image_filesystems") or [])
