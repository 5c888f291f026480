"""What a container asks for reaches the runtime under its own name, and under no other."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.kuberuntime.container_config import generate_container_config

POD = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {"containers": []}}
BARE = {"name": "c", "image": "nginx"}
ENVIRONMENT = (("WHO", "world"), ("EMPTY", ""))


def config(given: dict[str, Any], attempt: int = 0, **more: Any) -> dict[str, Any]:
    """As a dict; annotations and labels aside, which tell the kubelet what it knew."""
    made = generate_container_config(POD, {**BARE, **given}, attempt, envs=ENVIRONMENT, **more)
    told = {name: getattr(made, name) for name in made.__slots__}
    return {name: value for name, value in told.items() if name not in ("labels", "annotations")}


WISHES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"stdin": True}, {"stdin": True}),
    ({"stdinOnce": True}, {"stdin_once": True}),
    ({"tty": True}, {"tty": True}),
    ({"stdin": True, "stdinOnce": True}, {"stdin": True, "stdin_once": True}),
    ({"stdin": False, "stdinOnce": False, "tty": False}, {}),
    ({"workingDir": "/srv"}, {"working_dir": "/srv"}),
    ({"command": ["sh", "-c"]}, {"command": ("sh", "-c")}),
    ({"args": ["-v"]}, {"args": ("-v",)}),
    ({"command": ["a $(WHO)", "$$(WHO)"]}, {"command": ("a world", "$(WHO)")}),
    ({"args": ["$(WHO)!", "$(NOBODY)", "[$(EMPTY)]"]}, {"args": ("world!", "$(NOBODY)", "[]")}),
    ({"image": "redis:7"}, {"image": "redis:7", "user_specified_image": "redis:7"}),
    ({"lifecycle": {"stopSignal": "SIGUSR1"}}, {"stop_signal": "SIGUSR1"}),
    ({"lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}, {}),
]


@pytest.mark.parametrize(("given", "changed"), WISHES)
def test_each_wish_is_passed_on_and_changes_nothing_else(given: dict[str, Any], changed: dict[str, Any]) -> None:
    """Upstream: `kuberuntime_container.go` (`generateContainerConfig`)."""
    bare = config({})
    assert {name: value for name, value in config(given).items() if value != bare[name]} == changed


def test_of_a_container_that_wishes_nothing_there_is_its_image_its_environment_and_its_log() -> None:
    bare = config({})
    del bare["linux"]
    assert bare.pop("metadata").name == "c"
    assert {name: value for name, value in bare.items() if value} == {
        "image": "nginx",
        "user_specified_image": "nginx",
        "envs": ENVIRONMENT,
        "log_path": "c/0.log",
    }


def test_a_later_run_has_another_number_and_another_log() -> None:
    later = config({}, 3)
    assert (later["metadata"].attempt, later["log_path"]) == (3, "c/3.log")


def test_what_the_node_adds_is_passed_on_as_well() -> None:
    mounts = ({"container_path": "/data", "host_path": "/var/data"},)
    made = config({}, image="sha256:1", mounts=mounts, resources={"cpu_shares": 2}, image_uid=7)
    assert (made["image"], made["user_specified_image"], made["mounts"]) == ("sha256:1", "nginx", mounts)
    assert made["linux"]["resources"] == {"cpu_shares": 2}
    assert made["linux"]["security_context"]["run_as_user"] == {"value": 7}


def test_in_which_users_it_runs_is_the_pods_to_say() -> None:
    userns = {"mode": "POD", "uids": [{"host_id": 65536, "container_id": 0, "length": 65536}]}
    options = [config({}, userns=each)["linux"]["security_context"]["namespace_options"] for each in (None, userns)]
    assert "userns_options" not in options[0]
    assert options[1] == {**options[0], "userns_options": userns}
