"""The claim about what kube-proxy does."""

from __future__ import annotations

import asyncio

from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.compare.claims import check, rebuilt
from lifecycle.inspector import Recording


@check("kube-proxy-writes-iptables-rules")
def rules_thereupon(recording: Recording) -> bool | None:
    """Every node, before and after `kubectl expose`: the Service's chains are new."""
    if not recording.nodes():  # no node was looked into
        return None
    seen = []
    for name in recording.nodes():
        node = recording.node(name)
        before, after = (
            node.run("iptables-save", moment=moment)
            for moment in ("created", "exposed")
        )
        seen.append(
            "journey/nginx" not in before
            and "journey/nginx" in after
            and ":KUBE-SVC-" in after
        )
    return all(seen)


@rebuilt("kube-proxy-writes-iptables-rules")
def our_rules_thereupon() -> bool:
    """The rules of one of our nodes, before and after."""

    async def scene(cluster: RehearsedCluster) -> bool:
        assert cluster.proxies is not None
        before = await cluster.proxies.iptables_save("lifecycle-worker")
        spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
        await cluster.client("me").create(
            resource("services"), {"metadata": {"name": "web"}, "spec": spec}, "default"
        )
        await asyncio.sleep(5)
        after = await cluster.proxies.iptables_save("lifecycle-worker")
        return "default/web" not in before and "default/web" in after

    return rehearse(scene)
