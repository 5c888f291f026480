"""A webhook that is down, over real HTTPS: who is stopped by it, with which words, and that its return is all it takes."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.webhook_server import WebhookServer
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from tests.apiserver.admission_server import rules, webhooks
from tests.faults.scene import DEPLOYMENTS, PODS, Accident, deployment, happen, pod, ready

CONFIGURATIONS = resource("validatingwebhookconfigurations.admissionregistration.k8s.io")


def configuration(server: WebhookServer, kind: str = "Validating", **hook: Any) -> Object:
    return webhooks(kind, "guard", {"clientConfig": server.client_config("/check"), "rules": rules("pods"), **hook})


def allow(_: Object) -> Object:
    return {"allowed": True}


def test_pods_are_refused_while_it_is_down_and_created_when_it_is_back() -> None:
    authority = CertificateAuthority()
    with WebhookServer(allow, authority=authority) as up:
        port = up.port
    why = (
        'Internal error occurred: failed calling webhook "guard-0.example.com": failed to call webhook: '
        f'Post "https://127.0.0.1:{port}/check?timeout=10s": dial tcp 127.0.0.1:{port}: connect: connection refused'
    )

    async def scene(cluster: Accident) -> int:
        await cluster.user.create(CONFIGURATIONS, configuration(up))
        with pytest.raises(StatusError) as refused:
            await cluster.user.create(PODS, pod("one"), "default")
        assert (refused.value.code, refused.value.reason, refused.value.message) == (500, "InternalError", why)
        await cluster.user.create(DEPLOYMENTS, deployment(2), "default")  # not a pod: nobody asks about it
        await cluster.until("events", lambda events: any(event["reason"] == "FailedCreate" for event in events))
        assert {event[:3] for event in await cluster.events("web", "FailedCreate")} == {
            ("Warning", "FailedCreate", f"Error creating: {why}")
        }
        assert await cluster.items("pods") == []
        with WebhookServer(allow, authority=authority, port=port) as back:
            await cluster.until("pods", lambda pods: len(pods) == ready(pods) == 2, seconds=1100)
            return len(back.asked)

    assert happen(scene) == 2


def test_a_webhook_that_may_fail_stops_nobody() -> None:
    with WebhookServer(allow) as up:
        down = configuration(up, failurePolicy="Ignore")

    async def scene(cluster: Accident) -> None:
        await cluster.user.create(CONFIGURATIONS, down)
        await cluster.user.create(PODS, pod("one"), "default")
        await cluster.until("pods", ready, seconds=60)

    happen(scene)


def test_whoever_has_locked_himself_out_deletes_the_configuration() -> None:
    """Configurations of admission are shown to no webhook, so this always works, and it works at once."""
    with WebhookServer(allow) as up:
        everything = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]
        down = configuration(up, rules=everything)

    async def scene(cluster: Accident) -> None:
        await cluster.user.create(CONFIGURATIONS, down)
        for attempt in (
            cluster.user.create(PODS, pod("one"), "default"),
            cluster.user.create(DEPLOYMENTS, deployment(1), "default"),
        ):
            with pytest.raises(StatusError, match="failed calling webhook"):
                await attempt
        await cluster.user.delete(CONFIGURATIONS, "guard")
        await cluster.user.create(PODS, pod("one"), "default")
        await cluster.until("pods", ready, seconds=300)

    happen(scene)


def test_a_configuration_takes_effect_with_the_very_next_request() -> None:
    """As long as there is none, the plugins are not even asked; the first one counts from the answer to its own creation on."""
    with WebhookServer(allow) as up:
        down = configuration(up)

    async def scene(cluster: Accident) -> None:
        for number in range(5):
            await cluster.user.create(PODS, pod(f"before-{number}"), "default")
            await cluster.user.create(CONFIGURATIONS, down)
            with pytest.raises(StatusError, match=r"connection refused$"):
                await cluster.user.create(PODS, pod(f"during-{number}"), "default")
            await cluster.user.delete(CONFIGURATIONS, "guard")

    happen(scene)
