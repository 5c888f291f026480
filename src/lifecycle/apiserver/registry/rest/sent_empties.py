"""Refusals that show what was sent: `[]` where there was an empty list.

Validation works on the normal form, which leaves such lists out. It is asked again with
them in place: a refusal shows them, and few rules tell them from nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.empties import Empty, restored


def causes_as_sent(
    validate: Callable[[], list[FieldError]],
    empties: Collection[Empty],
) -> list[Object]:
    """The errors that `validate` finds as causes, worded with what was left out. What
    else differs by it is not believed: empty or not there is the same to every rule but
    those that say so (`FieldError.of_empty`).
    """
    errors = validate()
    if empties:
        with restored(empties):
            again = _of_the_same(validate(), errors)
            if again is not None:
                return [error.cause() for error in again]
    return [error.cause() for error in errors]


def _of_the_same(
    again: list[FieldError], errors: list[FieldError]
) -> list[FieldError] | None:
    """Of the errors that were found again those that were found before, and those of an
    emptiness; None if one is missing.
    """
    missing = Counter(map(_place, errors))
    found = []
    for error in again:
        if not error.of_empty:
            if not missing[_place(error)]:
                continue
            missing[_place(error)] -= 1
        found.append(error)
    return None if missing.total() else found


def _place(error: FieldError) -> tuple[str, str]:
    return error.type, error.field
