"""The filters that are played in hollow containers: `grep`, `head`, `tail`, `sort`,
`wc`, `tee`, `hexdump`, `gzip`, and `awk` where it only prints columns.

Ours, after busybox' applets. Left out: most options.
"""

from __future__ import annotations

import re
import zlib
from gzip import compress, decompress

from lifecycle.api.go.regexp import compile_regexp, parse_error
from lifecycle.cri.hollow.commands.basic import not_modelled, pause
from lifecycle.cri.hollow.commands.files import options_and_paths
from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.pipes import Input, Pipe
from lifecycle.cri.hollow.process.process import SIGKILLED, Process, Program

_AWK_PRINT = re.compile(r"\{ *print +(\$\d+(?: *, *\$\d+)*) *;? *\}")


async def _inputs(process: Process, paths: list[str]) -> list[Input] | None:
    """The files, or the standard input; None if one is not there, which is said."""
    if not paths or paths == ["-"]:
        return [process.stdin]
    inputs = []
    for path in paths:
        try:
            data = await process.files.read(absolute(process.cwd, path))
        except FileError as error:
            process.complain(f"{process.argv[0]}: {path}: {error}")
            return None
        pipe = Pipe()
        pipe.write(data)
        pipe.close()
        inputs.append(Input(pipe))
    return inputs


async def grep(process: Process) -> int:
    """Lines with a pattern; `-q`, `-v`, `-i`, `-c`, `-E`, `-F`."""
    options, words = options_and_paths(process, "qvicEF")
    name = process.argv[0].rpartition("/")[2]
    if not words or len(words) > 2:
        raise not_modelled(process)
    pattern = words[0]
    if "F" in options or name == "fgrep":
        pattern = re.escape(pattern)
    elif re.search(r"\\[(){}|+?<>]", pattern):
        raise not_modelled(process)
    if "i" in options:
        pattern = f"(?i){pattern}"
    if parse_error(pattern):
        raise not_modelled(process)
    expression = compile_regexp(pattern)  # which never takes long, whatever it is
    inputs = await _inputs(process, words[1:])
    if inputs is None:
        return 2
    count = 0
    while line := await inputs[0].readline():
        text = line.decode("utf-8", "surrogateescape").removesuffix("\n")
        if bool(expression.search(text)) == ("v" in options):
            continue
        count += 1
        if "q" in options:
            return 0
        if "c" not in options:
            process.print(text)
    if "c" in options:
        process.print(str(count))
    return 0 if count else 1


def _count(process: Process) -> tuple[int, list[str]]:
    """Of `-5`, `-n5`, `-n 5`: lines, and paths."""
    words = list(process.argv[1:])
    count = 10
    if words and (match := re.fullmatch(r"-n?(\d+)", words[0])):
        count = int(match[1])
        del words[0]
    elif words[:1] == ["-n"] and len(words) > 1 and words[1].isdigit():
        count = int(words[1])
        del words[:2]
    if len(words) > 1 or any(word.startswith("-") and len(word) > 1 for word in words):
        raise not_modelled(process)
    return count, words


async def head(process: Process) -> int:
    """The first lines."""
    count, paths = _count(process)
    inputs = await _inputs(process, paths)
    if inputs is None:
        return 1
    while count and (line := await inputs[0].readline()):
        process.stdout(line)
        count -= 1
    return 0


async def tail(process: Process) -> int:
    """The last lines. `-f` has nothing to say of `/dev/null`, for ever; `/dev/zero`
    never ends, and its one line needs all the memory there is.
    """
    words = process.argv[1:]
    if "/dev/zero" in words:
        await process.machine.use_all_memory()
        return SIGKILLED
    if words in (("-f", "/dev/null"), ("-F", "/dev/null")):
        await pause(float("inf"))
    count, paths = _count(process)
    try:
        for path in paths:
            if path != "-":
                await process.files.read(absolute(process.cwd, path))
    except FileError as error:
        process.complain(f"tail: can't open '{path}': {error}")
        process.complain("tail: no files")
        return 1
    inputs = await _inputs(process, paths)
    assert inputs is not None
    lines = re.findall(rb"[^\n]*\n|[^\n]+", await inputs[0].read_all())
    process.stdout(b"".join(lines[-count:] if count else []))
    return 0


async def sort(process: Process) -> int:
    """By bytes; `-r`, `-n`, `-u`. Lines of the same number stand by their bytes, and to
    `-u` they are the same.
    """
    options, paths = options_and_paths(process, "rnu")
    inputs = await _inputs(process, paths)
    if inputs is None:
        return 2
    texts = [await each.read_all() for each in inputs]
    lines = [
        line for text in texts for line in text.removesuffix(b"\n").split(b"\n") if text
    ]
    key = _number if "n" in options else bytes
    if "u" in options:
        first: dict[float | bytes, bytes] = {}
        for line in lines:
            first.setdefault(key(line), line)
        lines = list(first.values())
    lines.sort(key=lambda line: (key(line), line), reverse="r" in options)
    process.stdout(b"".join(line + b"\n" for line in lines))
    return 0


def _number(line: bytes) -> float:
    match = re.match(rb"\s*(-?\d+(?:\.\d+)?)", line)
    return float(match[1]) if match else 0.0


async def wc(process: Process) -> int:
    """One of lines, words and bytes, of one input."""
    options, paths = options_and_paths(process, "lwc")
    if len(options) != 1 or len(paths) > 1:
        raise not_modelled(process)
    inputs = await _inputs(process, paths)
    if inputs is None:
        return 1
    data = await inputs[0].read_all()
    number = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data)}[options]
    process.print(f"{number} {paths[0]}" if paths else str(number))
    return 0


async def tee(process: Process) -> int:
    """To files, too."""
    options, paths = options_and_paths(process, "a")
    writers, code = [process.stdout], 0
    for path in paths:
        full = absolute(process.cwd, path)
        try:
            writers.append(await process.files.open(full, append="a" in options))
        except FileError as error:
            process.complain(f"tee: {path}: {error}")
            code = 1
    while data := await process.stdin.read():
        for write in writers:
            write(data)
    return code


def _hexdump_line(offset: int, chunk: bytes) -> str:
    halves = [" ".join(f"{byte:02x}" for byte in chunk[i : i + 8]) for i in (0, 8)]
    shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in chunk)
    return f"{offset:08x}  {halves[0]:<23}  {halves[1]:<23}  |{shown}|"


async def hexdump(process: Process) -> int:
    """`hexdump -C`: bytes in two notations; lines that repeat are a star."""
    options, paths = options_and_paths(process, "C")
    if options != "C":
        raise not_modelled(process)
    inputs = await _inputs(process, paths)
    if inputs is None:
        return 1
    data = b"".join([await each.read_all() for each in inputs])
    before, starred = b"", False
    for offset in range(0, len(data), 16):
        chunk = data[offset : offset + 16]
        if chunk != before:
            process.print(_hexdump_line(offset, chunk))
        elif not starred:
            process.print("*")
        before, starred = chunk, chunk == before
    if data:
        process.print(f"{len(data):08x}")
    return 0


async def awk(process: Process) -> int:
    """`{print $1, $3}`: some words of each line."""
    words = process.argv[1:]
    program = _AWK_PRINT.fullmatch(words[0]) if words else None
    if program is None:
        raise not_modelled(process)
    inputs = await _inputs(process, list(words[1:]))
    if inputs is None:
        return 2
    columns = [int(column) for column in re.findall(r"\$(\d+)", program[1])]
    for each in inputs:
        while line := await each.readline():
            text = line.decode("utf-8", "surrogateescape").removesuffix("\n")
            cells = [text, *text.split()]
            process.print(" ".join(cells[c] if c < len(cells) else "" for c in columns))
    return 0


async def gzip(process: Process) -> int:
    """The standard input, compressed; `gunzip` takes it back."""
    name = process.argv[0].rpartition("/")[2]
    options, paths = options_and_paths(process, "cd" if name == "gzip" else "c")
    if paths:
        raise not_modelled(process)
    data = await process.stdin.read_all()
    if name == "gzip" and "d" not in options:
        process.stdout(compress(data))
        return 0
    try:
        process.stdout(decompress(data))
    except (OSError, EOFError, zlib.error):
        process.complain(f"{name}: invalid magic")
        return 1
    return 0


FILTERS: dict[str, Program] = {
    "awk": awk,
    "egrep": grep,
    "fgrep": grep,
    "grep": grep,
    "gunzip": gzip,
    "gzip": gzip,
    "head": head,
    "hexdump": hexdump,
    "sort": sort,
    "tail": tail,
    "tee": tee,
    "wc": wc,
}
