"""`agnhost`'s webhooks in hollow containers: what they say to reviews. How they are reached: `test_tls.py`."""

from __future__ import annotations

import asyncio
import base64
import errno
import json
import os
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost import crd_conversion_webhook
from lifecycle.cri.hollow.agnhost.crd_conversion_webhook import V1, V2
from lifecycle.cri.hollow.agnhost.webhook import Webhook
from lifecycle.cri.hollow.network.network import HollowNetwork

JSON = (("content-type", "application/json"),)
POD = {"group": "", "version": "v1", "resource": "pods"}
CONFIG_MAP = {"group": "", "version": "v1", "resource": "configmaps"}
CRD = {"group": "apiextensions.k8s.io", "version": "v1", "resource": "customresourcedefinitions"}
OTHER = {"group": "stable.example.com", "version": "v1", "resource": "things"}


class Waiting:
    """As much of a process as a webhook needs."""

    async def sleep(self, seconds: float) -> None:
        if seconds == float("inf"):
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(seconds)


def review(request: Object, version: str = "v1") -> bytes:
    body = {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": {"uid": "u", **request}}
    return json.dumps(body).encode()


async def ask(
    path: str, body: bytes, headers: tuple[tuple[str, str], ...] = JSON, *, sidecar_image: str = ""
) -> HTTPAnswer:
    process: Any = Waiting()
    return await Webhook(process, sidecar_image).answer(HTTPRequest("", 0, path, "https", headers, "POST", body))


def asked(path: str, request: Object, *, sidecar_image: str = "") -> Object:
    """The response, without its uid and with its patch readable."""
    answer = run_virtual(ask(path, review(request), sidecar_image=sidecar_image))
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
    path = "/mutating-pods-sidecar"
    assert asked(path, request, sidecar_image="i") == add("/spec/containers/-", added)
    request["object"] = pod(containers=("c", "webhook-added-sidecar"))
    assert asked(path, request, sidecar_image="i") == YES


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "text"),
    [
        ("/nowhere", b"", JSON, 404, "404 page not found\n"),
        ("/always-deny", b"no JSON", JSON, 400, "Request could not be decoded: "),
        ("/always-deny", b"[]", JSON, 400, "Request could not be decoded: "),
        (
            "/always-deny",
            b'{"kind":"Pod","apiVersion":"v1"}',
            JSON,
            400,
            "Unsupported group version kind: v1, Kind=Pod",
        ),
        ("/always-deny", review({}), (), 200, ""),
        ("/readyz", b"", (), 200, "ok"),
        ("/always-deny", review({}, "v1beta1"), JSON, 200, '{"kind": "AdmissionReview"'),
    ],
)
def test_what_is_no_review_is_refused(
    path: str, body: bytes, headers: tuple[tuple[str, str], ...], status: int, text: str
) -> None:
    answer = run_virtual(ask(path, body, headers))
    assert answer.status == status
    assert answer.text.startswith(text)
    assert bool(text) == bool(answer.text)


def test_it_takes_its_time_and_some_answers_never_come() -> None:
    async def main() -> tuple[float, bool]:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await ask("/always-allow-delay-5s", review({}))
        took = loop.time() - begun
        request = {"resource": POD, "object": pod(labels={"webhook-e2e-test": "wait-forever"})}
        done, pending = await asyncio.wait([asyncio.ensure_future(ask("/pods", review(request)))], timeout=3600)
        for each in pending:
            each.cancel()
        return took, bool(done)

    took, answered = run_virtual(main())
    assert took == pytest.approx(5)
    assert not answered


# -- conversion ------------------------------------------------------------------------


def converted(objects: list[Object], version: str) -> Object:
    request = {"uid": "u", "desiredAPIVersion": version, "objects": objects}
    body = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "request": request}
    call = HTTPRequest("", 0, "/crdconvert", "https", JSON, "POST", json.dumps(body).encode())
    answer = run_virtual(crd_conversion_webhook.answer(call))
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
    def said(path: str, body: bytes, headers: tuple[tuple[str, str], ...] = JSON) -> tuple[int, str]:
        call = HTTPRequest("", 0, path, "https", headers, "POST", body)
        answer = run_virtual(crd_conversion_webhook.answer(call))
        return answer.status, answer.text

    assert said("/readyz", b"") == (200, "ok")
    assert said("/other", b"") == (404, "404 page not found\n")
    assert said("/crdconvert", b"{}", ()) == (400, "invalid Content-Type header ``\n")
    assert said("/crdconvert", b"{}")[0] == 400
    unknown = (400, "Unsupported group version kind: v1, Kind=Pod\n")
    assert said("/crdconvert", b'{"kind":"Pod","apiVersion":"v1"}') == unknown


def test_on_virtual_time_a_thread_is_not_served() -> None:
    async def main() -> None:
        network = HollowNetwork()
        with pytest.raises(OSError, match=os.strerror(errno.EHOSTUNREACH) + "$"):
            network.dialer()(("10.244.1.2", 8443), 30)

    run_virtual(main())
