"""What the runtime is told of a pod's sandbox."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.kubelet_pods.run_container_options import ContainerOptions


def sandbox(**spec: Any) -> dict[str, Any]:
    pod: Object = {
        "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
        "spec": {"dnsPolicy": "ClusterFirst", **spec},
    }
    options = ContainerOptions(cast("Any", None), cast("Any", None), None, lambda *_: None, cluster_dns=("10.96.0.10",))
    return options.sandbox(pod)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({}, "web"),
        ({"hostname": "front"}, "front"),
        ({"hostname": "front", "subdomain": "pages"}, "front"),
        ({"subdomain": "pages", "setHostnameAsFQDN": True}, "web.pages.shop.svc.cluster.local"),
        ({"setHostnameAsFQDN": True}, "web"),
        # it has its node's name, and nobody is to give the node another one
        ({"hostNetwork": True}, ""),
        ({"hostNetwork": True, "hostname": "front"}, ""),
    ],
)
def test_a_sandbox_has_the_pods_name_unless_it_lives_in_its_nodes_network(spec: dict[str, Any], name: str) -> None:
    assert sandbox(**spec)["hostname"] == name


@pytest.mark.parametrize(
    ("spec", "servers"),
    [
        ({}, ("10.96.0.10",)),
        ({"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}, ("10.96.0.10",)),
        ({"hostNetwork": True}, ()),
        ({"dnsPolicy": "Default"}, ()),
    ],
)
def test_the_clusters_name_servers_are_for_pods_that_want_them(spec: dict[str, Any], servers: tuple[str, ...]) -> None:
    assert tuple(sandbox(**spec)["dns_config"].get("servers", ())) == servers
