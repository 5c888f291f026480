"""Label selectors: the grammar, the messages, and what is selected."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.labels import (
    EVERYTHING,
    NOTHING,
    Requirement,
    Selector,
    format_label_selector,
    parse_selector,
    selector_from_label_selector,
    selector_from_labels,
)
from lifecycle.api.labels import selector as selectors
from lifecycle.api.labels.requirements import validate_label_key, validate_label_value
from lifecycle.api.status import StatusError

STORAGE = Path(__file__).parents[3] / "recordings" / "kind-1.36.2" / "http" / "storage.jsonl"


def recorded_selectors() -> list[dict]:
    lines = map(json.loads, STORAGE.read_bytes().splitlines())
    return [e for e in lines if e["note"] == "labelSelector"]


@pytest.mark.parametrize("exchange", recorded_selectors(), ids=lambda e: e["path"].rpartition("=")[2])
def test_selectors_choose_and_refuse_as_recorded(exchange):
    text = parse_qs(urlsplit(exchange["path"]).query)["labelSelector"][0]
    if exchange["status"] == 400:
        with pytest.raises(StatusError) as refused:
            parse_selector(text)
        assert refused.value.status == exchange["response"]
        return
    selector = parse_selector(text)
    assert all(selector.matches(item["metadata"].get("labels")) for item in exchange["response"]["items"])


@pytest.mark.parametrize(
    ("text", "labels", "selected"),
    [
        ("", {}, True),
        ("a", {"a": ""}, True),
        ("a", {}, False),
        ("!a", {}, True),
        ("! a", {"a": "1"}, False),
        ("a=1", {"a": "1"}, True),
        ("a==1,b!=2", {"a": "1"}, True),
        ("a=", {"a": ""}, True),
        ("a=,b", {"a": "", "b": ""}, True),
        ("a in (1,2)", {"a": "2"}, True),
        ("a in ()", {"a": ""}, True),
        ("a in (,x)", {"a": ""}, True),
        ("a in (x,)", {"a": ""}, True),
        ("a notin (1,2)", {}, True),
        ("a notin (1,2)", {"a": "1"}, False),
        ("in in (in,notin)", {"in": "notin"}, True),
        ("a>1", {"a": "2"}, True),
        ("a<1", {"a": "2"}, False),
        ("a>1", {"a": "x"}, False),
        (" a \t in\n( 1 , 2 ) , b ", {"a": "1", "b": "x"}, True),
    ],
)
def test_selecting(text, labels, selected):
    assert parse_selector(text).matches(labels) is selected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a,", "found '', expected: identifier after ','"),
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        ("a=1 b", "found 'b', expected: ',' or 'end of string'"),
        ("!a=1", "found '=', expected: ',' or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a=(", "unable to parse requirement: found '(', expected: identifier"),
        ("a in 1", "unable to parse requirement: found '1' expected: '('"),
        ("a in (1 2)", "unable to parse requirement: found '2', expected: ',' or ')'"),
        ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("a in (1,=)", "unable to parse requirement: found '=', expected: ',', or identifier"),
        (
            "a>x",
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        (
            "-a=1",
            "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric characters, '-', '_' or "
            "'.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
            "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
        (
            "a=b/c",
            'unable to parse requirement: values[0][a]: Invalid value: "b/c": a valid label must be an empty string or consist of '
            "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
            "'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ),
    ],
)
def test_refusing(text, message):
    with pytest.raises(StatusError) as refused:
        parse_selector(text)
    assert refused.value.message == message
    assert refused.value.code == 400


def test_label_selector_objects():
    assert selector_from_label_selector(None) == NOTHING
    assert not NOTHING.matches({})
    assert not NOTHING.empty
    assert selector_from_label_selector({}) == EVERYTHING
    obj = {
        "matchLabels": {"b": "2"},
        "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["y", "x"]},
            {"key": "c", "operator": "DoesNotExist"},
        ],
    }
    selector = selector_from_label_selector(obj)
    assert str(selector) == "a in (x,y),b=2,!c"
    assert selector.matches({"a": "x", "b": "2"})
    assert not selector.matches({"a": "x", "b": "2", "c": ""})
    assert selector.requires_exact_match("b") == "2"
    assert selector.requires_exact_match("a") is None
    assert format_label_selector(obj) == "a in (x,y),b=2,!c"
    assert format_label_selector({}) == "<none>"
    assert format_label_selector({"matchExpressions": [{"key": "a", "operator": "Equals"}]}) == "<error>"
    with pytest.raises(StatusError, match=r'"Equals" is not a valid label selector operator$'):
        selector_from_label_selector({"matchExpressions": [{"key": "a", "operator": "Equals"}]})
    with pytest.raises(
        StatusError, match=r"values: Invalid value: \[\]: for 'in', 'notin' operators, values set can't be empty$"
    ):
        selector_from_label_selector({"matchExpressions": [{"key": "a", "operator": "In", "values": []}]})


def test_keys_and_values():
    assert validate_label_key("app.kubernetes.io/name") == []
    assert validate_label_key("/name") == ["prefix part must be non-empty"]
    assert validate_label_key("a/" + "b" * 64) == ["name part must be no more than 63 bytes"]
    assert validate_label_key("Upper/name")[0].startswith("prefix part a lowercase RFC 1123 subdomain must consist of")
    assert validate_label_key("a/b/c")[0].startswith("a valid label key must consist of")
    assert validate_label_key("a\n") != []
    assert validate_label_value("") == []
    assert validate_label_value("x" * 64) == ["must be no more than 63 bytes"]


keys = st.from_regex(
    r"([a-z][a-z0-9]{0,5}(\.[a-z]{1,3})?/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,6}[A-Za-z0-9])?", fullmatch=True
)
values = st.one_of(st.just(""), st.from_regex(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,6}[A-Za-z0-9])?", fullmatch=True))
one_value = st.tuples(values)
some_values = st.sets(values, min_size=1, max_size=3).map(lambda found: tuple(sorted(found)))
requirements = st.one_of(
    st.builds(Requirement, keys, st.sampled_from(["=", "==", "!="]), one_value),
    st.builds(Requirement, keys, st.sampled_from(["in", "notin"]), some_values),
    st.builds(Requirement, keys, st.sampled_from(["exists", "!"])),
    st.builds(Requirement, keys, st.sampled_from(["gt", "lt"]), st.tuples(st.integers(0, 99).map(str))),
)
label_sets = st.dictionaries(keys, values, max_size=4)


@given(st.lists(requirements, max_size=4))
def test_text_and_requirements_are_two_forms_of_one_selector(parts):
    selector = Selector(parts)
    assert parse_selector(str(selector)) == selector


@given(st.lists(requirements, max_size=4), label_sets)
def test_a_selector_is_the_conjunction_of_its_requirements(parts, labels):
    assert Selector(parts).matches(labels) == all(r.matches(labels) for r in parts)


@given(label_sets)
def test_labels_select_themselves(labels):
    assert selector_from_labels(labels).matches(labels)
    assert selector_from_label_selector({"matchLabels": labels}).matches(labels)


@given(st.text(alphabet="ab=!,()<> in", max_size=12))
def test_any_text_is_parsed_or_refused(text):
    try:
        selector = parse_selector(text)
    except StatusError:
        return
    assert parse_selector(str(selector)) == selector


KEYS, VALUES = st.sampled_from("abc"), st.sampled_from(["", "1", "2", "x"])
REQUIREMENTS = st.one_of(
    st.builds(Requirement, KEYS, st.sampled_from(["=", "==", "!="]), st.tuples(VALUES)),
    st.builds(Requirement, KEYS, st.sampled_from(["in", "notin"]), st.lists(VALUES, min_size=1).map(tuple)),
    st.builds(Requirement, KEYS, st.sampled_from(["exists", "!"])),
    st.builds(Requirement, KEYS, st.sampled_from(["gt", "lt"]), st.tuples(st.sampled_from("12"))),
)


@given(st.lists(REQUIREMENTS, max_size=6), st.dictionaries(KEYS, VALUES))
def test_a_selector_selects_what_each_of_its_requirements_does(requirements, labels):
    assert Selector(requirements).matches(labels) == all(each.matches(labels) for each in requirements)


def test_an_object_is_asked_for_its_labels_not_for_each_key_and_value_of_a_long_selector():
    asked = []

    class Labels(dict):
        def get(self, key, default=None):
            asked.append(key)
            return super().get(key, default)

    words = ["x", *(f"v{number}" for number in range(1_000))]
    requirements = [Requirement(f"z{number}", "!") for number in range(1_000)]
    requirements += [Requirement(f"y{number}", "!=", ("x",)) for number in range(1_000)]
    requirements += [Requirement("a", "in", tuple(words)), Requirement("a", "notin", tuple(words[1:]))]
    selector = Selector(requirements)
    assert selector.matches(Labels(a="x", b="y"))
    assert not selector.matches(Labels(a="x", z999=""))
    assert not selector.matches(Labels(a="x", y999="x"))
    assert len(asked) < 10


def test_a_long_selector_is_remembered_too_and_a_very_long_one_while_somebody_holds_it(monkeypatch):
    parsed, read = [], selectors._parsed
    monkeypatch.setattr(selectors, "_parsed", lambda obj: parsed.append(obj) or read(obj))

    def selector(keys):
        return {"matchExpressions": [{"key": f"k{number}", "operator": "Exists"} for number in range(keys)]}

    for keys, remembered in ((3, True), (101, True), (2_001, False)):
        first, second = (selector_from_label_selector(selector(keys)) for _ in range(2))
        assert first is second, "all who ask about an object have the same"
        del first, second
        parsed.clear()
        assert len(selector_from_label_selector(selector(keys)).requirements) == keys
        assert bool(parsed) is not remembered
        assert len(selectors._longest) == 0


def test_the_words_of_a_very_long_selector_are_those_of_the_object():
    words = [f"word-{number}" for number in range(3_000)]
    [requirement] = selector_from_label_selector(
        {"matchExpressions": [{"key": "a", "operator": "In", "values": words}]}
    ).requirements
    assert all(mine is yours for mine, yours in zip(requirement.values, words, strict=True))


def test_of_very_many_terms_about_one_key_the_narrowest_are_asked() -> None:
    """However often the same is said, and however many bounds there are."""
    terms = (
        ["app"] * 1_000
        + ["app=web"] * 1_000
        + [f"n>{i}" for i in range(1_000)]
        + [f"n<{i}" for i in range(2_000, 3_000)]
    )
    selector = parse_selector(",".join(terms))
    assert len(selector._equals) == len(selector._present) == 1
    assert [str(bound) for bound in selector._bounds] == ["n>999", "n<2000"]
    for labels, matches in (
        ({"app": "web", "n": "1000"}, True),
        ({"app": "web", "n": "1999"}, True),
        ({"app": "web", "n": "999"}, False),
        ({"app": "web", "n": "2000"}, False),
        ({"app": "web"}, False),
        ({"app": "db", "n": "1500"}, False),
        ({"n": "1500"}, False),
    ):
        assert selector.matches(labels) is matches
        assert all(each.matches(labels) for each in selector.requirements) is matches
