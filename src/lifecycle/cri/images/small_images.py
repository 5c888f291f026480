"""The two images that the tests and labs run: a shell with the usual tools, and a pause
program of a few dozen bytes.

The shell is the machine's own static busybox (Debian's `busybox-static`); nothing is
fetched. The pause program is assembled here: it ignores the deaths of children, which
makes the kernel bury them, and sleeps until it is told to go.

Upstream: `build/pause/linux/pause.c` does the same in C with a `SIGCHLD` handler that
calls `waitpid`, and one for SIGINT and SIGTERM. As process 1 of a namespace a program
without handlers does not even see those, unless it blocks them: a signal that is
blocked waits until somebody asks for it.
"""

from __future__ import annotations

import platform
import shutil
import signal
import struct
import subprocess
from pathlib import Path

from lifecycle.cri.images.oci_image import BuiltImage, File, build

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_LOAD_ADDRESS = 0x400000
_HEADERS = 64 + 56


def elf_program(code: bytes) -> bytes:
    """A whole ELF executable for x86-64 around code that may stand anywhere."""
    size = _HEADERS + len(code)
    identity = b"\x7fELF" + bytes([2, 1, 1, 0]) + b"\x00" * 8
    entry = _LOAD_ADDRESS + _HEADERS
    header = identity + struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    segment = struct.pack(
        "<IIQQQQQQ", 1, 5, 0, _LOAD_ADDRESS, _LOAD_ADDRESS, size, size, 0x1000
    )
    return header + segment + code


def pause_program() -> bytes:
    """A whole ELF executable. Raises NotImplementedError on a machine other than
    x86-64.
    """
    if platform.machine() != "x86_64":
        raise NotImplementedError("the pause program is assembled for x86-64 only")
    code = bytes.fromhex(
        "b80e000000"  # mov eax, 14        rt_sigprocmask
        "31ff"  # xor edi, edi       block
        "488d355a000000"  # lea rsi, [rip+90]  the signals at the end
        "31d2"  # xor edx, edx       the old ones do not matter
        "41ba08000000"  # mov r10d, 8        size of a signal set
        "0f05"  # syscall
        "b80d000000"  # mov eax, 13        rt_sigaction
        "bf11000000"  # mov edi, 17        SIGCHLD
        "488d351f000000"  # lea rsi, [rip+31]  the action below
        "0f05"  # syscall
        "b880000000"  # mov eax, 128       rt_sigtimedwait
        "488d3d31000000"  # lea rdi, [rip+49]  the signals at the end
        "31f6"  # xor esi, esi       nothing else is asked
        "0f05"  # syscall            edx is still 0: without an end
        "85c0"  # test eax, eax      which signal came?
        "78ec"  # js to `mov eax, 128`
        "b83c000000"  # mov eax, 60        exit
        "31ff"  # xor edi, edi       all is well
        "0f05"  # syscall
    )
    # handler SIG_IGN, no flags, no restorer, empty mask; then the set of signals
    asked_to_go = sum(1 << (number - 1) for number in (signal.SIGINT, signal.SIGTERM))
    code += struct.pack("<QQQQQ", 1, 0, 0, 0, asked_to_go)
    return elf_program(code)


def pause_image() -> BuiltImage:
    """Like `registry.k8s.io/pause`: one file, user 65535."""
    files = {"pause": File(pause_program(), 0o755)}
    return build(
        [files],
        {
            "Entrypoint": ["/pause"],
            "Env": [PATH],
            "WorkingDir": "/",
            "User": "65535:65535",
        },
    )


def find_busybox() -> Path | None:
    """A busybox that needs no libraries, or None."""
    for name in ("/bin/busybox", "/usr/bin/busybox", shutil.which("busybox") or ""):
        path = Path(name)
        if name and path.is_file() and b"ld-linux" not in path.read_bytes()[:4096]:
            return path
    return None


def applets(busybox: Path) -> list[str]:
    """What this busybox can be called as. Raises OSError, CalledProcessError."""
    listing = subprocess.run(
        [busybox, "--list"], check=True, capture_output=True, text=True
    )
    return [name for name in listing.stdout.split() if name != "busybox"]


def shell_files(busybox: Path) -> dict[str, File]:
    """A small root file system. Raises what `applets` raises."""
    files = {"bin/busybox": File(busybox.read_bytes(), 0o755)}
    files.update(
        {f"bin/{name}": File(link="busybox", mode=0o777) for name in applets(busybox)}
    )
    files["etc/passwd"] = File(
        b"root:x:0:0:root:/root:/bin/sh\nreader:x:1000:1000::/home/reader:/bin/sh\n"
    )
    files["etc/group"] = File(b"root:x:0:\nreader:x:1000:\nbooks:x:2000:reader\n")
    files["home/reader/"] = File(mode=0o755, uid=1000, gid=1000)
    files["tmp/"] = File(mode=0o1777)
    files["root/"] = File(mode=0o700)
    files["www/index.html"] = File(b"It works.\n")
    files["lower/taken-away"] = File(b"only in the lower layer\n")
    files["lower/replaced"] = File(b"old\n")
    files["lower/opaque/hidden"] = File(b"hidden by the upper layer\n")
    return files


def shell_image(busybox: Path) -> BuiltImage:
    """Two layers: the second takes a file of the first away, replaces one, and hides a
    directory's content.
    """
    upper = {
        "lower/.wh.taken-away": File(),
        "lower/replaced": File(b"new\n"),
        "lower/opaque/.wh..wh..opq": File(),
        "lower/opaque/seen": File(b"of the upper layer\n"),
    }
    return build(
        [shell_files(busybox), upper],
        {"Cmd": ["sh"], "Env": [PATH, "MADE_BY=image"], "WorkingDir": "/"},
    )
