"""What large work makes of small things lies in pages that go back one by one.

Python keeps small objects in arenas of a mebibyte, and an arena goes back to the
machine when nothing in it is in use. A large request makes a million small things, and
among them a few that stay: something is remembered, queued, told to others. One of them
in each arena is enough: 155 MiB in use held 675. The C library takes back each page of
four KiB (`freed_memory`). So while the worker does large work, small things come from
the C library, which takes a fifth more time to hand them out.

Python frees every object by the way it came, whichever is in use then, so the ways may
change at any moment.

Ours; CPython `Objects/obmalloc.c` (`_PyObject_Free`: what lies in no arena is the C
library's), `Doc/c-api/memory.rst` (`PyMem_SetAllocator`). Not for interpreters that we
do not know to do so, nor for those that were told how to allocate.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

RAW, SMALL = 0, (1, 2)
"""CPython's `PyMemAllocatorDomain`: the C library's; `PYMEM_DOMAIN_MEM` and `_OBJ`."""

KNOWN = (3, 11), (3, 15)
"""From this version on, up to that one."""

T = TypeVar("T")
Args = TypeVarTuple("Args")

_ways: list[tuple[Callable[[], None], Callable[[], None]]] = []
"""How to leave the arenas and how to come back, if this process does."""


def leave_them_for_large_work() -> None:
    """From now on; for a process that only serves a cluster."""
    if not _ways and _is_known():
        _ways.extend(_found())


def in_pages(work: Callable[[*Args], T], *args: *Args) -> T:
    """What `work(*args)` returns or raises. For one thread at a time."""
    if not _ways:
        return work(*args)
    [(leave, come_back)] = _ways
    leave()
    try:
        return work(*args)
    finally:
        come_back()


def _is_known() -> bool:
    first, end = KNOWN
    return (
        sys.implementation.name == "cpython"
        and first <= sys.version_info < end
        and not set(sys.abiflags) & set("dt")  # debugging, or without the lock
        and not os.environ.get("PYTHONMALLOC")
        and not sys.flags.dev_mode
    )


def _found() -> list[tuple[Callable[[], None], Callable[[], None]]]:
    import ctypes  # several milliseconds of every start

    class Allocator(ctypes.Structure):
        """`PyMemAllocatorEx`."""

        _fields_ = tuple(
            (name, ctypes.c_void_p)
            for name in ("ctx", "malloc", "calloc", "realloc", "free")
        )

    get, put = ctypes.pythonapi.PyMem_GetAllocator, ctypes.pythonapi.PyMem_SetAllocator

    def now(domain: int) -> Allocator:
        found = Allocator()
        get(domain, ctypes.byref(found))
        return found

    raw, *arenas = map(now, (RAW, *SMALL))
    if any(each.ctx or each.malloc == raw.malloc for each in arenas):
        return []  # somebody traces, or there are no arenas
    pages = [
        Allocator(each.ctx, raw.malloc, raw.calloc, each.realloc, each.free)
        for each in arenas
    ]

    def change_to(ways: list[Allocator]) -> Callable[[], None]:
        pairs = [(domain, ctypes.byref(way)) for domain, way in zip(SMALL, ways)]

        def change() -> None:
            for domain, way in pairs:
                put(domain, way)

        return change

    return [(change_to(pages), change_to(arenas))]
