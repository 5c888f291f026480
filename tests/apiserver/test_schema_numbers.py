"""Numbers of custom objects. A real API server (v1.36.2) said the same of them."""

from __future__ import annotations

import pytest

from lifecycle.apiserver.apiextensions.schema_validation import validate_value

INTEGER, SHORT, NUMBER = {"type": "integer"}, {"type": "integer", "format": "int32", "maximum": 3}, {"type": "number"}
BEYOND = '<nil>: Invalid value: "": Checked value must be of type integer (default format) in p'
NO_INTEGER = 'p: Invalid value: "number": p in body must be of type integer: "number"'


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        (1.0, INTEGER, []),
        (2**63 - 1, INTEGER, []),
        (2.0**54, INTEGER, [NO_INTEGER]),  # a float that has neighbours nearer than 1
        (1.5, INTEGER, [NO_INTEGER, BEYOND]),
        (2**63, INTEGER, [NO_INTEGER, BEYOND]),
        (1e30, INTEGER, [NO_INTEGER, BEYOND]),
        (2**70, NUMBER, []),
        (-(2**31), SHORT, []),
        (5, SHORT, ["p: Invalid value: 5: p in body should be less than or equal to 3"]),
        (
            -(2**31) - 1,
            SHORT,
            ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in p'],
        ),
        (
            1.5,
            SHORT,
            [
                'p: Invalid value: "float64": p in body must be of type int32: "float64"',
                '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in p',
            ],
        ),
    ],
)
def test_an_integer_is_one_that_its_format_can_hold(value, schema, said):
    assert [str(error) for error in validate_value(value, schema, "p")] == said


def test_what_is_supported_is_shown_as_json():
    [error] = validate_value("red", {"enum": [["a", ">"], "<", 1.0]}, "p")
    assert str(error) == 'p: Unsupported value: "red": supported values: "[\\"a\\",\\"\\\\u003e\\"]", "<", "1"'
