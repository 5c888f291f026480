"""Where `--port` and the words after `--` go, and what a container is called: as kubectl 1.36 prints it (`--dry-run=client -o yaml`)."""

from __future__ import annotations

import pytest

from lifecycle.kubectl.generators.create_deployment import container_name, create_deployment


@pytest.mark.parametrize(
    ("port", "ports"),
    [(-1, None), (0, [{"containerPort": 0}]), (80, [{"containerPort": 80}])],  # the real one prints `containerPort: 0`
)
def test_a_port_is_the_first_containers_and_nought_is_one(port: int, ports: list[dict[str, int]] | None) -> None:
    made = create_deployment("web", ["nginx", "busybox"], port=port)
    first, second = made["spec"]["template"]["spec"]["containers"]
    assert first.get("ports") == ports
    assert "ports" not in second


def test_what_stands_behind_the_dashes_is_the_command() -> None:
    made = create_deployment("web", ["busybox"], command=["sleep", "1"])
    [container] = made["spec"]["template"]["spec"]["containers"]
    assert container == {"name": "busybox", "image": "busybox", "command": ["sleep", "1"]}


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("nginx", "nginx"),
        ("r.example:5000/team/app:1.2", "app"),
        ("nginx@sha256:00", "nginx"),
        ("r/a:1@sha256:00", "a"),
    ],
)
def test_a_container_is_called_after_the_last_part_of_its_image(image: str, name: str) -> None:
    assert container_name(image) == name


@pytest.mark.parametrize(("image", "begin"), [("my_app", "my-app-"), ("my.app:1", "my-app-")])
def test_what_a_name_may_not_hold_becomes_a_dash_and_the_end_is_chance(image: str, begin: str) -> None:
    name = container_name(image)
    assert name.startswith(begin)
    assert len(name) == len(begin) + 5


@pytest.mark.parametrize("namespace", ["", "default", "shop"])
def test_a_namespace_that_is_said_is_written_even_if_it_is_the_default_one(namespace: str) -> None:
    """Upstream: `createDeployment`, `EnforceNamespace`."""
    made = create_deployment("web", ["nginx"], namespace=namespace)
    named = {"name": "web", "labels": {"app": "web"}}
    assert made["metadata"] == ({**named, "namespace": namespace} if namespace else named)
    assert made["spec"]["template"]["metadata"] == {"labels": {"app": "web"}}
    assert made["spec"]["selector"] == {"matchLabels": {"app": "web"}}


@pytest.mark.parametrize("replicas", [0, 1, 3])
def test_as_many_replicas_as_are_said(replicas: int) -> None:
    assert create_deployment("web", ["nginx"], replicas=replicas)["spec"]["replicas"] == replicas
