"""The formats of strings, at their borders, and what is said of those that do not fit (`validate/content`)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lifecycle.api.validation import content

Rule = Callable[[str], tuple[str, ...]]

LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an"
    " alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (content.dns1123_label, ["a", "0", "a-b", "1-2", "x" * 63],
         ["", "-a", "a-", "A", "a_b", "a.b", "x" * 64, "a\n", "é"]),
        (content.dns1123_subdomain, ["a", "a.b", "0.1-2.c", "x" * 253], ["", ".a", "a.", "a..b", "a.-b", "A.b", "x" * 254]),
        (content.dns1035_label, ["a", "a1", "a-b", "x" * 63], ["", "1a", "-a", "a-", "A", "a.b", "x" * 64]),
        (content.wildcard_dns1123_subdomain, ["*.a", "*.a.b"], ["", "*", "*.", "a.b", "*a.b", "*.*.a", "*." + "x" * 252]),
        (content.qualified_name, ["a", "A_b.c-d", "x.io/a", "x" * 63, "x" * 253 + "/a"],
         ["", "/a", "x.io/", "a/b/c", "-a", "a-", "X.io/a", "x" * 64, "x" * 254 + "/a", "a b"]),
        (content.label_value, ["", "a", "A_b.c-d", "x" * 63], ["-a", "a-", "a b", "a/b", "x" * 64]),
        (content.config_map_key, ["a", "A_b.c-d", ".a", "x" * 253, "-"], ["", ".", "..", "..a", "a/b", "a b", "x" * 254]),
        (content.relaxed_env_name, ["a", "A B", "1", "~", " ", "a-b.c"], ["", "a=b", "=", "é", "a\n", "\x7f"]),
        (content.port_name, ["a", "http", "a-1", "x" * 15, "1a"],
         ["", "1", "-a", "a-", "a--b", "A", "a_b", "x" * 16]),
        (content.http_header_name, ["a", "X-Header-1"], ["", "a b", "a:", "a_b"]),
        (content.percent, ["0%", "100%", "1000%"], ["", "%", "1", "-1%", "1.5%", "1%%"]),
    ],
)  # fmt: skip
def test_a_format_takes_what_is_within_its_borders_and_complains_of_the_rest(
    rule: Rule, good: list[str], bad: list[str]
) -> None:
    assert {text: rule(text) for text in good} == dict.fromkeys(good, ())
    assert [text for text in bad if not rule(text)] == []
    assert all(isinstance(message, str) for text in bad for message in rule(text))


@pytest.mark.parametrize(
    ("rule", "text", "messages"),
    [
        (content.dns1123_label, "A", (LABEL_RULE,)),
        (content.dns1123_label, "a.b", ("must not contain dots",)),
        (content.dns1123_label, "x" * 64, ("must be no more than 63 characters",)),
        (content.dns1123_subdomain, "x" * 254, ("must be no more than 253 characters",)),
        (content.dns1035_label, "x" * 64, ("must be no more than 63 characters",)),
        (content.wildcard_dns1123_subdomain, "*." + "x" * 252, ("must be no more than 253 characters",)),
        (content.qualified_name, "x" * 64, ("name part must be no more than 63 bytes",)),
        (content.label_value, "x" * 64, ("must be no more than 63 bytes",)),
        (content.config_map_key, "x" * 254, ("must be no more than 253 characters",)),
        (content.config_map_key, ".", ("must not be '.'",)),
        (content.config_map_key, "..", ("must not be '..'",)),
        (content.config_map_key, "..a", ("must not start with '..'",)),
        (content.relaxed_env_name, "", ("environment variable name must be non-empty",)),
        (content.relaxed_env_name, "=", ("a valid environment variable name must consist only of printable ASCII characters"
                                         " other than '='",)),
        (content.port_name, "x" * 16, ("must be no more than 15 characters",)),
        (content.port_name, "1", ("must contain at least one letter (a-z)",)),
        (content.port_name, "a--b", ("must not contain consecutive hyphens",)),
        (content.port_name, "-a", ("must not begin or end with a hyphen",)),
        (content.port_name, "a-", ("must not begin or end with a hyphen",)),
        (content.port_name, "a_b", ("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",)),
        (content.percent, "1", ("a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or"
                                " '93%', regex used for validation is '[0-9]+%')",)),
        (content.http_header_name, "a b", ("a valid HTTP header must consist of alphanumeric characters or '-' (e.g."
                                           " 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",)),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_upstreams_words(rule: Rule, text: str, messages: tuple[str, ...]) -> None:
    assert rule(text) == messages


def test_a_key_complains_of_its_prefix_and_of_its_name() -> None:
    [empty] = content.qualified_name("/a")
    assert empty == "prefix part must be non-empty"
    [prefix] = content.qualified_name("X/a")
    assert prefix.startswith("prefix part a lowercase RFC 1123 subdomain must consist of")
    name, form = content.qualified_name("x.io/")
    assert name == "name part must be non-empty"
    assert form.startswith("name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end")
    [many] = content.qualified_name("a/b/c")
    assert many.startswith("a valid label key must consist of")
    assert many.endswith(" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")


@pytest.mark.parametrize(("rule", "low", "high"), [(content.port_number, 1, 65535), (content.user_id, 0, 2147483647)])
def test_numbers_have_borders(rule: Callable[[int], tuple[str, ...]], low: int, high: int) -> None:
    assert rule(low) == rule(high) == ()
    assert rule(low - 1) == rule(high + 1) == (f"must be between {low} and {high}, inclusive",)


def test_the_beginning_of_a_generated_name_may_end_in_a_hyphen() -> None:
    for rule in (content.name_is_dns_label, content.name_is_dns_subdomain):
        assert rule("web-", True) == rule("web", False) == rule("web", True) == ()
        assert rule("web-", False)
        assert rule("-", True)
        assert rule("-web-", True)
    assert content.name_is_dns_subdomain("a.b", False) == ()
    assert content.name_is_dns_label("a.b", False) == ("must not contain dots",)


def test_a_name_that_only_has_to_fit_into_a_url_may_be_much() -> None:
    for name in ("system:node", "A b", "...", ".a"):
        assert content.name_is_path_segment(name, False) == ()
        assert content.request_name(name) == ""
    assert content.name_is_path_segment(".", False) == ("may not be '.'",)
    assert content.name_is_path_segment("..", False) == ("may not be '..'",)
    assert content.name_is_path_segment(".", True) == ()
    assert content.name_is_path_segment("a/%", False) == ("may not contain '/'", "may not contain '%'")
    assert content.request_name("a/b") == "invalid resource name \"a/b\": [may not contain '/']"


def test_a_pattern_without_examples_is_shown_alone() -> None:
    assert content.regex_error("must be so", "a+") == "must be so (regex used for validation is 'a+')"
