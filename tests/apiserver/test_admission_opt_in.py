"""Plugins that are off by default: switched on by name, and what they do then."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.wire import Object
from lifecycle.apiserver.admission.image_policy_webhook import ImagePolicy
from lifecycle.apiserver.admission.initial_resources import ANNOTATION, InitialResources
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.admission.webhook_server import WebhookServer
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
    with pytest.raises(ValueError, match='enable-admission-plugins plugin "InitialResources" is unknown'):
        AdmissionOptions(enable=["InitialResources"])
    with pytest.raises(ValueError, match="no config specified"):
        AdmissionOptions(enable=["ImagePolicyWebhook"])
    with pytest.raises(ValueError, match="valid value is between"):
        ImagePolicy("https://a/", allow_ttl=5000)


def test_initial_resources_looks_further_until_it_has_thirty_samples() -> None:
    asked: list[tuple[str, str, bool, int]] = []

    def usage(name: str, percentile: int, image: str, namespace: str, exact: bool, days: int) -> tuple[int, int]:
        asked.append((image, namespace, exact, days))
        return (90, 30) if not exact else (70, 5)

    assert InitialResources(usage).estimate("cpu", "nginx:1", "n") == "90m"
    assert asked == [
        ("nginx:1", "n", True, 7),
        ("nginx:1", "n", True, 30),
        ("nginx:1", "", True, 7),
        ("nginx:1", "", True, 30),
        ("nginx", "", False, 30),
    ]
    assert InitialResources(lambda *_: (0, 0)).estimate("memory", "nginx", "n") == ""
    assert ANNOTATION == "kubernetes.io/initial-resources"
