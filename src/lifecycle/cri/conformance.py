"""What every container runtime owes the kubelet, as checks that run against any
implementation of `Runtime`.

The same suite runs against the hollow runtime, our sandbox runtime and a real
containerd; a reader's own runtime can be put to it as well. Each check gets a `Subject`
and raises AssertionError, with what was expected, or returns. A check marked
`processes` needs a runtime that runs real programs.

Ours, after `cri-tools`' `critest` (kubernetes-sigs/cri-tools `pkg/validate`), which
does the same for real runtimes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.pod_sandbox import PodSandboxState
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.conformance_subject import (
    CHECKS,
    NEEDS_PROCESSES,
    PATIENCE,
    Subject,
    check,
    refused,
)

__all__ = ["CHECKS", "NEEDS_PROCESSES", "Subject", "run_check"]


async def run_check(name: str, subject: Subject) -> None:
    """One check, and its sandboxes removed afterwards, whatever happened."""
    try:
        await subject.runtime.pull_image(subject.image)
        await CHECKS[name](subject)
    finally:
        for sandbox_id in subject.sandboxes:
            await subject.runtime.stop_pod_sandbox(sandbox_id)
            await subject.runtime.remove_pod_sandbox(sandbox_id)
        subject.sandboxes.clear()


@check()
async def it_says_what_it_is_and_that_it_is_ready(subject: Subject) -> None:
    """Version and conditions."""
    version = await subject.runtime.version()
    assert version.runtime_name, "a runtime has a name"
    assert version.runtime_api_version == "v1", version
    conditions = {
        c["type"]: c["status"] for c in (await subject.runtime.status())["conditions"]
    }
    assert conditions == {"RuntimeReady": True, "NetworkReady": True}, conditions


@check()
async def a_sandbox_lives_is_stopped_and_removed(subject: Subject) -> None:
    """READY, NOTREADY, gone; to stop it twice or to remove what is gone does no
    harm.
    """
    runtime, config = subject.runtime, subject.sandbox_config("life")
    sandbox_id = await subject.sandbox(config)
    status = await runtime.pod_sandbox_status(sandbox_id)
    assert status.state is PodSandboxState.READY, status
    assert status.metadata == config.metadata, status
    assert status.labels == {"app": "life"}, status.labels
    assert status.annotations == {"note": "kept"}, status.annotations
    assert status.namespace_options.get("pid") == "CONTAINER", status.namespace_options
    assert len(sandbox_id) == 64, sandbox_id
    listed = await runtime.list_pod_sandbox(config.metadata.uid)
    assert [item.id for item in listed] == [sandbox_id], listed
    await runtime.stop_pod_sandbox(sandbox_id)
    await runtime.stop_pod_sandbox(sandbox_id)
    assert (
        await runtime.pod_sandbox_status(sandbox_id)
    ).state is PodSandboxState.NOTREADY
    await runtime.remove_pod_sandbox(sandbox_id)
    await runtime.remove_pod_sandbox(sandbox_id)
    subject.sandboxes.remove(sandbox_id)
    async with refused("NotFound", "try to find sandbox"):
        await runtime.pod_sandbox_status(sandbox_id)


@check()
async def a_container_goes_from_created_to_running_to_exited(subject: Subject) -> None:
    """Times in order, names kept, and its exit code at the end."""
    runtime, config = subject.runtime, subject.sandbox_config("states")
    sandbox_id = await subject.sandbox(config)
    container_config = subject.container_config(("sh", "-c", "sleep 0.3; exit 3"))
    container_id = await runtime.create_container(sandbox_id, container_config, config)
    status = await runtime.container_status(container_id)
    assert status.state is ContainerState.CREATED, status
    assert status.pod_sandbox_id == sandbox_id, status
    await runtime.start_container(container_id)
    status = await runtime.container_status(container_id)
    assert status.state is ContainerState.RUNNING, status
    assert (status.metadata, dict(status.labels)) == (
        container_config.metadata,
        {"container": "c"},
    ), status
    assert status.log_path == f"{config.log_directory}/c/0.log", status.log_path
    status = await subject.ended(container_id)
    assert (status.exit_code, status.reason) == (3, "Error"), status
    assert 0 < status.created_at < status.started_at < status.finished_at, status
    assert [c.id for c in await runtime.list_containers(sandbox_id)] == [container_id]
    await runtime.remove_container(container_id)
    await runtime.remove_container(container_id)
    assert await runtime.list_containers(sandbox_id) == []


@check()
async def what_a_program_writes_is_in_its_log(subject: Subject) -> None:
    """Both streams, each line with its name, and the environment it was given."""
    config = subject.sandbox_config("logs")
    sandbox_id = await subject.sandbox(config)
    script = "echo hello $NAME; echo problem >&2; exit 0"
    container_id = await subject.container(
        sandbox_id, config, script, envs=(("NAME", "reader"),)
    )
    status = await subject.ended(container_id)
    assert (status.exit_code, status.reason) == (0, "Completed"), status
    lines = await subject.log(status.log_path, 2)
    assert sorted(lines) == [("stderr", "problem"), ("stdout", "hello reader")], lines


@check()
async def what_cannot_be_started_says_why(subject: Subject) -> None:
    """The container has ended with 128 before it began."""
    config = subject.sandbox_config("absent")
    sandbox_id = await subject.sandbox(config)
    container_config = subject.container_config(("/no/such/program",))
    container_id = await subject.runtime.create_container(
        sandbox_id, container_config, config
    )
    async with refused(
        "", 'exec: "/no/such/program": stat /no/such/program: no such file or directory'
    ):
        await subject.runtime.start_container(container_id)
    status = await subject.ended(container_id)
    assert (status.exit_code, status.reason) == (128, "StartError"), status


@check()
async def what_is_not_there_is_not_found(subject: Subject) -> None:
    """And an image that is not here cannot be run."""
    async with refused("NotFound"):
        await subject.runtime.container_status("no-such-container")
    config = subject.sandbox_config("missing")
    sandbox_id = await subject.sandbox(config)
    async with refused("", "not found"):
        container_config = replace(
            subject.container_config(("sh",)), image="no.invalid/such/image:1"
        )
        await subject.runtime.create_container(sandbox_id, container_config, config)
    assert await subject.runtime.image_status("no.invalid/such/image:1") is None


@check()
async def a_command_runs_beside_the_container(subject: Subject) -> None:
    """`exec_sync`: its output, its exit code; and it is stopped when its time is up."""
    config = subject.sandbox_config("exec")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(
        sandbox_id, config, "sleep 1000", envs=(("NAME", "reader"),)
    )
    answer = await subject.runtime.exec_sync(
        container_id, ("sh", "-c", "echo to $NAME; echo oh >&2; exit 4"), 10
    )
    assert (answer.exit_code, answer.stdout, answer.stderr) == (
        4,
        "to reader\n",
        "oh\n",
    ), answer
    async with refused("DeadlineExceeded", "timeout 1s exceeded"):
        await subject.runtime.exec_sync(container_id, ("sleep", "30"), 1)


@check()
async def a_stopped_program_that_does_not_listen_is_killed(subject: Subject) -> None:
    """A shell as process 1 does not hear SIGTERM; after the time it was given it is
    gone with 137.
    """
    config = subject.sandbox_config("deaf")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(sandbox_id, config, "sleep 1000; true")
    await subject.runtime.stop_container(container_id, 1)
    status = await subject.ended(container_id)
    assert (status.exit_code, status.reason) == (137, "Error"), status


@check()
async def events_tell_what_happens(subject: Subject) -> None:
    """Started and stopped; a runtime from before events existed (containerd 1.6) says
    nothing, which is allowed.
    """
    heard: list[Any] = []
    subject.runtime.get_container_events(heard.append)
    await asyncio.sleep(0.05)
    config = subject.sandbox_config("events")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(sandbox_id, config, "exit 0")
    await subject.ended(container_id)
    await asyncio.sleep(0.1)
    kinds = [event.type.name for event in heard if event.container_id == container_id]
    assert kinds in (
        [],
        ["STARTED", "STOPPED"],
        ["CREATED", "STARTED", "STOPPED"],
    ), kinds


@check()
async def a_command_can_be_talked_to(subject: Subject) -> None:
    """`exec` with streams: what goes in comes out, the end of the input is heard, and
    the exit code comes at the end.
    """
    config = subject.sandbox_config("talk")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(sandbox_id, config, "sleep 1000")
    output: list[bytes] = []

    async def hear(data: bytes) -> None:
        output.append(data)

    async def speak() -> AsyncIterator[bytes]:
        yield b"one line\n"

    code = await asyncio.wait_for(
        subject.runtime.exec(container_id, ("cat",), Streams(speak(), hear)), PATIENCE
    )
    assert (code, b"".join(output)) == (0, b"one line\n"), (code, output)
    code = await asyncio.wait_for(
        subject.runtime.exec(container_id, ("sh", "-c", "exit 5"), Streams(None, hear)),
        PATIENCE,
    )
    assert code == 5, code


@check()
async def images_are_pulled_listed_and_removed(subject: Subject) -> None:
    """By name, by id, and gone."""
    runtime = subject.runtime
    reference = await runtime.pull_image(subject.image)
    pulled = await runtime.image_status(subject.image)
    assert pulled is not None, "the image just pulled"
    assert reference in (pulled.id, *pulled.repo_digests), (reference, pulled)
    assert await runtime.image_status(pulled.id) == pulled
    assert pulled.size > 0, pulled
    assert pulled.id in [image.id for image in await runtime.list_images()]
    assert (await runtime.image_fs_info())[0]["fs_id"]["mountpoint"]
    await runtime.remove_image(pulled.id)
    await runtime.remove_image(pulled.id)
    assert await runtime.image_status(subject.image) is None
    await runtime.pull_image(subject.image)


import lifecycle.cri.conformance_processes  # noqa: E402,F401 - registers the checks that need programs, after these
