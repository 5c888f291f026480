"""Plugins that are off by default: switched on by name, and what they do then."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import ANONYMOUS, Object, RequestInfo
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.apiserver.admission.image_policy_webhook import ImagePolicy
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.admission.webhook_server import WebhookServer
from lifecycle.apiserver.authz.authorizer import Authorize, decide
from tests.apiserver.admission_server import Asker, play, pod


def test_always_pull_images_sets_the_policy_of_every_container() -> None:
    async def scene(asker: Asker) -> list[str]:
        given = pod("p", "a:1", "b:2")
        given["spec"]["initContainers"] = [{"name": "i", "image": "c:3", "imagePullPolicy": "Never"}]
        spec = (await asker.made(given))["spec"]
        return [each["imagePullPolicy"] for each in (*spec["initContainers"], *spec["containers"])]

    assert play(scene) == ["Never", "IfNotPresent", "IfNotPresent"]
    assert play(scene, AdmissionOptions(enable=["AlwaysPullImages"])) == ["Always"] * 3


def review(document: Object) -> Object:
    images = [each["image"] for each in document["spec"]["containers"]]
    allowed = all(image.startswith("registry.example/") for image in images)
    return {**document, "status": {"allowed": allowed} if allowed else {"allowed": False, "reason": "not ours"}}


def asked_of(server: WebhookServer, **policy: Any) -> AdmissionOptions:
    return AdmissionOptions(
        enable=["ImagePolicyWebhook"],
        image_policy=ImagePolicy(f"https://127.0.0.1:{server.port}/images", server.ca, **policy),
    )


def test_the_image_policy_is_asked_once_for_the_same_images() -> None:
    async def scene(asker: Asker) -> list[str]:
        answers = [
            await asker.create(pod(name, image))
            for name, image in (("a", "registry.example/x"), ("b", "nginx"), ("c", "nginx"))
        ]
        return [str((each.obj or {}).get("message", each.status)) for each in answers]

    with WebhookServer(review) as server:
        first, second, third = play(scene, asked_of(server))
        assert len(server.asked) == 2
        assert server.asked[0]["spec"] == {"containers": [{"image": "registry.example/x"}], "namespace": "default"}
    assert first == "201"
    assert second == 'pods "b" is forbidden: image policy webhook backend denied one or more images: not ours'
    assert third == second.replace('"b"', '"c"')


def test_without_an_answer_the_default_decides() -> None:
    async def scene(asker: Asker) -> tuple[int, str]:
        response = await asker.create(pod("p"))
        notes = (response.obj or {}).get("metadata", {}).get("annotations", {})
        return response.status, notes.get("alpha.image-policy.k8s.io/failed-open", "")

    with WebhookServer(review) as server:
        closed, opened = asked_of(server), asked_of(server, default_allow=True)
    assert play(scene, closed) == (403, "")
    assert play(scene, opened) == (201, "true")


def test_a_disabled_plugin_does_not_run_and_unknown_names_are_refused() -> None:
    async def scene(asker: Asker) -> Any:
        return (await asker.made(pod("p")))["spec"].get("tolerations")

    assert play(scene) is not None
    assert play(scene, AdmissionOptions(disable=["DefaultTolerationSeconds"])) is None
    with pytest.raises(ValueError, match=r'enable-admission-plugins plugin "InitialResources" is unknown$'):
        AdmissionOptions(enable=["InitialResources"])
    with pytest.raises(ValueError, match=r"no config specified$"):
        AdmissionOptions(enable=["ImagePolicyWebhook"])
    with pytest.raises(ValueError, match=r"valid value is between 1s and 30m0s, got 5000s$"):
        ImagePolicy("https://a/", allow_ttl=5000)


class Stamp(Plugin):
    """A plugin of somebody else's: writes down whether the authorizer lets nobody do anything."""

    name = "Stamp"
    operations = frozenset({CREATE})
    resources = PODS

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize

    async def admit(self, attributes: Attributes) -> None:
        info = RequestInfo(True, "/api/v1/nodes", "delete", version="v1", resource="nodes")
        allowed = (await decide(self._authorize, ANONYMOUS, info)).allowed
        assert attributes.obj is not None
        attributes.obj["metadata"]["annotations"] = {"stamp": f"anybody may delete nodes: {allowed}"}


def test_a_plugin_of_ones_own_is_registered_and_runs_only_if_it_is_enabled() -> None:
    async def scene(asker: Asker) -> Any:
        return (await asker.made(pod("p")))["metadata"].get("annotations")

    registered = {"Stamp": Stamp}
    assert play(scene, AdmissionOptions(registered=registered)) is None
    stamped = play(scene, AdmissionOptions(enable=["Stamp"], registered=registered))
    assert stamped == {"stamp": "anybody may delete nodes: False"}
    with pytest.raises(ValueError, match=r'admission plugin "LimitRanger" was registered twice$'):
        AdmissionOptions(registered={"LimitRanger": Stamp})


def test_whatever_is_switched_on_and_off_at_once_is_refused_with_all_names() -> None:
    overlapped = (
        r"^\[AlwaysPullImages PodNodeSelector\] in enable-admission-plugins and disable-admission-plugins overlapped$"
    )
    with pytest.raises(ValueError, match=overlapped):
        AdmissionOptions(
            enable=["PodNodeSelector", "AlwaysPullImages", "EventRateLimit"],
            disable=["AlwaysPullImages", "PodNodeSelector"],
        )
