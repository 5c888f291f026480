"""An object in the watch cache, with its JSON and what its selector means; and a change
from one such object to the next.

Upstream: `apiserver/pkg/storage/cacher/caching_object.go` (`cachingObject`),
`watch_cache.go` (`watchCacheEvent`), v1.36.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector, selector_from_label_selector


class Cached:
    """One object as the cache holds it. `json` is made when first asked for, then kept.

    `value` are the bytes under its key, where they are known: the stored JSON lacks
    nothing but the resourceVersion. `size`: how many there are, where they say it
    differently.

    `obj` is the object as it is read. A version that is long past may be packed: then
    that is missing, and made again for whoever asks.
    """

    __slots__ = (
        "_json",
        "_packed",
        "_selector",
        "_size",
        "_value",
        "key",
        "obj",
        "revision",
    )

    def __init__(
        self,
        key: str,
        obj: Object,
        revision: int,
        value: bytes | None = None,
        size: int = 0,
    ) -> None:
        self.key, self.obj, self.revision = key, obj, revision
        self._value, self._size = value, size
        self._packed = b""
        self._json: bytes | None = None
        self._selector: Selector | None = None

    def superseded(self) -> None:
        """There is a newer version. Hardly anybody will ask for the JSON of this one,
        which waits in the window for those who were away, or for its selector.
        """
        self._size = self.size
        self._json = self._value = self._selector = None

    @property
    def is_packed(self) -> bool:
        """Whether it takes work to say what `obj` is."""
        return bool(self._packed)

    def pack(self) -> None:
        """Keep the object as few bytes: a large one takes a hundred times as much when
        it is read. The worker's.
        """
        if not self._packed:
            self._packed = zlib.compress(fast_json.dumps_in_parts(self.obj), 1)
            del self.obj

    def unpack(self) -> None:
        """Read the object again. The worker's, or that of who cannot wait."""
        packed = self._packed
        if packed:
            self.obj = fast_json.loads(zlib.decompress(packed))
            self._packed = b""

    def __getattr__(self, name: str) -> Object:
        if name != "obj":
            raise AttributeError(name)
        self.unpack()
        obj: Object = object.__getattribute__(self, name)
        return obj

    @property
    def namespace(self) -> str:
        """Where the object is; empty if it is nowhere."""
        namespace: str = self.obj["metadata"].get("namespace", "")
        return namespace

    @property
    def size(self) -> int:
        """Bytes of its JSON, about; 0 where nobody knows."""
        return len(self._json or self._value or b"") or self._size

    @property
    def selector(self) -> Selector:
        """What its `spec.selector` means, which is a `metav1.LabelSelector`: read when
        first asked for, then kept, as it may be fifteen thousand words. Ours. Raises
        StatusError.
        """
        selector = self._selector
        if selector is None:
            written = (self.obj.get("spec") or {}).get("selector")
            self._selector = selector = selector_from_label_selector(written)
        return selector

    @property
    def json(self) -> bytes:
        """The object as JSON, with kind and apiVersion first."""
        json = self._json
        if json is None:  # `superseded` may come in between, if a worker asks
            stored, self._value = self._value, None
            spliced = (
                with_resource_version(stored, self.obj) if stored is not None else None
            )
            self._json = json = (
                spliced
                if spliced is not None
                else fast_json.trimmed(fast_json.dumps(self.obj))
            )
        return json


class Shown(Cached):
    """One object as a version shows it that is not the stored one, or as it left: made
    from the stored one when somebody first looks at it. Of most events nobody ever
    reads both faces.
    """

    __slots__ = ("_show", "_shown", "_stored")

    def __init__(
        self, stored: Cached, show: Callable[[Object], Object], size: int
    ) -> None:
        self._stored, self._show = stored, show
        super().__init__(stored.key, {}, stored.revision, size=size)
        self._shown: Object | None = None

    @property
    def obj(self) -> Object:
        """The object in this version."""
        shown = self._shown
        if shown is None:
            self._shown = shown = self._show(self._stored.obj)
        return shown

    @obj.setter
    def obj(self, shown: Object) -> None:
        self._shown = shown

    @property
    def is_packed(self) -> bool:
        """Whether the stored one is."""
        return self._stored.is_packed

    def pack(self) -> None:
        """The stored one is enough."""
        self._stored.pack()
        self._shown = None

    def unpack(self) -> None:
        """Read the stored one again."""
        self._stored.unpack()

    @property
    def namespace(self) -> str:
        """As the stored one says."""
        return self._stored.namespace


class Writing:
    """What is on its way to the store: the bytes, and what will be in the cache once
    they have a revision. Who hears first of the write makes that, be it the writer or
    the watch; the other has the same.
    """

    __slots__ = ("_at", "_made", "key", "value")

    def __init__(self, key: str, value: bytes, at: Callable[[int], Cached]) -> None:
        self.key, self.value, self._at = key, value, at
        self._made: Cached | None = None

    def at(self, revision: int) -> Cached:
        """As that revision wrote it."""
        made = self._made
        if made is None or made.revision != revision:
            self._made = made = self._at(revision)
        return made


def with_resource_version(value: bytes, obj: Object) -> bytes | None:
    """A stored value completed to the object's JSON without encoding it again; None if
    its uid is not where we look for it.
    """
    metadata = obj["metadata"]
    uid = b'"uid":"%b"' % metadata.get("uid", "").encode()
    before, separator, after = value.partition(uid)
    if (
        not separator or b"{" in before[before.find(b'"metadata":{') + 12 :]
    ):  # the first uid is some other object's
        return None
    return b'%b%b,"resourceVersion":"%b"%b' % (
        before,
        uid,
        metadata["resourceVersion"].encode(),
        after,
    )


@dataclass(slots=True)
class Change:
    """One event of the window: what was and what is. `current` is None for a deletion,
    `previous` for a creation. `recorded`: when, in the loop's seconds; `size`: bytes of
    what was stored.
    """

    revision: int
    current: Cached | None
    previous: Cached | None
    recorded: float = 0.0
    size: int = 0

    @property
    def name(self) -> str:
        """The object's name, which never changes."""
        cached = self.current or self.previous
        assert cached is not None
        return str(cached.obj["metadata"]["name"])
