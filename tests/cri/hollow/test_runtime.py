"""The runtime without containers: what a kubelet can rely on."""

from __future__ import annotations

import asyncio
import gc
import re
import weakref
from collections.abc import Coroutine
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.names import NameSource
from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerMetadata,
    ContainerState,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventResponse
from lifecycle.cri.apis.pod_network import HTTPRequest
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxConfig,
    PodSandboxMetadata,
    PodSandboxState,
)
from lifecycle.cri.hollow.process.process import Service
from lifecycle.cri.hollow.programs import Programs
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.images.reference import normalized_name


def on_runtime(body: Any, **options: Any) -> None:
    async def main() -> None:
        runtime = HollowRuntime(names=NameSource(1), **options)
        await runtime.update_runtime_config("10.244.1.0/24")
        work: Coroutine[Any, Any, None] = body(runtime)
        await work

    run_virtual(main())


def sandbox(uid: str, attempt: int = 0) -> PodSandboxConfig:
    return PodSandboxConfig(PodSandboxMetadata("p", uid, "default", attempt))


def config(*command: str, image: str = "busybox:1.36", memory: int = 0) -> ContainerConfig:
    return ContainerConfig(ContainerMetadata("c"), image, command, (), memory)


async def started(runtime: HollowRuntime, *command: str, image: str = "busybox:1.36", memory: int = 0) -> str:
    sandbox_id = await runtime.run_pod_sandbox(sandbox("u"))
    container_id = await runtime.create_container(sandbox_id, config(*command, image=image, memory=memory))
    await runtime.start_container(container_id)
    return container_id


def test_ids_are_64_hexadecimal_digits_and_addresses_start_at_two() -> None:
    async def body(runtime: HollowRuntime) -> None:
        ids = [await runtime.run_pod_sandbox(sandbox(f"u{i}")) for i in range(3)]
        assert all(re.fullmatch("[0-9a-f]{64}", i) for i in ids)
        ips = [(await runtime.pod_sandbox_status(i)).ip for i in ids]
        assert ips == ["10.244.1.2", "10.244.1.3", "10.244.1.4"]
        await runtime.stop_pod_sandbox(ids[1])
        again = await runtime.run_pod_sandbox(sandbox("u9"))
        assert (await runtime.pod_sandbox_status(again)).ip == "10.244.1.5"  # not the one just given back

    on_runtime(body)


def test_addresses_run_out_and_come_round_again() -> None:
    async def body(runtime: HollowRuntime) -> None:
        ids = [await runtime.run_pod_sandbox(sandbox(f"u{i}")) for i in range(253)]
        with pytest.raises(RuntimeServiceError, match=r"no IP addresses available in range set: 10\.244\.1\.0/24$"):
            await runtime.run_pod_sandbox(sandbox("one too many"))
        await runtime.stop_pod_sandbox(ids[7])
        again = await runtime.run_pod_sandbox(sandbox("next"))
        assert (await runtime.pod_sandbox_status(again)).ip == "10.244.1.9"

    on_runtime(body)


def test_without_a_range_there_is_no_network() -> None:
    async def main() -> None:
        with pytest.raises(RuntimeServiceError, match=r"cni plugin not initialized$"):
            await HollowRuntime().run_pod_sandbox(sandbox("u"))

    run_virtual(main())


def test_a_container_ends_by_itself_and_says_so() -> None:
    async def body(runtime: HollowRuntime) -> None:
        events: list[ContainerEventResponse] = []
        runtime.get_container_events(events.append)
        container_id = await started(runtime, "sh", "-c", "sleep 2; exit 3")
        await asyncio.sleep(1.9)
        assert (await runtime.container_status(container_id)).state is ContainerState.RUNNING
        await asyncio.sleep(0.2)
        status = await runtime.container_status(container_id)
        assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 3, "Error")
        assert status.finished_at - status.started_at == 2_000_000_000
        assert [e.type.name for e in events] == ["STARTED", "STARTED", "STOPPED"]
        assert {e.pod_uid for e in events} == {"u"}

    on_runtime(body)


def test_what_does_not_listen_is_killed_after_the_timeout() -> None:
    async def body(runtime: HollowRuntime) -> None:
        loop = asyncio.get_running_loop()
        deaf = await started(runtime, "sh", "-c", "sleep 3600")
        before = loop.time()
        await runtime.stop_container(deaf, 5)
        assert loop.time() - before == 5
        assert (await runtime.container_status(deaf)).exit_code == 137
        polite = await started(runtime, image="nginx:1.27")
        await runtime.stop_container(polite, 5)
        assert loop.time() - before == 5
        assert (await runtime.container_status(polite)).exit_code == 0
        quick = await started(runtime, "sleep", "1")
        await runtime.stop_container(quick, 5)
        assert (await runtime.container_status(quick)).exit_code == 0
        assert loop.time() - before == 6

    on_runtime(body)


def test_out_of_memory() -> None:
    async def body(runtime: HollowRuntime) -> None:
        hungry = await started(runtime, "sh", "-c", "tail /dev/zero", memory=16 << 20)
        await asyncio.sleep(0.1)
        status = await runtime.container_status(hungry)
        assert (status.exit_code, status.reason) == (137, "OOMKilled")

    on_runtime(body)


def test_a_program_that_is_not_there_cannot_be_started() -> None:
    async def body(runtime: HollowRuntime) -> None:
        with pytest.raises(RuntimeServiceError, match=r"no such file or directory$"):
            await started(runtime, "/no/such")
        status = (await runtime.list_containers())[0]
        assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 128, "StartError")

    on_runtime(body)


def test_stopping_and_removing_a_sandbox_takes_its_containers_along() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, image="nginx:1.27")
        (only,) = await runtime.list_pod_sandbox("u")
        for _ in range(2):  # again does no harm
            await runtime.stop_pod_sandbox(only.id)
        assert (await runtime.container_status(container_id)).state is ContainerState.EXITED
        assert (await runtime.pod_sandbox_status(only.id)).state is PodSandboxState.NOTREADY
        for _ in range(2):
            await runtime.remove_pod_sandbox(only.id)
        assert await runtime.list_pod_sandbox() == []
        assert await runtime.list_containers() == []
        with pytest.raises(RuntimeServiceError, match=r"not found$"):
            await runtime.container_status(container_id)

    on_runtime(body)


def test_a_removed_container_is_gone_without_pythons_garbage_collector() -> None:
    async def body(runtime: HollowRuntime) -> None:
        for command, image in (((), "nginx:1.27"), (("sleep", "1000"), "busybox:1.36"), (("true",), "busybox:1.36")):
            container_id = await started(runtime, *command, image=image)
            container = weakref.ref(runtime._containers[container_id])
            await asyncio.sleep(1)
            for only in await runtime.list_pod_sandbox("u"):
                await runtime.stop_pod_sandbox(only.id)
                await runtime.remove_pod_sandbox(only.id)
            await asyncio.sleep(1)
            assert container() is None

    gc.disable()
    try:
        on_runtime(body)
    finally:
        gc.enable()


def test_images_are_there_pulled_or_unknown() -> None:
    async def body(runtime: HollowRuntime) -> None:
        present = await runtime.image_status("nginx:1.27")
        assert present is not None
        assert present.repo_tags[0] == "docker.io/library/nginx:1.14.2"
        assert await runtime.image_status("nginx") is None
        reference = await runtime.pull_image("nginx")
        pulled = await runtime.image_status("docker.io/nginx:latest")
        assert pulled is not None
        assert re.fullmatch(r"docker.io/library/nginx@sha256:[0-9a-f]{64}", pulled.repo_digests[0])
        assert reference == pulled.id, "a kubelet keeps its records of pulls by what it is told here"
        for name in ("nope.invalid/none:1", "image-that-does-not-exist", "secret/thing"):
            with pytest.raises(RuntimeServiceError):
                await runtime.pull_image(name)
        await runtime.remove_image("nginx")
        assert await runtime.image_status("nginx:latest") is None

    on_runtime(body, missing_images=["secret/thing"])


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("nginx:1.27", "docker.io/library/nginx:1.27"),
        ("curlimages/curl", "docker.io/curlimages/curl:latest"),
        ("registry.k8s.io/pause:3.10", "registry.k8s.io/pause:3.10"),
        ("localhost:5000/x", "localhost:5000/x:latest"),
        ("nginx@sha256:abc", "docker.io/library/nginx@sha256:abc"),
    ],
)
def test_image_names_are_completed_as_containerd_does(name: str, full: str) -> None:
    assert normalized_name(name) == full


def test_what_images_run_by_themselves() -> None:
    programs = Programs()
    web, _ = programs.main("nginx", (), ())
    assert isinstance(web, Service)
    assert web.listens == {80}
    _, argv = programs.main("docker.io/library/busybox:1.36", (), ())
    assert argv == ("sh",)
    anything, _ = programs.main("my/app:1", (), ())
    assert isinstance(anything, Service)


def test_only_a_running_program_that_listens_answers() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, image="nginx:1.27")
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        assert await runtime.tcp_connect(ip, 80, 1) == ""
        assert (await runtime.http_get(HTTPRequest(ip, 80, "/nope"), 1)).status == 404
        assert "connection refused" in await runtime.tcp_connect(ip, 81, 1)
        await runtime.stop_container(container_id, 1)
        assert (await runtime.http_get(HTTPRequest(ip, 80), 1)).status == 0

    on_runtime(body)


@pytest.mark.parametrize(
    ("command", "age", "code", "stderr"),
    [
        (("cat", "/tmp/healthy"), 1, 0, ""),
        (("cat", "/tmp/healthy"), 31, 1, "cat: can't open '/tmp/healthy': No such file or directory\n"),
        (("sh", "-c", "test -e /tmp/healthy"), 1, 0, ""),
        (("[", "-f", "/tmp/late", "]"), 1, 1, ""),
        (("[", "-f", "/tmp/late", "]"), 32, 0, ""),
        (("ls", "/tmp/other"), 1, 1, "ls: /tmp/other: No such file or directory\n"),
        (("test", "1", "-gt", "0"), 1, 0, ""),
    ],
)
def test_files_come_and_go_as_a_script_says(command: tuple[str, ...], age: float, code: int, stderr: str) -> None:
    script = "touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; echo x > /tmp/late; sleep 600"

    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "/bin/sh", "-c", script)
        await asyncio.sleep(age)
        answer = await runtime.exec_sync(container_id, command, 0)
        assert (answer.exit_code, answer.stdout, answer.stderr) == (code, "", stderr)

    on_runtime(body)
