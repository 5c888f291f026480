"""What the table of DNS answers excuses, and what it does not: addresses in any order, and a serial that is a number."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache

import pytest

from lifecycle.agreements.dns_answers import DigAnswer, compare_answer, parse_dig, recorded_answerer
from lifecycle.inspector import open_recording


@cache
def recorded() -> list[DigAnswer]:
    return list(parse_dig(open_recording().dns("svc")))


def judged(tampered: DigAnswer) -> list[str]:
    answerer = recorded_answerer(open_recording())
    return [str(each) for each in compare_answer(answerer.answer(tampered.name, tampered.type), tampered).differences]


def several(kind: str) -> DigAnswer:
    return copy.deepcopy(
        next(each for each in recorded() if sum(f" {kind} " in text for text in each.sections["answer"]) > 1)
    )


def with_serial() -> DigAnswer:
    return copy.deepcopy(
        next(each for each in recorded() if any(" SOA " in text for text in each.sections["authority"]))
    )


def serial(text: str) -> Callable[[str], str]:
    return lambda record: " ".join([*record.split()[:6], text, *record.split()[7:]])


def test_addresses_may_come_in_any_order() -> None:
    answer = several("A")
    answer.sections["answer"].reverse()
    assert judged(answer) == []


def test_services_may_not() -> None:
    answer = several("SRV")
    assert judged(answer) == []
    answer.sections["answer"].reverse()
    assert [each.partition(":")[0].rpartition("/")[2] for each in judged(answer)] == ["answer (order)"]


@pytest.mark.parametrize(("text", "agrees"), [("1700000000", True), ("soon", False), ("-1", False), ("1.5", False)])
def test_a_serial_is_any_number(text: str, agrees: bool) -> None:
    answer = with_serial()
    answer.sections["authority"] = list(map(serial(text), answer.sections["authority"]))
    assert (judged(answer) == []) is agrees


@pytest.mark.parametrize(("word", "instead"), [(0, "x.svc."), (1, "31"), (2, "CH"), (3, "AAAA"), (4, "10.96.0.99")])
def test_nothing_else_of_a_record_is_free(word: int, instead: str) -> None:
    answer = several("A")
    words = answer.sections["answer"][0].split()
    assert words[word] != instead
    words[word] = instead
    answer.sections["answer"][0] = " ".join(words)
    assert judged(answer) != []


def test_a_record_told_twice_is_a_difference() -> None:
    answer = several("A")
    answer.sections["answer"].append(answer.sections["answer"][0])
    assert judged(answer) != []


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ("flags", frozenset({"qr", "aa", "rd", "ra"})),
        ("flags", frozenset({"qr", "rd"})),
        ("counts", "QUERY: 1, ANSWER: 9, AUTHORITY: 0, ADDITIONAL: 1"),
        ("question", "x. IN A"),
        ("edns", "version: 0, flags: do; udp: 1232"),
        ("edns", "version: 0, flags:; udp: 512"),
        ("cookie", "(good)"),
    ],
)
def test_what_is_no_record_is_compared_as_well(what: str, instead: object) -> None:
    answer = several("A")
    assert judged(answer) == []
    setattr(answer, what, instead)
    assert [each.partition(":")[0].rpartition("/")[2] for each in judged(answer)] == [what]
