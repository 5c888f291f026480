"""When `metadata.generation` goes up: a number that counts changes of intent.

A controller compares it with the `observedGeneration` it wrote last, and knows whether
its status is about the present specification.

Upstream: the `PrepareForCreate` and `PrepareForUpdate` of
`pkg/registry/*/*/strategy.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum, auto

from lifecycle.api.go.same_value import same_value
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.empties import Empty, within

_NOT_CONTENT = ("metadata", "status", "kind", "apiVersion")


class Generation(Enum):
    """What of an object counts."""

    UNCOUNTED = auto()
    """The kind has no generation of its own."""
    ALWAYS_ONE = auto()
    """Set at creation, and never again."""
    SPEC = auto()
    EXACT_SPEC = auto()
    """As `SPEC`; empty is not the same as not there."""
    SPEC_AND_ANNOTATIONS = auto()
    CONTENT = auto()
    """Everything but metadata and status."""
    EXACT_CONTENT = auto()
    """As `CONTENT`; empty is not the same as not there."""
    CONTENT_AND_LABELS = auto()
    WITHOUT_METADATA = auto()
    """Everything but metadata; a status counts unless it is set aside before."""

    def counts(self, new: Object, old: Object, empties: Collection[Empty] = ()) -> bool:
        """Does the step from `old` to `new` make a new generation? `empties`: what the
        normal form of `new` left out.
        """
        if self is Generation.EXACT_SPEC and within(new.get("spec"), empties):
            return True
        if self is Generation.EXACT_CONTENT and within(
            _content(new, _NOT_CONTENT), empties
        ):
            return True
        match self:
            case Generation.UNCOUNTED | Generation.ALWAYS_ONE:
                return False
            case Generation.SPEC | Generation.EXACT_SPEC:
                return bool(new.get("spec") != old.get("spec"))
            case Generation.SPEC_AND_ANNOTATIONS:
                return new.get("spec") != old.get("spec") or _differs(
                    new, old, "annotations"
                )
            case Generation.CONTENT | Generation.EXACT_CONTENT:
                return _content(new, _NOT_CONTENT) != _content(old, _NOT_CONTENT)
            case Generation.CONTENT_AND_LABELS:
                return Generation.CONTENT.counts(new, old) or (
                    new["metadata"].get("labels") != old["metadata"].get("labels")
                )
            case Generation.WITHOUT_METADATA:
                return not same_value(
                    _content(new, ("metadata",)), _content(old, ("metadata",))
                )


def _differs(new: Object, old: Object, key: str) -> bool:
    return (new["metadata"].get(key) or {}) != (old["metadata"].get(key) or {})


def _content(obj: Object, without: tuple[str, ...]) -> Object:
    return {key: value for key, value in obj.items() if key not in without}
