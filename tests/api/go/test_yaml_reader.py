"""YAML read as Go's library reads it; what bodies and manifests share."""

from __future__ import annotations

import pytest

from lifecycle.api.go.yaml_reader import read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 12:30", {"a": "12:30"}),
        ("a: on\nb: y\nc: No", {"a": True, "b": True, "c": False}),
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("a: 0o17\nb: 017\nc: 0x1F\nd: 1_000", {"a": 15, "b": 15, "c": 31, "d": 1000}),
        ("a: !!str 5\nb: !!int 5\nc: !!binary aGk=", {"a": "5", "b": 5, "c": "hi"}),
        ("1: x\ntrue: z", {"1": "x", "true": "z"}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ("a: 1\n---\nb: 2", {"a": 1}),
        ("", None),
    ],
)
def test_what_scalars_and_keys_mean(text, value):
    assert read_yaml(text.encode()) == (value, [])


def test_a_key_given_twice_is_noticed():
    assert read_yaml(b"a: 1\na: 2") == ({"a": 2}, ['line 2: key "a" already set in map'])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: *x", "unknown anchor 'x' referenced"),
        ("a: .inf", "json: unsupported value: +Inf"),
        ("a: -.inf", "json: unsupported value: -Inf"),
        ("a: +.Inf", "json: unsupported value: +Inf"),
        ("a: .NaN", "json: unsupported value: NaN"),
        ("a: b: c", "mapping values are not allowed in this context"),
        ("a: &x [*x]", "anchor value contains itself"),
        ("a: !!binary '*'", "!!binary value contains invalid base64 data"),
        ("[" * 300 + "]" * 300, "exceeded max depth"),
        ("{[x]: 1}", "invalid map key"),
        ("a: {[x]: 1}", "invalid map key"),
        ("- ? {b: c}\n  : 1", "invalid map key"),
        ("a: &x [y]\nb: {*x : 1}", "invalid map key"),
        ("a: {[x]: 1}\nb: c: d", "mapping values are not allowed in this context"),
    ],
)
def test_what_is_no_yaml_or_cannot_be_said_in_json(text, complaint):
    with pytest.raises(ValueError, match=r"yaml|json") as wrong:
        read_yaml(text.encode())
    assert complaint in str(wrong.value)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("y Y yes Yes YES true True TRUE on On ON", True),
        ("n N no No NO false False FALSE off Off OFF", False),
    ],
)
def test_the_words_of_yaml_1_1_are_yes_and_no(words: str, value: bool) -> None:
    for word in words.split():
        assert read_yaml(f"a: {word}".encode())[0] == {"a": value}, word
    assert read_yaml(b"a: oN")[0] == {"a": "oN"}


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("y Y yes Yes YES true True TRUE on On ON", True),
        ("n N no No NO false False FALSE off Off OFF", False),
        ("~ null Null NULL", None),
    ],
)
def test_words_that_are_no_texts(words: str, value: object) -> None:
    for word in words.split():
        assert read_yaml(f"a: {word}".encode()) == ({"a": value}, []), word
        assert read_yaml(f"a: {word}x".encode()) == ({"a": f"{word}x"}, []), word
        assert read_yaml(f'a: "{word}"'.encode()) == ({"a": word}, []), word


@pytest.mark.parametrize("word", ["oN", "oFF", "yES", "nULL", "tRUE", "fALSE", "none", "t", "f"])
def test_words_that_only_look_like_it(word: str) -> None:
    assert read_yaml(f"a: {word}".encode()) == ({"a": word}, [])


@pytest.mark.parametrize(
    ("around", "inside", "deep"), [(150, 49, False), (150, 51, True), (199, 0, False), (2, 190, False)]
)
def test_what_an_alias_brings_along_counts_for_the_depth(around: int, inside: int, deep: bool) -> None:
    text = f"a: &x {'[' * inside}1{']' * inside}\nb: {'[' * around}*x{']' * around}"
    if deep:
        with pytest.raises(ValueError, match=r"yaml: exceeded max depth$"):
            read_yaml(text.encode())
    else:
        value, _ = read_yaml(text.encode())
        for _ in range(around):
            (value["b"],) = value["b"]
        assert value["b"] == value["a"]
