"""Executables like those of `lifecycle.cni.launchers` for tests that run hundreds: each has a process forked that has loaded the plugins.

To start Python and to load a plugin takes sixty milliseconds of processor time; the plugin itself takes three. That the package's own
launchers work is shown by tests/cni/test_libcni.py and by whoever starts a cluster on this machine.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lifecycle.cni import launchers

NURSERY = Path(__file__).with_name("plugin_nursery.py")
SOURCE = Path(launchers.__file__).parents[2]

LAUNCHER = """#!{python} -IS
import _socket, os, sys
asked = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
asked.connect({socket!r})
words = [{name!r}, os.getcwdb(), *(b"%s=%s" % each for each in os.environb.items())]
files = (os.open("/proc/thread-self/ns/net", os.O_RDONLY), 0, 1, 2)
passed = b"".join(file.to_bytes(4, sys.byteorder) for file in files)
asked.sendmsg([b"\\0".join(words)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)])
os._exit(int(asked.recv(4) or 137))
"""


@contextmanager
def forked_launchers(folder: Path) -> Iterator[Path]:
    """A folder for `CNI_PATH`, good inside the block."""
    socket = folder / "nursery"
    command = [sys.executable, "-IS", str(NURSERY), str(SOURCE), str(socket)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}) as nursery:
        assert nursery.stdout is not None
        assert nursery.stdin is not None
        assert nursery.stdout.readline() == b"ready\n"
        for name in launchers.PLUGINS:
            launcher = folder / name
            launcher.write_text(LAUNCHER.format(python=sys.executable, socket=str(socket), name=name.encode()))
            launcher.chmod(0o755)
        try:
            yield folder
        finally:
            nursery.stdin.close()
            nursery.wait()
