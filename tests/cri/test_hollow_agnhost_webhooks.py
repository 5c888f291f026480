"""`agnhost`'s webhooks in hollow containers: what they say to reviews, over real TLS."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import socket
import ssl
from typing import Any

import pytest

from lifecycle.api.clock import run_virtual
from lifecycle.api.wire import Object
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost import crd_conversion_webhook
from lifecycle.cri.hollow.agnhost.certificate import localhost_crt
from lifecycle.cri.hollow.agnhost.crd_conversion_webhook import V1, V2
from lifecycle.cri.hollow.network import HollowNetwork
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.hollow.streaming import NOT_HTTP
from tests.cri.test_hollow import started

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
SERVER = "10.244.1.2"
"""The first pod of the node."""
KEYS = ("--tls-cert-file=/localhost.crt", "--tls-private-key-file=/localhost.key")
JSON = (("content-type", "application/json"),)
POD = {"group": "", "version": "v1", "resource": "pods"}
CONFIG_MAP = {"group": "", "version": "v1", "resource": "configmaps"}
CRD = {"group": "apiextensions.k8s.io", "version": "v1", "resource": "customresourcedefinitions"}
OTHER = {"group": "stable.example.com", "version": "v1", "resource": "things"}


async def webhook(*flags: str, network: HollowNetwork | None = None) -> HollowRuntime:
    """A node with a webhook at `SERVER`, port 8443."""
    runtime = HollowRuntime(network=network)
    await runtime.update_runtime_config("10.244.1.0/24")
    await runtime.pull_image(IMAGE)
    await started(runtime, "/agnhost", "webhook", "--port=8443", "-v=4", *KEYS, *flags, image=IMAGE)
    await asyncio.sleep(0.1)
    return runtime


def review(request: Object, version: str = "v1") -> bytes:
    body = {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": {"uid": "u", **request}}
    return json.dumps(body).encode()


def asked(path: str, request: Object, *flags: str) -> Object:
    """The response, without its uid and with its patch readable."""

    async def main() -> HTTPAnswer:
        runtime = await webhook(*flags)
        call = HTTPRequest(SERVER, 8443, path, "https", JSON, "POST", review(request))
        return await runtime.http_get(call, 1)

    answer = run_virtual(main())
    assert (answer.status, answer.content_type) == (200, "application/json")
    said = json.loads(answer.text)
    assert (said["kind"], said["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")
    response: Object = said["response"]
    assert response.pop("uid") == "u"
    if "patch" in response:
        assert response.pop("patchType") == "JSONPatch"
        response["patch"] = json.loads(base64.b64decode(response["patch"]))
    return response


def obj(name: str = "x", labels: Object | None = None, **rest: Any) -> Object:
    return {"metadata": {"name": name, **({"labels": labels} if labels is not None else {})}, **rest}


def pod(name: str = "x", labels: Object | None = None, containers: tuple[str, ...] = ("c",), **spec: Any) -> Object:
    return obj(name, labels, spec={"containers": [{"name": each} for each in containers], **spec})


def add(path: str, value: Any, op: str = "add") -> Object:
    return {"allowed": True, "patch": [{"op": op, "path": path, "value": value}]}


def no(**status: Any) -> Object:
    return {"allowed": False, "status": {"metadata": {}, **status}}


YES = {"allowed": True}
BAD = {"webhook-e2e-test": "webhook-disallow"}
KEEP = {"webhook-e2e-test": "webhook-nondeletable"}
INIT = {"image": "webhook-added-image", "name": "webhook-added-init-container", "resources": {}}


@pytest.mark.parametrize(
    ("path", "request_", "response"),
    [
        ("/always-deny", {}, no(message="this webhook denies all requests")),
        ("/add-label", {"object": obj()}, add("/metadata/labels", {"added-label": "yes"})),
        ("/add-label", {"object": obj(labels={"a": "b"})}, add("/metadata/labels/added-label", "yes")),
        (
            "/add-label",
            {"object": obj(labels={"added-label": "no"})},
            add("/metadata/labels/added-label", "yes", "replace"),
        ),
        ("/add-label", {"object": obj(labels={"added-label": "yes"})}, YES),
        ("/pods", {"resource": POD, "object": pod()}, YES),
        (
            "/pods",
            {"resource": POD, "object": pod(labels=BAD, containers=("a", "my-webhook-disallow"))},
            no(message="the pod contains unwanted label; the pod contains unwanted container name;"),
        ),
        ("/pods/attach", {"name": "other"}, YES),
        (
            "/pods/attach",
            {"name": "to-be-attached-pod", "resource": POD, "object": {"stdin": True, "container": "container1"}},
            no(message="attaching to pod 'to-be-attached-pod' is not allowed"),
        ),
        ("/pods/attach", {"name": "to-be-attached-pod", "resource": POD, "object": {"container": "container1"}}, YES),
        ("/mutating-pods", {"resource": POD, "object": pod()}, YES),
        (
            "/mutating-pods",
            {"resource": POD, "object": pod("webhook-to-be-mutated")},
            add("/spec/initContainers", [INIT]),
        ),
        ("/mutating-pods", {"resource": POD, "object": pod("webhook-to-be-mutated", initContainers=[INIT])}, YES),
        (
            "/configmaps",
            {"resource": CONFIG_MAP, "operation": "CREATE", "object": obj(data=BAD)},
            no(reason="the configmap contains unwanted key and value"),
        ),
        ("/configmaps", {"resource": CONFIG_MAP, "operation": "CREATE", "object": obj(data=KEEP)}, YES),
        (
            "/configmaps",
            {"resource": CONFIG_MAP, "operation": "DELETE", "object": None, "oldObject": obj(data=KEEP)},
            no(reason="the configmap cannot be deleted because it contains unwanted key and value"),
        ),
        (
            "/custom-resource",
            {"resource": OTHER, "operation": "UPDATE", "object": obj(data=BAD)},
            no(reason="the custom resource contains unwanted data"),
        ),
        ("/custom-resource", {"resource": OTHER, "operation": "CREATE", "object": obj()}, YES),
        (
            "/mutating-configmaps",
            {"resource": CONFIG_MAP, "object": obj(data={"mutation-start": "yes"})},
            add("/data/mutation-stage-1", "yes"),
        ),
        (
            "/mutating-custom-resource",
            {"resource": OTHER, "object": obj(data={"mutation-start": "yes", "mutation-stage-1": "yes"})},
            add("/data/mutation-stage-2", "yes"),
        ),
        ("/mutating-custom-resource", {"resource": OTHER, "object": obj()}, YES),
        ("/crd", {"resource": CRD, "object": obj(labels=BAD)}, no(message="the crd contains unwanted label")),
        ("/crd", {"resource": CRD, "object": obj()}, YES),
        (
            "/mutating-pods-sidecar",
            {"resource": POD, "object": pod()},
            no(status="Failure", message="No image specified by the sidecar-image parameter", code=500),
        ),
    ],
)
def test_each_path_decides_as_the_real_one(path: str, request_: Object, response: Object) -> None:
    assert asked(path, request_) == response


def test_a_path_is_for_its_own_resource() -> None:
    response = asked("/pods", {"resource": CONFIG_MAP, "object": obj()})
    assert not response["allowed"]
    assert response["status"]["message"].startswith("expect resource to be")


def test_a_sidecar_is_added_with_the_image_that_a_flag_names() -> None:
    added = {"image": "i", "name": "webhook-added-sidecar", "resources": {}}
    request = {"resource": POD, "object": pod()}
    assert asked("/mutating-pods-sidecar", request, "--sidecar-image=i") == add("/spec/containers/-", added)
    request["object"] = pod(containers=("c", "webhook-added-sidecar"))
    assert asked("/mutating-pods-sidecar", request, "--sidecar-image=i") == YES


def test_what_is_no_review_is_refused() -> None:
    async def main() -> list[tuple[int, str]]:
        runtime = await webhook()

        async def ask(path: str, body: bytes, headers: tuple[tuple[str, str], ...] = JSON) -> tuple[int, str]:
            answer = await runtime.http_get(HTTPRequest(SERVER, 8443, path, "https", headers, "POST", body), 1)
            return answer.status, answer.text[:40]

        return [
            await ask("/nowhere", b""),
            await ask("/always-deny", b"no JSON"),
            await ask("/always-deny", b'{"kind":"Pod","apiVersion":"v1"}'),
            await ask("/always-deny", review({}), ()),
            await ask("/readyz", b""),
            await ask("/always-deny", review({}, "v1beta1")),
        ]

    nowhere, no_json, no_review, no_type, ready, beta = run_virtual(main())
    assert nowhere == (404, "404 page not found\n")
    assert (no_json[0], no_json[1].startswith("Request could not be decoded: ")) == (400, True)
    assert no_review == (400, "Unsupported group version kind: v1, Kind="[:40])
    assert no_type == (200, "")
    assert ready == (200, "ok")
    assert beta[0] == 200


def test_it_takes_its_time_and_some_answers_never_come() -> None:
    async def main() -> tuple[float, bool]:
        runtime = await webhook()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await runtime.http_get(
            HTTPRequest(SERVER, 8443, "/always-allow-delay-5s", "https", JSON, "POST", review({})), 1
        )
        took = loop.time() - begun
        request = {"resource": POD, "object": pod(labels={"webhook-e2e-test": "wait-forever"})}
        for_ever = HTTPRequest(SERVER, 8443, "/pods", "https", JSON, "POST", review(request))
        done, pending = await asyncio.wait([asyncio.ensure_future(runtime.http_get(for_ever, 1))], timeout=3600)
        for each in pending:
            each.cancel()
        return took, bool(done)

    took, answered = run_virtual(main())
    assert took == pytest.approx(5)
    assert not answered


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--tls-cert-file=/none", "--tls-private-key-file=/localhost.key"), "No such file or directory"),
        (("--tls-cert-file=/localhost.crt", "--tls-private-key-file=/localhost.crt"), "tls: "),
    ],
)
def test_it_panics_without_its_certificate(flags: tuple[str, ...], complaint: str) -> None:
    async def main() -> tuple[int, str]:
        runtime = HollowRuntime()
        await runtime.update_runtime_config("10.244.1.0/24")
        container_id = await started(runtime, "sleep", "100", image=IMAGE)
        said = await runtime.exec_sync(container_id, ("/agnhost", "webhook", *flags), 0)
        return said.exit_code, said.stderr

    code, text = run_virtual(main())
    assert code == 2
    assert text.startswith("panic: ")
    assert complaint in text


# -- over a connection -----------------------------------------------------------------


def trusting(certificate: bytes) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=certificate.decode())


def post(plain: socket.socket, context: ssl.SSLContext, name: str) -> tuple[int, Object, str]:
    """Ask over a connection; blocks."""
    with plain, context.wrap_socket(plain, server_hostname=name) as secure:
        connection = http.client.HTTPConnection(SERVER, 8443)
        connection.sock = secure
        connection.request("POST", "/add-label?timeout=1s", review({"object": obj()}), dict(JSON))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), answer.headers["Content-Type"]


def test_another_thread_speaks_tls_with_it() -> None:
    async def main() -> tuple[int, Object, str]:
        network = HollowNetwork()
        await webhook(network=network)
        dial = network.dialer()
        try:
            return await asyncio.to_thread(
                lambda: post(dial((SERVER, 8443), 30), trusting(localhost_crt()), "localhost")
            )
        finally:
            await network.close()

    status, said, kind = asyncio.run(main())
    assert (status, kind) == (200, "application/json")
    assert said["response"]["patchType"] == "JSONPatch"


def test_whoever_does_not_trust_it_says_nothing_and_the_next_one_is_served() -> None:
    async def main() -> int:
        network = HollowNetwork()
        await webhook(network=network)
        dial = network.dialer()
        try:
            with pytest.raises(ssl.SSLCertVerificationError):
                await asyncio.to_thread(
                    lambda: post(dial((SERVER, 8443), 30), ssl.create_default_context(), "localhost")
                )
            with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
                await asyncio.to_thread(
                    lambda: post(dial((SERVER, 8443), 30), trusting(localhost_crt()), "hooks.default.svc")
                )
            said = await asyncio.to_thread(
                lambda: post(dial((SERVER, 8443), 30), trusting(localhost_crt()), "localhost")
            )
            return said[0]
        finally:
            await network.close()

    assert asyncio.run(main()) == 200


def test_nobody_listens_at_other_ports_and_addresses() -> None:
    async def main() -> None:
        network = HollowNetwork()
        await webhook(network=network)
        dial = network.dialer()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.to_thread(dial, (SERVER, 1), 30)
        with pytest.raises(OSError, match="No route to host"):
            await asyncio.to_thread(dial, ("10.244.1.77", 8443), 30)
        await network.close()

    asyncio.run(main())


def test_on_virtual_time_a_thread_is_not_served() -> None:
    async def main() -> None:
        network = HollowNetwork()
        await webhook(network=network)
        with pytest.raises(OSError, match="No route to host"):
            network.dialer()((SERVER, 8443), 30)

    run_virtual(main())


@pytest.mark.parametrize(
    ("command", "port"),
    [(("webhook", "--port=8443", *KEYS), 8443), (("netexec", *KEYS), 8080), (("porter",), 443)],
)
def test_who_speaks_tls_does_not_speak_plainly(command: tuple[str, ...], port: int) -> None:
    async def main() -> tuple[HTTPAnswer, HTTPAnswer]:
        runtime = HollowRuntime()
        await runtime.update_runtime_config("10.244.1.0/24")
        await runtime.pull_image(IMAGE)
        text = f"export SERVE_TLS_PORT_443=foo; exec /agnhost {' '.join(command)}"
        await started(runtime, "sh", "-c", text, image=IMAGE)
        await asyncio.sleep(1)
        plain = await runtime.http_get(HTTPRequest(SERVER, port, "/readyz"), 1)
        return plain, await runtime.http_get(HTTPRequest(SERVER, port, "/readyz", "https"), 1)

    plain, secure = run_virtual(main())
    assert plain == HTTPAnswer(400, NOT_HTTP)
    assert secure.status == 200


# -- conversion ------------------------------------------------------------------------


def converted(objects: list[Object], version: str) -> Object:
    request = {"uid": "u", "desiredAPIVersion": version, "objects": objects}
    body = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "request": request}
    call = HTTPRequest("", 0, "/crdconvert", "https", JSON, "POST", json.dumps(body).encode())
    answer = asyncio.run(crd_conversion_webhook.answer(call))
    assert answer.status == 200
    said = json.loads(answer.text)
    assert (said["kind"], said["request"], said["response"].pop("uid")) == ("ConversionReview", {}, "u")
    response: Object = said["response"]
    return response


@pytest.mark.parametrize(
    ("obj", "version", "there"),
    [
        ({"hostPort": "a:1"}, V2, {"host": "a", "port": "1"}),
        ({"host": "a", "port": "1"}, V1, {"hostPort": "a:1"}),
        ({"host": "a"}, V1, {"hostPort": "a:"}),
        ({}, V1, {}),
        ({}, V2, {}),
    ],
)
def test_objects_are_converted_both_ways(obj: Object, version: str, there: Object) -> None:
    whole = {"apiVersion": V1 if version == V2 else V2, "kind": "E", **obj}
    response = converted([whole], version)
    assert response["result"]["status"] == "Success"
    assert response["convertedObjects"] == [{"apiVersion": version, "kind": "E", **there}]


@pytest.mark.parametrize(
    ("obj", "version", "why"),
    [
        ({"apiVersion": V1}, V1, f"conversion from a version to itself should not call the webhook: {V1}"),
        ({"apiVersion": "x/v1"}, V1, 'unexpected conversion version "x/v1"'),
        ({"apiVersion": V1}, "x/v1", 'unexpected conversion version "x/v1"'),
        ({"apiVersion": V1, "hostPort": "a"}, V2, "invalid hostPort value `a`"),
    ],
)
def test_one_that_cannot_be_converted_fails_all(obj: Object, version: str, why: str) -> None:
    response = converted([{"apiVersion": V1 if version == V2 else V2}, obj], version)
    assert response["result"] == {"metadata": {}, "status": "Failure", "message": why}


def test_only_reviews_are_converted() -> None:
    def ask(path: str, body: bytes, headers: tuple[tuple[str, str], ...] = JSON) -> tuple[int, str]:
        answer = asyncio.run(crd_conversion_webhook.answer(HTTPRequest("", 0, path, "https", headers, "POST", body)))
        return answer.status, answer.text

    assert ask("/readyz", b"") == (200, "ok")
    assert ask("/other", b"") == (404, "404 page not found\n")
    assert ask("/crdconvert", b"{}", ()) == (400, "invalid Content-Type header ``\n")
    assert ask("/crdconvert", b"{}")[0] == 400
    unknown = (400, "Unsupported group version kind: v1, Kind=Pod\n")
    assert ask("/crdconvert", b'{"kind":"Pod","apiVersion":"v1"}') == unknown
