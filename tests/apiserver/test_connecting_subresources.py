"""Logs, exec and port-forward: what the API server itself decides, before a kubelet is asked, and when none answers."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}}


class Answers:
    """A kubelet that says what it is told to."""

    def __init__(self, status: int, text: str) -> None:
        self.status, self.text = status, text
        self.asked: list[Request] = []

    async def round_trip(self, request: Request) -> Response:
        self.asked.append(request)
        if not self.status:
            raise ConnectionRefusedError("dial tcp 10.0.0.1:10250: connect: connection refused")
        return Response(self.status, body=self.text.encode())

    async def reach_pod(self, ip: str, port: int, request: Request) -> Response:
        return Response(200, {"Content-Type": "text/plain"}, body=f"{ip}:{port}{request.path}".encode())


@pytest.mark.parametrize(
    ("method", "subresource"), [("GET", "log"), ("POST", "exec"), ("POST", "attach"), ("POST", "portforward")]
)
def test_a_pod_without_a_node_and_a_pod_that_is_not_there(method: str, subresource: str) -> None:
    async def main() -> None:
        cluster = Cluster(ClusterConfig(nodes=1, https=False, without=("scheduler",)))
        await cluster.start()
        client = cluster.client("test")
        await client.create(resource("pods"), POD, "kube-system")
        path = resource("pods").path("kube-system", "web", subresource)
        try:
            if subresource == "log":
                assert (await client.request(method, path)).body == b""
            else:
                with pytest.raises(StatusError, match=r"pod web does not have a host assigned$") as refused:
                    await client.request(method, path)
                assert refused.value.code == 400
            with pytest.raises(StatusError, match=r'pods "absent" not found$'):
                await client.request(method, path.replace("web", "absent"))
        finally:
            await cluster.stop()

    run_virtual(main())


@pytest.mark.parametrize(
    ("status", "text", "code", "message"),
    [
        (0, "", 500, 'Internal error occurred: Get "https://n:10250/containerLogs/kube-system/web/web": dial tcp'),
        (400, "not yet", 400, "not yet"),
        (404, "no such pod", 404, "the server could not find the requested resource ( pods/log web)"),
        (500, "oh", 500, "Internal error occurred: oh"),
    ],
)
def test_what_a_kubelet_refuses_is_passed_on_as_a_status(status: int, text: str, code: int, message: str) -> None:
    async def main() -> None:
        cluster = Cluster(ClusterConfig(nodes=1, https=False))
        await cluster.start()
        kubelet = cluster.server.kubelets["n"] = Answers(status, text)
        client = cluster.client("test")
        await client.create(resource("pods"), {**POD, "spec": {**POD["spec"], "nodeName": "n"}}, "kube-system")
        path = resource("pods").path("kube-system", "web", "log")
        try:
            with pytest.raises(StatusError) as refused:
                await client.request("GET", path, query={"tailLines": "3", "pretty": "true"})
            assert refused.value.code == code
            assert refused.value.message.startswith(message)
            assert kubelet.asked[0].query == {"tailLines": ["3"]}
        finally:
            await cluster.stop()

    run_virtual(main())
