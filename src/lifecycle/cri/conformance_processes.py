"""The part of the conformance suite that needs real programs: namespaces, layers,
users, limits, signals, streams.

Ours, after `cri-tools`' `critest` (`pkg/validate`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

from lifecycle.cri.apis.container import ContainerStatus
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.conformance_subject import PATIENCE, Subject, check, refused


@check(processes=True)
async def a_private_image_needs_the_password(subject: Subject) -> None:
    """Refused without and with a wrong one."""
    if not subject.private_image:
        return
    async with refused("", "401 Unauthorized"):
        await subject.runtime.pull_image(subject.private_image)
    async with refused("", "401 Unauthorized"):
        await subject.runtime.pull_image(
            subject.private_image, AuthConfig("reader", "wrong")
        )
    await subject.runtime.pull_image(
        subject.private_image, AuthConfig("reader", subject.password)
    )
    assert await subject.runtime.image_status(subject.private_image) is not None


@check(processes=True)
async def containers_of_a_pod_share_network_and_names_but_not_processes(
    subject: Subject,
) -> None:
    """The same namespaces by number, localhost reaches the neighbour, and each is its
    own process 1.
    """
    config = subject.sandbox_config("shared")
    sandbox_id = await subject.sandbox(config)
    first = await subject.container(
        sandbox_id, config, "httpd -f -p 127.0.0.1:8080 -h /www", "first"
    )
    second = await subject.container(sandbox_id, config, "sleep 1000", "second")
    links = (
        "sh",
        "-c",
        "for n in net ipc uts pid mnt; do readlink /proc/1/ns/$n; done",
    )
    one, two = [
        (await subject.runtime.exec_sync(c, links, 5)).stdout.split()
        for c in (first, second)
    ]
    assert one[:3] == two[:3], f"network, IPC and UTS are the pod's: {one} {two}"
    assert one[3] != two[3], f"processes are the container's own: {one} {two}"
    assert one[4] != two[4], f"mounts are the container's own: {one} {two}"
    page = await subject.runtime.exec_sync(
        second, ("wget", "-qO-", "http://127.0.0.1:8080/index.html"), 5
    )
    assert page.stdout == "It works.\n", page
    assert (
        await subject.runtime.exec_sync(second, ("hostname",), 5)
    ).stdout == "shared\n"
    listed = (
        await subject.runtime.exec_sync(second, ("ps", "-o", "pid,args"), 5)
    ).stdout
    assert "httpd" not in listed, listed
    assert "1 sleep 1000" in listed, listed


@check(processes=True)
async def with_a_shared_pid_namespace_pause_is_process_one(subject: Subject) -> None:
    """And it buries the dead that nobody else does."""
    config = subject.sandbox_config("together")
    linux = {**config.linux, "security_context": {"namespace_options": {"pid": "POD"}}}
    config = replace(config, linux=linux)
    sandbox_id = await subject.sandbox(config)
    shared = {"security_context": {"namespace_options": {"pid": "POD"}}}
    first = await subject.container(
        sandbox_id, config, "sleep 1001", "first", linux=shared
    )
    await subject.container(sandbox_id, config, "sleep 1002", "second", linux=shared)
    listed = (
        await subject.runtime.exec_sync(first, ("ps", "-o", "pid,args"), 5)
    ).stdout
    assert "1 /pause" in listed, listed
    assert "sleep 1002" in listed, listed
    # the shell in between leaves at once; its child then belongs to process 1, and dies
    # a moment later
    await subject.runtime.exec_sync(first, ("sh", "-c", "(sleep 0.1 &) ; exit 0"), 5)
    await asyncio.sleep(0.3)
    states = (
        await subject.runtime.exec_sync(first, ("ps", "-o", "pid,stat,args"), 5)
    ).stdout
    assert " Z" not in states, states


@check(processes=True)
async def a_container_sees_its_image_and_what_is_mounted(subject: Subject) -> None:
    """Layers with their white-outs, a writable top, read-only mounts, and none of the
    machine's files.
    """
    config = subject.sandbox_config("files")
    sandbox_id = await subject.sandbox(config)
    mount = {
        "container_path": "/given",
        "host_path": subject.directory,
        "readonly": True,
    }
    container_id = await subject.container(
        sandbox_id, config, "sleep 1000", mounts=(mount,)
    )
    script = (
        "ls /lower /lower/opaque; cat /lower/replaced; touch /made && ls /made; touch"
        " /given/x; ls -d /given"
    )
    answer = await subject.runtime.exec_sync(container_id, ("sh", "-c", script), 5)
    assert "taken-away" not in answer.stdout, answer
    assert "hidden" not in answer.stdout, answer
    for part in ("seen", "new\n", "/made", "/given"):
        assert part in answer.stdout, (part, answer)
    assert "Read-only file system" in answer.stderr, answer


@check(processes=True)
async def a_container_can_neither_leave_nor_change_its_cgroups(
    subject: Subject,
) -> None:
    """It sees its own groups, read-only, though it is root: no new groups, no move,
    nobody else's groups.
    """
    config = subject.sandbox_config("limited")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(sandbox_id, config, "sleep 1000")
    script = (
        "for f in $(find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs); do"
        " d=${f%/*};mkdir $d/mine && rmdir $d/mine && echo new group in $d; echo 0 >$f"
        " && echo moved to $d;grep -qx 1 $f && echo member of $d; done; find"
        " /sys/fs/cgroup -mindepth 2 -type d"
    )
    answer = await subject.runtime.exec_sync(container_id, ("sh", "-c", script), 5)
    assert answer.stdout, "process 1 is in none of the groups shown"
    for line in answer.stdout.splitlines():
        assert line.startswith("member of "), line
    assert "Read-only file system" in answer.stderr, answer


@check(processes=True)
async def user_groups_and_capabilities_are_what_was_asked_for(subject: Subject) -> None:
    """From the image's own user list; without capabilities; without a way to new
    ones.
    """
    config = subject.sandbox_config("user")
    sandbox_id = await subject.sandbox(config)
    security = {
        "run_as_user": {"value": 1000},
        "supplemental_groups": [3000],
        "no_new_privs": True,
        "capabilities": {"drop_capabilities": ["ALL"]},
        "namespace_options": {"pid": "CONTAINER"},
    }
    options: dict[str, Any] = {
        "linux": {"security_context": security},
        "working_dir": "/tmp",
    }
    container_id = await subject.container(sandbox_id, config, "sleep 1000", **options)
    script = (
        "id -u; id -g; id -G; pwd; grep -E 'CapBnd|CapEff|NoNewPrivs' /proc/1/status"
    )
    words = (
        await subject.runtime.exec_sync(container_id, ("sh", "-c", script), 5)
    ).stdout.split()
    assert words[:2] == ["1000", "1000"], words
    groups = set(words[2 : words.index("/tmp")])
    assert groups == {"1000", "2000", "3000"}, words
    facts = dict(
        zip(words[words.index("/tmp") + 1 :: 2], words[words.index("/tmp") + 2 :: 2])
    )
    assert int(facts["CapEff:"], 16) == 0, facts
    assert int(facts["CapBnd:"], 16) == 0, facts
    assert facts["NoNewPrivs:"] == "1", facts


async def _end_of_the_greedy(
    subject: Subject,
    sandbox_id: str,
    config: PodSandboxConfig,
    linux: dict[str, Any],
    meanwhile: Callable[[str], Awaitable[None]] | None = None,
) -> ContainerStatus:
    """How a program ended that took too much memory. `meanwhile` gets the container's
    id before it does.

    containerd hears of the kernel's kill and of the exit on two ways. If the first
    arrives second (or never, from a program that lived for milliseconds), it says
    `Error` and leaves it at that: containerd's issues 8180 and 12260. So the program
    lives a little, and has three lives.
    """
    for name in ("first", "second", "third"):
        container_id = await subject.container(
            sandbox_id, config, "sleep 0.5; tail /dev/zero", name, linux=linux
        )
        if meanwhile is not None:
            await meanwhile(container_id)
        status = await subject.ended(container_id)
        if status.reason == "OOMKilled":
            break
    return status


@check(processes=True)
async def who_takes_too_much_memory_is_killed(subject: Subject) -> None:
    """Limits are the cgroup's; the reason is told."""
    config = subject.sandbox_config("greedy")
    sandbox_id = await subject.sandbox(config)
    linux = {
        "resources": {"memory_limit_in_bytes": 16 * 1024 * 1024, "cpu_shares": 102},
        "security_context": {"namespace_options": {"pid": "CONTAINER"}},
    }
    status = await _end_of_the_greedy(subject, sandbox_id, config, linux)
    assert (status.exit_code, status.reason) == (137, "OOMKilled"), status


@check(processes=True)
async def a_program_that_listens_ends_in_its_own_way(subject: Subject) -> None:
    """SIGTERM first: it has its time, and its own exit code."""
    config = subject.sandbox_config("polite")
    sandbox_id = await subject.sandbox(config)
    script = (
        "trap 'echo goodbye; exit 7' TERM; echo ready; while true; do sleep 0.05; done"
    )
    container_id = await subject.container(sandbox_id, config, script)
    status = await subject.runtime.container_status(container_id)
    await subject.log(status.log_path, 1)
    await subject.runtime.stop_container(container_id, 10)
    status = await subject.ended(container_id)
    assert status.exit_code == 7, status
    assert ("stdout", "goodbye") in await subject.log(status.log_path, 2)


@check(processes=True)
async def a_rotated_log_begins_anew(subject: Subject) -> None:
    """The kubelet renames the file and asks for a new one."""
    config = subject.sandbox_config("rotate")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(
        sandbox_id, config, "while true; do echo line; sleep 0.02; done"
    )
    path = (await subject.runtime.container_status(container_id)).log_path
    await subject.log(path, 2)
    os.rename(path, path + ".old")
    await subject.runtime.reopen_container_log(container_id)
    assert await subject.log(path, 2)


@check(processes=True)
async def limits_change_while_it_runs(subject: Subject) -> None:
    """`update_container_resources`, seen from inside or, on a machine that hides it, in
    the status.
    """
    config = subject.sandbox_config("resize")
    sandbox_id = await subject.sandbox(config)
    linux = {
        "resources": {"memory_limit_in_bytes": 64 * 1024 * 1024, "cpu_shares": 102},
        "security_context": {"namespace_options": {"pid": "CONTAINER"}},
    }

    async def resize(container_id: str) -> None:
        await subject.runtime.update_container_resources(
            container_id, {"memory_limit_in_bytes": 32 * 1024 * 1024}
        )
        stats = await subject.runtime.container_stats(container_id)
        assert stats["attributes"]["id"] == container_id, stats

    status = await _end_of_the_greedy(subject, sandbox_id, config, linux, resize)
    assert status.reason == "OOMKilled", status


@check(processes=True)
async def a_port_of_the_pod_is_reached_through_the_runtime(subject: Subject) -> None:
    """Even one that only listens on the pod's loopback; and a closed one is refused."""
    config = subject.sandbox_config("forward")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(
        sandbox_id, config, "httpd -f -p 127.0.0.1:8080 -h /www"
    )
    for _ in range(100):  # until it listens
        if (
            await subject.runtime.exec_sync(
                container_id, ("wget", "-qO-", "http://127.0.0.1:8080/"), 5
            )
        ).exit_code == 0:
            break
    output: list[bytes] = []

    async def hear(data: bytes) -> None:
        output.append(data)

    async def ask() -> AsyncIterator[bytes]:
        yield b"GET /index.html HTTP/1.0\r\n\r\n"
        await asyncio.sleep(5)

    await asyncio.wait_for(
        subject.runtime.port_forward(sandbox_id, 8080, Streams(ask(), hear)), PATIENCE
    )
    assert b"It works.\n" in b"".join(output), output
    async with refused("", "connection refused"):
        await asyncio.wait_for(
            subject.runtime.port_forward(sandbox_id, 81, Streams(None, hear)), PATIENCE
        )


@check(processes=True)
async def one_can_attach_to_the_program_itself(subject: Subject) -> None:
    """What it is told it hears, what it says one hears."""
    config = subject.sandbox_config("attach")
    sandbox_id = await subject.sandbox(config)
    # it waits for a good-bye: what a process says with its last breath, containerd may
    # not pass on any more
    script = "read line; echo heard $line; read line; exit 6"
    container_id = await subject.container(sandbox_id, config, script, stdin=True)
    output: list[bytes] = []
    answered = asyncio.Event()

    async def hear(data: bytes) -> None:
        output.append(data)
        answered.set()

    async def speak() -> AsyncIterator[bytes]:
        yield b"something\n"
        await answered.wait()
        yield b"good-bye\n"

    await asyncio.wait_for(
        subject.runtime.attach(container_id, Streams(speak(), hear)), PATIENCE
    )
    assert b"".join(output) == b"heard something\n", output
    assert (await subject.ended(container_id)).exit_code == 6


@check(processes=True)
async def a_command_that_never_stops_writing_is_stopped_in_time(
    subject: Subject,
) -> None:
    """However much it says until then."""
    config = subject.sandbox_config("endless")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(sandbox_id, config, "sleep 1000")
    async with refused("DeadlineExceeded", "context deadline exceeded"):
        await asyncio.wait_for(
            subject.runtime.exec_sync(container_id, ("cat", "/dev/zero"), 1), PATIENCE
        )
    listed = await subject.runtime.exec_sync(container_id, ("ps", "-o", "args"), 5)
    assert "/dev/zero" not in listed.stdout, listed


@check(processes=True)
async def a_terminal_is_a_terminal(subject: Subject) -> None:
    """`exec -t`: one stream, lines ended as on a terminal."""
    config = subject.sandbox_config("terminal")
    sandbox_id = await subject.sandbox(config)
    container_id = await subject.container(sandbox_id, config, "sleep 1000")
    output: list[bytes] = []

    async def hear(data: bytes) -> None:
        output.append(data)

    async def silence() -> AsyncIterator[bytes]:
        await asyncio.sleep(10)
        yield b""

    script = "sleep 0.3; test -t 0 && echo yes; echo also here >&2; sleep 0.3; exit 2"
    call = subject.runtime.exec(
        container_id, ("sh", "-c", script), Streams(silence(), hear), True
    )
    code = await asyncio.wait_for(call, PATIENCE)
    assert (code, b"".join(output)) == (2, b"yes\r\nalso here\r\n"), (code, output)
