"""What Go takes for no URL, as the real server words it."""

from __future__ import annotations

import pytest

from lifecycle.api.go.url import go_url_problem


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://example.com/hook?x=%zz#y", ""),
        ("50%", 'invalid URL escape "%"'),
        ("https://h/%zz", 'invalid URL escape "%zz"'),
        (":80", "missing protocol scheme"),
        ("a b:c", "first path segment in URL cannot contain colon"),
        ("https://a b/", 'invalid character " " in host name'),
        ("https://a:port/", 'invalid port ":port" after host'),
        ("https://a:/", ""),
        ("https://user:pass@[::1]:80/", ""),
        ("https://[::1", "missing ']' in host"),
        ("https://[::1]x", 'invalid port "x" after host'),
        ("https://%zz/", 'invalid URL escape "%zz"'),
        ("mailto:%zz", ""),
        ("//host:x/", 'invalid port ":x" after host'),
        ("///%zz", 'invalid URL escape "%zz"'),
        ("x", ""),
        ("", ""),
        ("line\nbreak", "net/url: invalid control character in URL"),
    ],
)
def test_a_url_that_go_cannot_parse(url: str, problem: str) -> None:
    assert go_url_problem(url) == problem


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "empty url"),
        ("x", "invalid URI for request"),
        ("a:b", ""),
        ("/x", ""),
        (":x", "missing protocol scheme"),
        ("%zz", "invalid URI for request"),
        ("/%zz?%zz", 'invalid URL escape "%zz"'),
        ("/a#%zz", 'invalid URL escape "%zz"'),
    ],
)
def test_a_url_that_cannot_be_asked_for(url: str, problem: str) -> None:
    """Nobody sends a fragment, so there it is part of the path."""
    assert go_url_problem(url, of_a_request=True) == problem
