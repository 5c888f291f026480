"""An image from what lies on this machine: a folder as the root file system, or one
program that needs no libraries.

Upstream: `FROM scratch` with one `COPY`, as Docker's builder does it. Left out:
Dockerfiles, base images.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Mapping
from pathlib import Path

from lifecycle.cri.images.oci_image import BuiltImage, File, build
from lifecycle.cri.images.small_images import PATH, find_busybox, shell_files

_INTERPRETER = 3
"""`PT_INTERP`: a segment that names the loader of shared libraries."""


def needs_libraries(program: bytes) -> bool:
    """Whether an ELF executable asks for a loader. Raises ValueError for other files
    than 64-bit ELF.
    """
    if program[:4] != b"\x7fELF" or program[4:5] != b"\x02":
        raise ValueError("not a 64-bit ELF program")
    (offset,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    return any(
        struct.unpack_from("<I", program, offset + i * size)[0] == _INTERPRETER
        for i in range(count)
    )


def image_from(
    source: Path,
    *,
    shell: bool = False,
    entrypoint: tuple[str, ...] = (),
    command: tuple[str, ...] = (),
    environment: tuple[str, ...] = (),
    files: Mapping[str, Path] | None = None,
) -> BuiltImage:
    """An image of a folder's files or of one static program.

    A program stands at `/NAME` and is the entrypoint unless another is given. `shell`:
    with a busybox below. `files`: more of them, by their path in the image.
    Raises OSError, and ValueError in one line.
    """
    layers: list[dict[str, File]] = []
    if shell:
        busybox = find_busybox()
        if busybox is None:
            raise ValueError("--shell needs a static busybox (Debian: busybox-static)")
        layers.append(shell_files(busybox))
    if source.is_dir():
        layers.append(_folder(source))
    else:
        program = source.read_bytes()
        try:
            dynamic = needs_libraries(program)
        except (ValueError, struct.error):
            raise ValueError(
                f"{source}: not a 64-bit ELF program; give a folder for anything else"
            ) from None
        if dynamic:
            raise ValueError(
                f"{source}: needs shared libraries; link it statically, or give a"
                " folder that has them too"
            )
        layers.append({source.name: File(program, 0o755)})
        entrypoint = entrypoint or (f"/{source.name}",)
    if files:
        layers.append({p.strip("/"): _file(f, f.stat()) for p, f in files.items()})
    config = {
        "Env": [PATH, *environment],
        "WorkingDir": "/",
        **({"Entrypoint": list(entrypoint)} if entrypoint else {}),
        **({"Cmd": list(command)} if command else {}),
    }
    return build(layers, config)


def _folder(source: Path) -> dict[str, File]:
    """All below, as root's; sockets and devices are no files. Raises ValueError."""
    files: dict[str, File] = {}
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            files[name] = File(link=os.readlink(path), mode=0o777)
        elif stat.S_ISDIR(status.st_mode):
            files[name + "/"] = File(mode=stat.S_IMODE(status.st_mode))
        elif stat.S_ISREG(status.st_mode):
            files[name] = _file(path, status)
        else:
            raise ValueError(f"{path}: neither a file, a folder nor a link")
    if not files:
        raise ValueError(f"{source}: an empty folder")
    return files


def _file(path: Path, status: os.stat_result) -> File:
    return File(path.read_bytes(), stat.S_IMODE(status.st_mode))
