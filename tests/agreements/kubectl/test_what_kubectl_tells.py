"""What a real kubectl sent and told, and what ours does."""

from __future__ import annotations

import pytest

from lifecycle.agreements.kubectl.what_kubectl_tells import lines_of, told_agreement
from lifecycle.kubectl.request import debugging


def test_every_call_is_as_the_real_ones() -> None:
    table = told_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 36


def test_a_token_that_is_printed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debugging, "mask_value", lambda header, value: value)
    assert {row.input for row in told_agreement().rows if row.unexplained} >= {
        "-v=7",
        "a body, -v=9",
        "a password, -v=8",
    }


def test_headers_of_a_curl_command_come_in_any_order() -> None:
    one, other = (
        f"I0101 00:00:00.000000       1 a.go:1] \"Request\" curlCommand=<\n\tcurl -v -XGET  {headers} 'u'\n >\n"
        for headers in ('-H "A: 1" -H "B: 2"', '-H "B: 2" -H "A: 1"')
    )
    assert lines_of(one) == lines_of(other) != lines_of(one.replace("B: 2", "B: 3"))
