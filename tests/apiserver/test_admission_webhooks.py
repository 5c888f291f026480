"""Webhooks: real HTTPS calls to a real server, and every way in which they can go wrong."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
import threading
import time
from typing import Any, cast

import pytest

from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import LARGE
from lifecycle.apiserver.admission.webhook_server import WebhookServer, json_patch
from lifecycle.apiserver.storage.object_reader import ObjectReader, StaticReader
from lifecycle.apiserver.webhook import call, client_config
from lifecycle.apiserver.webhook.call import Call, WebhookError
from lifecycle.apiserver.webhook.client_config import HookCall, HookClient
from lifecycle.apiserver.webhook.egress_selector import EgressSelector
from lifecycle.apiserver.webhook.go_dial_errors import go_error
from lifecycle.apiserver.webhook.service_resolver import EndpointResolver
from tests.apiserver.admission_server import Asker, config_map, play, rules, started, webhooks


def label(key: str, value: str = "x") -> Any:
    def answer(request: Object) -> Object:
        has = "labels" in request["object"]["metadata"]
        first = [] if has else [{"op": "add", "path": "/metadata/labels", "value": {}}]
        return json_patch(*first, {"op": "add", "path": f"/metadata/labels/{key}", "value": value})

    return answer


def refusals(kind: str, answer: Any, obj: Object | None = None, **hook: Any) -> tuple[int, str]:
    """Status and message of a create with one webhook."""

    async def scene(asker: Asker) -> tuple[int, str]:
        await asker.made(webhooks(kind, "h", {"clientConfig": server.client_config("/x"), **hook}))
        response = await asker.create(obj or config_map())
        assert response.obj is not None
        return response.status, response.obj.get("message", "")

    with WebhookServer(answer) as server:
        return play(scene)


def test_a_mutating_webhook_patches_and_is_told_everything() -> None:
    async def scene(asker: Asker) -> tuple[Object, Object]:
        await asker.made(webhooks("Mutating", "h", {"clientConfig": server.client_config()}))
        return await asker.made(config_map(a="1")), server.asked[0]

    with WebhookServer(label("seen")) as server:
        stored, review = play(scene)
    assert stored["metadata"]["labels"] == {"seen": "x"}
    request = review["request"]
    assert review["apiVersion"] == "admission.k8s.io/v1"
    assert request["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert (request["operation"], request["name"], request["namespace"], request["dryRun"]) == (
        "CREATE",
        "m",
        "default",
        False,
    )
    assert request["userInfo"]["username"] == "root"
    assert request["object"]["data"] == {"a": "1"}
    assert request["oldObject"] is None
    assert request["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}


def test_webhooks_are_called_by_name_of_configuration_and_each_sees_the_one_before() -> None:
    async def scene(asker: Asker) -> list[Any]:
        await asker.made(webhooks("Mutating", "b", {"clientConfig": second.client_config()}))
        await asker.made(webhooks("Mutating", "a", {"clientConfig": first.client_config()}))
        await asker.made(config_map())
        return [server.asked[0]["request"]["object"]["metadata"].get("labels") for server in (first, second)]

    with WebhookServer(label("one")) as first, WebhookServer(label("two")) as second:
        assert play(scene) == [None, {"one": "x"}]


def test_a_webhook_that_asked_for_it_is_called_again_after_a_change() -> None:
    async def scene(asker: Asker) -> tuple[int, int]:
        again = {"clientConfig": first.client_config(), "reinvocationPolicy": "IfNeeded"}
        await asker.made(webhooks("Mutating", "a", again))
        await asker.made(webhooks("Mutating", "b", {"clientConfig": second.client_config()}))
        await asker.made(config_map())
        return len(first.asked), len(second.asked)

    with WebhookServer(lambda request: {"allowed": True}) as first, WebhookServer(label("two")) as second:
        assert play(scene) == (2, 1)


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
@pytest.mark.parametrize(
    ("response", "status", "message"),
    [
        ({"allowed": False}, 400, 'admission webhook "h-0.example.com" denied the request without explanation'),
        (
            {"allowed": False, "status": {"message": "not on Fridays", "code": 403}},
            403,
            'admission webhook "h-0.example.com" denied the request: not on Fridays',
        ),
        (
            {"allowed": False, "status": {"reason": "Weather"}},
            400,
            'admission webhook "h-0.example.com" denied the request: Weather',
        ),
        ({"allowed": True, "uid": "other"}, 500, "received invalid webhook response: expected response.uid="),
        ({"raw": b"{}"}, 500, "received invalid webhook response: webhook response was absent"),
        (
            {"raw": b"hello"},
            500,
            "json parse error: json: cannot unmarshal string into Go value of type struct",
        ),
    ],
)
def test_what_a_webhook_answers_decides(kind: str, response: Object, status: int, message: str) -> None:
    code, text = refusals(kind, lambda request: response)
    assert code == status
    assert message in text
    if status == 500:
        assert text.startswith('Internal error occurred: failed calling webhook "h-0.example.com": ')


def test_an_answer_of_500_is_a_failed_call() -> None:
    def broken(request: Object) -> Object:
        raise RuntimeError("no coffee")

    code, text = refusals("Validating", broken)
    assert (code, text) == (
        500,
        'Internal error occurred: failed calling webhook "h-0.example.com": failed to call webhook: '
        'an error on the server ("no coffee") has prevented the request from succeeding',
    )


def test_a_validating_webhook_may_not_patch() -> None:
    code, text = refusals("Validating", label("x"))
    assert (code, text.rpartition(": ")[2]) == (500, "validating webhook may not return response.patch")


def test_failures_may_be_ignored_but_refusals_may_not() -> None:
    def broken(request: Object) -> Object:
        raise RuntimeError

    assert refusals("Mutating", broken, failurePolicy="Ignore")[0] == 201
    assert refusals("Mutating", lambda request: {"allowed": False}, failurePolicy="Ignore")[0] == 400


def test_an_unknown_authority_and_another_name_are_not_trusted() -> None:
    with (
        WebhookServer(lambda request: {"allowed": True}) as other,
        WebhookServer(lambda request: {"allowed": True}, ["a.b"]) as named,
    ):
        stranger = {**named.client_config(), "caBundle": base64.b64encode(other.ca).decode()}
        _, text = refusals("Validating", None, clientConfig=stranger)
        assert text.endswith("tls: failed to verify certificate: x509: certificate signed by unknown authority")
        localhost = {**named.client_config(), "url": f"https://localhost:{named.port}/"}
        _, text = refusals("Validating", None, clientConfig=localhost)
        assert text.endswith("tls: failed to verify certificate: x509: certificate is valid for a.b, not localhost")


def test_a_slow_webhook_runs_into_its_timeout() -> None:
    async def main() -> tuple[float, str]:
        asker = await started()
        hook = {"clientConfig": server.client_config("/s"), "timeoutSeconds": 1}
        await asker.made(webhooks("Validating", "h", hook))
        begun = time.monotonic()
        response = await asker.create(config_map())
        await asker.server.stop()
        assert response.obj is not None
        return time.monotonic() - begun, response.obj["message"]

    def slow(request: Object) -> Object:
        time.sleep(1.3)
        return {"allowed": True}

    with WebhookServer(slow) as server:
        _, message = asyncio.run(main())
    assert message.endswith(f'Post "https://127.0.0.1:{server.port}/s?timeout=1s": context deadline exceeded')


def test_validating_webhooks_are_asked_side_by_side() -> None:
    everybody = threading.Barrier(4)

    async def scene(asker: Asker) -> int:
        config = server.client_config()
        await asker.made(webhooks("Validating", "h", *({"clientConfig": config} for _ in range(4))))
        return (await asker.create(config_map())).status

    def wait_for_the_others(request: Object) -> Object:
        everybody.wait(5)  # raises if fewer than four are here at the same time
        return {"allowed": True}

    with WebhookServer(wait_for_the_others) as server:
        assert play(scene) == 201


class Nearby:
    """Finds endpoints as the server does, and sends to this machine instead: nobody lives in 192.0.2.0/24."""

    def __init__(self) -> None:
        self.reader: ObjectReader = StaticReader()
        self.egress = EgressSelector()
        self.found: list[tuple[str, int]] = []

    def resolve_endpoint(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        self.found.append(EndpointResolver(self.reader, external_names=True).resolve_endpoint(namespace, name, port))
        return "127.0.0.1", self.found[-1][1]


def test_a_service_is_called_at_its_endpoints_under_its_own_name() -> None:
    endpoints = Nearby()

    async def scene(asker: Asker) -> list[str]:
        bundle = base64.b64encode(server.ca).decode()
        config = {"service": {"name": "hooks", "namespace": "default", "path": "/h"}, "caBundle": bundle}
        endpoints.reader = asker.server.reader
        await asker.made(webhooks("Validating", "h", {"clientConfig": config}))
        answers = [await asker.create(config_map())]
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "hooks"},
            "spec": {"ports": [{"port": 443}]},
        }
        await asker.made(service)
        answers.append(await asker.create(config_map()))
        piece = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": "hooks-1", "labels": {"kubernetes.io/service-name": "hooks"}},
            "addressType": "IPv4",
            "ports": [{"name": "", "port": server.port}],
            "endpoints": [{"addresses": ["192.0.2.7"], "conditions": {"ready": True}}],
        }
        await asker.made(piece)
        answers.append(await asker.create(config_map()))
        assert endpoints.found == [("192.0.2.7", server.port)]
        return [str(answer.obj.get("message", answer.status)) for answer in answers if answer.obj]

    with WebhookServer(lambda request: {"allowed": True}, ["hooks.default.svc"]) as server:
        missing, empty, worked = play(scene, resolver=endpoints)
    post = 'failed to call webhook: Post "https://hooks.default.svc:443/h?timeout=10s": '
    assert missing.endswith(post + 'service "hooks" not found')
    assert empty.endswith(post + 'no endpoints available for service "hooks"')
    assert worked == "201"


def test_a_dry_run_is_not_for_webhooks_with_side_effects() -> None:
    async def scene(asker: Asker) -> tuple[int, str]:
        hook = webhooks("Mutating", "h", {"clientConfig": server.client_config(), "sideEffects": "Some"})
        made = await asker.create(hook)
        assert made.obj is not None
        assert made.status == 422
        hook["webhooks"][0]["sideEffects"] = "NoneOnDryRun"
        await asker.made(hook)
        await asker.made(config_map(), dryRun="All")
        return len(server.asked), server.asked[0]["request"]["dryRun"]

    with WebhookServer(lambda request: {"allowed": True}) as server:
        assert play(scene) == (1, True)


@pytest.mark.parametrize(
    ("hook", "called"),
    [
        ({}, True),
        ({"objectSelector": {"matchLabels": {"a": "b"}}}, True),
        ({"objectSelector": {"matchLabels": {"a": "c"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}, True),
        (
            {
                "namespaceSelector": {
                    "matchExpressions": [
                        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]}
                    ]
                }
            },
            False,
        ),
        ({"rules": rules("pods")}, False),
        ({"rules": rules("configmaps", "UPDATE", "DELETE")}, False),
        ({"rules": rules("*", "*")}, True),
        ({"rules": [{**rules()[0], "scope": "Cluster"}]}, False),
        ({"rules": [{**rules()[0], "scope": "Namespaced"}]}, True),
        ({"matchConditions": [{"name": "c", "expression": "object.data.size() > 5"}]}, False),
        ({"matchConditions": [{"name": "c", "expression": "request.userInfo.username == 'root'"}]}, True),
    ],
)
def test_who_is_called(hook: Object, called: bool) -> None:
    async def scene(asker: Asker) -> bool:
        await asker.made(webhooks("Validating", "h", {"clientConfig": server.client_config(), **hook}))
        await asker.made(config_map(labels={"a": "b"}, k="v"))
        return bool(server.asked)

    with WebhookServer(lambda request: {"allowed": True}) as server:
        assert play(scene) is called


def test_an_event_is_shown_as_the_rule_knows_it() -> None:
    event = {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"}, "message": "hello",
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "reason": "R", "type": "Normal",
    }  # fmt: skip
    for match, asked in (("Equivalent", 1), ("Exact", 0)):

        async def scene(asker: Asker, match: str = match) -> list[Object]:
            hook = {"rules": rules("events", group="events.k8s.io"), "matchPolicy": match}
            await asker.made(webhooks("Validating", "h", {"clientConfig": server.client_config(), **hook}))
            await asker.made(event)
            return [review["request"] for review in server.asked]

        with WebhookServer(lambda request: {"allowed": True}) as server:
            requests = play(scene)
        assert len(requests) == asked
        for request in requests:
            assert request["object"]["note"] == "hello"
            assert (request["kind"]["group"], request["requestKind"]["group"]) == ("events.k8s.io", "")


def test_warnings_reach_the_client() -> None:
    async def scene(asker: Asker) -> list[str]:
        await asker.made(webhooks("Validating", "h", {"clientConfig": server.client_config()}))
        await asker.made(config_map())
        return asker.warnings

    with WebhookServer(lambda request: {"allowed": True, "warnings": ["mind the gap"]}) as server:
        assert play(scene) == ["mind the gap"]


def test_v1beta1_is_spoken_to_those_who_ask_for_it_first() -> None:
    async def scene(asker: Asker) -> tuple[str, Object]:
        hook = {"clientConfig": server.client_config(), "admissionReviewVersions": ["v2", "v1beta1", "v1"]}
        await asker.made(webhooks("Mutating", "h", hook))
        made = await asker.made(config_map())
        return server.asked[0]["apiVersion"], made["metadata"]["labels"]

    with WebhookServer(label("old")) as server:
        assert play(scene) == ("admission.k8s.io/v1beta1", {"old": "x"})


def test_configurations_of_admission_are_seen_by_no_webhook() -> None:
    async def scene(asker: Asker) -> int:
        everything = {"clientConfig": server.client_config(), "rules": [{**rules("*", "*")[0], "apiGroups": ["*"]}]}
        await asker.made(webhooks("Validating", "all", everything))
        await asker.made(webhooks("Validating", "more", {"clientConfig": server.client_config()}))
        return len(server.asked)

    with WebhookServer(lambda request: {"allowed": False}) as server:
        assert play(scene) == 0


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        (
            {"name": "short"},
            'webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots',
        ),
        ({"clientConfig": {}}, "webhooks[0].clientConfig: Required value: exactly one of url or service is required"),
        (
            {"clientConfig": {"url": "http://a/"}},
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
        ),
        (
            {"timeoutSeconds": 31},
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
        ),
        (
            {"sideEffects": "Unknown"},
            'webhooks[0].sideEffects: Unsupported value: "Unknown": supported values: "None", "NoneOnDryRun"',
        ),
        (
            {"admissionReviewVersions": ["v2"]},
            'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
        ),
        (
            {"matchConditions": [{"name": "c", "expression": "object.x"}]},
            'webhooks[0].matchConditions[0].expression: Invalid value: "object.x": must evaluate to bool but got dyn',
        ),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(hook: Object, message: str) -> None:
    async def scene(asker: Asker) -> Any:
        made = await asker.create(webhooks("Validating", "h", {"clientConfig": {"url": "https://a/"}, **hook}))
        assert made.obj is not None
        return made.status, made.obj["message"]

    status, said = play(scene)
    assert status == 422
    assert message in said


def test_go_words_for_pythons_errors() -> None:
    assert go_error(ConnectionRefusedError(), ("::1", 9)) == "dial tcp [::1]:9: connect: connection refused"
    assert HookClient({"service": {"name": "s", "namespace": "n"}}).url == "https://s.n.svc:443/"


class _Answered:
    """A call whose answer is there."""

    url = "https://hook.example"

    def __init__(self, status: int, body: bytes) -> None:
        self._answer = status, body

    async def response(self) -> tuple[int, bytes]:
        return self._answer


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(("size", "where"), [(LARGE - 2, "MainThread"), (LARGE, "worker")])
def test_a_large_answer_is_read_beside_the_loop(
    status: int, size: int, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def noted(body: bytes) -> Any:
        read.append(threading.current_thread().name.partition("_")[0])
        return unmarshal(body)

    monkeypatch.setattr(client_config, "unmarshal", noted)
    call = HookCall(cast(Call, _Answered(status, b'"' + b"a" * size + b'"')))
    with contextlib.suppress(WebhookError):
        assert asyncio.run(call.answer()) == "a" * size
    assert read == [where]


def test_who_never_answers_a_hello_is_given_up_before_the_webhooks_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "TLS_HANDSHAKE_TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        url = f"https://127.0.0.1:{port}/"
        _, text = refusals("Mutating", None, clientConfig={"url": url}, timeoutSeconds=2)
    assert text.endswith(f'Post "{url}?timeout=2s": net/http: TLS handshake timeout')
