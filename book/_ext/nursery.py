"""A process that has loaded what many others need, and forks one when it is asked.

Whoever is forked has the nursery's modules, and everything else as `Popen` would have
given it: a session, streams, an environment, a folder. The nursery runs nothing but
imports, so what each computes is its own. `forked_process` is the other end.
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
from collections.abc import Iterable
from typing import Any

LARGEST = 1 << 20
"""How many bytes a request has at most: most of them are the environment."""


def load(names: Iterable[str]) -> None:
    """What everybody needs; its pages are shared as long as nobody writes to them."""
    for name in names:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def serve(asked: socket.socket) -> list[str]:
    """Fork until whoever asks is gone; returns in those who are forked, and there
    alone: the words that they were asked for with.
    """
    forked = dict[int, socket.socket]()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asks
    signal.signal(signal.SIGCHLD, lambda *_: tell_of_the_dead(forked))
    while True:
        message, files, _, _ = socket.recv_fds(asked, LARGEST, 3)
        if not message:
            sys.exit()
        request, [told, *streams] = json.loads(message), files
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        if (pid := os.fork()) == 0:
            asked.close()
            for other in forked.values():
                other.close()
            os.close(told)
            return take_over(request, streams)
        forked[pid] = socket.socket(fileno=told)
        forked[pid].sendall(b"%d\n" % pid)
        for file in streams:
            os.close(file)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def tell_of_the_dead(forked: dict[int, socket.socket]) -> None:
    """To whoever asked for it: with which code it ended, as `Popen` says it."""
    while forked:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with forked.pop(pid) as told, contextlib.suppress(BrokenPipeError):
            told.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def take_over(request: dict[str, Any], streams: list[int]) -> list[str]:
    """What `Popen` does in a child, but for running another program."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate([nothing, *streams]):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    return list(request["arguments"])
