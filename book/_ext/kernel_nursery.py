"""A process that has loaded what every kernel loads, and forks one when it is asked.

A kernel that is started by itself loads IPython, then the first cells load the package:
one to two seconds of processor time before anything is shown, for some hundred kernels
of chapters and labs. Here that is done once.
"""

from __future__ import annotations

import os
import socket
import sys

from nursery import load, serve

FIRST = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "lifecycle.exercises.lab",
    "lifecycle.cluster.rehearsal",
)
"""What (nearly) every kernel of the book needs."""


def main() -> None:
    """Returns in the kernels, and there alone."""
    sys.path.pop(0)  # this folder, where a kernel has none of its own
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # without it no kernel goes on
    load(FIRST)
    arguments = serve(socket.socket(fileno=int(sys.argv[1])))
    os.environ["JPY_PARENT_PID"] = str(os.getppid())
    sys.argv = ["ipykernel_launcher", *arguments]


if __name__ == "__main__":
    main()
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
