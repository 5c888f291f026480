"""What the front proxy tells an added server of who asks, and what it passes on of what was said."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import UserInfo
from lifecycle.apiserver.aggregation.backend import auth_proxy_headers, forwarded_headers
from lifecycle.apiserver.http.headers import SEPARATOR

NAME, GROUP, UID, EXTRA = "X-Remote-User", "X-Remote-Group", "X-Remote-Uid", "X-Remote-Extra-"


@pytest.mark.parametrize(
    ("user", "headers"),
    [
        (UserInfo("jane"), [(NAME, "jane")]),
        (UserInfo("jane", ("a", "b,c")), [(NAME, "jane"), (GROUP, "a"), (GROUP, "b,c")]),
        (UserInfo("jane", uid="7"), [(NAME, "jane"), (UID, "7")]),
        (UserInfo("jane", uid="7", extra={"k": ("v",)}), [(NAME, "jane"), (UID, "7"), (f"{EXTRA}k", "v")]),
        (UserInfo("jane", extra={"k": ("v", "w")}), [(NAME, "jane"), (f"{EXTRA}k", "v"), (f"{EXTRA}k", "w")]),
        (UserInfo("jane", extra={"a.io/k x%": ("v",)}), [(NAME, "jane"), (f"{EXTRA}a.io%2Fk%20x%25", "v")]),
        (UserInfo("jane", extra={"k": ()}), [(NAME, "jane")]),
    ],
)
def test_all_that_is_known_of_somebody_is_said_one_value_a_header(
    user: UserInfo, headers: list[tuple[str, str]]
) -> None:
    assert auth_proxy_headers(user) == headers


def test_what_belongs_to_a_connection_or_claims_to_be_the_proxys_word_stays_behind() -> None:
    sent = {
        "accept": "application/json",
        "x-two": SEPARATOR.join(["one", "two, three"]),
        "connection": "keep-alive",
        "te": "trailers",
        "transfer-encoding": "chunked",
        "upgrade": "x",
        "x-remote-user": "admin",
        "x-remote-group": "system:masters",
        "x-remote-uid": "0",
        "x-remote-extra-k": "v",
        "x-remotely": "another",
    }
    kept = [("accept", "application/json"), ("x-two", "one"), ("x-two", "two, three")]
    assert [each for each in forwarded_headers(sent) if each[0] != "x-remotely"] == kept
