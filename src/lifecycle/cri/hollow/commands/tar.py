"""`tar` in hollow containers, as far as `kubectl cp` needs it: make an archive on the
standard output, unpack one from the standard input.

Upstream: `kubectl/pkg/cmd/cp/cp.go` runs `tar cf - PATH` in the container to copy out
of it, and `tar -xmf - [-C DIRECTORY]` to copy into it. Left out: owners, modes, links.
"""

from __future__ import annotations

import io
import posixpath
import tarfile

from lifecycle.cri.hollow.commands.basic import not_modelled
from lifecycle.cri.hollow.commands.files import make_directories
from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.process import Process

_FLAGS = {"c", "x", "m", "f", "p", "o", "v", "h"}


async def tar(process: Process) -> int:
    """`tar cf - PATH…`, `tar xmf - -C DIRECTORY`."""
    words = list(process.argv[1:])
    flags, directory, paths = "", process.cwd, []
    first = True
    while words:
        word = words.pop(0)
        if word == "-C" and words:
            directory = absolute(process.cwd, words.pop(0))
        elif word in (
            "--no-same-permissions",
            "--no-same-owner",
            "--warning=no-unknown-keyword",
        ):
            continue
        elif word.startswith("--") or (first and not word.startswith("-")):
            if word.startswith("--"):
                raise not_modelled(process)
            flags += word
        elif word.startswith("-") and len(word) > 1:
            flags += word[1:]
        else:
            paths.append(word)
        first = False
    if set(flags) - _FLAGS or "f" not in flags or paths[:1] != ["-"]:
        raise not_modelled(process)
    if "x" in flags and "c" not in flags and len(paths) == 1:
        return await _extract(process, directory)
    if "c" in flags and "x" not in flags and len(paths) > 1:
        return await _create(process, directory, paths[1:])
    raise not_modelled(process)


async def _create(process: Process, directory: str, paths: list[str]) -> int:
    code, added = 0, False
    with io.BytesIO() as buffer:
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for path in paths:
                full = absolute(directory, path)
                if not await process.files.kind(full):
                    process.complain(f"tar: {path}: No such file or directory")
                    code = 1
                    continue
                await _add(process, archive, full, path.lstrip("/") or ".")
                added = True
        if added:  # an empty archive is a success for kubectl
            process.stdout(buffer.getvalue())
    return code


async def _add(
    process: Process, archive: tarfile.TarFile, full: str, name: str
) -> None:
    member = tarfile.TarInfo(name)
    member.mtime = int(process.machine.now())
    if await process.files.kind(full) == "directory":
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(member)
        for inner in await process.files.names(full):
            await _add(process, archive, posixpath.join(full, inner), f"{name}/{inner}")
        return
    data = await process.files.read(full)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


async def _extract(process: Process, directory: str) -> int:
    data = await process.stdin.read_all()
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                full = absolute(directory, member.name)
                if (
                    not full.startswith(directory.rstrip("/") + "/")
                    and full != directory
                ):
                    raise FileError(f"{member.name} leads out of the directory")
                await _unpack(process, archive, member, full)
    except (tarfile.TarError, FileError) as error:
        process.complain(f"tar: {error}")
        return 1
    return 0


async def _unpack(
    process: Process, archive: tarfile.TarFile, member: tarfile.TarInfo, full: str
) -> None:
    if member.isdir():
        await make_directories(process, full, parents=True)
    elif member.isfile():
        await make_directories(process, posixpath.dirname(full), parents=True)
        content = archive.extractfile(member)
        (await process.files.open(full))(content.read() if content else b"")
    else:
        raise FileError(f"{member.name}: links are not kept here")
