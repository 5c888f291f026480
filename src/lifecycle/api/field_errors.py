"""`field.Error`: one thing wrong with one field.

Validation never stops at the first error: it returns a list of these, and the `Status`
that refuses the object carries each as a cause.

Upstream: `apimachinery/pkg/util/validation/field/errors.go` (`Error`, `ErrorBody`,
`Required`, `Invalid` …), v1.36. Left out: origins and stability levels, which only
upstream's own tests look at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_g, go_quote
from lifecycle.api.go.json.encode import html_escape
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.api.status import invalid as invalid_status

REQUIRED = "FieldValueRequired"
INVALID = "FieldValueInvalid"
FORBIDDEN = "FieldValueForbidden"
NOT_SUPPORTED = "FieldValueNotSupported"
DUPLICATE = "FieldValueDuplicate"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"
TOO_FEW = "FieldValueTooFew"
NOT_FOUND = "FieldValueNotFound"
TYPE_INVALID = "FieldValueTypeInvalid"
INTERNAL = "InternalError"

_WORDS = {
    REQUIRED: "Required value",
    INVALID: "Invalid value",
    FORBIDDEN: "Forbidden",
    NOT_SUPPORTED: "Unsupported value",
    DUPLICATE: "Duplicate value",
    TOO_LONG: "Too long",
    TOO_MANY: "Too many",
    TOO_FEW: "Too few",
    NOT_FOUND: "Not found",
    TYPE_INVALID: "Invalid value",
    INTERNAL: "Internal error",
}
_WITHOUT_VALUE = {REQUIRED, FORBIDDEN, TOO_LONG, INTERNAL}

OMIT = object()
"""A bad value that the message does not show."""


class Named(str):
    """A text whose Go type has a name of its own (`SecretType`), or that Go points to:
    shown as JSON, not quoted as a plain string.
    """

    __slots__ = ()


def named(value: Any) -> Any:
    """A value of such a type if it is a text, else itself."""
    return Named(value) if isinstance(value, str) else value


@dataclass(slots=True, frozen=True)
class FieldError:
    """One error. `type` is the cause's reason, `field` a path such as
    `spec.ports[0].name`, `bad_value` what was found there. `of_empty`: it comes from a
    rule that tells an empty list from none, and there was an empty one.
    """

    type: str
    field: str
    bad_value: Any = ""
    detail: str = ""
    of_empty: bool = False

    def body(self) -> str:
        """The message without the field: `Invalid value: -1: must be greater than or
        equal to 0`.
        """
        text = _WORDS[self.type]
        if self.type not in _WITHOUT_VALUE and self.bad_value is not OMIT:
            text += f": {show(self.bad_value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def cause(self) -> Object:
        """One entry of `Status.details.causes`."""
        return {"reason": self.type, "message": self.body(), "field": self.field}

    def __str__(self) -> str:
        return f"{self.field}: {self.body()}"


def show(value: Any) -> str:
    """A bad value as a message prints it: strings quoted, numbers plain, everything
    else as Go's JSON.
    """
    if isinstance(value, Named):
        return html_escape(fast_json.dumps(str(value)).decode())
    if isinstance(value, str):
        return go_quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return go_g(value)
    return html_escape(fast_json.dumps(value).decode())


def required(field: str, detail: str = "") -> FieldError:
    """A field that must be there is not."""
    return FieldError(REQUIRED, field, "", detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """A value that breaks a rule."""
    return FieldError(INVALID, field, value, detail)


def forbidden(field: str, detail: str = "", *, of_empty: bool = False) -> FieldError:
    """A value that could be right elsewhere, but not here."""
    return FieldError(FORBIDDEN, field, "", detail, of_empty)


def not_supported(
    field: str, value: Any, supported: Iterable[str], *, plain: bool = False
) -> FieldError:
    """A value outside an enumeration. The values are printed in the order given:
    callers sort where upstream does. Most enumerations have a type with a name;
    `plain`: it is `string` itself.
    """
    if isinstance(value, str) and not plain:
        value = Named(value)
    names = ", ".join(go_quote(name) for name in supported)
    return FieldError(
        NOT_SUPPORTED, field, value, f"supported values: {names}" if names else ""
    )


def duplicate(field: str, value: Any) -> FieldError:
    """A value that must be unique is not."""
    return FieldError(DUPLICATE, field, value)


def too_long(field: str, limit: int) -> FieldError:
    """More bytes than allowed; the value is not shown."""
    detail = (
        f"may not be more than {limit} byte{'' if limit == 1 else 's'}"
        if limit >= 0
        else "value is too long"
    )
    return FieldError(TOO_LONG, field, "", detail)


def too_many(field: str, actual: int, limit: int) -> FieldError:
    """More items than allowed."""
    detail = (
        f"must have at most {limit} item{'' if limit == 1 else 's'}"
        if limit >= 0
        else "has too many items"
    )
    return FieldError(TOO_MANY, field, actual if actual >= 0 else OMIT, detail)


def not_found(field: str, value: Any) -> FieldError:
    """A reference to something that is not there."""
    return FieldError(NOT_FOUND, field, value)


def internal(field: str, detail: str) -> FieldError:
    """Something that is not the user's fault."""
    return FieldError(INTERNAL, field, "", detail)


def invalid_object(
    kind: str, group: str, name: str, errors: Iterable[FieldError]
) -> StatusError:
    """The 422 that refuses an object for its field errors."""
    return invalid_status(kind, name, [error.cause() for error in errors], group)
