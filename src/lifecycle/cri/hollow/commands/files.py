"""The commands about files that are played in hollow containers.

Ours, after busybox' applets and GNU coreutils; error messages are busybox'. Left out:
owners and times, and modes in letters.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Awaitable, Callable
from operator import eq, ge, gt, le, lt, ne

from lifecycle.cri.hollow.commands.basic import not_modelled
from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.process import Process, Program
from lifecycle.cri.hollow.process.volumes import UnknownFile


def options_and_paths(process: Process, allowed: str) -> tuple[str, list[str]]:
    """Letters of options, and the rest. Raises NotModelled for any other option."""
    options, paths = "", []
    words = list(process.argv[1:])
    while words:
        word = words.pop(0)
        if word == "--":
            paths += words
            break
        if word.startswith("-") and len(word) > 1:
            if set(word[1:]) - set(allowed):
                raise not_modelled(process)
            options += word[1:]
        else:
            paths.append(word)
    return options, paths


_CANNOT = {
    "cat": "can't open ",
    "cp": "can't stat ",
    "mkdir": "can't create directory ",
    "mv": "can't rename ",
    "rm": "can't remove ",
    "rmdir": "",
}
"""What is said between a command's name and the quoted path; others quote nothing."""


async def _each(
    process: Process, paths: list[str], act: Callable[[str], Awaitable[None]]
) -> int:
    """One after the other; what fails is said, and the rest is done all the same."""
    code = 0
    name = process.argv[0].rpartition("/")[2]
    for path in paths:
        try:
            await act(absolute(process.cwd, path))
        except FileError as error:
            verb = _CANNOT.get(name)
            operand = path if verb is None else f"{verb}'{path}'"
            process.complain(f"{name}: {operand}: {error}")
            code = 1
    return code


async def cat(process: Process) -> int:
    """Files, or what is typed, as it comes."""
    _, paths = options_and_paths(process, "u")

    async def typed() -> None:
        while data := await process.stdin.read():
            process.stdout(data)

    code = 0
    for path in paths or ["-"]:
        if path in ("-", "/dev/stdin"):
            await typed()
        elif path != "/dev/null":

            async def show(full: str) -> None:
                process.stdout(await process.files.read(full))

            code |= await _each(process, [path], show)
    return code


async def ls(process: Process) -> int:
    """Names, one a line, as where there is no terminal. Hidden ones are left out."""
    _, paths = options_and_paths(process, "1")
    files, directories, code = [], [], 0
    for path in paths or ["."]:
        full = absolute(process.cwd, path)
        kind = await process.files.kind(full)
        if kind == "directory":
            directories.append((path, await process.files.names(full)))
        elif kind:
            files.append(path)
        else:
            process.complain(f"ls: {path}: No such file or directory")
            code = 1
    for path in sorted(files):
        process.print(path)
    for i, (path, names) in enumerate(sorted(directories)):
        if len(paths) > 1:
            process.print(("\n" if i or files else "") + f"{path}:")
        for name in names:
            if not name.startswith("."):
                process.print(name)
    return code


async def touch(process: Process) -> int:
    """Make files that are not there."""
    _, paths = options_and_paths(process, "")

    async def make(full: str) -> None:
        try:
            if await process.files.kind(full):
                return
        except UnknownFile:
            pass
        await process.files.open(full)

    return await _each(process, paths, make)


async def mkdir(process: Process) -> int:
    """With `-p` all that is missing on the way."""
    options, paths = options_and_paths(process, "p")

    async def make(full: str) -> None:
        await make_directories(process, full, parents="p" in options)

    return await _each(process, paths, make)


async def make_directories(process: Process, full: str, *, parents: bool) -> None:
    """Raises FileError."""
    if not parents:
        await process.files.make_directory(full)
        return
    names = full.strip("/").split("/")
    for i in range(len(names)):
        path = "/" + "/".join(names[: i + 1])
        try:
            kind = await process.files.kind(path)
        except UnknownFile:
            kind = ""
        if kind == "file":
            raise FileError("Not a directory")
        if not kind:
            await process.files.make_directory(path)


async def chmod(process: Process) -> int:
    """Modes that are numbers."""
    words = process.argv[1:]
    if len(words) < 2 or not re.fullmatch("[0-7]{1,4}", words[0]):
        raise not_modelled(process)

    async def change(full: str) -> None:
        await process.files.change_mode(full, int(words[0], 8))

    return await _each(process, list(words[1:]), change)


async def rm(process: Process) -> int:
    """With `-r` directories, too; with `-f` nothing is said of what is not there."""
    options, paths = options_and_paths(process, "rRf")
    code, refused = 0, False

    async def remove(full: str) -> None:
        nonlocal refused
        kind = await process.files.kind(full)
        if not kind and "f" in options:
            return
        if kind == "directory" and not set(options) & {"r", "R"}:
            process.complain(f"rm: '{path}' is a directory")
            refused = True
            return
        await process.files.remove(full)

    for path in paths:
        code |= await _each(process, [path], remove)
    return 1 if refused else code


async def rmdir(process: Process) -> int:
    """Empty directories only."""
    _, paths = options_and_paths(process, "")

    async def remove(full: str) -> None:
        if await process.files.names(full):
            raise FileError("Directory not empty")
        await process.files.remove(full)

    return await _each(process, paths, remove)


async def cp(process: Process) -> int:
    """Single files."""
    return await _copy(process, remove=False)


async def mv(process: Process) -> int:
    """Single files."""
    return await _copy(process, remove=True)


async def _copy(process: Process, *, remove: bool) -> int:
    options, paths = options_and_paths(process, "fv")
    if len(paths) < 2:
        raise not_modelled(process)
    target = absolute(process.cwd, paths[-1])
    try:
        into = await process.files.kind(target) == "directory"
    except UnknownFile:
        into = False

    omitted = False

    async def copy(full: str) -> None:
        nonlocal omitted
        if await process.files.kind(full) == "directory":
            if remove:
                raise not_modelled(process)
            process.complain(f"cp: omitting directory '{path}'")
            omitted = True
            return
        data = await process.files.read(full)
        inside = posixpath.basename(full) if into else ""
        (await process.files.open(posixpath.join(target, inside).rstrip("/")))(data)
        if "v" in options:
            place = posixpath.join(paths[-1], inside) if inside else paths[-1]
            process.print(f"'{path}' -> '{place}'")
        if remove:
            await process.files.remove(full)

    code = 0
    for path in paths[:-1]:
        code |= await _each(process, [path], copy)
    return 1 if omitted else code


async def test(process: Process) -> int:
    """Also as `[`: files, strings and numbers."""
    words = list(process.argv[1:])
    name = process.argv[0].rpartition("/")[2]
    if name in ("[", "[["):
        closing = "]" if name == "[" else "]]"
        if words[-1:] != [closing]:
            process.complain(f"sh: missing {closing}")
            return 2
        del words[-1]
    try:
        return 0 if await _holds(process, words) else 1
    except ValueError as error:
        process.complain(f"sh: {error}")
        return 2


async def _holds(process: Process, words: list[str]) -> bool:
    if words[:1] == ["!"] and len(words) > 1:
        return not await _holds(process, words[1:])
    for operator in ("-o", "-a"):
        if operator in words[1:-1]:
            i = words.index(operator, 1)
            left = await _holds(process, words[:i])
            right = await _holds(process, words[i + 1 :])
            return left or right if operator == "-o" else left and right
    if len(words) < 2:
        return bool(words and words[0])
    if len(words) == 2:
        return await _unary(process, *words)
    if len(words) == 3:
        return _binary(*words)
    raise ValueError(f"{words[1]}: unknown operand")


async def _unary(process: Process, operator: str, word: str) -> bool:
    if operator in ("-z", "-n"):
        return bool(word) == (operator == "-n")
    if operator not in ("-e", "-f", "-d", "-s", "-r"):
        raise not_modelled(process)
    full = absolute(process.cwd, word)
    kind = await process.files.kind(full)
    if operator == "-s":
        return kind == "directory" or (
            kind == "file" and bool(await process.files.read(full))
        )
    return kind == {"-f": "file", "-d": "directory"}.get(operator, kind or "there")


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": eq,
    "-ne": ne,
    "-lt": lt,
    "-le": le,
    "-gt": gt,
    "-ge": ge,
}


def _binary(left: str, operator: str, right: str) -> bool:
    if operator in ("=", "==", "!="):
        return (left == right) == (operator != "!=")
    compare = _COMPARISONS.get(operator)
    if compare is None:
        raise ValueError(f"{operator}: unknown operand")
    for word in (left, right):
        if not re.fullmatch(r"\s*[-+]?\d+\s*", word):
            raise ValueError(f"{word}: bad number" if word else "bad number")
    return compare(int(left), int(right))


FILE_COMMANDS: dict[str, Program] = {
    "[": test,
    "[[": test,
    "cat": cat,
    "chmod": chmod,
    "cp": cp,
    "ls": ls,
    "mkdir": mkdir,
    "mv": mv,
    "rm": rm,
    "rmdir": rmdir,
    "test": test,
    "touch": touch,
}
