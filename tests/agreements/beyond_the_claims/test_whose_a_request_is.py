"""Who answers a request where others serve some of the groups: they, the aggregator itself, or the server behind it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Request, RequestInfo
from lifecycle.apiserver.aggregation.aggregator import Aggregator


class _Played:
    """An aggregator with one group version that somebody else serves; keeps how often it looked whether it is up to date."""

    def __init__(self, proxies: bool = True) -> None:
        self.looked = 0
        self.told = SimpleNamespace(
            _configure=self._configure,
            _proxies={("metrics.k8s.io", "v1"): lambda _: "theirs"} if proxies else {},
            _delegate=lambda _: "ours",
            _discovery=lambda _, parts: ("discovery", tuple(parts)),
            _schemas=lambda _, parts: ("schemas", tuple(parts)),
        )

    def _configure(self) -> None:
        self.looked += 1

    def asked(self, path: str, method: str = "GET", **info: Any) -> Any:
        known = RequestInfo(is_resource_request=bool(info), path=path, verb="get", **info)
        return Aggregator.__call__(cast(Any, self.told), Request(method, path, info=known))


METRICS = {"group": "metrics.k8s.io", "version": "v1", "resource": "pods"}
REQUESTS: list[tuple[str, str, dict[str, str], Any]] = [
    ("GET", "/apis/metrics.k8s.io/v1/pods", METRICS, "theirs"),
    ("POST", "/apis/metrics.k8s.io/v1/pods", METRICS, "theirs"),
    ("GET", "/apis/metrics.k8s.io/v2/pods", {**METRICS, "version": "v2"}, "ours"),
    ("GET", "/apis/apps/v1/deployments", {**METRICS, "group": "apps"}, "ours"),
    ("GET", "/api/v1/pods", {**METRICS, "group": ""}, "ours"),
    # no resources, and theirs nonetheless
    ("GET", "/apis/metrics.k8s.io/v1", {}, "theirs"),
    ("GET", "/apis/metrics.k8s.io/v1/", {}, "theirs"),
    ("POST", "/apis/metrics.k8s.io/v1", {}, "theirs"),
    ("GET", "/apis/metrics.k8s.io/v2", {}, "ours"),
    ("GET", "/other/metrics.k8s.io/v1", {}, "ours"),
    # what there is at all
    ("GET", "/apis", {}, ("discovery", ("apis",))),
    ("HEAD", "/apis/", {}, ("discovery", ("apis",))),
    ("GET", "/apis/metrics.k8s.io", {}, ("discovery", ("apis", "metrics.k8s.io"))),
    ("POST", "/apis", {}, "ours"),
    ("GET", "/openapi/v2", {}, ("schemas", ("openapi", "v2"))),
    ("HEAD", "/openapi/v3/apis/apps/v1", {}, ("schemas", ("openapi", "v3", "apis", "apps", "v1"))),
    ("POST", "/openapi/v2", {}, "ours"),
    ("GET", "/api", {}, "ours"),
    ("GET", "/healthz", {}, "ours"),
    ("GET", "/", {}, "ours"),
]


@pytest.mark.parametrize(("method", "path", "info", "whose"), REQUESTS)
def test_a_group_version_is_answered_by_who_serves_it_and_what_there_is_by_who_knows_all(
    method: str, path: str, info: dict[str, str], whose: Any
) -> None:
    """Upstream: kube-aggregator's `apiserver.go` (`AddAPIService`: handlers for `/apis/<group>/<version>` and below)."""
    assert _Played().asked(path, method, **info) == whose


@pytest.mark.parametrize(("method", "path", "info", "_"), REQUESTS)
def test_where_nobody_else_serves_anything_all_of_it_is_the_servers_own(
    method: str, path: str, info: dict[str, str], _: Any
) -> None:
    assert _Played(proxies=False).asked(path, method, **info) == "ours"


def test_each_request_is_answered_by_who_serves_it_now() -> None:
    """How often that means work: `tests/apiserver/test_many_added_servers.py`."""
    played = _Played()
    for path in ("/healthz", "/apis", "/apis/metrics.k8s.io/v1"):
        played.asked(path)
    assert played.looked == 3
