"""The runtime's side of CRI: any `Runtime` of this package, served over gRPC on a unix
socket.

With it `crictl`, a real kubelet or `client.py` can talk to our runtimes. Every call is
a few lines: read the message, ask the runtime, write the answer. What the runtime does
not know, it refuses as unimplemented, as containerd does.

Upstream: containerd `internal/cri/server/service.go`,
`internal/cri/instrument/instrumented_service.go`; the calls are those of
`cri-api/pkg/apis/runtime/v1/api.proto`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from lifecycle.cri import translate
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventResponse
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.messages import fields_of, message_class, methods, new
from lifecycle.cri.streaming_server import StreamingServer, until_none

Answer = dict[str, Any]


class CriServer:
    """Serves one runtime. `async with CriServer(runtime, socket):`."""

    def __init__(self, runtime: Runtime, socket: str | Path) -> None:
        self._runtime = runtime
        self.socket = Path(socket)
        self._server: Any = None
        self._streaming = StreamingServer(runtime)

    async def start(self) -> None:
        """Listen."""
        await self._streaming.start()
        self.socket.parent.mkdir(parents=True, exist_ok=True)
        self.socket.unlink(missing_ok=True)
        self._server = grpc.aio.server()
        handlers: dict[str, dict[str, Any]] = {}
        for method in methods().values():
            kind = (
                grpc.unary_unary_rpc_method_handler
                if method.answers == "one"
                else grpc.unary_stream_rpc_method_handler
            )
            handlers.setdefault(f"runtime.v1.{method.service}", {})[method.name] = kind(
                self._unary(method.name)
                if method.answers == "one"
                else self._stream(method.name),
                request_deserializer=message_class(method.request).FromString,
                response_serializer=lambda message: message.SerializeToString(),
            )
        for service, calls in handlers.items():
            self._server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service, calls),)
            )
        self._server.add_insecure_port(f"unix://{self.socket}")
        await self._server.start()

    async def close(self) -> None:
        """Stop listening; what runs goes on running."""
        if self._server is not None:
            await self._server.stop(0.5)
        await self._streaming.close()
        self.socket.unlink(missing_ok=True)

    async def __aenter__(self) -> CriServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _unary(self, name: str) -> Callable[[Any, Any], Awaitable[Any]]:
        response = methods()[name].response
        handler: Callable[[Fields], Awaitable[Answer]] | None = getattr(
            self, "_" + _snake(name), None
        )

        async def call(request: Any, context: Any) -> Any:
            if handler is None:
                return await context.abort(
                    grpc.StatusCode.UNIMPLEMENTED, f"method {name} not implemented"
                )
            try:
                return new(response, await handler(fields_of(request)))
            except RuntimeServiceError as error:
                code, details = status_of(error)
                await context.abort(code, details)

        return call

    def _stream(self, name: str) -> Callable[[Any, Any], AsyncIterator[Any]]:
        async def refuse(request: Any, context: Any) -> AsyncIterator[Any]:
            await context.abort(
                grpc.StatusCode.UNIMPLEMENTED, f"method {name} not implemented"
            )
            yield

        return self._get_container_events if name == "GetContainerEvents" else refuse

    async def _get_container_events(
        self, request: Any, context: Any
    ) -> AsyncIterator[Any]:
        events: asyncio.Queue[ContainerEventResponse | None] = asyncio.Queue()
        self._runtime.get_container_events(events.put_nowait)
        async for event in until_none(events):
            try:
                sandbox = translate.sandbox_status(
                    await self._runtime.pod_sandbox_status(event.pod_sandbox_id)
                )
                statuses = [
                    translate.container_status(s)
                    for s in await self._runtime.list_containers(event.pod_sandbox_id)
                ]
            except RuntimeServiceError:  # gone already: the event names it all the same
                sandbox, statuses = (
                    {"id": event.pod_sandbox_id, "metadata": {"uid": event.pod_uid}},
                    [],
                )
            fields = {
                "container_id": event.container_id,
                "container_event_type": event.type.value,
                "created_at": event.created_at,
                "pod_sandbox_status": sandbox,
                "containers_statuses": statuses,
            }
            yield new("ContainerEventResponse", fields)

    # -- RuntimeService ----------------------------------------------------------------

    async def _version(self, request: Fields) -> Answer:
        version = await self._runtime.version()
        return {
            "version": "0.1.0",
            "runtime_name": version.runtime_name,
            "runtime_version": version.runtime_version,
            "runtime_api_version": version.runtime_api_version,
        }

    async def _status(self, request: Fields) -> Answer:
        status = await self._runtime.status()
        answer: Answer = {"status": {"conditions": status["conditions"]}}
        for name in ("runtime_handlers", "features"):
            if name in status:
                answer[name] = status[name]
        return answer

    async def _update_runtime_config(self, request: Fields) -> Answer:
        network = (request.get("runtime_config") or {}).get("network_config") or {}
        if network.get("pod_cidr"):
            await self._runtime.update_runtime_config(network["pod_cidr"])
        return {}

    async def _runtime_config(self, request: Fields) -> Answer:
        return {"linux": {"cgroup_driver": "CGROUPFS"}}

    async def _run_pod_sandbox(self, request: Fields) -> Answer:
        config = translate.read_sandbox_config(
            request.get("config") or {}, request.get("runtime_handler", "")
        )
        return {"pod_sandbox_id": await self._runtime.run_pod_sandbox(config)}

    async def _stop_pod_sandbox(self, request: Fields) -> Answer:
        await self._runtime.stop_pod_sandbox(request.get("pod_sandbox_id", ""))
        return {}

    async def _remove_pod_sandbox(self, request: Fields) -> Answer:
        await self._runtime.remove_pod_sandbox(request.get("pod_sandbox_id", ""))
        return {}

    async def _pod_sandbox_status(self, request: Fields) -> Answer:
        status = await self._runtime.pod_sandbox_status(
            request.get("pod_sandbox_id", "")
        )
        return {"status": translate.sandbox_status(status)}

    async def _list_pod_sandbox(self, request: Fields) -> Answer:
        items = [
            translate.sandbox_status(status)
            for status in await self._runtime.list_pod_sandbox()
        ]
        kept = [
            item
            for item in items
            if _matches(request.get("filter") or {}, item, "SANDBOX_READY")
        ]
        names = (
            "id",
            "metadata",
            "state",
            "created_at",
            "labels",
            "annotations",
            "runtime_handler",
        )
        return {"items": [{name: item[name] for name in names} for item in kept]}

    async def _create_container(self, request: Fields) -> Answer:
        config = translate.read_container_config(request.get("config") or {})
        sandbox = translate.read_sandbox_config(request.get("sandbox_config") or {})
        return {
            "container_id": await self._runtime.create_container(
                request.get("pod_sandbox_id", ""), config, sandbox
            )
        }

    async def _start_container(self, request: Fields) -> Answer:
        await self._runtime.start_container(request.get("container_id", ""))
        return {}

    async def _stop_container(self, request: Fields) -> Answer:
        await self._runtime.stop_container(
            request.get("container_id", ""), float(request.get("timeout", 0))
        )
        return {}

    async def _remove_container(self, request: Fields) -> Answer:
        await self._runtime.remove_container(request.get("container_id", ""))
        return {}

    async def _list_containers(self, request: Fields) -> Answer:
        containers: list[Answer] = []
        for status in await self._runtime.list_containers():
            item = {
                **translate.container_status(status),
                "pod_sandbox_id": status.pod_sandbox_id,
            }
            if _matches(request.get("filter") or {}, item, "CONTAINER_CREATED"):
                names = (
                    "id",
                    "pod_sandbox_id",
                    "metadata",
                    "image",
                    "image_ref",
                    "state",
                    "created_at",
                    "labels",
                )
                containers.append(
                    {name: item[name] for name in (*names, "annotations", "image_id")}
                )
        return {"containers": containers}

    async def _container_status(self, request: Fields) -> Answer:
        status = await self._runtime.container_status(request.get("container_id", ""))
        return {"status": translate.container_status(status)}

    async def _exec_sync(self, request: Fields) -> Answer:
        answer = await self._runtime.exec_sync(
            request.get("container_id", ""),
            tuple(request.get("cmd") or ()),
            float(request.get("timeout", 0)),
        )
        return {
            "exit_code": answer.exit_code,
            "stdout": answer.stdout,
            "stderr": answer.stderr,
        }

    async def _update_container_resources(self, request: Fields) -> Answer:
        await self._runtime.update_container_resources(
            request.get("container_id", ""), request.get("linux") or {}
        )
        return {}

    async def _reopen_container_log(self, request: Fields) -> Answer:
        await self._runtime.reopen_container_log(request.get("container_id", ""))
        return {}

    async def _container_stats(self, request: Fields) -> Answer:
        return {
            "stats": await self._runtime.container_stats(
                request.get("container_id", "")
            )
        }

    async def _list_container_stats(self, request: Fields) -> Answer:
        return {
            "stats": await self._runtime.list_container_stats(
                (request.get("filter") or {}).get("pod_sandbox_id", "")
            )
        }

    async def _exec(self, request: Fields) -> Answer:
        await self._runtime.container_status(
            request.get("container_id", "")
        )  # complains if there is none
        return {"url": self._streaming.url_for("exec", dict(request))}

    async def _attach(self, request: Fields) -> Answer:
        await self._runtime.container_status(request.get("container_id", ""))
        return {"url": self._streaming.url_for("attach", dict(request))}

    async def _port_forward(self, request: Fields) -> Answer:
        await self._runtime.pod_sandbox_status(request.get("pod_sandbox_id", ""))
        return {"url": self._streaming.url_for("portforward", dict(request))}

    # -- ImageService ------------------------------------------------------------------

    async def _list_images(self, request: Fields) -> Answer:
        reference = ((request.get("filter") or {}).get("image") or {}).get("image", "")
        if reference:
            image = await self._runtime.image_status(reference)
            return {"images": [translate.image(image)] if image else []}
        return {
            "images": [
                translate.image(image) for image in await self._runtime.list_images()
            ]
        }

    async def _image_status(self, request: Fields) -> Answer:
        image = await self._runtime.image_status(
            (request.get("image") or {}).get("image", "")
        )
        return {"image": translate.image(image)} if image else {}

    async def _pull_image(self, request: Fields) -> Answer:
        auth = translate.read_auth_config(request.get("auth"))
        return {
            "image_ref": await self._runtime.pull_image(
                (request.get("image") or {}).get("image", ""), auth
            )
        }

    async def _remove_image(self, request: Fields) -> Answer:
        await self._runtime.remove_image((request.get("image") or {}).get("image", ""))
        return {}

    async def _image_fs_info(self, request: Fields) -> Answer:
        return {"image_filesystems": await self._runtime.image_fs_info()}


def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


def _matches(conditions: Fields, item: Answer, first_state: str) -> bool:
    """Every condition of a list's filter holds. `first_state` is the state that an
    empty message stands for.
    """
    if not item["id"].startswith(conditions.get("id", "")):  # a short id will do
        return False
    if "state" in conditions and item["state"] != conditions["state"].get(
        "state", first_state
    ):
        return False
    if (
        conditions.get("pod_sandbox_id")
        and item["pod_sandbox_id"] != conditions["pod_sandbox_id"]
    ):
        return False
    selector = conditions.get("label_selector") or {}
    return all(item["labels"].get(key) == value for key, value in selector.items())


def status_of(error: RuntimeServiceError) -> tuple[grpc.StatusCode, str]:
    """The code and the text that go on the wire, so that a client prints the same error
    again.
    """
    details = str(error).partition(" desc = ")[2] or str(error)
    snake = "".join("_" + c if c.isupper() else c.upper() for c in error.code).lstrip(
        "_"
    )
    name = "CANCELLED" if snake == "CANCELED" else snake
    return getattr(grpc.StatusCode, name, grpc.StatusCode.UNKNOWN), details
