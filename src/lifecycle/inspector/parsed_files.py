"""Files of a recording, parsed once by whoever asks for them first.

A book with forty agreement tables opens the same recording again and again. What a file
holds is remembered by its bytes, not by where it lies or when it was written: a copy
with one letter changed is another file.

What is remembered is shared, and so read-only, as everything cached here is.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, ParamSpec, TypeVar

Value = TypeVar("Value")
Params = ParamSpec("Params")

REMEMBERED = 24 << 20
"""Bytes of text whose parsed form is kept. A recording has some ten million; parsed
they take several times as much.
"""


class ParsedFiles:
    """What functions made of bytes, the least recently asked for dropped first when
    they were made of more than `limit` bytes.
    """

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._size = 0
        self._known: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()

    def get(
        self,
        parse: Callable[Concatenate[bytes, Params], Value],
        content: bytes,
        *args: Params.args,
        **named: Params.kwargs,
    ) -> Value:
        """`parse(content, …)`, remembered. What it raises it raises each time."""
        digest = hashlib.sha256(content).digest()
        key = (parse, digest, args, tuple(named.items()))
        if key in self._known:
            self._known.move_to_end(key)
            value: Value = self._known[key][1]
            return value
        value = parse(content, *args, **named)
        self._known[key] = (len(content), value)
        self._size += len(content)
        while self._size > self._limit:
            _, (size, _) = self._known.popitem(last=False)
            self._size -= size
        return value
