"""Refusals with the empty lists in place that the normal form leaves out."""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import FieldError, forbidden, invalid
from lifecycle.apiserver.registry.rest.sent_empties import causes_as_sent

HOLDER: dict[str, Any] = {}
EMPTIES = [(HOLDER, "list", [])]


def _shown() -> Any:
    return HOLDER.get("list")


def test_a_refused_value_is_shown_as_it_was_sent():
    def validate() -> list[FieldError]:
        return [invalid("spec", {"list": _shown()}, "no")]

    [cause] = causes_as_sent(validate, EMPTIES)
    assert cause["message"] == 'Invalid value: {"list":[]}: no'
    [cause] = causes_as_sent(validate, [])
    assert cause["message"] == 'Invalid value: {"list":null}: no'


def test_few_rules_tell_empty_from_none():
    def validate() -> list[FieldError]:
        return [forbidden("spec.list", "not here", of_empty=True)] if _shown() == [] else []

    [cause] = causes_as_sent(validate, EMPTIES)
    assert cause["field"] == "spec.list"
    assert causes_as_sent(validate, []) == []


def test_to_all_others_it_is_the_same():
    """What differs by it is not believed, nor does it hide what is."""

    def validate() -> list[FieldError]:
        told = [forbidden("spec.list", "not here", of_empty=True)] if _shown() == [] else []
        return [*told, *([invalid("spec", 1, "changed")] if _shown() == [] else []), invalid("spec.a", _shown(), "no")]

    causes = causes_as_sent(validate, EMPTIES)
    assert [cause["field"] for cause in causes] == ["spec.list", "spec.a"]
    assert causes[1]["message"] == "Invalid value: []: no"


def test_an_error_that_went_away_with_it_stays():
    def validate() -> list[FieldError]:
        return [] if _shown() == [] else [invalid("spec.a", _shown(), "no")]

    [cause] = causes_as_sent(validate, EMPTIES)
    assert cause["message"] == "Invalid value: null: no"
