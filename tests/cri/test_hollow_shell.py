"""What hollow containers make of shell scripts: how long, which code, what is said, and what a signal does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.clock import run_virtual
from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.hollow.commands import asks_to_end
from lifecycle.cri.hollow.process import Program
from lifecycle.cri.hollow.programs import program_of
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.hollow.shell_syntax import Operator, tokens
from tests.cri.test_hollow import on_runtime, started


def script(text: str, image: str = "busybox:1.36", **envs: str) -> Program:
    return program_of(image, ("sh", "-c", text), (), envs)


def said(program: Program) -> list[tuple[float, str, str]]:
    return [(line.after, line.stream, line.text) for line in program.output]


@pytest.mark.parametrize(
    ("text", "seconds", "code"),
    [
        ("for i in 1 2 3; do sleep 1; done; exit 4", 3, 4),
        ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); sleep 2; done", 6, 0),
        ('if [ "$A" = 1 ]; then exit 9; else exit 8; fi', 0, 9),
        ("if test -f /tmp/none; then exit 1; elif true; then exit 2; fi", 0, 2),
        ("nosuch", 0, 127),
        ("nosuch || exit 5", 0, 5),
        ("exit 300", 0, 44),
        ("set -e; false; exit 7", 0, 1),
        ("set -e; if false; then true; fi; false || true; exit 7", 0, 7),
        ("! true", 0, 1),
        ("sleep 3 & sleep 1; wait", 3, 0),
        ("timeout 2 sleep 5", 2, 143),
        ("(sleep 1; exit 3)", 1, 3),
        ("echo 'a; exit 9'; sleep 1", 1, 0),
        ("touch /tmp/x; cat /tmp/x && rm /tmp/x; cat /tmp/x || exit 6", 0, 6),
        ("sleep infinity", None, 0),
        ("until [ -f /tmp/go ]; do sleep 1; done", None, 0),
        ("(sleep 2; touch /tmp/go) & until [ -f /tmp/go ]; do sleep 1; done; exit 3", 2, 3),
        ("tail -f /dev/null", None, 0),
        ("if true; then", 0, 2),
    ],
)
def test_a_script_takes_its_time_and_ends_as_it_should(text: str, seconds: float | None, code: int) -> None:
    program = script(text, A="1")
    assert (program.runs_for, program.exit_code) == (seconds, code)


def test_what_a_script_says_and_where() -> None:
    assert said(script("echo one; sleep 1; echo two >&2")) == [(0, "stdout", "one"), (1, "stderr", "two")]
    assert said(script("echo a > /tmp/f; echo b >> /tmp/f")) == [(0, ">/tmp/f", "a"), (0, ">>/tmp/f", "b")]
    assert said(script("nosuch 2>/dev/null; echo $?")) == [(0, "stdout", "127")]
    assert said(script("env | sort | head -2", B="2", A="1")) == [(0, "stdout", "A=1"), (0, "stdout", "B=2")]
    assert said(script("echo '$A' \"$A\"", A="1")) == [(0, "stdout", "$$A 1")]  # doubled: said as it is
    assert said(script("seq 3 | grep 2")) == [(0, "stdout", "2")]


def test_words_and_operators_are_told_apart() -> None:
    found = tokens("echo 'a;b' \"c d\";x 2>&1 | y>z # no")
    assert found == ["echo", "a;b", "c d", ";", "x", "2>", "&1", "|", "y", "1>", "z"]
    assert [type(token) is Operator for token in found] == [False] * 3 + [
        True,
        False,
        True,
        False,
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "after", "ends", "code"),
    [
        ("sleep 3600", 1, 6, 137),  # process 1 is deaf
        ("trap 'exit 0' TERM; sleep 3600", 1, 6, 137),  # the trap waits for the command
        ("trap 'exit 3' TERM; sleep 3600 & wait", 1, 1, 3),
        ("trap 'sleep 2; exit 3' TERM; sleep 3600 & wait", 1, 3, 3),
        ("trap 'exit 5' TERM; while true; do sleep 2; done", 3, 4, 5),
        ("trap 'echo no' TERM; sleep 3600 & wait", 1, 1, 143),
        ("trap '' TERM; sleep 3600 & wait", 1, 6, 137),
        ("exec sleep 3", 1, 3, 0),  # deaf, but soon done
    ],
)
def test_what_a_shell_hears_of_a_signal(text: str, after: float, ends: float, code: int) -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sh", "-c", text)
        begin = asyncio.get_running_loop().time()
        await asyncio.sleep(after)
        await runtime.stop_container(container_id, 5)
        assert asyncio.get_running_loop().time() - begin == pytest.approx(ends)
        assert (await runtime.container_status(container_id)).exit_code == code

    on_runtime(body)


@pytest.mark.parametrize(
    ("command", "image", "why"),
    [
        (("nosuch",), "busybox:1.36", 'exec: "nosuch": executable file not found in $PATH'),
        (("/bin/nosuch",), "busybox", 'exec: "/bin/nosuch": stat /bin/nosuch: no such file or directory'),
        (("curl", "x"), "busybox", 'exec: "curl": executable file not found in $PATH'),
        (("curl", "x"), "nginx:1.27", ""),
        (("anything",), "example.com/mine:1", ""),
    ],
)
def test_what_an_image_does_not_have_cannot_be_started(command: tuple[str, ...], image: str, why: str) -> None:
    assert program_of(image, command, ()).start_error == why


def test_a_command_ends_with_the_container_it_runs_in() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sh", "-c", "sleep 3")
        begin = asyncio.get_running_loop().time()
        answer = await runtime.exec_sync(container_id, ("sleep", "60"), 0)
        assert (answer.exit_code, asyncio.get_running_loop().time() - begin) == (137, 3)

    on_runtime(body)


def test_a_command_may_ask_the_program_to_end() -> None:
    async def body(runtime: HollowRuntime) -> None:
        web = await started(runtime, image="nginx:1.27")
        assert (await runtime.exec_sync(web, ("/usr/sbin/nginx", "-s", "quit"), 0)).exit_code == 0
        await asyncio.sleep(0.1)
        status = await runtime.container_status(web)
        assert (status.state, status.exit_code) == (ContainerState.EXITED, 0)
        deaf = await started(runtime, "sh", "-c", "sleep 3600")
        await runtime.exec_sync(deaf, ("kill", "1"), 0)
        await asyncio.sleep(0.1)
        assert (await runtime.container_status(deaf)).state is ContainerState.RUNNING

    on_runtime(body)


def test_which_commands_end_process_1() -> None:
    asked: list[Any] = [("kill", "-TERM", "1"), ("sh", "-c", "sleep 1; kill 1"), ("nginx", "-s", "stop")]
    assert all(asks_to_end(command) for command in asked)
    assert not any(asks_to_end(command) for command in [("kill", "-9", "1"), ("kill", "17"), ("echo", "kill")])


def test_a_loop_says_the_same_again_and_again() -> None:
    async def main() -> str:
        lines: list[str] = []

        async def body(runtime: HollowRuntime) -> None:
            container_id = await started(runtime, "sh", "-c", "echo first; while true; do echo again; sleep 2; done")
            runtime.logs.listen(container_id, lambda _, data: lines.append(data.decode().strip()))
            await asyncio.sleep(5)

        runtime = HollowRuntime()
        await runtime.update_runtime_config("10.244.1.0/24")
        await body(runtime)
        return " ".join(lines)

    assert run_virtual(main()) == "again again"  # two and four seconds after the start; what came before is said once
