"""A process that has loaded our CNI plugins, and is forked into one whenever one of `forked_plugins`' launchers is executed.

Whoever is forked has the launcher's environment, folder, streams and network namespace, and nothing else but the loaded modules.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable

LARGEST = 1 << 17
"""How many bytes a request has at most: most of them are the environment."""


def serve(listener: socket.socket, mains: dict[str, Callable[[], int]]) -> None:
    """Until standard input ends: whoever started this is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what becomes of each, it says itself
    while True:
        ready, _, _ = select.select([listener, 0], [], [])
        if 0 in ready:
            return
        asking, _ = listener.accept()
        request, files, _, _ = socket.recv_fds(asking, LARGEST, 4)
        if os.fork() == 0:
            listener.close()
            code = become(mains, request.split(b"\0"), files)
            asking.send(b"%d" % code)
            os._exit(code)
        asking.close()
        for file in files:
            os.close(file)


def become(mains: dict[str, Callable[[], int]], words: list[bytes], files: list[int]) -> int:
    """The plugin that is asked for, to its end; its exit code. `words`: its name, its folder, its environment."""
    from lifecycle.cni.namespaces import setns

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    name, folder, *variables = words
    network, *streams = files
    setns(network)
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    os.close(network)
    os.chdir(folder)
    os.environ.clear()
    os.environb.update(tuple(each.split(b"=", 1)) for each in variables)  # type: ignore[arg-type]
    try:
        return mains[name.decode()]()
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def main() -> None:
    """Words: the package's folder, the socket's path."""
    sys.path[0:0] = [sys.argv[1]]
    from importlib import import_module

    from lifecycle.cni.launchers import PLUGINS

    mains = {name: import_module(module).main for name, module in PLUGINS.items()}
    for late in ("hashlib", "shutil"):  # what some load when they need it
        import_module(late)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(sys.argv[2])
        listener.listen(64)
        print("ready", flush=True)
        serve(listener, mains)


if __name__ == "__main__":
    main()
