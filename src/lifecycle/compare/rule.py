"""What a freedom is, in code: a named rule that may replace a value, or a part of it,
by a placeholder.

A rule looks at a value and its site: which field, of which kind of object, about which
pod. Field rules take whole values; text rules find their part inside any string, also
inside messages and map keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lifecycle.compare.entities import Entities, Entity
from lifecycle.compare.masked import Identity, Mark, Masked, Near


@dataclass(slots=True, frozen=True)
class Site:
    """Where a value stands: its key, the key above it, the kind of the object, the pod
    it speaks of (if it does), and why an event was told.
    """

    key: str
    parent: str
    kind: str
    pod: Entity | None
    known: Entities
    reason: str = ""


class Rule:
    """A freedom. `name` stands in agreement tables; the docstring says why it is
    one.
    """

    name = ""


class FieldRule(Rule):
    """Replaces whole values."""

    def mask(self, value: Any, site: Site) -> Masked | None:
        """The placeholder, or None if the rule has nothing to say here."""
        raise NotImplementedError

    def placeholder(
        self,
        text: str,
        value: Any,
        identity: Identity | None = None,
        instead: Any = None,
        near: Near | None = None,
    ) -> Masked:
        """A placeholder for a whole value."""
        mark = Mark(self.name, str(value), identity, instead, near)
        return Masked(text, [mark], value)


class TextRule(Rule):
    """Replaces what its pattern finds. `hint`: what stands in every text in which it
    finds something, and is looked for first.
    """

    pattern: re.Pattern[str]
    hint = ""

    def applies(self, site: Site) -> bool:
        """Whether the rule looks at this field at all."""
        return True

    def replace(
        self, match: re.Match[str], site: Site
    ) -> tuple[str, Identity | None] | None:
        """Placeholder and identity of a match, or None to leave it."""
        raise NotImplementedError
