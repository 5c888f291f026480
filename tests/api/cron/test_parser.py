"""The parser of cron expressions: what it refuses, in which words."""

from __future__ import annotations

import pytest

from lifecycle.api.cron.parser import parse_standard


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("61 * * * *", "end of range (61) above maximum (59): 61"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("1_0 * * * *", 'failed to parse int from 1_0: strconv.Atoi: parsing "1_0": invalid syntax'),
        ("٣ * * * *", 'failed to parse int from ٣: strconv.Atoi: parsing "٣": invalid syntax'),
        (f"{2**63} * * * *", f'failed to parse int from {2**63}: strconv.Atoi: parsing "{2**63}": value out of range'),
        ("5- * * * *", 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'),
        ("*/-2 * * * *", "negative number (-2) not allowed: -2"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("x-2-3 * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("*/2/3 * * * *", "too many slashes: */2/3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("* * * jan-foo *", 'failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax'),
        ("* * * 13 *", "end of range (13) above maximum (12): 13"),
        ("* * * * 7", "end of range (7) above maximum (6): 7"),
        ("@soon", "unrecognized descriptor: @soon"),
        ("@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'),
        ("TZ=Mars/Base 0 * * * *", "provided bad location Mars/Base: unknown time zone Mars/Base"),
        ("TZ=../etc 0 * * * *", "provided bad location ../etc: time: invalid location name"),
        ("TZ=/etc 0 * * * *", "provided bad location /etc: time: invalid location name"),
        ("TZ=UTC", "expected exactly 5 fields, found 1: [TZ=UTC]"),
    ],
)
def test_what_is_no_schedule_is_refused_in_the_words_of_the_library(expression: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_standard(expression)
    assert str(refused.value) == complaint


@pytest.mark.parametrize(
    ("expression", "same"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
        ("*/20 ? * JAN-mar mon,Fri", "0,20,40 * ? 1-3 1,5"),
        ("TZ= 5 * * * *", "5 * * * *"),
        ("+5 * * * *", "5 * * * *"),
    ],
)
def test_two_ways_to_write_a_schedule(expression: str, same: str) -> None:
    assert parse_standard(expression) == parse_standard(same)
