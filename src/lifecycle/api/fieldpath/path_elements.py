"""Path elements: one step into an object, as FieldsV1 writes it.

    f:NAME          a field of an object, or a key of a map
    k:{"name":"c"}  the item of a list that is identified by keys (all of its key
                    fields, sorted by name)
    v:"value"       the item of a list that is a set
    i:0             an item by position (read, never written: such lists are atomic)
    .               the place itself, besides what lies below it

Elements are kept as these strings everywhere; they are only taken apart to print a path
or to order a list's items.

Upstream: `structured-merge-diff/fieldpath/serialize-pe.go` (`SerializePathElement`),
`element.go` (`PathElement.Compare`, `String`), v6.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import merge
from itertools import chain, islice
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import short_lru_cache, short_pair_cache
from lifecycle.api.go.format import go_quote, go_value
from lifecycle.api.go.json.encode import html_escape

SELF = "."
REMEMBERED = 8192
"""Elements of each kind. Names of containers and types of conditions are few; each pod
brings an address, which nobody asks for again when it has gone.
"""


def _json(value: Any) -> str:
    return html_escape(fast_json.dumps(value, option=fast_json.OPT_SORT_KEYS).decode())


def name_key(field: str, value: str) -> str:
    """The element of an item identified by one string, e.g. a container by its name."""
    return _name_key(value, field)


@short_pair_cache(REMEMBERED)
def _name_key(value: str, field: str) -> str:
    return f"k:{_json({field: value})}"


def key_element(keys: dict[str, Any]) -> str:
    """The element of an item identified by several fields or by something other than a
    string.
    """
    return f"k:{_json(keys)}"


@short_lru_cache(REMEMBERED)
def _string_element(value: str) -> str:
    return f"v:{_json(value)}"


def value_element(value: Any) -> str:
    """The element of an item of a set."""
    return _string_element(value) if type(value) is str else f"v:{_json(value)}"


def set_element(value: Any) -> str:
    """The element of an item of a set that a client sent. Raises ValueError for what
    cannot be in a set. Upstream: `setItemToPathElement`.
    """
    if isinstance(value, dict):
        raise ValueError(
            "associative list without keys has an element that's a map type"
        )
    if isinstance(value, list):
        raise ValueError("not supported: associative list with lists as elements")
    if value is None:
        raise ValueError(
            "associative list without keys has an element that's an explicit null"
        )
    return value_element(value)


_RANK = {float: 0, int: 0, str: 1, bool: 2, list: 3, dict: 4}


def _ordered(value: Any) -> tuple[int, Any]:
    rank = _RANK.get(type(value), 5)
    return rank, value if rank < 3 else str(value)


@short_lru_cache(REMEMBERED)
def order(element: str) -> tuple[Any, ...]:
    """A sort key: fields by name, then keys (numbers as numbers), then values, then
    positions; the place itself first. It is flat, because a list may have as many items
    as fit into a request, and whoever sorts does nothing else meanwhile.
    """
    kind = element[:2]
    if kind == "f:":
        return 1, element
    if kind == "k:":
        keys = sorted(fast_json.loads(element[2:]).items())
        flat = chain.from_iterable((name, *_ordered(value)) for name, value in keys)
        return 2, *flat
    if kind == "v:":
        return 3, *_ordered(fast_json.loads(element[2:]))
    if kind == "i:":
        return 4, int(element[2:])
    return 0, element


AT_ONCE = 4096
"""Elements sorted in one go."""


def sorted_elements(elements: Collection[str]) -> list[str]:
    """Elements in order. Of very many, some thousands at a time: whoever sorts has the
    interpreter until that is done.
    """
    if len(elements) <= AT_ONCE:
        return sorted(elements, key=order)
    rest = iter(elements)
    portions = iter(lambda: sorted(islice(rest, AT_ONCE), key=order), [])
    return list(merge(*portions, key=order))


def _value_string(value: Any) -> str:
    if type(value) is str:
        return go_quote(value)
    if value is None:
        return "null"
    if type(value) is list:
        return f"[{','.join(map(_value_string, value))}]"
    if type(value) is dict:
        return "".join(f"{key}={_value_string(part)}" for key, part in value.items())
    return go_value(value)


def path_text(path: Iterable[str]) -> str:
    """A path as conflicts print it: `.spec.containers[name="c"].image`."""
    parts = []
    for element in path:
        kind, rest = element[:2], element[2:]
        if kind == "f:":
            parts.append(f".{rest}")
        elif kind == "k:":
            parts.append(
                "["
                + ",".join(
                    f"{name}={_value_string(value)}"
                    for name, value in sorted(fast_json.loads(rest).items())
                )
                + "]"
            )
        elif kind == "v:":
            parts.append(f"[={_value_string(fast_json.loads(rest))}]")
        else:
            parts.append(f"[{rest}]")
    return "".join(parts)
