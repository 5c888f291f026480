"""A process that has loaded what every kernel loads, and forks one when it is asked.

A kernel that is started by itself loads IPython, then the first cells load the package:
one to two seconds of processor time before anything is shown, for some hundred kernels
of chapters and labs. Here that is done once. What a kernel computes is its own: the
nursery runs nothing but imports.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
from typing import Any

FIRST = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "lifecycle.exercises.lab",
    "lifecycle.cluster.rehearsal",
)
"""What (nearly) every kernel of the book needs."""

LARGEST = 1 << 20
"""How many bytes a request has at most: most of them are the environment."""


def main() -> None:
    """Forks until whoever asks is gone; returns in the kernels, and there alone."""
    sys.path.pop(0)  # this folder, where a kernel has none of its own
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # without it no kernel goes on
    for name in FIRST:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # pages that nobody writes to are shared with the kernels
    asked, kernels = socket.socket(fileno=int(sys.argv[1])), dict[int, socket.socket]()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asks
    signal.signal(signal.SIGCHLD, lambda *_: tell_of_the_dead(kernels))
    while True:
        message, files, _, _ = socket.recv_fds(asked, LARGEST, 3)
        if not message:
            sys.exit()
        request, [told, *streams] = json.loads(message), files
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        if (pid := os.fork()) == 0:
            asked.close()
            for other in kernels.values():
                other.close()
            os.close(told)
            become_a_kernel(request, streams)
            return
        kernels[pid] = socket.socket(fileno=told)
        kernels[pid].sendall(b"%d\n" % pid)
        for file in streams:
            os.close(file)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def tell_of_the_dead(kernels: dict[int, socket.socket]) -> None:
    """To whoever asked for a kernel: with which code it ended, as `Popen` says it."""
    while kernels:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with kernels.pop(pid) as told, contextlib.suppress(BrokenPipeError):
            told.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def become_a_kernel(request: dict[str, Any], streams: list[int]) -> None:
    """What `Popen` does in a child: a session, streams, an environment, a folder."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate([nothing, *streams]):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["env"], JPY_PARENT_PID=str(os.getppid()))
    if request["cwd"]:
        os.chdir(request["cwd"])
    sys.argv = ["ipykernel_launcher", *request["arguments"]]


if __name__ == "__main__":
    main()
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
