"""The commands that are played in hollow containers: output, time, environment, and the
container that they are in.

What an option that is not here would do nobody can guess: it is `NotModelled`, like a
command that is not here.

Ours, after busybox' applets and GNU coreutils.
"""

from __future__ import annotations

import asyncio
import operator
import re
import time
from collections.abc import Callable
from typing import Any

from lifecycle.cri.hollow.process.listening import PAGES, pages_answer
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.process import Process, Program, play

_SECONDS = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_ESCAPES = {
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    '"': '"',
}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|0?([0-7]{1,3})|(.))", re.DOTALL)
_DIRECTIVE = re.compile(r"%(?:%|([-+ #0]*\d*(?:\.\d+)?)([sdiuxXocb]))")
FIRST_NAMELESS = 1000
"""Users and groups from here on have no names, in most images."""

WELCOME = (
    "<!DOCTYPE html>\n<title>Welcome to nginx!</title>\n<h1>Welcome to nginx!</h1>\n"
    "<p>This one is a function in Python.</p>\n"
)
"""What stands on the start page of nginx."""

MOST_NUMBERS = 100_000
"""How far `seq` counts."""


def not_modelled(process: Process) -> NotModelled:
    """This command, with these arguments."""
    return NotModelled(" ".join(process.argv)[:100])


async def true(process: Process) -> int:
    """Does nothing, well."""
    return 0


async def false(process: Process) -> int:
    """Does nothing, badly."""
    return 1


def duration(text: str) -> float:
    """Seconds of `5`, `1.5m`, `infinity`. Raises ValueError."""
    if text in ("infinity", "inf"):
        return float("inf")
    match = _SECONDS.fullmatch(text)
    if match is None:
        raise ValueError(f"invalid number '{text}'")
    return float(match[1]) * _UNITS[match[2]]


async def pause(seconds: float) -> None:
    """For ever, if need be."""
    if seconds == float("inf"):
        await asyncio.get_running_loop().create_future()
    await asyncio.sleep(seconds)


async def sleep(process: Process) -> int:
    """All its arguments together."""
    if len(process.argv) < 2:
        process.complain("sleep: missing operand")
        return 1
    try:
        seconds = sum(duration(word) for word in process.argv[1:])
    except ValueError as error:
        process.complain(f"sleep: {error}")
        return 1
    await pause(seconds)
    return 0


async def usleep(process: Process) -> int:
    """Microseconds."""
    if len(process.argv) != 2 or not process.argv[1].isdigit():
        raise not_modelled(process)
    await asyncio.sleep(int(process.argv[1]) / 1_000_000)
    return 0


async def timeout(process: Process) -> int:
    """`timeout SECONDS COMMAND…`."""
    words = list(process.argv[1:])
    if len(words) < 2 or words[0].startswith("-"):
        raise not_modelled(process)
    task = asyncio.ensure_future(play(process.child(tuple(words[1:]))))
    try:
        async with asyncio.timeout(duration(words[0])):
            return await asyncio.shield(task)
    except TimeoutError:
        return 143 if process.machine.has_busybox else 124
    finally:
        task.cancel()


def unescape(text: str) -> tuple[str, bool]:
    r"""With `\n` and the like; and whether a `\c` says that nothing is to follow."""
    text, stop, _ = text.partition("\\c")

    def char(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        if match[2]:
            return chr(int(match[2], 8) & 255)
        return _ESCAPES.get(match[3], "\\" + match[3])

    return _ESCAPE.sub(char, text), bool(stop)


async def echo(process: Process) -> int:
    """Its arguments, with a blank between them."""
    words, end, escapes = list(process.argv[1:]), "\n", False
    while words and re.fullmatch("-[neE]+", words[0]):
        options = words.pop(0)
        end = "" if "n" in options else end
        escapes = ("e" in options or escapes) and "E" not in options
    text = " ".join(words)
    if escapes:
        text, stop = unescape(text)
        end = "" if stop else end
    process.print(text, end)
    return 0


def _integer(word: str) -> int:
    """Decimal, octal or hexadecimal, as C reads it. Raises ValueError."""
    return int(word, 8 if re.fullmatch("[-+]?0[0-7]+", word) else 0)


async def printf(process: Process) -> int:
    """The format is used again until no argument is left."""
    words, code = list(process.argv[1:]), 0
    if words[:1] == ["--"]:
        del words[0]
    if not words:
        process.complain("sh: usage: printf FORMAT [ARGUMENT...]")
        return 2
    form = words.pop(0)

    def directive(match: re.Match[str]) -> str:
        nonlocal code
        if match[0] == "%%":
            return "%"
        word = words.pop(0) if words else ""
        flags, kind = match[1] or "", match[2]
        if kind in "sb":
            return f"%{flags}s" % (unescape(word)[0] if kind == "b" else word)
        if kind == "c":
            return word[:1]
        try:
            number = ord(word[1]) if word[:1] in ("'", '"') else _integer(word)
        except (ValueError, IndexError):
            process.complain(f"sh: invalid number '{word}'")
            number, code = 0, 1
        return f"%{flags}{'d' if kind in 'iu' else kind}" % number

    if "%" in _DIRECTIVE.sub("", form):
        raise not_modelled(process)
    while True:
        left = len(words)
        pieces = re.split(r"(%(?:%|[-+ #0]*\d*(?:\.\d+)?[sdiuxXocb]))", form)
        for i, piece in enumerate(pieces):
            if i % 2:
                process.print(_DIRECTIVE.sub(directive, piece), "")
            else:
                text, stop = unescape(piece)
                process.print(text, "")
                if stop:
                    return code
        if not words or len(words) == left:
            return code


async def env(process: Process) -> int:
    """The environment, or a command in another one."""
    words = list(process.argv[1:])
    environment = dict(process.env)
    if words[:1] == ["-i"]:
        environment = {}
        del words[0]
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if words and words[0].startswith("-"):
        raise not_modelled(process)
    if words:
        return await play(process.child(tuple(words), env=environment))
    for name, value in environment.items():
        process.print(f"{name}={value}")
    return 0


async def printenv(process: Process) -> int:
    """Values of variables; without names, all."""
    names = process.argv[1:]
    for name in names:
        if name in process.env:
            process.print(process.env[name])
    if not names:
        return await env(process)
    return int(any(name not in process.env for name in names))


async def hostname(process: Process) -> int:
    """The pod's name, or what stands for it."""
    if len(process.argv) > 1:
        raise not_modelled(process)
    process.print(process.machine.hostname)
    return 0


async def date(process: Process) -> int:
    """In UTC: `date`, `date -u`, `date +FORMAT`."""
    words = [word for word in process.argv[1:] if word != "-u"]
    seconds = process.machine.now()
    now = time.gmtime(seconds)
    if not words:
        process.print(time.strftime("%a %b %e %H:%M:%S UTC %Y", now))
        return 0
    form = words[0][1:]
    if len(words) > 1 or words[0][:1] != "+":
        raise not_modelled(process)
    if set(re.findall(r"%(.)", form)) - set("YmdHMSFTsaAbBejyIpZzRDnt%NuwCh"):
        raise not_modelled(process)
    form = form.replace("%N", f"{int(seconds % 1 * 1e9):09}")
    form = form.replace("%s", str(int(seconds))).replace("%Z", "UTC")
    process.print(time.strftime(form.replace("%z", "+0000"), now))
    return 0


async def pwd(process: Process) -> int:
    """Where it is."""
    process.print(process.cwd)
    return 0


async def whoami(process: Process) -> int:
    """Root, unless the pod says otherwise; then only the image knows the name."""
    if process.machine.user or len(process.argv) > 1:
        raise not_modelled(process)
    process.print("root")
    return 0


async def id_(process: Process) -> int:
    """`id -u` and `id -g`; all of it for users and groups that images have no names
    for.
    """
    user = process.files.user
    groups = sorted(user.groups | {user.group})
    if process.argv[1:] == ("-u",):
        process.print(str(user.user))
    elif process.argv[1:] == ("-g",):
        process.print(str(user.group))
    elif len(process.argv) == 1 and min(user.user, *groups) >= FIRST_NAMELESS:
        listed = ",".join(map(str, groups))
        process.print(f"uid={user.user} gid={user.group} groups={listed}")
    else:
        raise not_modelled(process)
    return 0


async def sysctl(process: Process) -> int:
    """A parameter of the kernel that the pod has set; others only a kernel knows."""
    if len(process.argv) != 2 or "=" in process.argv[1]:
        raise not_modelled(process)
    name = process.argv[1]
    data = await process.files.read("/proc/sys/" + name.replace(".", "/"))
    process.print(f"{name} = {data.decode().strip()}")
    return 0


async def seq(process: Process) -> int:
    """`seq [FIRST [STEP]] LAST`."""
    words = process.argv[1:]
    if not 1 <= len(words) <= 3 or not all(re.fullmatch(r"-?\d+", w) for w in words):
        raise not_modelled(process)
    first = int(words[0]) if len(words) > 1 else 1
    step = int(words[1]) if len(words) > 2 else 1
    if not step:
        raise not_modelled(process)
    last = int(words[-1])
    numbers = range(first, last + (1 if step > 0 else -1), step)
    if len(numbers) > MOST_NUMBERS:
        raise not_modelled(process)
    for number in numbers:
        process.print(str(number))
    return 0


_EXPR_WORDS = 3


async def expr(process: Process) -> int:
    """Two numbers, or two texts that are compared; 1 if what comes out is nothing."""
    words = process.argv[1:]
    if not words:
        process.complain("expr: too few arguments")
        return 2
    if len(words) != _EXPR_WORDS or words[1] not in _EXPRESSIONS:
        raise not_modelled(process)
    left, sign, right = words
    numbers = all(re.fullmatch(r"-?\d+", word) for word in (left, right))
    if sign in "+-*/%" and not numbers:
        process.complain("expr: non-numeric argument")
        return 2
    if sign in "/%" and int(right) == 0:
        process.complain("expr: division by zero")
        return 2
    values = (int(left), int(right)) if numbers else (left, right)
    result = int(_EXPRESSIONS[sign](*values))
    process.print(str(result))
    return 0 if result else 1


async def basename(process: Process) -> int:
    """The end of a path, without a suffix."""
    if not 2 <= len(process.argv) <= 3:
        raise not_modelled(process)
    name = process.argv[1].rstrip("/").rpartition("/")[2] or "/"
    suffix = process.argv[2] if len(process.argv) > 2 else ""
    process.print(name.removesuffix(suffix) or name)
    return 0


async def dirname(process: Process) -> int:
    """The beginning of a path."""
    if len(process.argv) != 2:
        raise not_modelled(process)
    head, slash, _ = process.argv[1].rstrip("/").rpartition("/")
    process.print(head or ("/" if slash else "."))
    return 0


async def kill(process: Process) -> int:
    """Signals to process 1, which may be deaf to them; there is no other to be
    known.
    """
    words = list(process.argv[1:])
    signal = "TERM"
    if words[:1] == ["-s"] and len(words) > 1:
        signal, words = words[1], words[2:]
    elif words and words[0].startswith("-"):
        signal = words.pop(0)[1:]
    signal = signal.upper().removeprefix("SIG")
    if words != ["1"]:
        raise not_modelled(process)
    if signal in ("TERM", "QUIT", "INT", "HUP", "15", "3", "2", "1"):
        process.machine.terminate()
    elif signal not in ("0", "KILL", "9"):  # process 1 does not hear these from within
        raise not_modelled(process)
    return 0


async def nginx(process: Process) -> int:
    """Serves until it is told to stop, or tells the one that serves."""
    words = process.argv[1:]
    if words[:1] == ("-s",) and len(words) == 2:
        if words[1] in ("quit", "stop"):
            process.machine.terminate()
        elif words[1] not in ("reload", "reopen"):
            raise not_modelled(process)
        return 0
    if words and words[0] != "-g":
        raise not_modelled(process)
    process.serve(80, pages_answer(PAGES, WELCOME, "text/html"))
    await process.terminated()
    return 0


def _divided(left: int, right: int) -> int:
    """Towards zero, as C does."""
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


_EXPRESSIONS: dict[str, Callable[[Any, Any], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": lambda left, right: left - right * _divided(left, right),
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

COMMANDS: dict[str, Program] = {
    "basename": basename,
    "date": date,
    "dirname": dirname,
    "echo": echo,
    "env": env,
    "expr": expr,
    "false": false,
    "hostname": hostname,
    "id": id_,
    "kill": kill,
    "nginx": nginx,
    "printenv": printenv,
    "printf": printf,
    "pwd": pwd,
    "seq": seq,
    "sleep": sleep,
    "sysctl": sysctl,
    "timeout": timeout,
    "true": true,
    "usleep": usleep,
    "whoami": whoami,
}
