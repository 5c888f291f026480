"""JSON that remembers how it was written.

`1.50` and `1.5` are one number, `"\\u00e4"` and `"ä"` one text. Upstream's library for
patches keeps what it need not look into as the text that was sent: it compares texts,
and prints what a patch leaves in the client's own spelling. A value read here is what
it would be anyway, and knows its text besides. A copy of a container is an ordinary one
that holds such values: as there, what has been taken apart is written anew.

Upstream: Go's `encoding/json` (`RawMessage`, `Compact`),
`gopkg.in/evanphx/json-patch.v4/patch.go` (`lazyNode`).
"""

from __future__ import annotations

import json
import re
from typing import Any

from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.go.json.encode import marshal

_SPACE = re.compile(r'("(?:[^"\\]|\\.)*+")|[ \t\r\n]++', re.DOTALL)
LONGEST = 64 << 10
"""Bytes of a text that is worth it: to read one so takes a hundred times as long."""
_WORDS = {"null": None, "true": True, "false": False}
_SHORT = 18
"""Characters of a number that all readers agree on."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\[\]{},:"]++|[\[\]{}]', re.DOTALL)


class _Sent:
    """Of a value: the text it was read from, without spaces."""

    sent: str


class _Text(str, _Sent):
    pass


class _Integer(int, _Sent):
    pass


class _Float(float, _Sent):
    pass


class _Container(_Sent):
    """Its text is a part of the whole one: else nested ones would need much room."""

    whole: str
    span: tuple[int, int]

    @property
    def sent(self) -> str:  # type: ignore[override]
        start, end = self.span
        return self.whole[start:end]


class _Object(dict[str, Any], _Container):
    pass


class _Array(list[Any], _Container):
    pass


def as_sent(data: bytes | str) -> Any:
    """The value of a text, each part with the part of the text that it came from.

    Raises ValueError for what is no JSON.
    """
    unmarshal(data)
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    return _Reader(_SPACE.sub(r"\1", text)).value()


def is_as_sent(value: Any) -> bool:
    """Whether a value knows the text that it came from. Words and nulls have one."""
    return isinstance(value, _Sent)


def same_text(one: Any, other: Any) -> bool:
    """Whether two values are written alike, each as it was sent or as Go writes it."""
    first, second = (_sent(value) or text_of(value) for value in (one, other))
    return first == second


def plain(value: Any) -> Any:
    """A copy that has forgotten how it was written."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(plain, value))
    for kind in (str, float, int):
        if isinstance(value, kind) and isinstance(value, _Sent):
            return kind(value)
    return value


def text_of(value: Any) -> str:
    """A value as JSON, its parts as they were sent, if they were; else as Go writes
    them, maps in the order they are in.
    """
    return marshal(value, as_is=_sent)


def _sent(value: Any) -> str | None:
    return value.sent if isinstance(value, _Sent) else None


class _Reader:
    """Goes over a text that is known to be good."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def _next(self) -> str:
        token = _TOKEN.match(self._text, self._at)
        assert token is not None
        self._at = token.end()
        return token[0]

    def value(self) -> Any:
        """The value that begins here."""
        start, token = self._at, self._next()
        container: Any
        if token == "{":
            container = _Object()
            while not self._closed("}"):
                key = unmarshal(self._next())
                self._at += 1  # the colon
                container[key] = self.value()
        elif token == "[":
            container = _Array()
            while not self._closed("]"):
                container.append(self.value())
        else:
            return _scalar(token)
        container.whole, container.span = self._text, (start, self._at)
        return container

    def _closed(self, bracket: str) -> bool:
        """Past the comma before the next one, or past the end."""
        here = self._text[self._at]
        self._at += here in (bracket, ",")
        return here == bracket


def _scalar(token: str) -> Any:
    if token in _WORDS:
        return _WORDS[token]
    scalar: Any
    if token[0] == '"':
        scalar = _Text(unmarshal(token) if "\\" in token else token[1:-1])
    else:
        value = unmarshal(token) if len(token) > _SHORT else json.loads(token)
        scalar = _Integer(value) if isinstance(value, int) else _Float(value)
    scalar.sent = token
    return scalar
