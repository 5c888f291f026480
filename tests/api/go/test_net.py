"""Addresses as Go writes them."""

from __future__ import annotations

import pytest

from lifecycle.api.go.net import join_host_port


@pytest.mark.parametrize(
    ("host", "port", "written"),
    [
        ("10.0.0.9", 80, "10.0.0.9:80"),
        ("fd00::9", 80, "[fd00::9]:80"),
        ("fe80::1%eth0", "http", "[fe80::1%eth0]:http"),
        ("web.example", "http", "web.example:http"),
        ("", 80, ":80"),
    ],
)
def test_only_an_address_with_colons_stands_in_brackets(host: str, port: int | str, written: str) -> None:
    assert join_host_port(host, port) == written
