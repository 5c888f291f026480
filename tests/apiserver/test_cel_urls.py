"""Host and port of a URL are split where Go's `net/url` splits them."""

from __future__ import annotations

import pytest

from lifecycle.apiserver.cel.network import _host_and_port, _hostname, _parsed


@pytest.mark.parametrize(
    ("url", "hostname", "port"),
    [
        ("https://example.com/", "example.com", ""),
        ("https://Example.com:80/", "Example.com", "80"),
        ("https://example.com:/", "example.com", ""),
        ("https://example.com:0/", "example.com", "0"),
        ("https://example.com:080/", "example.com", "080"),
        ("https://example.com:99999/", "example.com", "99999"),
        ("https://jane@example.com:8080/", "example.com", "8080"),
        ("https://[::1]:80/", "::1", "80"),
        ("https://[::1]/", "::1", ""),
        ("x://a:b:80/", "a:b", "80"),
    ],
)
def test_the_last_colon_parts_them_if_a_number_follows(url: str, hostname: str, port: str) -> None:
    parsed = _parsed(url)
    assert (_hostname(parsed), _host_and_port(parsed)[1]) == (hostname, port)
