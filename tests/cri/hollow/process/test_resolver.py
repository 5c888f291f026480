"""Which names a pod's resolver asks for one."""

from __future__ import annotations

import pytest

from lifecycle.cri.hollow.process.resolver import names_to_ask


@pytest.mark.parametrize(
    ("name", "options", "asked"),
    [
        ("web", ("ndots:5",), ["web.a.svc", "web.svc", "web"]),
        ("web.a.svc", ("ndots:5",), ["web.a.svc.a.svc", "web.a.svc.svc", "web.a.svc"]),
        ("web.b", (), ["web.b", "web.b.a.svc", "web.b.svc"]),
        ("web", (), ["web.a.svc", "web.svc", "web"]),
        ("a.b.c.d.e.f", ("ndots:5",), ["a.b.c.d.e.f", "a.b.c.d.e.f.a.svc", "a.b.c.d.e.f.svc"]),
        ("web.", ("ndots:5",), ["web."]),
        ("a.b", ("timeout:1", "ndots:1", "ndots:2"), ["a.b.a.svc", "a.b.svc", "a.b"]),
    ],
)
def test_search_domains_come_first_for_names_with_few_dots(
    name: str, options: tuple[str, ...], asked: list[str]
) -> None:
    assert names_to_ask(name, {"searches": ("a.svc", "svc"), "options": options}) == asked
