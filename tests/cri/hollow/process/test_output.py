"""A hollow process and somebody who sends much, reads nothing, or presses keys without end: nothing grows without a bound."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from lifecycle.api.httpstream.unread import PIECE, UNREAD
from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.hollow.network.conversation import BAD_REQUEST, MAX_HEADER_BYTES, talk
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.output import CHUNK, Output
from lifecycle.cri.hollow.process.pipes import MOST_INPUT, BrokenPipe, Input, Pipe
from lifecycle.cri.hollow.process.process import Process, play
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.hollow.streaming import N_TTY_BUF_SIZE, typed_lines
from tests.cri.hollow.shell.test_shell import typed
from tests.cri.hollow.test_runtime import config, on_runtime, sandbox, started


class Endless:
    """Sends the same piece over and over; counts."""

    def __init__(self, piece: bytes) -> None:
        self.piece, self.sent = piece, 0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        self.sent += len(self.piece)
        await asyncio.sleep(0)
        return self.piece


async def stuck(data: bytes) -> None:
    await asyncio.get_running_loop().create_future()


@pytest.mark.parametrize(("command", "tty"), [(("cat",), False), (("cat",), True), (("grep", "x"), False)])
def test_who_types_and_does_not_read_is_not_listened_to(command: tuple[str, ...], tty: bool) -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sleep", "100")
        keys = Endless(b"x" * 511 + b"\n")
        running = asyncio.ensure_future(runtime.exec(container_id, command, Streams(keys, stuck, stuck), tty))
        await asyncio.sleep(1)
        assert UNREAD // 128 < keys.sent < UNREAD + CHUNK  # a terminal shows each key by itself
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    on_runtime(body)


def test_who_attaches_and_types_for_a_program_that_does_not_listen_waits() -> None:
    async def body(runtime: HollowRuntime) -> None:
        sandbox_id = await runtime.run_pod_sandbox(sandbox("u"))
        interactive = replace(config("sleep", "100"), stdin=True)
        container_id = await runtime.create_container(sandbox_id, interactive)
        await runtime.start_container(container_id)
        keys = Endless(b"x" * 1000)
        running = asyncio.ensure_future(runtime.attach(container_id, Streams(keys, stuck, stuck)))
        await asyncio.sleep(1)
        assert UNREAD // 2 < keys.sent < UNREAD
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    on_runtime(body)


def test_a_process_that_is_far_ahead_of_its_reader_finds_the_pipe_broken_and_who_overhears_is_cut_off() -> None:
    async def main() -> None:
        output, heard = Output(tty=False), Output(tty=False)
        for _ in range(10):
            output.write("stdout", bytes(MOST_INPUT // 10))
        with pytest.raises(BrokenPipe):
            output.write("stdout", b"x")
        for _ in range(100):
            heard.overhear("stdout", bytes(MOST_INPUT // 10))
        taken: list[int] = []

        async def take(data: bytes) -> None:
            taken.append(len(data))

        async with asyncio.timeout(1):
            await heard.send(Streams(None, take, take))
        assert len(taken) == 10

    run_virtual(main())


def test_who_is_cut_off_costs_nothing_however_much_is_still_said() -> None:
    async def main() -> None:
        heard = Output(tty=False)
        enough = 2 * MOST_INPUT // 1000
        for _ in range(enough):
            heard.overhear("stdout", bytes(1000))
        kept = heard._pieces.qsize()
        assert kept < enough
        for _ in range(100):
            heard.overhear("stdout", bytes(1000))
            heard.end()
        assert heard._pieces.qsize() == kept

        async def take(data: bytes) -> None:
            pass

        await heard.send(Streams(None, take, take))
        heard.overhear("stdout", b"and there is room again")
        heard.end()
        assert heard._pieces.empty()

    run_virtual(main())


class Watched(bytes):
    """Counts the bytes that are copied out of it."""

    copied = 0

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if isinstance(part, int):
            return part
        Watched.copied += len(part)
        return Watched(part)


def test_ten_thousand_lines_in_one_piece_are_read_line_by_line_without_looking_at_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever copies what is left for each of them takes hours for some megabytes; others have their turn in between."""
    turns = 0

    async def pause(_: object) -> None:
        nonlocal turns
        turns += 1

    async def main() -> None:
        monkeypatch.setattr("lifecycle.cri.hollow.process.pipes.Pauses.pause", pause)
        monkeypatch.setattr(Watched, "copied", 0)
        piece = Watched(b"\n" * 10_000 + b"the last")
        stdin = Input(typed(piece))
        count = 0
        while await stdin.readline() == b"\n":
            count += 1
        assert count == 10_000
        assert Watched.copied == len(piece)
        assert turns >= count

    run_virtual(main())


@pytest.mark.parametrize(
    "pieces", [(b"a\nbc\nd",), (b"a", b"\nb", b"c\n", b"d"), (b"", b"a\n", b"", b"bc\n", b"d", b"")]
)
def test_lines_are_whole_however_they_come_and_what_is_left_can_still_be_read(pieces: tuple[bytes, ...]) -> None:
    async def main() -> None:
        stdin = Input(typed(*pieces))
        assert [await stdin.readline() for _ in range(2)] == [b"a\n", b"bc\n"]
        assert await stdin.read_all() == b"d"
        assert await stdin.readline() == b"" == await stdin.read()

    run_virtual(main())


def test_a_line_without_an_end_is_given_up() -> None:
    async def main() -> None:
        endless = Endless(bytes(1 << 20))
        with pytest.raises(NotModelled, match=r"a line of more than 16777216 bytes$"):
            await Input(endless).readline()
        assert endless.sent <= MOST_INPUT + (1 << 20)

    run_virtual(main())


def test_a_pipe_that_nobody_reads_holds_only_so_much() -> None:
    async def main() -> None:
        pipe = Pipe()
        for _ in range(MOST_INPUT // (1000 + PIECE) + 1):
            pipe.write(bytes(1000))
        with pytest.raises(NotModelled, match=r"more than 16777216 bytes in a pipe$"):
            pipe.write(bytes(1000))
        await anext(pipe)
        pipe.write(b"more")

    run_virtual(main())


def test_a_line_that_is_typed_has_4095_bytes_at_most_and_more_keys_do_nothing() -> None:
    async def main() -> None:
        shown = bytearray()
        lines = typed_lines(typed(b"a" * 10_000, b"\x7f\x7fb\n", b"c\n"), shown.extend)
        assert [line async for line in lines] == [b"a" * (N_TTY_BUF_SIZE - 3) + b"b\n", b"c\n"]
        assert shown.count(b"a") == N_TTY_BUF_SIZE - 1 == 4095

    run_virtual(main())


def test_a_head_without_an_end_is_refused_and_heads_in_pieces_are_answered() -> None:
    async def body(runtime: HollowRuntime) -> None:
        sandbox_id = await runtime.run_pod_sandbox(sandbox("u"))
        container_id = await runtime.create_container(sandbox_id, config(image="nginx:1.27"))
        await runtime.start_container(container_id)
        await asyncio.sleep(1)
        said = bytearray()

        async def take(data: bytes) -> None:
            said.extend(data)

        head = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        pieces = [head[:7], head[7:-2], head[-2:] + head + head[:-1], head[-1:]]
        await runtime.port_forward(sandbox_id, 80, Streams(typed(*pieces), take))
        assert said.count(b"HTTP/1.1 200") == 3
        said.clear()
        endless = Endless(b"X-A: b\r\n" * 1000)
        await runtime.port_forward(sandbox_id, 80, Streams(endless, take))
        assert said.startswith(b"HTTP/1.1 431 ")
        assert MAX_HEADER_BYTES < endless.sent < MAX_HEADER_BYTES + 10_000

    on_runtime(body)


def test_requests_in_one_piece_take_turns_with_all_others_and_what_is_none_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = 0

    async def pause(_: object) -> None:
        nonlocal turns
        turns += 1

    async def body(runtime: HollowRuntime) -> None:
        nonlocal turns
        sandbox_id = await runtime.run_pod_sandbox(sandbox("u"))
        container_id = await runtime.create_container(sandbox_id, config(image="nginx:1.27"))
        await runtime.start_container(container_id)
        await asyncio.sleep(1)
        said = bytearray()

        async def take(data: bytes) -> None:
            said.extend(data)

        head = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        server = runtime._containers[container_id]
        monkeypatch.setattr("lifecycle.api.loop.pauses.Pauses.pause", pause)
        turns = 0
        await runtime.port_forward(sandbox_id, 80, Streams(typed(head * 100), take))
        assert said.count(b"HTTP/1.1 200") == 100 <= turns
        turns = 0
        answers = await talk(server, 80, head * 100)
        assert answers.count(b"HTTP/1.1 200") == 100 <= turns
        said.clear()
        await runtime.port_forward(sandbox_id, 80, Streams(typed(head + b"\r\n\r\n" * 1000 + head), take))
        assert (said.count(b"HTTP/1.1 200"), said.count(BAD_REQUEST)) == (1, 1)
        assert await talk(server, 80, head + b"\r\n\r\n" * 1000 + head) == bytes(said)
        assert (await talk(server, 80, head + b"x")).endswith(BAD_REQUEST)

    on_runtime(body)


@pytest.mark.parametrize("failure", [NotModelled("x"), FileNotFoundError(), ValueError()])
def test_who_fails_and_cannot_even_say_so_ends_by_the_broken_pipe(failure: Exception) -> None:
    async def fails(process: Process) -> int:
        raise failure

    async def body(runtime: HollowRuntime) -> None:
        container = runtime._containers[await started(runtime, "sleep", "100")]

        def write(stream: str, data: bytes) -> None:
            raise BrokenPipe

        assert await play(container.process(("x",), Input(), write), fails) == 141

    on_runtime(body)
