"""`[]byte` in JSON: standard base64, and the byte that Go's decoder stops at (`encoding/base64`)."""

from __future__ import annotations

import pytest

from lifecycle.api.schema.scalars import base64_bytes


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("YWJj", "YWJj"),
        ("YQ==", "YQ=="),
        ("YWI=", "YWI="),
        ("YW\nJj\r\n", "YWJj"),
        ("+/+/", "+/+/"),
        ("YR==", "YQ=="),
        ("YWJ=", "YWI="),
    ],
)
def test_text_comes_back_without_line_breaks_and_without_bits_that_mean_nothing(text: str, kept: str) -> None:
    assert base64_bytes(text) == kept


@pytest.mark.parametrize(
    ("text", "byte"),
    [
        ("*", 0), ("YWJj*", 4), ("YWJ*", 3), ("YWJjé", 4), ("Y", 0), ("YW", 0), ("YWJ", 0), ("YWJjY", 4), ("YWJjYW", 4),
        ("=", 0), ("Y=", 1), ("YQ=", 3), ("YQ=x", 3), ("YQ==x", 4), ("YWI=x", 4), ("YWJj=", 4), ("YW_j", 2), ("Y Q=", 1),
    ],
)  # fmt: skip
def test_what_is_no_base64_is_refused_with_its_place(text: str, byte: int) -> None:
    with pytest.raises(ValueError, match=f"^illegal base64 data at input byte {byte}$"):
        base64_bytes(text)
