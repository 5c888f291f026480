"""Laying a configuration over a live object: what the configuration names wins, the
rest stays.

Keyed lists merge item by item. Their order is the configuration's where it says one,
the live object's elsewhere.

Upstream: `structured-merge-diff/typed/merge.go` (`mergingWalker`, `ruleKeepRHS`), v6.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.fieldpath.path_elements import value_element
from lifecycle.apiserver.managedfields.typed import KEYED, SET, STRUCT, Type

_ABSENT: Any = object()


def merge(t: Type, live: Any, config: Any) -> Any:
    """A new value. Raises ValueError for list items without their keys."""
    if config is _ABSENT:
        return live
    if live is _ABSENT or t.leaf or (not live and not config):
        return config
    if isinstance(config, dict) or (config is None and isinstance(live, dict)):
        return (
            _dicts(t, live or {}, config or {})
            if isinstance(live or {}, dict)
            else config
        )
    if isinstance(config, list) and t.shape in (KEYED, SET):
        return _lists(t, live or [], config) if isinstance(live or [], list) else config
    if config is None and isinstance(live, list) and t.shape in (KEYED, SET):
        return live
    return config


def _dicts(t: Type, live: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    out = dict(live)
    for name, value in config.items():
        if t.shape == STRUCT:
            known = t.fields.get(name)
            child = known[1] if known is not None else t.element
        else:
            child = t.element
        out[name] = merge(child, live.get(name, _ABSENT), value)
    return out


def _lists(t: Type, live: list[Any], config: list[Any]) -> list[Any]:
    element_of = t.item_element if t.shape == KEYED else value_element
    live_elements = [element_of(item) for item in live]
    config_elements = [element_of(item) for item in config]
    mine: dict[str, Any] = {}
    for element, item in zip(live_elements, live):
        mine[element] = (
            None if element in mine else item
        )  # several of the same: none to merge with
    theirs = dict(zip(config_elements, config))

    def merged(element: str) -> Any:
        item = theirs[element]
        if t.shape == SET or mine.get(element) is None:
            return item
        return merge(t.element, mine[element], item)

    shared = [element for element in config_elements if element in mine]
    next_shared = 0
    out: list[Any] = []
    done: set[str] = set()
    i = j = 0
    while i < len(live) or j < len(config):
        if i < len(live) and j < len(config):
            element = live_elements[i]
            if element == config_elements[j]:
                done.add(element)
                out.append(merged(element))
                i, j, next_shared = i + 1, j + 1, next_shared + 1
                continue
            if (
                element in theirs
                and next_shared < len(shared)
                and shared[next_shared] != element
            ):
                i += 1  # out of order: comes where the configuration has it
                continue
        if i < len(live):
            element = live_elements[i]
            if element not in theirs:
                out.append(live[i])
                i += 1
                continue
            if element in done:
                i += 1
        if j < len(config):
            element = config_elements[j]
            done.add(element)
            out.append(merged(element))
            j += 1
            if next_shared < len(shared) and shared[next_shared] == element:
                next_shared += 1
    return out
