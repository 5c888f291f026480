"""What stands beside an answer of the API server: warnings, headers, the name of who wrote."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.agreements.claim_checks.etcd import MAPS, config_map
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.apiserver.apis.event_versions import to_core
from lifecycle.apiserver.registry.rest.create import before_create
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.server.consistent_reads import needs_the_newest
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

PATH = "/api/v1/namespaces/default/configmaps"
TWICE = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"},"data":{"a":"1","a":"2"},"dato":{}}'


def _ask(method: str, path: str, body: bytes = b"", warned: list[str] | None = None, **query: str) -> Response:
    """The answer; `warned` gets its warnings."""
    warned = [] if warned is None else warned

    async def scene(server: GenericAPIServer, client: Client) -> Response:
        headers = {"content-type": "application/json"}
        parts = {key: [value] for key, value in query.items()}
        request = Request(method, path, parts, headers, body)
        answer = await client.transport.round_trip(request)
        warned[:] = request.warnings
        return answer

    return on_a_server(scene)


@pytest.mark.parametrize(
    ("level", "code", "said"),
    [
        ("", 201, True),  # as `Warn`
        ("Warn", 201, True),
        ("Ignore", 201, False),
        ("Strict", 400, False),
    ],
)
def test_a_field_that_is_sent_twice_and_one_that_nobody_knows_are_told_as_was_wished(
    level: str, code: int, said: bool
) -> None:
    warned = list[str]()
    answer = _ask("POST", PATH, TWICE, warned, **({"fieldValidation": level} if level else {}))
    assert answer.status == code
    assert warned == (['duplicate field "data.a"', 'unknown field "dato"'] if said else [])
    if code == 400:
        words = 'strict decoding error: duplicate field "data.a", unknown field "dato"'
        assert str((answer.obj or {})["message"]).endswith(words)


def test_no_shared_cache_may_keep_what_depends_on_who_asks() -> None:
    """The words are the real server's, from each of its recorded answers."""
    assert _ask("GET", PATH).headers["Cache-Control"] == "no-cache, private"
    assert _ask("GET", f"{PATH}/nobody").headers["Cache-Control"] == "no-cache, private"


def test_a_document_with_its_hash_in_its_address_may_be_kept_for_ever() -> None:
    path = "/openapi/v3/api/v1"
    current = _ask("GET", path)
    assert current.headers["Cache-Control"] == "no-cache, private"
    tag = current.headers["Etag"].strip('"')
    assert _ask("GET", path, hash=tag).headers["Cache-Control"] == "public, immutable"
    other = _ask("GET", path, hash="0")
    assert (other.status, other.headers["Location"]) == (301, f"{path}?hash={tag}")


@pytest.mark.parametrize("name", ["OpenAPI-Generator", "kubectl-client-side-apply", "Go-http-client", "unknown"])
def test_who_wrote_is_written_down_as_it_calls_itself(name: str) -> None:
    async def scene(server: GenericAPIServer, client: Client) -> list[tuple[str, str]]:
        own = Client(client.transport, f"{name}/1.0 (linux/amd64)")
        made = await own.create(MAPS, config_map("m"), "default")
        changed = await own.update(MAPS, {**made, "data": {"a": "1"}})
        return [(entry["manager"], entry["operation"]) for entry in changed["metadata"]["managedFields"]]

    assert set(on_a_server(scene)) == {(name, "Update")}


class _OfPods(Plugin):
    resources = PODS
    operations = frozenset({CREATE})


class _OfStatus(Plugin):
    subresources = frozenset({"status"})


class _OfAll(Plugin):
    subresources = None


@pytest.mark.parametrize(
    ("plugin", "plural", "subresource", "operation", "handles"),
    [
        (_OfPods, "pods", "", CREATE, True),
        (_OfPods, "pods", "", UPDATE, False),
        (_OfPods, "pods", "status", CREATE, False),
        (_OfPods, "pods.metrics.k8s.io", "", CREATE, False),  # others have pods, too
        (_OfStatus, "services", "status", UPDATE, True),
        (_OfStatus, "services", "", UPDATE, False),
        (_OfAll, "services", "", UPDATE, True),
        (_OfAll, "services", "status", UPDATE, True),
    ],
)
def test_a_plugin_sees_its_own_kinds_of_its_own_group(
    plugin: Any, plural: str, subresource: str, operation: str, handles: bool
) -> None:
    row = resource(plural.partition(".")[0])
    _, _, group = plural.partition(".")
    assert plugin().handles(replace(row, group=group), subresource, operation) is handles


def test_a_pods_own_tolerations_stay_before_those_that_it_is_given() -> None:
    own = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
    given = [
        {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for what in ("not-ready", "unreachable")
    ]
    mine = {**given[1], "tolerationSeconds": 5}

    async def scene(server: GenericAPIServer, client: Client) -> list[list[Any]]:
        account = {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "default"}}
        await client.create(resource("serviceaccounts"), account, "default")
        told = []
        for number, wished in enumerate(([own], [mine], [{"operator": "Exists"}], [])):
            body = {
                "metadata": {"name": f"p{number}"},
                "spec": {"containers": [{"name": "c", "image": "i"}], "tolerations": wished},
            }
            made = await client.create(resource("pods"), {"kind": "Pod", "apiVersion": "v1", **body}, "default")
            told.append(made["spec"]["tolerations"])
        return told

    assert on_a_server(scene) == [[own, *given], [mine, given[0]], [{"operator": "Exists"}], given]


def test_of_what_is_not_known_to_be_a_request_for_a_resource_no_cache_has_to_be_new() -> None:
    assert needs_the_newest(Request("GET", "/"), 7) is False


def test_what_is_sent_without_metadata_begins_to_have_some() -> None:
    """A name is missing then, which is said, and nothing worse."""
    for sent in (b'{"kind":"ConfigMap","apiVersion":"v1"}', b'{"kind":"ConfigMap","apiVersion":"v1","metadata":null}'):
        answer = _ask("POST", PATH, sent)
        assert answer.status == 422
        assert "metadata.name: Required value: name or generateName is required" in str((answer.obj or {})["message"])
    obj: Any = {"kind": "ConfigMap", "apiVersion": "v1"}
    before_create(strategy_for("v1", "ConfigMap"), obj)
    assert obj["metadata"] == {}


def test_an_event_of_the_core_is_one_already() -> None:
    event = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e"}, "message": "m"}
    assert to_core(event) is event


@pytest.mark.parametrize(
    ("given", "addresses"), [({"clusterIP": "10.96.0.9"}, ["10.96.0.9"]), ({"clusterIP": "None"}, ["None"])]
)
def test_who_names_one_address_has_named_the_first_of_all(given: dict[str, str], addresses: list[str]) -> None:
    async def scene(server: GenericAPIServer, client: Client) -> tuple[str, list[str]]:
        body = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], **given}}
        made = await client.create(resource("services"), {"kind": "Service", "apiVersion": "v1", **body}, "default")
        return made["spec"]["clusterIP"], made["spec"]["clusterIPs"]

    assert on_a_server(scene) == (given["clusterIP"], addresses)


def test_who_does_not_say_who_it_is_is_unknown() -> None:
    made = _ask("POST", PATH, b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"},"data":{"a":"1"}}')
    [entry] = json.loads(made.body or b"")["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("unknown", "Update")


@pytest.mark.parametrize(
    ("path", "method", "body", "stranger"),
    [
        (
            "/apis/apps/v1/namespaces/default/deployments/web/scale",
            "PUT",
            {"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": 2}, "status": {"replicas": 0}},
            ("spec", "paused"),
        ),
        (
            "/api/v1/namespaces/default/serviceaccounts/default/token",
            "POST",
            {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {"audiences": ["a"]}},
            ("spec", "secrets"),
        ),
        (
            "/api/v1/namespaces/default/pods/web/binding",
            "POST",
            {"kind": "Binding", "apiVersion": "v1", "target": {"kind": "Node", "name": "n"}},
            ("target", "spec"),
        ),
        (
            "/api/v1/namespaces/default/pods/web/eviction",
            "POST",
            {"kind": "Eviction", "apiVersion": "policy/v1", "deleteOptions": {"gracePeriodSeconds": 3}},
            ("deleteOptions", "spec"),
        ),
    ],
    ids=["scale", "token", "binding", "eviction"],
)
def test_the_body_of_a_subresource_has_the_fields_of_its_own_kind(
    path: str, method: str, body: dict[str, Any], stranger: tuple[str, str]
) -> None:
    """And not those of what it is a part of."""
    inner, field = stranger
    name = {"name": "default" if inner == "spec" and method == "POST" else "web"}

    def refusal(sent: dict[str, Any]) -> str:
        answer = _ask(method, path, json.dumps({"metadata": name, **sent}).encode(), fieldValidation="Strict")
        return str((answer.obj or {}).get("message"))

    assert "unknown field" not in refusal(body)
    assert f'strict decoding error: unknown field "{inner}.{field}"' in refusal(
        {**body, inner: {**body[inner], field: 1}}
    )


def test_a_scale_without_a_number_is_a_scale_to_nothing() -> None:
    """A Deployment's own defaults, one replica among them, are not those of its Scale (`ScaleSpec` has none)."""

    async def scene(server: GenericAPIServer, client: Client) -> tuple[Any, Any]:
        labels = {"app": "web"}
        spec: dict[str, Any] = {"selector": {"matchLabels": labels}, "replicas": 3}
        spec["template"] = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        row, metadata = resource("deployments.apps"), {"name": "web"}
        await client.create(
            row, {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": metadata, "spec": spec}, "default"
        )
        body = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": {}}
        path = "/apis/apps/v1/namespaces/default/deployments/web/scale"
        headers = {"content-type": "application/json"}
        answer = await client.transport.round_trip(Request("PUT", path, {}, headers, json.dumps(body).encode()))
        deployment = await client.get(row, "web", "default")
        return (answer.obj or {})["spec"], deployment["spec"]["replicas"]

    assert on_a_server(scene) == ({}, 0)


@pytest.mark.parametrize(
    ("row", "body", "sent", "generation"),
    [
        ("configmaps", {"kind": "ConfigMap", "apiVersion": "v1"}, 5, 5),  # nobody counts these
        ("configmaps", {"kind": "ConfigMap", "apiVersion": "v1"}, 0, None),
        (
            "networkpolicies.networking.k8s.io",
            {"kind": "NetworkPolicy", "apiVersion": "networking.k8s.io/v1", "spec": {}},
            5,
            1,
        ),
        (
            "networkpolicies.networking.k8s.io",
            {"kind": "NetworkPolicy", "apiVersion": "networking.k8s.io/v1", "spec": {}},
            0,
            1,
        ),
    ],
)
def test_what_the_server_says_of_an_object_no_client_says(
    row: str, body: dict[str, Any], sent: int, generation: int | None
) -> None:
    then = "2020-01-01T00:00:00Z"
    claimed: dict[str, Any] = {"uid": "mine", "selfLink": "/me", "creationTimestamp": then}
    claimed |= {"deletionTimestamp": then, "deletionGracePeriodSeconds": 3, "generation": sent}

    async def scene(server: GenericAPIServer, client: Client) -> dict[str, Any]:
        made = await client.create(resource(row), {**body, "metadata": {"name": "n", **claimed}}, "default")
        return dict(made["metadata"])

    metadata = on_a_server(scene)
    assert metadata.get("generation") == generation
    assert not {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} & metadata.keys()
    assert metadata["uid"] != "mine"
    assert metadata["creationTimestamp"] != then


@pytest.mark.parametrize(
    ("row", "body", "status"),
    [
        ("nodes", {"kind": "Node", "status": {"phase": "Running"}}, True),  # a kubelet registers with it
        (
            "persistentvolumes",
            {"kind": "PersistentVolume", "spec": {"hostPath": {"path": "/p"}}, "status": {"reason": "r"}},
            False,
        ),
        ("services", {"kind": "Service", "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}}, False),
    ],
)
def test_only_a_node_is_made_with_a_status(row: str, body: dict[str, Any], status: bool) -> None:
    more: dict[str, Any] = {"nodes": {}, "services": {"ports": [{"port": 80}]}}.get(row) or {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
    }

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        spec = {} if row == "nodes" else {**more, **body.get("spec", {})}
        sent = {**body, "apiVersion": "v1", "metadata": {"name": "n"}, "spec": spec}
        made = await client.create(resource(row), sent, "default" if row == "services" else "")
        return body["status"].items() <= made["status"].items()

    assert on_a_server(scene) is status


def test_what_no_store_keeps_no_answer_says() -> None:
    """A list that is empty and one that is not there are the same in what is stored; so says the answer to who has just sent it."""
    body = {"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "r"}, "rules": []}

    async def scene(server: GenericAPIServer, client: Client) -> list[Any]:
        roles = resource("roles.rbac.authorization.k8s.io")
        made = await client.create(roles, body, "default")
        again = await client.update(
            roles, {**made, "rules": [], "metadata": {**made["metadata"], "labels": {"a": "b"}}}
        )
        return [made["rules"], again["rules"], (await client.get(roles, "r", "default"))["rules"]]

    assert on_a_server(scene) == [None, None, None]


def test_what_is_refused_is_called_by_the_name_that_it_would_have_got() -> None:
    """The real server's words: `The ConfigMap "web-sx7v9" is invalid: data[a b]: …`."""
    body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"generateName": "web-"}, "data": {"a b": "c"}}
    answer = _ask("POST", PATH, json.dumps(body).encode())
    assert answer.status == 422
    assert re.match(r'ConfigMap "web-[a-z0-9]{5}" is invalid: data\[a b\]: ', (answer.obj or {})["message"])


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("dryRun", "Some", 'dryRun: Unsupported value: ["Some"]: supported values: "All"'),
        ("fieldManager", "m" * 129, "fieldManager: Too long: may not be more than 128 bytes"),
        ("fieldValidation", "Maybe", 'fieldValidation: Unsupported value: "Maybe"'),
    ],
)
def test_options_that_nobody_knows_are_refused_before_anything_is_done(option: str, value: str, why: str) -> None:
    body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}}
    answer = _ask("POST", PATH, json.dumps(body).encode(), None, **{option: value})
    assert answer.status == 422
    assert why in (answer.obj or {})["message"]


@pytest.mark.parametrize(
    ("version", "code"), [("policy/v1", 201), ("policy/v1beta1", 201), ("", 201), ("policy/v2", 400), ("v1", 400)]
)
def test_an_eviction_may_be_of_the_version_before_and_of_no_other(version: str, code: int) -> None:
    """Upstream: `EvictionREST.AcceptsGroupVersion`."""

    async def scene(server: GenericAPIServer, client: Client) -> int:
        spec = {"containers": [{"name": "c", "image": "i"}]}
        account = {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "default"}}
        await client.create(resource("serviceaccounts"), account, "default")
        await client.create(resource("pods"), {"metadata": {"name": "p"}, "spec": spec}, "default")
        said = {"apiVersion": version, "kind": "Eviction"} if version else {}
        body = json.dumps({**said, "metadata": {"name": "p"}}).encode()
        path = "/api/v1/namespaces/default/pods/p/eviction"
        request = Request("POST", path, {}, {"content-type": "application/json"}, body)
        return (await client.transport.round_trip(request)).status

    assert on_a_server(scene) == code
