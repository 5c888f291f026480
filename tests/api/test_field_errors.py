"""How a refused value is shown."""

from __future__ import annotations

from lifecycle.api.field_errors import Named, invalid, not_supported


def test_a_text_of_a_type_with_a_name_is_shown_as_json() -> None:
    assert invalid("a", "<&>", "why").body() == 'Invalid value: "<&>": why'
    assert invalid("a", Named("<&>"), "why").body() == 'Invalid value: "\\u003c\\u0026\\u003e": why'
    assert not_supported("a", "<", ["x"]).body() == 'Unsupported value: "\\u003c": supported values: "x"'
    assert not_supported("a", "<", ["x"], plain=True).body() == 'Unsupported value: "<": supported values: "x"'
