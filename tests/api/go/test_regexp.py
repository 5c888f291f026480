"""Patterns that clients write: what matches, and Go's words for those that are none (`regexp/syntax`)."""

from __future__ import annotations

import re

import pytest

from lifecycle.api.go import plain_regexp
from lifecycle.api.go import regexp as go_regexp
from lifecycle.api.go.regexp import MAX_HEIGHT, compile_regexp, parse_error


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a(b", "missing closing ): `a(b`"),
        ("a)b", "unexpected ): `a)b`"),
        ("[a", "missing closing ]: `[a`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?<=a)b", "invalid named capture: `(?<=a)b`"),
        ("(?<!a)b", "invalid named capture: `(?<!a)b`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        (r"\C", r"invalid escape sequence: `\C`"),
        (r"\y", r"invalid escape sequence: `\y`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("(?P<n", "invalid named capture: `(?P<n`"),
    ],
)
def test_a_pattern_that_is_none_is_refused_in_gos_words(pattern: str, why: str) -> None:
    assert parse_error(pattern) == f"error parsing regexp: {why}"
    with pytest.raises(ValueError, match=f"^error parsing regexp: {re.escape(why)}$"):
        compile_regexp(pattern)


@pytest.mark.parametrize(
    "pattern", ["", "a", "^a+$", r"\d\w\s", r"\pL", "(?i)a", "(?P<n>a)", "[[:alpha:]]", r"\Q(\C\E", r"\\C", "a{1000}"]
)
def test_a_pattern_of_gos_is_none_to_complain_of(pattern: str) -> None:
    assert parse_error(pattern) == ""


def test_a_pattern_is_searched_and_takes_no_time_whatever_it_is() -> None:
    assert compile_regexp("^(a+)+$").search("a" * 5000 + "b") is None
    assert compile_regexp("b").search("abc")
    assert not compile_regexp("^b").search("abc")


def test_groups_may_nest_to_a_depth_and_not_deeper() -> None:
    deepest, deeper = ("(" * depth + "a" + ")" * depth for depth in (MAX_HEIGHT, MAX_HEIGHT + 1))
    assert parse_error(deeper) == f"error parsing regexp: expression nests too deeply: `{deeper}`"
    assert "nests too deeply" not in parse_error(deepest)
    assert parse_error(r"\(" * (MAX_HEIGHT + 1) + "[(]" * 2) == ""
    assert parse_error("()" * (MAX_HEIGHT + 1)) == ""


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("a(b", "missing ): a(b"), ("a)b", "unexpected ): a)b"), ("[a", "missing ]: [a"),
        ("*a", "no argument for repetition operator: *a"), ("a\\", "trailing \\: "),
        ("(?=a)", "invalid perl operator: (?="), ("(?<!a)", "invalid perl operator: (?<!"),
        ("[b-a]", "invalid character class range: b-"), (r"\pL", r"not known without RE2: \pL"),
        (r"\Qa\E", r"not known without RE2: \Q"), ("[[:alpha:]]", "not known without RE2: [[:"),
        (r"\p{Greek}", r"not known without RE2: \p{Greek}"),
    ],
)  # fmt: skip
def test_where_re2_is_not_the_rest_is_refused_by_its_words(pattern: str, words: str) -> None:
    with pytest.raises(plain_regexp.error) as caught:
        plain_regexp.compile(pattern)
    assert caught.value.args[0].decode() == words


def test_where_re2_is_not_letters_and_digits_are_those_of_ascii() -> None:
    assert plain_regexp.compile(r"^\d$").search("٣") is None
    assert plain_regexp.compile(r"^\w$").search("é") is None
    assert plain_regexp.compile(r"a\z").search("ba")
    assert plain_regexp.compile(r"a\z").search("a\n") is None
    assert plain_regexp.compile(r"\\z").search("\\z")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("pattern too large - compile failed", "expression too large: `a|b`"),
        ("trailing \\", "trailing backslash at end of expression: ``"),
        ("missing ]: [a", "missing closing ]: `[a`"),
        ("missing ): (a", "missing closing ): `(a`"),
        ("no argument for repetition operator: *", "missing argument to repetition operator: `*`"),
        ("bad repetition operator: **", "invalid nested repetition operator: `**`"),
        ("invalid repetition size: {9999}", "invalid repeat count: `{9999}`"),
        ("invalid perl operator: (?=", "invalid or unsupported Perl syntax: `(?=`"),
        ("invalid named capture group: (?P<n", "invalid named capture: `(?P<n`"),
        ("invalid escape sequence: \\y", "invalid escape sequence: `\\y`"),
    ],
)
def test_what_the_library_says_becomes_what_go_says(error: str, said: str) -> None:
    assert go_regexp._go_error(error, "a|b") == said
