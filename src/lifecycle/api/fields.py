r"""Field selectors: the few fields by which the server itself can filter
(`status.phase=Running,spec.nodeName!=a`).

Only `=`, `==` and `!=`; a backslash protects `\`, `,` and `=` in values. Which fields a
kind knows is the registry's business (`apiserver.registry`); here is only the
grammar and the matching.

Upstream: `apimachinery/pkg/fields/selector.go` (`ParseSelector`, `splitTerms`,
`UnescapeValue`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.status import bad_request

_OPERATORS = ("!=", "==", "=")


@dataclass(slots=True, frozen=True)
class FieldRequirement:
    """One condition: `operator` is `=` or `!=`. An absent field counts as the empty
    string.
    """

    field: str
    operator: str
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{escape_value(self.value)}"


@dataclass(slots=True, frozen=True)
class FieldSelector:
    """Requirements that must all hold, sorted as upstream sorts them (by their
    text).
    """

    requirements: tuple[FieldRequirement, ...] = ()
    _wanted: dict[str, set[str]] = field(init=False, repr=False, compare=False)
    _refused: dict[str, set[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """By field, as there may be any number of requirements and few fields."""
        for name, operator in (("_wanted", "="), ("_refused", "!=")):
            values: dict[str, set[str]] = {}
            for r in self.requirements:
                if r.operator == operator:
                    values.setdefault(r.field, set()).add(r.value)
            object.__setattr__(self, name, values)

    @property
    def empty(self) -> bool:
        """True if the selector restricts nothing."""
        return not self.requirements

    def matches(self, values: Mapping[str, str]) -> bool:
        """Whether an object with these selectable fields is selected."""
        for name, wanted in self._wanted.items():
            if wanted != {values.get(name, "")}:
                return False
        for name, refused in self._refused.items():
            if values.get(name, "") in refused:
                return False
        return True

    def requires_exact_match(self, field: str) -> str | None:
        """The one value `field` must have, if the selector fixes it. `metadata.name`
        makes a list a get.
        """
        return next(
            (
                r.value
                for r in self.requirements
                if r.field == field and r.operator == "="
            ),
            None,
        )

    def __str__(self) -> str:
        return ",".join(str(r) for r in self.requirements)


def escape_value(value: str) -> str:
    """A literal value made safe for a selector's text."""
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


def unescape_value(text: str) -> str:
    """The literal value of a term's right side. Raises StatusError 400 for stray
    separators and unknown escapes.
    """
    if not any(c in text for c in "\\,="):
        return text
    value: list[str] = []
    rest = iter(text)
    for c in rest:
        if c == "\\":
            escaped = next(rest, "")
            if escaped not in ("\\", ",", "="):
                raise bad_request(
                    f"invalid field selector: invalid escape sequence: \\{escaped}"
                )
            value.append(escaped)
        elif c in ",=":
            raise bad_request(
                f"invalid field selector: unescaped character in value: {ord(c)}"
            )
        else:
            value.append(c)
    return "".join(value)


def split_terms(text: str) -> list[str]:
    """The terms between unescaped commas, backslashes kept."""
    terms: list[str] = []
    start = 0
    escaped = False
    for i, c in enumerate(text):
        if escaped:
            escaped = False
        elif c == "\\":
            escaped = True
        elif c == ",":
            terms.append(text[start:i])
            start = i + 1
    return [*terms, text[start:]]


def _split_term(term: str) -> tuple[str, str, str] | None:
    for i in range(len(term)):
        for operator in _OPERATORS:
            if term.startswith(operator, i):
                return term[:i], operator, term[i + len(operator) :]
    return None


@short_lru_cache(4096)
def parse_field_selector(text: str) -> FieldSelector:
    """A field selector from its text. A term that names no field and no value restricts
    nothing. Raises StatusError 400.
    """
    requirements: list[FieldRequirement] = []
    for term in sorted(split_terms(text)):
        if not term:
            continue
        parts = _split_term(term)
        if parts is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        field, operator, raw = parts
        value = unescape_value(raw)
        if field or value:
            requirements.append(
                FieldRequirement(field, "!=" if operator == "!=" else "=", value)
            )
    return FieldSelector(tuple(requirements))
