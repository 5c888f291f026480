"""A container's last words: what it wrote into its termination message file, or else
the end of its log.

Each run has a file of its own, mounted at `terminationMessagePath`; the runtime
remembers which, so that the kubelet finds it again after a restart. With
`FallbackToLogsOnError`, a run that failed without a word is quoted from its log.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_container.go` (`getTerminationMessage`,
`readLastStringFromContainerLogs`), `pkg/kubelet/container/runtime.go` (the limits),
`pkg/kubelet/status/status_manager.go` (`normalizeStatus`), v1.36.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.cri.log_format import MAX_LINE, parse_entries
from lifecycle.kubelet.logs.read import tail_start

MAX_MESSAGE_LENGTH = 4096
MAX_LOG_LENGTH, MAX_LOG_LINES = 2048, 80
MAX_ENTRY = MAX_LINE + 128
"""Bytes of one line of a log file: no runtime writes longer ones. No more of the file
needs to be read.
"""

PATH = "io.kubernetes.container.terminationMessagePath"
POLICY = "io.kubernetes.container.terminationMessagePolicy"


def read_at_most(path: str, size: int) -> bytes:
    """The last `size` bytes of a file. Raises OSError."""
    with open(path, "rb") as file:
        length = os.fstat(file.fileno()).st_size
        file.seek(max(length - size, 0))
        return file.read(size)


def _read(
    path: str, read_log: Callable[[str], bytes], size: int = MAX_MESSAGE_LENGTH
) -> bytes:
    """The end of a file on this machine, or of one that only a hollow runtime has.
    Raises OSError.
    """
    try:
        return read_at_most(path, size)
    except FileNotFoundError:
        return read_log(path)[-size:]


def termination_message(
    status: ContainerStatus, read_log: Callable[[str], bytes]
) -> str:
    """What a run that has ended left to say; empty if nothing. `read_log` gives a log
    file's contents, or raises OSError.
    """
    fall_back = (
        status.annotations.get(POLICY) == "FallbackToLogsOnError"
        and status.exit_code != 0
    )
    target = status.annotations.get(PATH)
    for mount in status.mounts if target else ():
        if mount.get("container_path") != target:
            continue
        try:
            message = _read(mount["host_path"], read_log)
        except FileNotFoundError:
            break
        except OSError as error:
            return (
                f"Error on reading termination log {mount['host_path']}:"
                f" {error.strerror or error}"
            )
        if message:
            return message.decode(errors="replace")
        break
    return _end_of_log(status.log_path, read_log) if fall_back else ""


def _end_of_log(path: str, read_log: Callable[[str], bytes]) -> str:
    try:
        data = _read(path, read_log, MAX_LOG_LINES * MAX_ENTRY)
    except OSError as error:
        return (
            ""
            if isinstance(error, FileNotFoundError)
            else f"Error reading termination message from logs: {error}"
        )
    entries = parse_entries(data[tail_start(data, MAX_LOG_LINES) :])
    message = b"".join(
        entry.text + (b"\n" if entry.complete else b"") for entry in entries
    )
    return message[-MAX_LOG_LENGTH:].decode(errors="replace")


def with_message(
    status: ContainerStatus, read_log: Callable[[str], bytes]
) -> ContainerStatus:
    """The status with the container's own words behind the runtime's."""
    if status.state is not ContainerState.EXITED or not status.annotations.get(PATH):
        return status
    message = termination_message(status, read_log)
    return (
        replace(status, message=": ".join(filter(None, (status.message, message))))
        if message
        else status
    )
