"""The front proxy's headers: the cases of upstream's `requestheader_test.go`, and that nobody further in sees them."""

from __future__ import annotations

from functools import cache

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from lifecycle.api.http.wire import Request, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.authn.request_header import RequestHeaderAuthenticator, RequestHeaderConfig
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator
from lifecycle.apiserver.filters.authentication import with_authentication
from lifecycle.apiserver.filters.impersonation import process_impersonation_headers
from lifecycle.apiserver.http.headers import joined_headers, unescaped_extra_key
from lifecycle.apiserver.pki.certificates import CertificateAuthority

USER = ("X-Remote-User",)
UID = ("X-Remote-Uid",)
TWO_GROUPS = ("X-Remote-Group-1", "X-Remote-Group-2")
TWO_EXTRAS = ("X-Remote-Extra-1-", "X-Remote-Extra-2-")
THREE_NAMES = ("X-Remote-User", "X-Remote-User-Second", "X-Remote-User-Other")


@cache
def proxy() -> tuple[bytes, bytes]:
    """The proxy's authority (PEM) and the proxy's certificate (DER)."""
    authority = CertificateAuthority()
    pem, _ = authority.client_certificate("front-proxy-client", ())
    return authority.ca_pem, x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)


def asked(lines: str) -> Request:
    """A request with such header lines, on the proxy's connection."""
    pairs = [line.partition(": ") for line in lines.split("; ") if line]
    headers = joined_headers((key, value) for key, _, value in pairs)
    return Request("GET", "/", headers=headers, peer_certificate=proxy()[1])


@pytest.mark.parametrize(
    ("names", "uids", "groups", "extras", "lines", "user", "left"),
    [
        (USER, (), (), (), "", None, {}),
        ((), (), (), (), "X-Remote-User: Bob", None, {"x-remote-user": "Bob"}),
        (USER, (), (), (), "X-Remote-User: Bob", UserInfo("Bob"), {}),
        (USER, (), (), (), "X-Remote-User-Suffix: Bob", None, {"x-remote-user-suffix": "Bob"}),
        (
            THREE_NAMES,
            (),
            (),
            (),
            "X-Remote-User: ; X-Remote-User: 1.2; X-Remote-User-Second: 2.1; X-Remote-User-Second: 2.2; X-Remote-User-Other: 3",
            UserInfo("2.1"),
            {},
        ),
        (("x-REMOTE-user",), (), (), (), "X-Remote-User: Bob", UserInfo("Bob"), {}),
        (USER, (), TWO_GROUPS, (), "X-Remote-User: Bob", UserInfo("Bob"), {}),
        (
            USER,
            (),
            TWO_GROUPS,
            (),
            "X-Remote-User: Bob; X-Remote-Group-2: 2a; X-Remote-Group-1: 1a; X-Remote-Group-1: ; X-Remote-Group-1: 1b",
            UserInfo("Bob", ("1a", "1b", "2a")),
            {},
        ),
        (USER, UID, (), (), "X-Remote-User: Bob; X-Remote-Uid-1: u", UserInfo("Bob"), {"x-remote-uid-1": "u"}),
        (
            USER,
            ("X-Remote-Uid-1", "X-Remote-Uid-2"),
            (),
            (),
            "X-Remote-User: Bob; X-Remote-Uid-2: second; X-Remote-Uid-1: first",
            UserInfo("Bob", (), "first"),
            {},
        ),
        (
            USER,
            (),
            (),
            TWO_EXTRAS,
            "X-Remote-User: Bob; X-Remote-extra-1-key1: a; X-Remote-Extra-1-Key1: b; X-Remote-Extra-2-key1: c; "
            "X-Remote-Extra-1-: i; X-Group-Bear: panda",
            UserInfo("Bob", (), "", {"key1": ("a", "b", "c"), "": ("i",)}),
            {"x-group-bear": "panda"},
        ),
    ],
)
def test_the_proxys_headers_name_a_user(
    names: tuple[str, ...],
    uids: tuple[str, ...],
    groups: tuple[str, ...],
    extras: tuple[str, ...],
    lines: str,
    user: UserInfo | None,
    left: dict[str, str],
) -> None:
    config = RequestHeaderConfig(
        proxy()[0], username_headers=names, uid_headers=uids, group_headers=groups, extra_prefixes=extras
    )
    request = asked(lines)
    identity = RequestHeaderAuthenticator(config).authenticate_request(request)
    assert (identity.user if identity else None) == user
    assert request.headers == left


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("alpha", "alpha"),
        ("alph4num3r1c", "alph4num3r1c"),
        ("percent%20encoded", "percent encoded"),
        ("almost%zzpercent%xxencoded", "almost%zzpercent%xxencoded"),
        ("half%20%zz", "half%20%zz"),
        ("example.com%2fpercent%2520encoded", "example.com/percent%20encoded"),
        ("example.com%2f%e4%bb%8a%e6%97%a5%e3%81%af", "example.com/今日は"),
        ("abc123!#$+.-_*\\^`~|'", "abc123!#$+.-_*\\^`~|'"),
    ],
)
def test_keys_of_extras_are_unescaped_whole_or_not_at_all(key: str, meant: str) -> None:
    assert unescaped_extra_key(key) == meant
    found = process_impersonation_headers({"impersonate-user": "jane", f"impersonate-extra-{key}": "x"})
    assert found is not None
    assert found.extra == {meant: ("x",)}


def test_nobody_further_in_sees_credentials_or_the_word_of_a_proxy() -> None:
    """Also without a front proxy, and whoever sent them: an aggregated server would believe them."""
    seen: list[dict[str, str]] = []

    async def api(request: Request) -> Response:
        seen.append(request.headers)
        return Response()

    chain = with_authentication(api, Authenticator(UnionRequestAuthenticator()))
    request = asked(
        "Authorization: Basic x; X-Remote-User: admin; X-Remote-Group: system:masters; X-Remote-Uid: 1; "
        "X-Remote-Extra-Scopes: all; X-Remote-Addr: kept; Accept: a; Accept: b"
    )
    run_virtual(chain(request))  # type: ignore[arg-type]
    assert seen == [{"x-remote-addr": "kept", "accept": "a"}]


def test_of_a_header_sent_twice_the_first_counts_unless_it_is_a_list_of_protocols() -> None:
    lines = [("Accept", "a"), ("accept", "b"), ("Sec-WebSocket-Protocol", "v5"), ("Sec-WebSocket-Protocol", "v4")]
    assert joined_headers(lines) == {"accept": "a", "sec-websocket-protocol": "v5, v4"}
