"""Logs, exec and port-forward need a kubelet that listens; the hollow one says so instead of answering with something else."""

from __future__ import annotations

import pytest

from lifecycle.api.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.cluster import Cluster, ClusterConfig

POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}}


@pytest.mark.parametrize(
    ("method", "subresource"), [("GET", "log"), ("POST", "exec"), ("GET", "proxy"), ("POST", "portforward")]
)
def test_what_would_need_a_connection_to_the_kubelet_is_refused_clearly(method: str, subresource: str) -> None:
    async def main() -> None:
        cluster = Cluster(ClusterConfig(nodes=1, https=False))
        await cluster.start()
        client = cluster.client("test")
        await client.create(resource("pods"), POD, "kube-system")
        path = resource("pods").path("kube-system", "web", subresource)
        try:
            with pytest.raises(StatusError, match="open no port") as refused:
                await client.request(method, path)
            assert refused.value.code == 501
            with pytest.raises(StatusError, match='pods "absent" not found'):
                await client.request(method, path.replace("web", "absent"))
        finally:
            await cluster.stop()

    run_virtual(main())
