"""Refusals that show what was sent: `[]` where there was an empty list.

Validation works on the normal form, which leaves such lists out. Only once something
is wrong does it matter, and is asked again with them in place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from lifecycle.api.field_errors import FieldError
from lifecycle.api.schema.empties import Empty, restored
from lifecycle.api.wire import Object


def causes_as_sent(
    validate: Callable[[], list[FieldError]],
    empties: Collection[Empty],
) -> list[Object]:
    """The errors that `validate` finds as causes, worded with what was left out. What
    else differs by it is not believed: empty or not there is the same to every rule.
    """
    errors = validate()
    if errors and empties:
        with restored(empties):
            again = validate()
            if _places(again) == _places(errors):
                return [error.cause() for error in again]
    return [error.cause() for error in errors]


def _places(errors: list[FieldError]) -> list[tuple[str, str]]:
    return [(error.type, error.field) for error in errors]
