"""How soon a hollow node looks again for what a pod wants to have mounted."""

from __future__ import annotations

import asyncio
from random import Random

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.client.rest import Client
from lifecycle.kubelet.pod_host import PaperPodHost
from lifecycle.kubelet.service_lister import ServiceLister
from lifecycle.kubelet.token.token_manager import TokenManager
from lifecycle.kubelet.volumemanager.references import ObjectReferences
from tests.fake_api import FakeAPI

POD = {
    "metadata": {"name": "p", "namespace": "default", "uid": "u"},
    "spec": {
        "volumes": [{"name": "x", "configMap": {"name": "y"}}],
        "containers": [{"name": "c", "volumeMounts": [{"name": "x", "mountPath": "/x"}]}],
    },
}


def paper_host(client: Client) -> PaperPodHost:
    references, tokens = ObjectReferences(client), TokenManager(client, Clock())
    return PaperPodHost(
        references, tokens, {}, "127.0.0.1", services=ServiceLister(client), rng=Random(1), now=Clock().now
    )


def test_it_looks_soon_then_less_and_less_often_and_begins_anew_once_all_was_there() -> None:
    async def main() -> None:
        client = Client(FakeAPI(), "kubelet/1")
        host = PaperPodHost(
            ObjectReferences(client),
            TokenManager(client, Clock()),
            {},
            "127.0.0.1",
            services=ServiceLister(client),
            rng=Random(1),
            now=Clock().now,
        )
        waits = []
        for _ in range(10):
            result = await host.mount(POD)
            assert len(result.failures) == 1
            assert result.retry_after
            waits.append(round(result.retry_after, 3))
            assert (await host.mount(POD)).failures == []  # too soon: nothing is tried, so nothing is told
            await asyncio.sleep(result.retry_after)
        assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 122.0, 122.0]
        made = await client.create(resource("configmaps"), {"metadata": {"name": "y"}}, "default")
        assert (await host.mount(POD)).retry_after is None
        await client.delete(resource("configmaps"), made["metadata"]["name"], "default")
        assert (await host.mount(POD)).retry_after == 0.5
        await host.release(POD, [])
        assert (await host.mount(POD)).retry_after == 0.5
        await asyncio.sleep(0)

    run_virtual(main())


def test_a_token_that_is_refused_is_told_with_the_volume_that_wants_it() -> None:
    projected = {"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}]}
    pod = {
        **POD,
        "spec": {
            "serviceAccountName": "none",
            "volumes": [{"name": "t", "projected": projected}],
            "containers": [{"name": "c", "volumeMounts": [{"name": "t", "mountPath": "/t"}]}],
        },
    }

    async def main() -> None:
        api = FakeAPI()
        api.refuse = lambda request: failure(403, "Forbidden", "not today", {}) if "/token" in request.path else None
        client = Client(api, "kubelet/1")
        host = PaperPodHost(
            ObjectReferences(client),
            TokenManager(client, Clock()),
            {},
            "127.0.0.1",
            services=ServiceLister(client),
            rng=Random(1),
            now=Clock().now,
        )
        assert (await host.mount(pod)).failures == [("t", "failed to fetch token: not today")]

    run_virtual(main())
