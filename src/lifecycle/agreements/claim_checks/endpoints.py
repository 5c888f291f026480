"""The claim about the object that lists a Service's pods."""

from __future__ import annotations

import asyncio

from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.compare.claims import check, rebuilt
from lifecycle.inspector import InspectorError, Recording

CONSUMERS = ("CoreDNS/", "kube-proxy/")


@check("endpoints-endpoint-object-created")
def endpoints_it_is(recording: Recording) -> bool | None:
    """An Endpoints object is there in both versions. Since 1.33 the server warns
    everybody who asks for one that it is the wrong place.
    """
    asked = [
        exchange
        for exchange in recording.exchanges("services")
        if exchange.method == "GET"
        and exchange.path.partition("?")[0].endswith("/endpoints")
    ]
    if not asked:
        return None
    created = any(
        item["metadata"]["name"] == "web"
        for exchange in asked
        for item in exchange.response["items"]
    )
    warned = any(
        "deprecated" in value
        for exchange in asked
        for value in exchange.headers.values()
    )
    return created and not warned and not _somebody_else_is_read(recording)


def _somebody_else_is_read(recording: Recording) -> bool:
    """Whether all who act on endpoints were seen to watch slices, and never
    Endpoints.
    """
    try:
        lines = recording.text("audit/requests-by-component.tsv").splitlines()
    except InspectorError:
        return False
    words = [line.split("\t") for line in lines if "\twatch\t" in line]
    watched = {
        row[6 if len(row) > 6 else -1] for row in words if row[1].startswith(CONSUMERS)
    }
    return "endpointslices" in watched and "endpoints" not in watched


@rebuilt("endpoints-endpoint-object-created")
def ours_are_read() -> bool:
    """Both objects are made for a Service; who makes rules and answers of it never asks
    for the Endpoints.
    """

    async def scene(cluster: RehearsedCluster) -> bool:
        assert cluster.proxies is not None
        spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
        await cluster.client("me").create(
            resource("services"), {"metadata": {"name": "web"}, "spec": spec}, "default"
        )
        await asyncio.sleep(5)
        await cluster.proxies.iptables_save("lifecycle-worker")
        both = [
            await cluster.items(name)
            for name in ("endpoints", "endpointslices.discovery.k8s.io")
        ]
        assert all(len(items) == 1 for items in both)
        asked = [one.path for one in cluster.requests("kube-proxy", "GET")]
        assert any(path.endswith("/endpointslices") for path in asked), (
            "it reads slices"
        )
        return any(path.endswith("/endpoints") for path in asked)

    return rehearse(scene)
