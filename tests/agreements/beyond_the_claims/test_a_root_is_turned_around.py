"""How a container's root becomes its root, call by call: in the order and with the flags of runc (`pivotRoot`)."""

from __future__ import annotations

import os
from typing import Any

import pytest

from lifecycle.cri.sandbox import rootfs


def test_the_old_root_is_let_go_as_a_slave_so_that_nothing_of_it_spreads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a mount of the pod is `Bidirectional` the root is a shared one: let go as it is, the machine would lose its own."""
    called = list[tuple[Any, ...]]()

    def note(name: str) -> Any:
        return lambda *args, **named: called.append((name, *args, *named.values()))

    for name in ("pivot_root", "mount", "umount"):
        monkeypatch.setattr(rootfs.sys, name, note(name))
    monkeypatch.setattr(os, "chdir", note("chdir"))
    rootfs.enter("/bundle/rootfs")
    assert called == [
        ("chdir", "/bundle/rootfs"),
        ("pivot_root", ".", "."),
        ("mount", "", ".", rootfs.sys.MS_SLAVE | rootfs.sys.MS_REC),
        ("umount", "."),
        ("chdir", "/"),
    ]
