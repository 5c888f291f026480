"""A template may be as large as a request: its name is worked out where nobody else waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.daemonset import daemon_set_controller
from lifecycle.controllers.deployment import sync


@pytest.mark.parametrize(
    ("module", "plural", "kind"),
    [(sync, "deployments.apps", "Deployment"), (daemon_set_controller, "daemonsets.apps", "DaemonSet")],
)
def test_the_hash_of_a_template_is_the_workers_if_the_template_is_large(
    module: Any, plural: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    async def beside(size: int, work: Any, *args: Any) -> Any:
        sizes.append(size)
        return work(*args)

    monkeypatch.setattr(module, "beside", beside)

    async def scene(cluster: RehearsedCluster) -> Object:
        client, labels = cluster.client("me"), {"app": "fat"}
        env = [{"name": f"E{number}", "value": "x" * 40} for number in range(500)]
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i", "env": env}]}}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        made = await client.create(resource(plural), {"metadata": {"name": "fat"}, "spec": spec}, "default")
        await asyncio.sleep(5)
        return dict(made)

    made = rehearse(scene, without=("kubelet", "scheduler"))
    assert made["kind"] == kind
    assert sizes[:1] == [len(fast_json.dumps(made["spec"]["template"]))]
