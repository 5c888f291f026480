"""What Go takes for no URL, as the real server words it."""

from __future__ import annotations

import pytest

from lifecycle.apiserver.registry.rest.webhook_clients import go_url_problem


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://example.com/hook?x=%zz#y", ""),
        ("50%", 'invalid URL escape "%"'),
        ("https://h/%zz", 'invalid URL escape "%zz"'),
        (":80", "missing protocol scheme"),
        ("a b:c", "first path segment in URL cannot contain colon"),
        ("line\nbreak", "net/url: invalid control character in URL"),
    ],
)
def test_a_url_that_go_cannot_parse(url: str, problem: str) -> None:
    assert go_url_problem(url) == problem
