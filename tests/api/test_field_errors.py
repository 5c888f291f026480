"""How a refused value is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.api import field_errors
from lifecycle.api.field_errors import FieldError, Named, invalid, not_supported


def test_a_text_of_a_type_with_a_name_is_shown_as_json() -> None:
    assert invalid("a", "<&>", "why").body() == 'Invalid value: "<&>": why'
    assert invalid("a", Named("<&>"), "why").body() == 'Invalid value: "\\u003c\\u0026\\u003e": why'
    assert not_supported("a", "<", ["x"]).body() == 'Unsupported value: "\\u003c": supported values: "x"'
    assert not_supported("a", "<", ["x"], plain=True).body() == 'Unsupported value: "<": supported values: "x"'


@pytest.mark.parametrize(
    ("make", "reason", "body"),
    [
        (lambda: field_errors.required("a"), "FieldValueRequired", "Required value"),
        (lambda: field_errors.required("a", "why"), "FieldValueRequired", "Required value: why"),
        (lambda: invalid("a", 3, ""), "FieldValueInvalid", "Invalid value: 3"),
        (lambda: field_errors.forbidden("a"), "FieldValueForbidden", "Forbidden"),
        (lambda: field_errors.forbidden("a", "why"), "FieldValueForbidden", "Forbidden: why"),
        (lambda: not_supported("a", 1, ["y", "x"]), "FieldValueNotSupported",
         'Unsupported value: 1: supported values: "y", "x"'),
        (lambda: not_supported("a", "z", []), "FieldValueNotSupported", 'Unsupported value: "z"'),
        (lambda: field_errors.duplicate("a", "x"), "FieldValueDuplicate", 'Duplicate value: "x"'),
        (lambda: field_errors.too_long("a", 1), "FieldValueTooLong", "Too long: may not be more than 1 byte"),
        (lambda: field_errors.too_long("a", 0), "FieldValueTooLong", "Too long: may not be more than 0 bytes"),
        (lambda: field_errors.too_long("a", -1), "FieldValueTooLong", "Too long: value is too long"),
        (lambda: field_errors.too_many("a", 3, 1), "FieldValueTooMany", "Too many: 3: must have at most 1 item"),
        (lambda: field_errors.too_many("a", 0, 0), "FieldValueTooMany", "Too many: 0: must have at most 0 items"),
        (lambda: field_errors.too_many("a", -1, -1), "FieldValueTooMany", "Too many: has too many items"),
        (lambda: field_errors.not_found("a", "x"), "FieldValueNotFound", 'Not found: "x"'),
        (lambda: field_errors.internal("a", "why"), "InternalError", "Internal error: why"),
        (lambda: FieldError(field_errors.TOO_FEW, "a", 1), "FieldValueTooFew", "Too few: 1"),
        (lambda: FieldError(field_errors.TYPE_INVALID, "a", "x"), "FieldValueTypeInvalid", 'Invalid value: "x"'),
    ],
)  # fmt: skip
def test_an_error_has_upstreams_reason_and_words(make: Callable[[], FieldError], reason: str, body: str) -> None:
    error = make()
    assert error.cause() == {"reason": reason, "message": body, "field": "a"}
    assert (error.body(), str(error)) == (body, f"a: {body}")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "true"), (False, "false"), (0, "0"), (-7, "-7"), (1.0, "1"), (0.5, "0.5"), (1e21, "1e+21"),
        (None, "null"), ('a"b', '"a\\"b"'), ({"b": [1, "<"]}, '{"b":[1,"\\u003c"]}'), ([], "[]"),
    ],
)  # fmt: skip
def test_a_bad_value_is_printed_as_go_prints_it(value: Any, shown: str) -> None:
    assert field_errors.show(value) == shown


def test_only_a_text_gets_a_type_with_a_name() -> None:
    assert isinstance(field_errors.named("x"), Named)
    assert field_errors.named(3) == 3
    assert not isinstance(field_errors.named(None), Named)


def test_an_object_is_refused_for_all_of_its_errors_at_once() -> None:
    errors = [field_errors.required("spec.a"), invalid("spec.b", 1, "why")]
    refused = field_errors.invalid_object("Job", "batch", "web", errors)
    assert refused.code == 422
    assert refused.message == 'Job.batch "web" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: why]'
    assert refused.status["details"] == {
        "name": "web", "group": "batch", "kind": "Job", "causes": [error.cause() for error in errors],
    }  # fmt: skip
