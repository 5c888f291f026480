"""One value out of a few: left out, empty, known, unknown."""

from __future__ import annotations

import pytest

from lifecycle.api.field_errors import FieldError
from lifecycle.apiserver.registry.rest.enum import validate_enum, validate_required_enum

KNOWN = ("Recreate", "RollingUpdate")
UNKNOWN = 'spec.type: Unsupported value: {}: supported values: "Recreate", "RollingUpdate"'


def words(errors: list[FieldError]) -> list[str]:
    return [str(error) for error in errors]


@pytest.mark.parametrize("value", KNOWN)
def test_what_is_known_is_right(value: str) -> None:
    assert validate_enum("spec.type", value, KNOWN) == validate_required_enum("spec.type", value, KNOWN) == []


def test_what_is_unknown_is_told_what_there_is_in_the_order_given() -> None:
    for validate in (validate_enum, validate_required_enum):
        assert words(validate("spec.type", "recreate", KNOWN)) == [UNKNOWN.format('"recreate"')]


def test_what_may_be_left_out_may_not_be_empty_unless_that_is_known() -> None:
    assert validate_enum("spec.type", None, KNOWN) == []
    assert words(validate_enum("spec.type", "", KNOWN)) == [UNKNOWN.format('""')]
    assert validate_enum("spec.type", "", ("", *KNOWN)) == []


@pytest.mark.parametrize("value", [None, ""])
def test_what_must_be_there_is_required(value: str | None) -> None:
    assert words(validate_required_enum("spec.type", value, KNOWN)) == ["spec.type: Required value"]
