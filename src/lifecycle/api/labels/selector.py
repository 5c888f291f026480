"""Labels and label selectors: how everything in Kubernetes finds everything else.

A selector is text on the wire (`app in (web,api),tier!=cache`) or an object in a spec
(`matchLabels`, `matchExpressions`); both become the same list of requirements, all of
which must hold. Parsed selectors are cached: a watch asks the same question of every
event.

Upstream: `apimachinery/pkg/labels/selector.go` (`internalSelector`, `Parse`),
`apimachinery/pkg/apis/meta/v1/helpers.go` (`LabelSelectorAsSelector`,
`FormatLabelSelector`), v1.36. Left out: adding requirements to an existing selector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from weakref import WeakValueDictionary

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import is_short, short_lru_cache
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.labels.parser import parse
from lifecycle.api.labels.requirements import (
    Requirement,
    new_requirement,
    validate_label_key,
    validate_label_value,
)
from lifecycle.api.status import StatusError, bad_request

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Requirement",
    "Selector",
    "format_label_selector",
    "new_requirement",
    "parse_selector",
    "selector_from_label_selector",
    "selector_from_labels",
    "validate_label_key",
    "validate_label_value",
]


def _narrowest(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Of each key the highest lower bound and the lowest upper one: whoever keeps these
    keeps all.
    """
    bounds: dict[tuple[str, str], Requirement] = {}
    for r in requirements:
        if r.operator in ("gt", "lt"):
            narrowest = max if r.operator == "gt" else min
            known = bounds.get((r.key, r.operator), r)
            bounds[r.key, r.operator] = narrowest(
                known, r, key=lambda one: int(one.values[0])
            )
    return tuple(bounds.values())


class Selector:
    """Requirements that must all hold. Immutable; `str()` gives canonical text that
    parses to the same selector.
    """

    __slots__ = (
        "__weakref__",
        "_absent",
        "_allowed",
        "_bounds",
        "_equals",
        "_present",
        "_refused",
        "nothing",
        "requirements",
    )

    def __init__(
        self, requirements: Iterable[Requirement] = (), *, nothing: bool = False
    ) -> None:
        self.requirements = tuple(sorted(requirements, key=lambda r: r.key))
        self.nothing = nothing
        self._equals = tuple(
            dict.fromkeys(
                (r.key, r.values[0])
                for r in self.requirements
                if r.operator in ("=", "==")
            )
        )
        # by key, so that an object is asked for its few labels, and not for each of the
        # hundred thousand keys and values that a selector may have
        self._allowed: dict[str, frozenset[str]] = {}
        self._refused: dict[str, set[str]] = {}
        for r in self.requirements:
            if r.operator == "in":
                allowed = self._allowed.get(r.key)
                values = frozenset(r.values)
                self._allowed[r.key] = (
                    values & allowed if allowed is not None else values
                )
            elif r.operator in ("!=", "notin"):
                self._refused.setdefault(r.key, set()).update(r.values)
        self._absent = frozenset(r.key for r in self.requirements if r.operator == "!")
        self._present = frozenset(
            r.key for r in self.requirements if r.operator == "exists"
        )
        self._bounds = _narrowest(self.requirements)

    @property
    def empty(self) -> bool:
        """True if the selector restricts nothing."""
        return not self.requirements and not self.nothing

    @property
    def label(self) -> tuple[str, str] | None:
        """A label that every selected object has, key and value; None if there is no
        such one.
        """
        return self._equals[0] if self._equals else None

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Whether an object with these labels is selected."""
        if labels is None:
            labels = {}
        for key, value in self._equals:
            if labels.get(key) != value:
                return False
        for key, allowed in self._allowed.items():
            if labels.get(key) not in allowed:
                return False
        if not self._present <= labels.keys():
            return False
        for bound in self._bounds:
            if not bound.matches(labels):
                return False
        if self._refused or self._absent:
            for key, value in labels.items():
                if key in self._absent or value in self._refused.get(key, ()):
                    return False
        return not self.nothing

    def requires_exact_match(self, key: str) -> str | None:
        """The one value a selected object must have under `key`, if the selector fixes
        it.
        """
        for r in self.requirements:
            if r.key == key:
                return (
                    r.values[0]
                    if r.operator in ("=", "==", "in") and len(r.values) == 1
                    else None
                )
        return None

    def __str__(self) -> str:
        return ",".join(str(r) for r in self.requirements)

    def __repr__(self) -> str:
        return (
            f"Selector({str(self)!r})" if not self.nothing else "Selector(nothing=True)"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selector) and (self.requirements, self.nothing) == (
            other.requirements,
            other.nothing,
        )

    def __hash__(self) -> int:
        return hash((self.requirements, self.nothing))


EVERYTHING = Selector()
NOTHING = Selector(nothing=True)


@short_lru_cache(4096)
def parse_selector(text: str) -> Selector:
    """A selector from its text form. Raises StatusError 400 with the parser's own
    words.
    """
    return Selector(parse(text)) if text else EVERYTHING


def selector_from_labels(labels: Mapping[str, str]) -> Selector:
    """The selector that wants exactly these values, unchecked. Upstream:
    `SelectorFromSet`.
    """
    return Selector(Requirement(key, "=", (value,)) for key, value in labels.items())


LONGEST = 16 * 1024
"""Bytes of a selector that is remembered, a few of the long ones: a webhook's is asked
about every change.
"""

_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def _parsed(obj: Object) -> Selector:
    requirements = [
        new_requirement(k, "=", [v]) for k, v in (obj.get("matchLabels") or {}).items()
    ]
    for expression in obj.get("matchExpressions") or ():
        operator = expression.get("operator", "")
        if operator not in _OPERATORS:
            raise bad_request(
                f"{go_quote(operator)} is not a valid label selector operator"
            )
        requirements.append(
            new_requirement(
                expression.get("key", ""),
                _OPERATORS[operator],
                expression.get("values") or [],
            )
        )
    return Selector(requirements)


def _read(encoded: bytes) -> Selector:
    return _parsed(fast_json.loads(encoded))


_from_json = short_lru_cache(4096)(_read)
_from_long_json = short_lru_cache(128, LONGEST)(_read)

_longest: WeakValueDictionary[bytes, Selector] = WeakValueDictionary()
"""By digest of the JSON: those that somebody still holds."""


def _from_longest(encoded: bytes, obj: Object) -> Selector:
    """The longest is fifteen thousand words, and whoever watches a kind keeps those
    of all its objects: they keep the same one, whose words are those of the object.
    """
    digest = blake2b(encoded, digest_size=16).digest()
    known = _longest.get(digest)
    if known is None:
        known = _longest[digest] = _parsed(obj)
    return known


def selector_from_label_selector(obj: Object | None) -> Selector:
    """The selector a `metav1.LabelSelector` means: None selects nothing, an empty one
    everything.

    Raises StatusError 400 for bad keys, values or operators. Upstream:
    `LabelSelectorAsSelector`.
    """
    if obj is None:
        return NOTHING
    text = fast_json.dumps(obj, option=fast_json.OPT_SORT_KEYS)
    if len(text) > LONGEST:
        return _from_longest(text, obj)
    read = _from_json if is_short(text) else _from_long_json
    return read(fast_json.trimmed(text))


def format_label_selector(obj: Object | None) -> str:
    """A `metav1.LabelSelector` as one line for people: `<none>` if it says nothing,
    `<error>` if it is wrong.
    """
    try:
        return str(selector_from_label_selector(obj)) or "<none>"
    except StatusError:
        return "<error>"
