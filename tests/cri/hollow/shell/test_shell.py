"""What hollow containers make of shell scripts: how long, which code, what is said, and what a signal does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import ExecSyncResponse, Streams
from lifecycle.cri.hollow.process.pipes import FILLED
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.hollow.shell.syntax import Operator, Parser, UnsupportedSyntax, tokens
from tests.cri.hollow.test_runtime import on_runtime, started

NOT_RUN = "lifecycle: {}: not run: hollow containers run no programs, and imitate only a few; real ones run with --runtime sandbox\n"


def play(*command: str, image: str = "busybox:1.36") -> tuple[ExecSyncResponse, float]:
    """The answer of a command in a container, and the seconds that it took."""

    async def main() -> tuple[ExecSyncResponse, float]:
        runtime = HollowRuntime()
        await runtime.update_runtime_config("10.244.1.0/24")
        await runtime.pull_image(image)
        container_id = await started(runtime, "sleep", "36000", image=image)
        begin = asyncio.get_running_loop().time()
        answer = await runtime.exec_sync(container_id, command, 0)
        return answer, asyncio.get_running_loop().time() - begin

    return run_virtual(main())


def script(text: str, image: str = "busybox:1.36") -> tuple[int, str, str]:
    answer, _ = play("sh", "-c", text, image=image)
    return answer.exit_code, answer.stdout, answer.stderr


@pytest.mark.parametrize(
    ("text", "seconds", "code"),
    [
        ("for i in 1 2 3; do sleep 1; done; exit 4", 3, 4),
        ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); sleep 2; done", 6, 0),
        ('A=1; if [ "$A" = 1 ]; then exit 9; else exit 8; fi', 0, 9),
        ("if test -f /tmp/none; then exit 1; elif true; then exit 2; fi", 0, 2),
        ("nosuch", 0, 127),
        ("nosuch || exit 5", 0, 5),
        ("exit 300", 0, 44),
        ("false && exit 4", 0, 1),
        ("true && sleep 2 && exit 5", 2, 5),
        ("set -e; false; exit 7", 0, 1),
        ("set -e; if false; then true; fi; false || true; exit 7", 0, 7),
        ("set -u; echo $NOPE; exit 7", 0, 2),
        ("set -o pipefail; false | true", 0, 1),
        ("! true", 0, 1),
        ("sleep 3 & sleep 1; wait", 3, 0),
        ("(sleep 1; exit 6) & wait $!", 1, 6),
        ("timeout 2 sleep 5", 2, 143),
        ("(sleep 1; exit 3)", 1, 3),
        ("echo 'a; exit 9'; sleep 1", 1, 0),
        ("touch /tmp/x; cat /tmp/x && rm /tmp/x; cat /tmp/x || exit 6", 0, 6),
        ("(sleep 2; touch /tmp/go) & until [ -f /tmp/go ]; do sleep 1; done; exit 3", 2, 3),
        ("if true; then", 0, 2),
        ("while true; do :; done & sleep 5; exit 1", 5, 1),
        ("for i in 1 2; do for j in 1 2; do sleep 1; break 2; done; done", 1, 0),
        ("sleep 1 | sleep 2", 2, 0),
        ("exit", 0, 0),
    ],
)
def test_a_script_takes_its_time_and_ends_as_it_should(text: str, seconds: float, code: int) -> None:
    answer, took = play("sh", "-c", text)
    assert (took, answer.exit_code) == (pytest.approx(seconds), code)


@pytest.mark.parametrize(
    ("text", "stdout", "stderr"),
    [
        ("echo one; echo two >&2", "one\n", "two\n"),
        ("echo a > /tmp/f; echo b >> /tmp/f; cat /tmp/f", "a\nb\n", ""),
        ("nosuch 2>/dev/null; echo $?", "127\n", ""),
        ("export B=2; C=3; env | grep '^[BC]='", "B=2\n", ""),
        ("A=1; echo '$A' \"$A\" \\$A", "$A 1 $A\n", ""),
        ("seq 3 | grep 2", "2\n", ""),
        ("printf %s abc", "abc", ""),
        ("printf '%d-%s\\n' 1 a 2 b", "1-a\n2-b\n", ""),
        ("printf '%5.1s|%%\\t%x\\n' abc 255", "    a|%\tff\n", ""),
        ("echo -n a; echo -e 'b\\tc'", "ab\tc\n", ""),
        ("x='1  2'; echo $x; echo \"$x\"", "1 2\n1  2\n", ""),
        ("for w in $(seq 2) `echo 3`; do echo $w; done", "1\n2\n3\n", ""),
        ("echo ${X:-d} ${X-e} ${#PATH}", "d e 60\n", ""),
        ("echo $((7/2)) $((-7/2)) $((2>1)) $(( (1+2)*3 ))", "3 -3 1 9\n", ""),
        ('set -- a \'b c\'; for i in "$@"; do echo "$i"; done; echo $#', "a\nb c\n2\n", ""),
        ("touch /tmp/q1 /tmp/q2; echo /tmp/q* '/tmp/q*' /tmp/z*", "/tmp/q1 /tmp/q2 /tmp/q* /tmp/z*\n", ""),
        ("{ echo a; echo b; } | wc -l", "2\n", ""),
        ("printf 'a b\\nc' | while read x y; do echo \"$y$x\"; done", "ba\n", ""),
        ("trap 'echo bye' EXIT; echo hi", "hi\nbye\n", ""),
        ("exec echo hi; echo no", "hi\n", ""),
        ('A=1 env | grep A=; echo "<$A>"', "A=1\n<>\n", ""),
        ("cd /tmp; pwd; echo x > y; cat /tmp/y", "/tmp\nx\n", ""),
        ("echo x > /nosuch/y", "", "sh: can't create /nosuch/y: nonexistent directory\n"),
        ("seq 100000 | head -1", "1\n", ""),
        ("hostname; cat /etc/hostname", "p\np\n", ""),
        ("date -u +%Y-%m-%dT%H:%M:%SZ", "2027-01-01T00:00:00Z\n", ""),
        (
            "mkdir -p /tmp/a/b; touch /tmp/a/b/c; ls /tmp/a /tmp/a/b; rm -r /tmp/a; ls /tmp",
            "/tmp/a:\nb\n\n/tmp/a/b:\nc\n",
            "",
        ),
    ],
)
def test_what_a_script_says(text: str, stdout: str, stderr: str) -> None:
    assert script(text)[1:] == (stdout, stderr)


def test_date_is_the_cluster_s() -> None:
    answer, _ = play("date")
    assert answer.stdout == "Fri Jan  1 00:00:00 UTC 2027\n"


def test_ls_lists_what_an_image_is_known_to_have() -> None:
    answer, _ = play("ls", "/")
    assert answer.stdout.split() == [
        "bin",
        "dev",
        "etc",
        "home",
        "lib",
        "lib64",
        "proc",
        "root",
        "sys",
        "tmp",
        "usr",
        "var",
    ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("wget -q http://x", "wget -q http://x"),
        ("ls -l /", "ls -l /"),
        ("ls /usr", "ls /usr"),
        ("cat /etc/passwd", "cat /etc/passwd"),
        ("case x in x) ;; esac", "the shell's case"),
        ("f() { true; }; f", "a function of the shell"),
        ("cat <<E\nx\nE", "a here-document (<<)"),
        ("echo ${X%%.*}", "the shell's ${X%%.*}"),
        ("umask", "the shell's umask"),
    ],
)
def test_what_is_not_modelled_fails_and_says_so_in_one_line(text: str, named: str) -> None:
    assert script(text) == (126, "", NOT_RUN.format(named))


def test_a_command_that_nobody_plays_is_not_run() -> None:
    answer, took = play("/opt/tool", "--flag", image="registry.example/tool:1")
    assert (answer.exit_code, answer.stdout, answer.stderr, took) == (126, "", NOT_RUN.format("/opt/tool --flag"), 0)


def test_a_command_that_an_image_does_not_have_is_not_there() -> None:
    with pytest.raises(RuntimeServiceError, match=r'exec: "curl": executable file not found in \$PATH$'):
        play("curl", "x")


def test_words_and_operators_are_told_apart() -> None:
    result = tokens("echo 'a;b' \"c d\";x 2>&1 | y>z # no")
    shown = [token if isinstance(token, Operator) else "".join(part.text for part in token.parts) for token in result]
    assert shown == ["echo", "a;b", "c d", ";", "x", "2>&", "1", "|", "y", "1>", "z"]
    assert [i for i, token in enumerate(result) if isinstance(token, Operator)] == [3, 5, 7, 9]


@pytest.mark.parametrize(
    "text", ["if true", "while", "(echo", "echo 'x", "echo $(x", "a &&", "a | | b", "fi", "for 1 in", ")"]
)
def test_what_is_no_script_is_a_syntax_error(text: str) -> None:
    with pytest.raises(ValueError, match="syntax error"):
        Parser(text).script()


def test_nesting_has_a_bound() -> None:
    with pytest.raises(UnsupportedSyntax, match=r"more than 50 levels of nesting$"):
        Parser("(" * 100 + "true" + ")" * 100).script()
    assert script("echo 'sh /tmp/x' > /tmp/x; sh /tmp/x")[0] == 126
    assert script('x=\'eval "$x"\'; eval "$x"')[0] == 126


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
        (("/bin/nosuch",), "busybox:1.36", 'exec: "/bin/nosuch": stat /bin/nosuch: no such file or directory'),
        (("curl", "x"), "busybox:1.36", 'exec: "curl": executable file not found in $PATH'),
    ],
)
def test_what_an_image_does_not_have_cannot_be_started(command: tuple[str, ...], image: str, why: str) -> None:
    async def body(runtime: HollowRuntime) -> None:
        with pytest.raises(RuntimeServiceError) as error:
            await started(runtime, *command, image=image)
        assert str(error.value).endswith(why)

    on_runtime(body)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("python", "app.py"), None),  # whatever it is, it runs on
        (("sh", "-c", "exec /app/server"), None),
        (("sh", "-c", "echo starting; /app/server --port 1"), None),
        (("sh", "-c", "/app/migrate && /app/server"), 126),  # nobody knows how the first one would have ended
        (("wget", "http://x"), 126),  # a tool that would have ended
    ],
)
def test_a_container_whose_command_nobody_plays(command: tuple[str, ...], code: int | None) -> None:
    async def body(runtime: HollowRuntime) -> None:
        await runtime.pull_image("registry.example/app:1")
        container_id = await started(runtime, *command, image="registry.example/app:1")
        await asyncio.sleep(1)
        status = await runtime.container_status(container_id)
        assert (status.state is ContainerState.EXITED, status.exit_code) == (code is not None, code or 0)

    on_runtime(body)


def test_a_command_ends_with_the_container_it_runs_in() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sh", "-c", "sleep 3")
        begin = asyncio.get_running_loop().time()
        answer = await runtime.exec_sync(container_id, ("sleep", "60"), 0)
        assert (answer.exit_code, asyncio.get_running_loop().time() - begin) == (137, 3)

    on_runtime(body)


def test_a_command_may_take_too_long() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sleep", "100")
        with pytest.raises(RuntimeServiceError, match=r"timeout 2s exceeded: context deadline exceeded$"):
            await runtime.exec_sync(container_id, ("sleep", "60"), 2)

    on_runtime(body)


def test_a_command_may_ask_the_program_to_end() -> None:
    async def body(runtime: HollowRuntime) -> None:
        web = await started(runtime, image="nginx:1.27")
        assert (await runtime.exec_sync(web, ("/usr/sbin/nginx", "-s", "quit"), 0)).exit_code in (0, 137)
        await asyncio.sleep(0.1)
        status = await runtime.container_status(web)
        assert (status.state, status.exit_code) == (ContainerState.EXITED, 0)
        deaf = await started(runtime, "sh", "-c", "sleep 3600")
        await runtime.exec_sync(deaf, ("kill", "1"), 0)
        await runtime.exec_sync(deaf, ("sh", "-c", "kill -TERM 1"), 0)
        await asyncio.sleep(0.1)
        assert (await runtime.container_status(deaf)).state is ContainerState.RUNNING

    on_runtime(body)


async def typed(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


@pytest.mark.parametrize(
    ("command", "pieces", "tty", "code", "output"),
    [
        (("cat",), (b"typed\n", b"more"), False, 0, b"typed\nmore"),
        (("sh", "-c", "cat"), (b"typed\n", b"more"), False, 0, b"typed\nmore"),
        (("sh", "-c", 'read x; echo "<$x>"; cat'), (b"a\nb",), False, 0, b"<a>\nb"),
        (("sh",), (b"if true\nthen echo two\nfi\nexit 4\n",), False, 4, b"two\n"),
        (("sh",), (b"ech\x7fho one\r", b"exit\r"), True, 0, b"/ # ech\b \bho one\r\none\r\n/ # exit\r\n"),
        (("echo", "hi"), (), True, 0, b"hi\r\n"),
        (("wc", "-c"), (b"12", b"345"), False, 0, b"5\n"),
    ],
)
def test_what_is_sent_comes_back(
    command: tuple[str, ...], pieces: tuple[bytes, ...], tty: bool, code: int, output: bytes
) -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sleep", "100")
        received = bytearray()

        async def take(data: bytes) -> None:
            received.extend(data)

        streams = Streams(typed(*pieces), take, take)
        assert (await runtime.exec(container_id, command, streams, tty), bytes(received)) == (
            code,
            output,
        )

    on_runtime(body)


def test_who_has_filled_a_pipe_that_nobody_reads_reads_no_more_himself() -> None:
    """Or all that is typed would wait in there."""
    piece = b"x" * 9_999 + b"\n"

    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sleep", "1000")
        typed = 0

        async def keys() -> AsyncIterator[bytes]:
            nonlocal typed
            while True:
                yield piece
                typed += len(piece)
                await asyncio.sleep(0.001)

        async def play(line: str) -> int:
            return await runtime.exec(container_id, ("sh", "-c", line), Streams(keys()))

        assert await play("cat | sleep 20") == 0
        assert FILLED <= typed <= FILLED + 3 * len(piece)
        typed = 0
        assert await play("cat | head -n 50 >/dev/null") == 0
        assert typed >= 500_000 - len(piece), "and goes on when somebody reads"

    on_runtime(body)


def test_a_command_that_reads_nothing_does_not_wait_for_input() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "sleep", "100")
        silent: asyncio.Queue[bytes] = asyncio.Queue()

        async def never() -> AsyncIterator[bytes]:
            yield await silent.get()

        assert await runtime.exec(container_id, ("true",), Streams(never())) == 0

    on_runtime(body)


def test_a_log_is_written_as_time_passes_and_lines_are_whole() -> None:
    async def body(runtime: HollowRuntime) -> None:
        lines: list[bytes] = []
        container_id = await started(runtime, "sh", "-c", "echo first; while true; do date +%S; sleep 2; done")
        runtime.logs.listen(container_id, lambda _, data: lines.append(data))
        await asyncio.sleep(5)
        assert b"".join(lines) == b"first\n00\n02\n04\n"

    on_runtime(body)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (("env", "-i", "A=1", "B=2", "printenv", "B", "A"), (0, "2\n1\n", "")),
        (("env", "-i", "A=1", "printenv", "none", "A"), (1, "1\n", "")),
        (("env", "-i", "A=1", "B=2", "printenv"), (0, "A=1\nB=2\n", "")),
        (("sh", "-c"), (2, "", "sh: -c requires an argument\n")),
    ],
)
def test_variables_are_printed_and_a_shell_without_a_script_complains(
    command: tuple[str, ...], answer: tuple[int, str, str]
) -> None:
    told, _ = play(*command)
    assert (told.exit_code, told.stdout, told.stderr) == answer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo $((1/0))", "divide by zero"),
        ("echo $((1%0))", "divide by zero"),
        ("echo $((1+))", "arithmetic syntax error"),
        ("echo $((1 2))", "arithmetic syntax error"),
        ("x=1; echo $((x=))", "arithmetic syntax error"),
        ('echo "a', "syntax error: unterminated quoted string"),
        ("echo 'a", "syntax error: unterminated quoted string"),
        ("echo $(ls", 'syntax error: unexpected end of file (expecting ")")'),
        ("echo $(", 'syntax error: unexpected end of file (expecting ")")'),
        ('echo "$(ls', 'syntax error: unexpected end of file (expecting ")")'),
        ("echo ${x", "syntax error: missing '}'"),
        ("echo `ls", "syntax error: EOF in backquote substitution"),
        ("for", "syntax error: bad for loop variable"),
        ("for 1a in x; do :; done", "syntax error: bad for loop variable"),
        ("for x in a b", "syntax error: unexpected end of file"),
        ("a &&", "syntax error: unexpected end of file"),
        ("! ", "syntax error: unexpected end of file"),
        *(
            (word, f'syntax error: unexpected "{word}"')
            for word in ("then", "elif", "else", "fi", "do", "done", "}", ")", "&", ";;")
        ),
        ("| a", 'syntax error: unexpected "|"'),
        ("a | | b", 'syntax error: unexpected "|"'),
        ("a & & b", 'syntax error: unexpected "&"'),
        ("echo a; )", 'syntax error: unexpected ")"'),
        ("set -u; echo $x", "x: parameter not set"),
        ("echo ${x?}", "x: parameter not set"),
        ("echo ${x:?gone}", "x: gone"),
        ("x=; echo ${x:?gone}", "x: gone"),
        ("echo ${x?gone}", "x: gone"),
    ],
)
def test_what_a_shell_cannot_make_sense_of_is_told_as_busybox_tells_it(text: str, words: str) -> None:
    """As `busybox sh -c …` of version 1.35 answers."""
    assert script(text) == (2, "", f"sh: {words}\n")


def test_a_shell_tells_its_commands_where_it_is_and_busybox_how_deep() -> None:
    """As recorded of `env | sort` in a container of busybox; Debian's dash does not count."""

    def told(text: str, image: str = "busybox:1.36") -> list[str]:
        return [line for line in script(text, image)[1].split() if line.startswith(("PWD=", "SHLVL="))]

    assert told("env") == ["PWD=/", "SHLVL=1"]
    assert told("cd /tmp; sh -c env") == ["PWD=/tmp", "SHLVL=2"]
    assert told("SHLVL=41; sh -c env") == ["PWD=/", "SHLVL=42"]
    assert told("SHLVL=x; sh -c env") == ["PWD=/", "SHLVL=1"]
    assert told("env", "nginx:1.27") == ["PWD=/"]
