"""What of a header may be told in a log: of credentials their kind, and that only if it is a known one."""

from __future__ import annotations

import pytest

from lifecycle.kubectl.request.debugging import mask_value


@pytest.mark.parametrize("header", ["Authorization", "authorization", "AUTHORIZATION"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", ""),
        ("Basic YWxhZGRpbjpvcGVuc2VzYW1l", "Basic <masked>"),
        ("basic YWxhZGRpbjpvcGVuc2VzYW1l", "basic <masked>"),
        ("Basic", "Basic"),
        ("Basic ", "Basic"),
        ("Bearer cn389ncoiwuencr", "Bearer <masked>"),
        ("BEARER a b", "BEARER <masked>"),
        ("Negotiate cn389ncoiwuencr", "Negotiate <masked>"),
        ("Custom cn389ncoiwuencr", "<masked>"),
        ("cn389ncoiwuencr", "<masked>"),
        (" Bearer cn389ncoiwuencr", "<masked>"),
        ("Bearer\tcn389ncoiwuencr", "<masked>"),
    ],
)
def test_of_credentials_nothing_is_told_but_their_kind(header: str, value: str, told: str) -> None:
    """Upstream: `client-go/transport/round_trippers.go` (`maskValue`) and its table, `TestMaskValue`."""
    assert mask_value(header, value) == told


@pytest.mark.parametrize("header", ["Accept", "Cookie", "X-Authorization", "Authorizations"])
@pytest.mark.parametrize("value", ["", "Basic YWxh", "application/json"])
def test_all_else_is_told_as_it_is(header: str, value: str) -> None:
    assert mask_value(header, value) == value
