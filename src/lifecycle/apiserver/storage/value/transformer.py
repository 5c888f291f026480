"""What happens to a value between the API server and its store.

A transformer turns the bytes of an object into what is kept, and back. Each leaves a
prefix in front of what it wrote, so a reader can tell who wrote it: the provider, then
the key's name. Of several transformers the first one writes, and all of them can read.
That is what makes keys exchangeable without an outage: the new key goes to the front,
the old one stays behind it until everything has been written again.

Upstream: `apiserver/pkg/storage/value/transformer.go` (`Transformer`,
`PrefixTransformer`, `NewPrefixTransformers`), `value/encrypt/identity/identity.go`
(`NewEncryptCheckTransformer`), v1.36. Left out: metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lifecycle.api.aggregate import aggregate
from lifecycle.etcd.codec import ENCRYPTED


class TransformError(Exception):
    """A stored value that cannot be read; `str()` says why, in upstream's words."""


class Transformer(Protocol):
    """Both ways. `context` is the key under which the value lies: a transformer may
    bind the two together, so that nobody can move a value to another key.
    """

    def from_storage(self, data: bytes, context: bytes) -> tuple[bytes, bool]:
        """The value, and whether it is stale: it would be written differently today.
        Raises TransformError.
        """
        ...

    def to_storage(self, data: bytes, context: bytes) -> bytes:
        """What to keep."""
        ...


@dataclass(slots=True, frozen=True)
class PrefixTransformer:
    """A transformer, and what stands in front of that which it wrote."""

    prefix: bytes
    transformer: Transformer


class PrefixTransformers:
    """Several of them in one. `error` says what is wrong with a value that has no
    prefix of theirs.
    """

    def __init__(self, error: str, transformers: Sequence[PrefixTransformer]) -> None:
        self._error, self._transformers = error, list(transformers)

    def from_storage(self, data: bytes, context: bytes) -> tuple[bytes, bool]:
        """See `Transformer`. A prefix that fits is no promise: while keys change, two
        providers of one kind have the same, so all that fit are tried.
        """
        errors = []
        for position, each in enumerate(self._transformers):
            if not data.startswith(each.prefix):
                continue
            try:
                value, stale = each.transformer.from_storage(
                    data[len(each.prefix) :], context
                )
            except TransformError as error:
                if each.prefix:  # without one, it was worth a try
                    errors.append(str(error))
                continue
            return value, stale or position > 0
        raise TransformError(aggregate(errors) or self._error)

    def to_storage(self, data: bytes, context: bytes) -> bytes:
        """See `Transformer`: the first one's work."""
        first = self._transformers[0]
        return first.prefix + first.transformer.to_storage(data, context)


class IdentityTransformer:
    """Keeps values as they are, and hands out nothing that somebody else encrypted."""

    def from_storage(self, data: bytes, context: bytes) -> tuple[bytes, bool]:
        """See `Transformer`."""
        if data.startswith(ENCRYPTED):
            raise TransformError("identity transformer tried to read encrypted data")
        return data, False

    def to_storage(self, data: bytes, context: bytes) -> bytes:
        """See `Transformer`."""
        return data
