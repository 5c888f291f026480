"""The fields that a configuration names: what an applier asks to own.

Unlike in a comparison, an object or map on the way is not claimed by naming something
inside it: only leaves, items of lists, and empty objects are.

Upstream: `structured-merge-diff/typed/tofieldset.go` (`toFieldSetWalker`),
`fieldpath/set.go` (`EnsureNamedFieldsAreMembers`), v6.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.fieldpath.field_sets import LEAF, Fields, in_order
from lifecycle.api.fieldpath.path_elements import SELF, value_element
from lifecycle.apiserver.managedfields.typed import KEYED, SET, STRUCT, Type


def field_set(t: Type, value: Any) -> Fields:
    """The set of a value's fields, the value itself not included. Raises ValueError for
    list items without their keys.
    """
    if t.leaf or not value:
        return LEAF
    out: Fields = {}
    if type(value) is dict:
        struct = t.shape == STRUCT
        for name, part in value.items():
            known = t.fields.get(name) if struct else None
            element, child = known or (f"f:{name}", t.element)
            below = field_set(child, part)
            if known is None or _is_leaf(child, part):
                out[element] = {SELF: LEAF, **below} if below else LEAF
            elif below:
                out[element] = below
    elif type(value) is list and t.shape in (KEYED, SET):
        for item in value:
            element = t.item_element(item) if t.shape == KEYED else value_element(item)
            below = (
                field_set(t.element, item)
                if element not in out and t.shape == KEYED
                else LEAF
            )
            out[element] = {SELF: LEAF, **below} if below else LEAF
    return in_order(out)


def _is_leaf(t: Type, value: Any) -> bool:
    """Whether a place is claimed by itself: it is one value, or empty. An empty keyed
    list claims nothing.
    """
    if t.leaf or value is None or value == {}:
        return True
    return type(value) is not dict and (
        type(value) is not list or t.shape not in (KEYED, SET)
    )


def with_named_fields(t: Type, fields: Fields) -> Fields:
    """The set, and with every place in it the known fields that lead there: what must
    go if the whole is taken away.
    """
    out: Fields = {}
    for key, node in fields.items():
        if key == SELF:
            out[key] = node
            continue
        child = t.child(key)
        below = with_named_fields(child, node) if node else node
        named = key[:2] == "f:" and t.shape == STRUCT and key[2:] in t.fields
        out[key] = (
            {SELF: LEAF, **below} if below and named and SELF not in below else below
        )
    return out
