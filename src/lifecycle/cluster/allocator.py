"""What a large request took goes back to the system when it has been answered.

The C library keeps freed memory for later, one stock for each thread, and learns from
large pieces to keep larger ones. That is right for a program whose needs are even. A
server that was sent 3 MiB, made hundreds of them and forgot them holds them for good.

Upstream: Go's scavenger (`runtime/mgcscavenge.go`), which gives free pages back.
"""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
KEPT = 128 << 10
"""Bytes: of free memory at the end of the stock, and of pieces that are no part of it.
These are glibc's own values; given ones it does not raise.
"""


def give_freed_memory_back() -> None:
    """For a process that only serves a cluster. Nothing happens where the C library is
    not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(M_ARENA_MAX, 1)
    mallopt(M_TRIM_THRESHOLD, KEPT)
    mallopt(M_MMAP_THRESHOLD, KEPT)
