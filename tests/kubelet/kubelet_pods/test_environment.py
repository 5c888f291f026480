"""A container's variables: where they come from, and which of two with one name it gets."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.kubelet.container.runtime_helper import ContainerEnvironmentError
from lifecycle.kubelet.kubelet_pods import environment
from lifecycle.kubelet.kubelet_pods.environment import (
    from_services,
    make_environment_variables,
    service_environment,
)


def service(name: str, namespace: str, address: str | None, *ports: Object) -> Object:
    spec = {"clusterIP": address, "ports": list(ports) or [{"port": 80}]}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


def test_a_service_is_told_in_the_words_of_docker_s_links() -> None:
    ports = ({"name": "http-alt", "port": 8080}, {"name": "dns", "port": 53, "protocol": "UDP"})
    assert from_services([service("web-1", "shop", "10.0.0.9", *ports)]) == {
        "WEB_1_SERVICE_HOST": "10.0.0.9",
        "WEB_1_SERVICE_PORT": "8080",
        "WEB_1_SERVICE_PORT_HTTP_ALT": "8080",
        "WEB_1_SERVICE_PORT_DNS": "53",
        "WEB_1_PORT": "tcp://10.0.0.9:8080",
        "WEB_1_PORT_8080_TCP": "tcp://10.0.0.9:8080",
        "WEB_1_PORT_8080_TCP_PROTO": "tcp",
        "WEB_1_PORT_8080_TCP_PORT": "8080",
        "WEB_1_PORT_8080_TCP_ADDR": "10.0.0.9",
        "WEB_1_PORT_53_UDP": "udp://10.0.0.9:53",
        "WEB_1_PORT_53_UDP_PROTO": "udp",
        "WEB_1_PORT_53_UDP_PORT": "53",
        "WEB_1_PORT_53_UDP_ADDR": "10.0.0.9",
    }


def test_an_address_of_version_six_stands_in_brackets_where_a_port_follows() -> None:
    told = from_services([service("web", "shop", "fd00::9")])
    assert (told["WEB_PORT"], told["WEB_SERVICE_HOST"]) == ("tcp://[fd00::9]:80", "fd00::9")


APISERVER = service("kubernetes", "default", "10.96.0.1", {"port": 443})


@pytest.mark.parametrize(
    ("services", "links", "hosts"),
    [
        ([APISERVER, service("web", "shop", "10.0.0.9"), service("db", "other", "10.0.0.8")], True, ["10.96.0.1", "9"]),
        ([APISERVER, service("web", "shop", "10.0.0.9")], False, ["10.96.0.1"]),
        ([APISERVER, service("kubernetes", "shop", "10.0.0.7")], True, ["7"]),
        ([service("kubernetes", "shop", "10.0.0.7"), APISERVER], True, ["7"]),
        ([APISERVER, service("kubernetes", "shop", "10.0.0.7")], False, ["10.96.0.1"]),
        ([APISERVER, service("kubernetes", "shop", "None")], True, ["10.96.0.1"]),
        ([APISERVER, service("kubernetes", "shop", "")], True, ["10.96.0.1"]),
        ([service("web", "default", "10.0.0.9")], True, []),
    ],
)
def test_a_pod_hears_of_its_namespace_and_always_of_the_api_server(
    services: list[Object], links: bool, hosts: list[str]
) -> None:
    told = service_environment(services, "shop", links)
    assert sorted(value for key, value in told.items() if key.endswith("_SERVICE_HOST")) == sorted(
        host if "." in host else f"10.0.0.{host}" for host in hosts
    )


OBJECTS: dict[tuple[str, str], Object] = {
    ("configmaps", "one"): {"data": {"A": "one", "B": "one", "WEB_SERVICE_HOST": "mine"}},
    ("configmaps", "two"): {"data": {"B": "two", "x=y": "never"}},
    ("secrets", "s"): {"data": {"key": base64.b64encode(b"value").decode()}},
}


async def get(plural: str, name: str, namespace: str) -> Object:
    if (plural, name) not in OBJECTS:
        raise LookupError(f'{plural.removesuffix("s")} "{name}" not found')
    return OBJECTS[plural, name]


def variables(*env: Object, env_from: tuple[Object, ...] = (), **spec: Any) -> dict[str, str]:
    pod = {"metadata": {"name": "p", "namespace": "shop", "uid": "u"}, "spec": {"containers": [], **spec}}
    container = {"name": "c", "env": list(env), "envFrom": list(env_from)}
    services = [service("web", "shop", "10.0.0.9")]
    return run_virtual(make_environment_variables(pod, container, get, services=services))


ONE, TWO = {"configMapRef": {"name": "one"}}, {"configMapRef": {"name": "two"}}


def test_a_later_source_wins_a_variable_of_its_own_over_all_and_a_source_over_a_service() -> None:
    assert variables(env_from=(ONE, TWO))["B"] == "two"
    assert variables(env_from=(TWO, ONE))["B"] == "one"
    assert variables({"name": "B", "value": "own"}, env_from=(ONE, TWO))["B"] == "own"
    assert variables()["WEB_SERVICE_HOST"] == "10.0.0.9"
    assert variables(env_from=(ONE,))["WEB_SERVICE_HOST"] == "mine"
    assert "WEB_SERVICE_HOST" not in variables(enableServiceLinks=False)


def test_what_is_no_name_is_left_out_also_behind_a_prefix() -> None:
    assert "x=y" not in variables(env_from=(TWO,))
    assert [name for name in variables(env_from=({**TWO, "prefix": "P_"},)) if name.startswith("P_")] == ["P_B"]


@pytest.mark.parametrize(
    ("value", "expanded"),
    [("$(B)/$(A)", "one/one"), ("$(WEB_SERVICE_HOST)", "mine"), ("$(LATER)", "$(LATER)"), ("$$(A)", "$(A)"), ("", "")],
)
def test_a_value_refers_to_what_is_known_so_far(value: str, expanded: str) -> None:
    env = ({"name": "X", "value": value}, {"name": "LATER", "value": "l"})
    assert variables(*env, env_from=(ONE,))["X"] == expanded


@pytest.mark.parametrize(
    "reference",
    [
        {"configMapKeyRef": {"name": "none", "key": "k"}},
        {"configMapKeyRef": {"name": "one", "key": "k"}},
        {"secretKeyRef": {"name": "none", "key": "k"}},
        {"secretKeyRef": {"name": "s", "key": "k"}},
    ],
)
def test_what_a_variable_refers_to_must_be_there_unless_it_is_optional(reference: Object) -> None:
    [(field, what)] = reference.items()
    with pytest.raises(
        ContainerEnvironmentError, match=r'^((configmap|secret) "none" not found|couldn\'t find key k in \w+ shop/\w+)$'
    ):
        variables({"name": "X", "valueFrom": reference})
    assert "X" not in variables({"name": "X", "valueFrom": {field: {**what, "optional": True}}})


def test_a_source_must_be_there_unless_it_is_optional() -> None:
    with pytest.raises(ContainerEnvironmentError, match=r'configmap "none" not found$'):
        variables(env_from=({"configMapRef": {"name": "none"}},))
    assert variables(env_from=({"configMapRef": {"name": "none", "optional": True}}, ONE))["A"] == "one"


@pytest.mark.parametrize(
    ("limits", "own", "told"),
    [
        ({}, {}, ["8", "1024"]),
        ({"cpu": "2"}, {}, ["2", "1024"]),
        ({"cpu": "2", "memory": "64Mi"}, {"cpu": "1"}, ["1", "64"]),
        ({"cpu": "0"}, {"cpu": "0"}, ["8", "1024"]),
    ],
)
def test_a_container_without_a_limit_is_told_the_pod_s_and_only_then_the_node_s(
    limits: Object, own: Object, told: list[str]
) -> None:
    spec = {"containers": [], "resources": {"limits": limits}}
    env = [
        {"name": name, "valueFrom": {"resourceFieldRef": {"resource": f"limits.{name}", "divisor": divisor}}}
        for name, divisor in (("cpu", "1"), ("memory", "1Mi"))
    ]
    pod = {"metadata": {"name": "p", "namespace": "shop", "uid": "u"}, "spec": spec}
    container = {"name": "c", "env": env, "resources": {"limits": own}}
    node = {"cpu": "8", "memory": "1Gi"}
    made = run_virtual(make_environment_variables(pod, container, get, allocatable=node))
    assert [made["cpu"], made["memory"]] == told


def test_more_variables_than_a_program_can_be_given_are_an_error_before_they_are_many(monkeypatch: Any) -> None:
    asked: list[str] = []

    async def get(plural: str, name: str, namespace: str) -> Object:
        asked.append(name)
        return {"data": {f"K{i}": "" for i in range(60)}}

    monkeypatch.setattr(environment, "MOST_VARIABLES", 100)
    sources = [{"prefix": f"P{i}_", "configMapRef": {"name": f"m{i}"}} for i in range(10)]
    pod = {"metadata": {"name": "p", "namespace": "shop"}, "spec": {"containers": []}}
    with pytest.raises(ContainerEnvironmentError, match=r"argument list too long: more than 100 variables$"):
        run_virtual(make_environment_variables(pod, {"name": "c", "envFrom": sources}, get))
    assert asked == ["m0", "m1"]
