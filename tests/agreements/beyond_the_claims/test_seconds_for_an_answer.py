"""How long a probe waits for its answer, whichever way it asks; a hook waits for as long as it takes."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.apis.streams import ExecSyncResponse
from lifecycle.kubelet.lifecycle.handlers import HookRunner
from lifecycle.kubelet.prober.prober import Prober

CONTAINER = {"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}


class _Runtime:
    """Is well, and notes who was asked how, and for how long it may take to answer."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    async def exec_sync(self, container_id: str, command: tuple[str, ...], timeout: float) -> ExecSyncResponse:
        self.asked.append((container_id, command, timeout))
        return ExecSyncResponse(0)

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        self.asked.append((request.host, request.port, dict(request.headers).get("User-Agent", ""), timeout))
        return HTTPAnswer(200, "")

    async def tcp_connect(self, host: str, port: int, timeout: float) -> str:
        self.asked.append((host, port, timeout))
        return ""


WAYS: dict[str, tuple[Object, tuple[Any, ...]]] = {
    "exec": ({"exec": {"command": ["ls", "/"]}}, ("id", ("ls", "/"))),
    "exec of nothing": ({"exec": {}}, ("id", ())),
    "http": ({"httpGet": {"port": "web"}}, ("10.0.0.9", 8080, "kube-probe/1.36")),
    "http elsewhere": ({"httpGet": {"port": 81, "host": "10.0.0.1"}}, ("10.0.0.1", 81, "kube-probe/1.36")),
    "tcp": ({"tcpSocket": {"port": "web"}}, ("10.0.0.9", 8080)),
    "tcp elsewhere": ({"tcpSocket": {"port": 81, "host": "10.0.0.1"}}, ("10.0.0.1", 81)),
    "grpc": ({"grpc": {"port": 9000}}, ("10.0.0.9", 9000)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("given", "seconds"), [({}, 1.0), ({"timeoutSeconds": 1}, 1.0), ({"timeoutSeconds": 7}, 7.0)])
def test_a_probe_waits_for_so_long_as_it_says_and_else_for_a_second(way: str, given: Object, seconds: float) -> None:
    probe, asked = WAYS[way]
    runtime = _Runtime()
    answer = on_virtual_time(Prober(cast(Any, runtime)).probe({**probe, **given}, CONTAINER, "id", "10.0.0.9"))
    assert (answer, runtime.asked) == ((True, ""), [(*asked, seconds)])


def test_a_hook_sets_no_time_and_says_what_it_is() -> None:
    runtime = _Runtime()
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}
    for hook in ({"exec": {"command": ["ls"]}}, {"httpGet": {"port": "web"}}):
        assert on_virtual_time(HookRunner(cast(Any, runtime)).run(pod, "id", CONTAINER, hook, "10.0.0.9")) == ""
    assert runtime.asked == [("id", ("ls",), 0.0), ("10.0.0.9", 8080, "kube-lifecycle/1.36", 0.0)]
