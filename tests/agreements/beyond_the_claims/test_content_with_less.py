"""Who has to wait until the server knows what is newest, and who is content with less."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Request, RequestInfo
from lifecycle.apiserver.server.consistent_reads import needs_the_newest

KNOWN = 17


@pytest.mark.parametrize(
    ("verb", "version", "waits"),
    [
        *[(verb, "", True) for verb in ("get", "list", "watch")],
        *[(verb, "0", False) for verb in ("get", "list", "watch")],
        *[("list", str(version), version > KNOWN) for version in (1, KNOWN - 1, KNOWN, KNOWN + 1, 999)],
        ("list", "what", True),
        ("create", "", False),
        *[(verb, "", True) for verb in ("update", "patch", "delete", "deletecollection")],
        ("update", "0", True),  # whoever writes is content with nothing
    ],
)
def test_a_version_that_the_caches_have_reached_is_answered_at_once(verb: str, version: str, waits: bool) -> None:
    info = RequestInfo(True, "/api/v1/pods", verb, version="v1", resource="pods")
    request = Request("GET", info.path, {"resourceVersion": [version]} if version else {}, {}, info=info)
    assert needs_the_newest(request, KNOWN) is waits


def test_what_is_created_below_another_object_has_to_find_that_one() -> None:
    path = "/api/v1/namespaces/default/pods/p/eviction"
    info = RequestInfo(True, path, "create", version="v1", resource="pods", subresource="eviction")
    assert needs_the_newest(Request("POST", path, {}, {}, info=info), KNOWN)
