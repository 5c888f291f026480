"""One condition on one label, and what keys and values may look like.

Upstream: `apimachinery/pkg/labels/selector.go` (`Requirement`, `NewRequirement`),
`apimachinery/pkg/api/validate/content/kube.go` (`IsLabelKey`, `IsLabelValue`), v1.36.
The messages are upstream's: kubectl shows them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lifecycle.api.go.format import go_quote
from lifecycle.api.status import bad_request

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_name = re.compile(_NAME)
_value = re.compile(_VALUE)
_subdomain = re.compile(_SUBDOMAIN)

_CHARACTERS = (
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with"
    " an alphanumeric character"
)
_NAME_RULE = (
    f"must {_CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    f" validation is '{_NAME}')"
)
_VALUE_RULE = (
    f"a valid label must be an empty string or {_CHARACTERS} (e.g. 'MyValue',  or"
    f" 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric"
    " characters, '-' or '.', and must start and end with an alphanumeric character"
    f" (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)


def validate_label_key(key: str) -> list[str]:
    """What is wrong with a label key (also with any other qualified name); empty if
    nothing. Upstream: `content.IsLabelKey`.
    """
    errors: list[str] = []
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and"
            " '/' (e.g. 'example.com/MyName')"
        ]
    if slash:
        if not prefix:
            errors.append("prefix part must be non-empty")
        else:
            if len(prefix.encode()) > 253:
                errors.append("prefix part must be no more than 253 bytes")
            if not _subdomain.fullmatch(prefix):
                errors.append(f"prefix part {_SUBDOMAIN_RULE}")
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        errors.append("name part must be no more than 63 bytes")
    if not _name.fullmatch(name):
        errors.append(f"name part {_NAME_RULE}")
    return errors


def validate_label_value(value: str) -> list[str]:
    """What is wrong with a label's value; empty if nothing. Upstream:
    `content.IsLabelValue`.
    """
    errors: list[str] = []
    if len(value.encode()) > 63:
        errors.append("must be no more than 63 bytes")
    if not _value.fullmatch(value):
        errors.append(_VALUE_RULE)
    return errors


@dataclass(slots=True, frozen=True)
class Requirement:
    """One condition on one key. `operator` is as upstream's `selection.Operator`: in,
    notin, =, ==, !=, gt, lt, exists, !.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy the condition. `notin` and `!=` also hold where the
        key is absent.
        """
        operator = self.operator
        have = labels.get(self.key)
        if operator in ("=", "==", "in"):
            return have is not None and have in self.values
        if operator in ("!=", "notin"):
            return have is None or have not in self.values
        if operator == "exists":
            return have is not None
        if operator == "!":
            return have is None
        if have is None or not _is_int64(have):
            return False
        return (
            int(have) > int(self.values[0])
            if operator == "gt"
            else int(have) < int(self.values[0])
        )

    def __str__(self) -> str:
        operator = self.operator
        if operator == "exists":
            return self.key
        if operator == "!":
            return f"!{self.key}"
        values = ",".join(sorted(self.values))
        if operator in ("in", "notin"):
            return f"{self.key} {operator} ({values})"
        return f"{self.key}{ {'gt': '>', 'lt': '<'}.get(operator, operator) }{values}"


def _is_int64(text: str) -> bool:
    return (
        re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII) is not None
        and -(2**63) <= int(text) < 2**63
    )


def new_requirement(key: str, operator: str, values: Sequence[str]) -> Requirement:
    """A checked requirement. Raises StatusError 400 naming everything that is wrong.
    Upstream: `NewRequirement`.
    """
    errors = (
        [f"key: Invalid value: {go_quote(key)}: {'; '.join(e)}"]
        if (e := validate_label_key(key))
        else []
    )
    listed = "[" + ",".join(go_quote(v) for v in values) + "]"
    if operator in ("in", "notin") and not values:
        errors.append(
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't"
            " be empty"
        )
    elif operator in ("=", "==", "!=") and len(values) != 1:
        errors.append(
            f"values: Invalid value: {listed}: exact-match compatibility requires one"
            " single value"
        )
    elif operator in ("exists", "!") and values:
        errors.append(
            f"values: Invalid value: {listed}: values set must be empty for exists and"
            " does not exist"
        )
    elif operator in ("gt", "lt"):
        if len(values) != 1:
            errors.append(
                f"values: Invalid value: {listed}: for 'Gt', 'Lt' operators, exactly"
                " one value is required"
            )
        for i, v in enumerate(values):
            if not _is_int64(v):
                errors.append(
                    f"values[{i}]: Invalid value: {go_quote(v)}: for 'Gt', 'Lt'"
                    " operators, the value must be an integer"
                )
    for i, v in enumerate(values):
        if wrong := validate_label_value(v):
            errors.append(
                f"values[{i}][{key}]: Invalid value: {go_quote(v)}: {'; '.join(wrong)}"
            )
    if errors:
        distinct = list(dict.fromkeys(errors))
        raise bad_request(
            distinct[0] if len(distinct) == 1 else "[" + ", ".join(distinct) + "]"
        )
    return Requirement(key, operator, tuple(values))
