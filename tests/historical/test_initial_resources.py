"""A container that asks for nothing got what its image had used."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.historical.apiserver.initial_resources import ANNOTATION, InitialResources
from tests.apiserver.admission_server import Asker, play, pod


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


def test_a_server_that_has_the_plugin_fills_in_what_neither_requests_nor_limits_mention() -> None:
    def usage(name: str, *_: Any) -> tuple[int, int]:
        return {"cpu": (90, 30), "memory": (1 << 20, 30)}[name]

    async def scene(asker: Asker) -> Object:
        given = pod("p", "a:1", "b:2", "c:3")
        given["spec"]["containers"][1]["resources"] = {"requests": {"memory": "1Gi"}}
        given["spec"]["containers"][2]["resources"] = {"limits": {"cpu": "1", "memory": "1Gi"}}
        return await asker.made(given)

    made = play(
        scene,
        AdmissionOptions(
            enable=["InitialResources"], registered={"InitialResources": lambda authorize: InitialResources(usage)}
        ),
    )
    first, second, third = (each["resources"].get("requests") for each in made["spec"]["containers"])
    assert first == {"cpu": "90m", "memory": "1048576"}
    assert second == {"cpu": "90m", "memory": "1Gi"}
    assert third == {"cpu": "1", "memory": "1Gi"}  # from the limits, by the defaults of today
    assert made["metadata"]["annotations"] == {
        ANNOTATION: "Initial Resources plugin set: cpu, memory request for container c0; cpu request for container c1"
    }


def test_a_pod_that_asks_for_everything_gets_no_note() -> None:
    async def scene(asker: Asker) -> Object:
        given = pod("p", "a:1")
        given["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1", "memory": "1Gi"}}
        return await asker.made(given)

    plugin = InitialResources(lambda *_: (1, 30))
    options = AdmissionOptions(enable=[plugin.name], registered={plugin.name: lambda authorize: plugin})
    assert ANNOTATION not in play(scene, options)["metadata"].get("annotations", {})
