"""Programs that whoever starts the cluster supplies: a function for an image, or for a command in it."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.pod_network import HTTPRequest
from lifecycle.cri.hollow.process.process import Process
from lifecycle.cri.hollow.programs import Programs
from lifecycle.cri.hollow.runtime import HollowRuntime
from tests.cri.hollow.test_runtime import on_runtime, started

IMAGE = "registry.example/team/operator"


async def operator(process: Process) -> int:
    process.print(f"watching as {process.argv[0]}")
    process.listen(8080, ["/healthz"])
    await process.terminated()
    process.print("bye")
    return 3


async def backup(process: Process) -> int:
    await process.sleep(5)
    process.complain(" ".join(process.argv))
    return 7


async def migrate(process: Process) -> int:
    data = await process.stdin.read_all()
    (await process.files.open("/tmp/migrated"))(data or b"nothing")
    return 0


async def image_log(runtime: HollowRuntime, container_id: str) -> list[bytes]:
    lines: list[bytes] = []
    runtime.logs.listen(container_id, lambda _, data: lines.append(data))
    return lines


def test_an_image_s_program_prints_listens_and_ends() -> None:
    async def body(runtime: HollowRuntime) -> None:
        await runtime.pull_image(f"{IMAGE}:2")
        container_id = await started(runtime, image=f"{IMAGE}:2")
        lines = await image_log(runtime, container_id)
        await asyncio.sleep(1)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        assert (await runtime.http_get(HTTPRequest(ip, 8080, "/healthz"), 1)).status == 200
        assert (await runtime.http_get(HTTPRequest(ip, 8080, "/"), 1)).status == 404
        begin = asyncio.get_running_loop().time()
        await runtime.stop_container(container_id, 30)
        assert asyncio.get_running_loop().time() == begin
        status = await runtime.container_status(container_id)
        assert (status.state, status.exit_code) == (ContainerState.EXITED, 3)
        assert lines == [b"watching as operator\n", b"bye\n"]
        assert "refused" in await runtime.tcp_connect(ip, 8080, 1)

    on_runtime(body, programs={IMAGE: operator})


def test_a_program_for_one_command_of_an_image() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sleep", "100")
        answer = await runtime.exec_sync(container_id, ("/usr/bin/backup", "all"), 0)
        assert (answer.exit_code, answer.stderr) == (7, "/usr/bin/backup all\n")
        answer = await runtime.exec_sync(container_id, ("sh", "-c", "echo x | migrate; cat /tmp/migrated"), 0)
        assert answer.stdout == "x\n"

    on_runtime(body, programs={("busybox", "backup"): backup, ("*", "migrate"): migrate})


def test_a_program_as_a_container_s_command() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "backup")
        await asyncio.sleep(6)
        assert (await runtime.container_status(container_id)).exit_code == 7

    on_runtime(body, programs={("busybox:1.36", "backup"): backup})


def test_a_program_that_does_not_wait_for_the_signal_is_ended_by_it() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "backup")
        await runtime.stop_container(container_id, 30)
        assert (await runtime.container_status(container_id)).exit_code == 143

    on_runtime(body, programs={("busybox", "backup"): backup})


def test_an_image_with_a_program_exists() -> None:
    async def body(runtime: HollowRuntime) -> None:
        assert await runtime.pull_image("mine:dev")  # no official image of that name
        assert await runtime.pull_image("mine:other")

    on_runtime(body, programs={"mine": operator})


def test_one_that_fails_is_a_program_that_fails() -> None:
    async def broken(process: Process) -> int:
        raise RuntimeError("it broke")

    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "broken")
        lines = await image_log(runtime, container_id)
        await asyncio.sleep(1)
        status = await runtime.container_status(container_id)
        assert (status.state, status.exit_code) == (ContainerState.EXITED, 1)
        assert b"RuntimeError: it broke" in b"".join(lines)

    on_runtime(body, programs={("busybox", "broken"): broken})


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(
        ValueError,
        match=r"the program for 'x' is 'sleep 5'; it should be an async function that takes a Process and returns an exit code$",
    ):
        Programs({"x": "sleep 5"})  # type: ignore[dict-item]
