"""Taking a set of fields out of an object.

Upstream: `structured-merge-diff/typed/remove.go` (`removingWalker`), v6.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.fieldpath.field_sets import Fields, is_member
from lifecycle.api.fieldpath.path_elements import SELF, value_element
from lifecycle.apiserver.managedfields.typed import KEYED, SET, Type


def remove(t: Type, value: Any, fields: Fields) -> Any:
    """A new value without the fields; None where nothing is left of an object or a
    list.
    """
    if not fields or t.leaf:
        return value
    if isinstance(value, dict):
        out: Any = {}
        for name, part in value.items():
            node = fields.get(f"f:{name}")
            if node is None:
                out[name] = part
            elif not is_member(node):
                out[name] = remove(t.child(f"f:{name}"), part, node)
        return out or None
    if isinstance(value, list) and t.shape in (KEYED, SET):
        out = []
        for item in value:
            node = fields.get(
                t.item_element(item) if t.shape == KEYED else value_element(item)
            )
            if node is None:
                out.append(item)
            elif not is_member(node):
                out.append(
                    remove(
                        t.element, item, {k: v for k, v in node.items() if k != SELF}
                    )
                )
        return out or None
    return value
