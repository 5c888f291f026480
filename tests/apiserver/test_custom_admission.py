"""What a webhook makes of a custom object is taken as what a client would have sent."""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.webhook_server import WebhookServer, json_patch
from tests.apiserver.admission_server import webhooks
from tests.apiserver.custom_server import CRONTABS, Site, crontab, definition, on_server

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


def patched_by_a_webhook(*operations: Object) -> Object:
    """A CronTab that was created through a webhook which patches it."""

    async def scene(site: Site) -> Object:
        await site.define(definition())
        rules = [
            {
                "apiGroups": ["stable.example.com"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["crontabs"],
            }
        ]
        hook = {"clientConfig": server.client_config(), "rules": rules}
        assert (await site.ask("POST", CONFIGURATIONS, webhooks("Mutating", "h", hook))).status == 201
        created = await site.ask("POST", CRONTABS, crontab())
        assert created.status == 201, created.message
        found: Object = (await site.ask("GET", f"{CRONTABS}/a")).obj
        return found

    with WebhookServer(lambda request: json_patch(*operations)) as server:
        spec: Object = on_server(scene)["spec"]
        return spec


def test_a_field_that_the_schema_does_not_know_is_pruned() -> None:
    known = {"op": "add", "path": "/spec/hosts", "value": ["a"]}
    unknown = {"op": "add", "path": "/spec/colour", "value": "red"}
    spec = patched_by_a_webhook(known, unknown)
    assert spec["hosts"] == ["a"]
    assert "colour" not in spec


def test_a_field_that_it_took_away_has_its_default_again() -> None:
    assert patched_by_a_webhook({"op": "remove", "path": "/spec/image"})["image"] == "nginx"
