"""`agnhost mounttest`: what kind of directory something is, who owns it, with which
mode, and what stands in a file. Tests of volumes ask it.

Upstream: `test/images/agnhost/mounttest/mt.go`, v1.36.
"""

from __future__ import annotations

import stat
from collections.abc import Awaitable, Callable

from lifecycle.cri.hollow.agnhost.flags import Default, Flags
from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.process import Process

DISK = 61267
"""The number of the file system that kind's nodes have on their disk: ext4."""
INITIAL_CONTENT = "mount-tester new file\n"
RETRY_PERIOD = 2.0
NEW_FILES = {f"new-file-{mode:04o}": mode for mode in (0o644, 0o666, 0o660, 0o777)}
FLAGS: dict[str, Default] = {
    "fs-type": "",
    **dict.fromkeys(NEW_FILES, ""),
    "file-mode": "",
    "file-perm": "",
    "file-owner": "",
    "file-content": "",
    "file-content-in-loop": "",
    "retry-time": 180,
    "break-on-expected-content": True,
}
_SPECIAL = ((stat.S_ISUID, "u"), (stat.S_ISGID, "g"), (stat.S_ISVTX, "t"))


def go_mode(mode: int, *, directory: bool = False) -> str:
    """As Go prints an `os.FileMode`; it marks in front what `ls` marks within."""
    marks = ("d" if directory else "") + "".join(m for bit, m in _SPECIAL if mode & bit)
    return (marks or "-") + stat.filemode(mode & 0o777)[1:]


def _why(error: FileError) -> str:
    text = str(error)
    return text[:1].lower() + text[1:]


async def _fs_type(process: Process, path: str) -> int:
    try:
        in_memory = await process.files.in_memory(absolute(process.cwd, path))
    except FileError as error:
        process.print(f'error from statfs("{path}"): {_why(error)}')
        return 1
    process.print(f'mount type of "{path}": {"tmpfs" if in_memory else DISK}')
    return 0


async def _mode(process: Process, path: str) -> int:
    full = absolute(process.cwd, path)
    try:
        mode = (await process.files.stat(full)).mode
    except FileError as error:
        process.print(f'error from Stat("{path}"): stat {path}: {_why(error)}')
        return 1
    directory = await process.files.kind(full) == "directory"
    process.print(f'mode of file "{path}": {go_mode(mode, directory=directory)}')
    return 0


async def _perm(process: Process, path: str) -> int:
    try:
        mode = (await process.files.stat(absolute(process.cwd, path))).mode
    except FileError as error:
        process.print(f'error from Stat("{path}"): stat {path}: {_why(error)}')
        return 1
    process.print(f'perms of file "{path}": {go_mode(mode & 0o777)}')
    return 0


async def _owner(process: Process, path: str) -> int:
    try:
        attributes = await process.files.stat(absolute(process.cwd, path))
    except FileError as error:
        process.print(f'error from stat("{path}"): {_why(error)}')
        return 1
    process.print(f'owner UID of "{path}": {attributes.user}')
    process.print(f'owner GID of "{path}": {attributes.group}')
    return 0


async def _text(process: Process, path: str) -> str:
    """Raises FileError with what Go says."""
    try:
        data = await process.files.read(absolute(process.cwd, path))
    except FileError as error:
        verb = "read" if str(error) == "Is a directory" else "open"
        raise FileError(f"{verb} {path}: {_why(error)}") from None
    return data.decode("utf-8", "surrogateescape")


async def _content(process: Process, path: str) -> int:
    try:
        text = await _text(process, path)
    except FileError as error:
        process.print(f'error reading file content for "{path}": {error}')
        return 1
    process.print(f'content of file "{path}": {text}')
    return 0


async def _new_file(process: Process, path: str, mode: int) -> int:
    """There is no umask. What cannot be written may still be read."""
    try:
        write = await process.files.open(absolute(process.cwd, path), mode=mode)
        write(INITIAL_CONTENT.encode())
    except FileError as error:
        process.print(f'error writing new file "{path}": open {path}: {_why(error)}')
        return 1
    return await _content(process, path)


async def _content_in_loop(process: Process, path: str, flags: Flags) -> int:
    """Read again and again, until it is what `--new-file-…` writes (unless that is not
    to end it), or time is over. Only a file that cannot be read is a failure.
    """
    end = process.machine.now() + flags.number("retry-time")
    code = 0
    while process.machine.now() < end:
        try:
            text = await _text(process, path)
        except FileError as error:
            process.print(f"Error reading file {path}: {error}, retrying")
            code = 1
        else:
            code = 0
            process.print(f'content of file "{path}": {text}')
            if flags.true("break-on-expected-content"):
                if text == INITIAL_CONTENT:
                    break
                complaint = f"Unexpected content. Expected: {INITIAL_CONTENT}. Retrying"
                process.print(complaint)
        await process.sleep(RETRY_PERIOD)
    return code


_LOOKS: dict[str, Callable[[Process, str], Awaitable[int]]] = {
    "file-mode": _mode,
    "file-perm": _perm,
    "file-owner": _owner,
    "file-content": _content,
}


async def mounttest(process: Process, flags: Flags) -> int:
    """All that was asked, in an order of its own."""
    code = 0
    if path := flags.text("fs-type"):
        code |= await _fs_type(process, path)
    for name, mode in NEW_FILES.items():
        if path := flags.text(name):
            code |= await _new_file(process, path, mode)
    for name, look in _LOOKS.items():
        if path := flags.text(name):
            code |= await look(process, path)
    if path := flags.text("file-content-in-loop"):
        code |= await _content_in_loop(process, path, flags)
    return code
