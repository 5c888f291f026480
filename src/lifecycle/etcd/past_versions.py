"""What a key was: all its versions since the last compaction.

Most writes change a condition or a time, so that a version says almost word for word
what the next one says. They are kept as RCS, the old version control system, keeps
files: the newest whole, an older one as the difference to the one after it. The
difference is zlib's. Whatever both sides know beforehand need not be written down (zlib
calls it a dictionary), and here that is the newer version: of a pod's 2.4 KB, 90 bytes
are left.

Who asks for the past pays for it: a version is put together from all that came after
it, up to the next whole one. So every `WHOLE`th stays whole.

Upstream: etcd `server/storage/mvcc/key_index.go` (`keyIndex`), v3.6, whose values lie
in a file, each whole.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Sequence

from lifecycle.etcd.store import Event, KeyValue

WHOLE = 16
"""Versions from one that is whole to the next."""
FAR, NEAR = 15, 13
"""zlib's windows, as powers of two: how far back in the newer version it looks. The
small one takes a third of the time.
"""
MARGIN = 512
"""Bytes of a window that zlib keeps for itself, and a few more."""
LARGEST = (1 << FAR) - MARGIN
"""Bytes. What is larger does not fit into the window, and stays whole."""


class Difference(bytes):
    """A value that stands for another one: what is said beside the next version."""

    __slots__ = ()


class PastVersions:
    """The versions of one key in the order of their revisions, with its deletions
    (version 0).
    """

    __slots__ = ("_kvs",)

    def __init__(self) -> None:
        self._kvs: list[KeyValue] = []

    def __len__(self) -> int:
        return len(self._kvs)

    @property
    def newest(self) -> KeyValue:
        """What the key is, or that it was deleted."""
        return self._kvs[-1]

    def append(self, kv: KeyValue) -> None:
        """One that is newer than all."""
        self._kvs.append(kv)

    def was_there(self, revision: int) -> bool:
        """Whether `at` finds anything."""
        place = self._place(revision)
        return place >= 0 and self._kvs[place].version > 0

    def at(self, revision: int) -> KeyValue | None:
        """The key as of a revision; None if it was not there."""
        return whole(self.packed_at(revision)) if self.was_there(revision) else None

    def packed_at(self, revision: int) -> list[KeyValue]:
        """The key as of a revision at which it was there, for `whole`: the version, and
        those after it up to one that is no difference.
        """
        return self._packed(self._place(revision))

    def event(self, revision: int) -> Event:
        """What was written at a revision that is one of these."""
        place = self._place(revision)
        kv = whole(self._packed(place))
        return Event("PUT" if kv.version else "DELETE", kv, self.at(revision - 1))

    def _place(self, revision: int) -> int:
        return bisect_right(self._kvs, revision, key=lambda kv: kv.mod_revision) - 1

    def _packed(self, place: int) -> list[KeyValue]:
        last = place
        while type(self._kvs[last].value) is Difference:
            last += 1
        return self._kvs[place : last + 1]

    def pack_before(self, revision: int) -> int:
        """Keep the version before the one of this revision as a difference. Returns how
        many bytes that saves: none if it is whole for a reason.
        """
        place = self._place(revision) - 1
        if place < 0:
            return 0
        old, new = self._kvs[place : place + 2]
        if not (old.version % WHOLE and new.version) or type(old.value) is Difference:
            return 0
        if max(len(old.value), len(new.value)) > LARGEST:
            return 0
        value = _difference(old.value, new.value)
        saved = len(old.value) - len(value)
        if saved <= 0:
            return 0
        self._kvs[place] = old._replace(value=Difference(value))
        return saved

    def forget_before(self, revision: int) -> int:
        """Keep what is needed to say what was at a revision, and since. Returns the
        bytes of what goes.
        """
        place = max(self._place(revision), 0)
        if not self._kvs[place].version and self._kvs[place].mod_revision <= revision:
            place += 1  # by then it was deleted
        gone = sum(len(kv.value) for kv in self._kvs[:place])
        del self._kvs[:place]
        return gone


def whole(packed: Sequence[KeyValue]) -> KeyValue:
    """The first of some versions that follow each other; the last of them is whole."""
    *differences, newer = packed
    value = newer.value
    for kv in reversed(differences):
        value = zlib.decompressobj(-FAR, zdict=value).decompress(kv.value)
    return packed[0]._replace(value=value)


def _difference(old: bytes, new: bytes) -> bytes:
    near = len(new) <= (1 << NEAR) - MARGIN
    window, memory = (NEAR, 6) if near else (FAR, 8)
    packer = zlib.compressobj(
        zlib.Z_BEST_SPEED, zlib.DEFLATED, -window, memory, zdict=new
    )
    return packer.compress(old) + packer.flush()
