"""`agnhost webhook`: admits, refuses and changes what its paths say, over TLS.

Upstream: `test/images/agnhost/webhook` (`main.go` and a file for each kind of object),
v1.36. Left out: its log.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost.flags import Default, Flags
from lifecycle.cri.hollow.agnhost.servers import NOT_FOUND, split_target
from lifecycle.cri.hollow.agnhost.tls_files import TLS_FLAGS, tls_of_flags
from lifecycle.cri.hollow.process.process import Process

FLAGS: dict[str, Default] = {**TLS_FLAGS, "port": 443, "sidecar-image": ""}
KINDS = frozenset({"admission.k8s.io/v1", "admission.k8s.io/v1beta1"})
DELAY = 5.0
"""Seconds that `/always-allow-delay-5s` thinks."""
MARK = "webhook-e2e-test"
"""The label, or the key of data, that says what is to be refused."""
ADDED_LABEL = "added-label"

Review = Callable[[Object], Awaitable[Object]]
"""From an AdmissionReview's request to its response, without uid. Raises WrongKind."""


class WrongKind(Exception):
    """It is asked about another resource than its path is for."""


def _refused(**status: Any) -> Object:
    return {"allowed": False, "status": {"metadata": {}, **status}}


def _patched(*operations: Object) -> Object:
    """Allowed, and changed, if there is something to change."""
    if not operations:
        return {"allowed": True}
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patch": patch, "patchType": "JSONPatch"}


def _add(path: str, value: Any, op: str = "add") -> Object:
    return {"op": op, "path": path, "value": value}


def _must_be(request: Object, *resources: tuple[str, str, str]) -> None:
    asked = request.get("resource") or {}
    found = (asked.get("group", ""), asked.get("version"), asked.get("resource"))
    if found not in resources:
        raise WrongKind(f"expect resource to be one of {resources}, got {found}")


def _labels(obj: Object) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("labels") or {}


POD, CONFIG_MAP = ("", "v1", "pods"), ("", "v1", "configmaps")
DEFINITIONS = tuple(
    ("apiextensions.k8s.io", version, "customresourcedefinitions")
    for version in ("v1", "v1beta1")
)


async def always_deny(request: Object) -> Object:
    """Whatever it is."""
    return _refused(message="this webhook denies all requests")


async def add_label(request: Object) -> Object:
    """`added-label: yes`, on whatever it is."""
    labels = _labels(request["object"])
    if not labels:
        return _patched(_add("/metadata/labels", {ADDED_LABEL: "yes"}))
    if ADDED_LABEL not in labels:
        return _patched(_add(f"/metadata/labels/{ADDED_LABEL}", "yes"))
    if labels[ADDED_LABEL] != "yes":
        return _patched(_add(f"/metadata/labels/{ADDED_LABEL}", "yes", "replace"))
    return _patched()


async def admit_definitions(request: Object) -> Object:
    """CustomResourceDefinitions without a label."""
    _must_be(request, *DEFINITIONS)
    if _labels(request["object"]).get(MARK) == "webhook-disallow":
        return _refused(message="the crd contains unwanted label")
    return {"allowed": True}


async def admit_attaching(request: Object) -> Object:
    """`kubectl attach -i` to everything but one container of one pod."""
    if request.get("name") != "to-be-attached-pod":
        return {"allowed": True}
    _must_be(request, POD)
    options = request["object"]
    if not options.get("stdin") or options.get("container") != "container1":
        return {"allowed": True}
    return _refused(message="attaching to pod 'to-be-attached-pod' is not allowed")


async def mutate_pods(request: Object) -> Object:
    """An init container for one pod."""
    _must_be(request, POD)
    pod, name = request["object"], "webhook-added-init-container"
    added = {"image": "webhook-added-image", "name": name, "resources": {}}
    has = _names(pod["spec"].get("initContainers"))
    if pod["metadata"].get("name") != "webhook-to-be-mutated" or name in has:
        return _patched()
    return _patched(_add("/spec/initContainers", [added]))


def _names(containers: list[Object] | None) -> list[str]:
    return [each["name"] for each in containers or ()]


def _admit_data(request: Object, what: str, unwanted: str) -> Object:
    """Objects whose data say nothing against being written, or deleted."""
    operation = request["operation"]
    obj = request["oldObject" if operation == "DELETE" else "object"]
    says = (obj.get("data") or {}).get(MARK)
    if says == "webhook-disallow" and operation in ("CREATE", "UPDATE"):
        return _refused(reason=f"the {what} contains unwanted {unwanted}")
    if says == "webhook-nondeletable" and operation == "DELETE":
        why = "cannot be deleted because it contains unwanted key and value"
        return _refused(reason=f"the {what} {why}")
    return {"allowed": True}


async def admit_config_maps(request: Object) -> Object:
    """See `_admit_data`."""
    _must_be(request, CONFIG_MAP)
    return _admit_data(request, "configmap", "key and value")


async def admit_custom_resource(request: Object) -> Object:
    """See `_admit_data`."""
    return _admit_data(request, "custom resource", "data")


async def mutate_custom_resource(request: Object) -> Object:
    """The next stage, so that two webhooks one after the other can be told apart."""
    data = request["object"].get("data") or {}
    for before, stage in (("mutation-stage-1", 2), ("mutation-start", 1)):
        if data.get(before) == "yes":
            return _patched(_add(f"/data/mutation-stage-{stage}", "yes"))
    return _patched()


async def mutate_config_maps(request: Object) -> Object:
    """The same for ConfigMaps."""
    _must_be(request, CONFIG_MAP)
    return await mutate_custom_resource(request)


class Webhook:
    """What depends on its clock and its flags, and the way to all the others."""

    def __init__(self, process: Process, sidecar_image: str) -> None:
        self._process = process
        self._sidecar_image = sidecar_image
        self._reviews: Mapping[str, Review] = {
            "/add-label": add_label,
            "/always-allow-delay-5s": self._always_allow,
            "/always-deny": always_deny,
            "/configmaps": admit_config_maps,
            "/crd": admit_definitions,
            "/custom-resource": admit_custom_resource,
            "/mutating-configmaps": mutate_config_maps,
            "/mutating-custom-resource": mutate_custom_resource,
            "/mutating-pods": mutate_pods,
            "/mutating-pods-sidecar": self._add_sidecar,
            "/pods": self._admit_pods,
            "/pods/attach": admit_attaching,
        }

    async def _always_allow(self, request: Object) -> Object:
        await self._process.sleep(DELAY)
        status = {"metadata": {}, "message": "this webhook allows all requests"}
        return {"allowed": True, "status": status}

    async def _admit_pods(self, request: Object) -> Object:
        _must_be(request, POD)
        pod = request["object"]
        says = _labels(pod).get(MARK)
        if says == "wait-forever":
            await self._process.sleep(float("inf"))
        unwanted = []
        if says == "webhook-disallow":
            unwanted.append("the pod contains unwanted label;")
        unwanted += [
            "the pod contains unwanted container name;"
            for name in _names(pod["spec"]["containers"])
            if "webhook-disallow" in name
        ]
        return _refused(message=" ".join(unwanted)) if unwanted else {"allowed": True}

    async def _add_sidecar(self, request: Object) -> Object:
        if not self._sidecar_image:
            why = "No image specified by the sidecar-image parameter"
            return _refused(status="Failure", message=why, code=500)
        _must_be(request, POD)
        name = "webhook-added-sidecar"
        if name in _names(request["object"]["spec"]["containers"]):
            return _patched()
        added = {"image": self._sidecar_image, "name": name, "resources": {}}
        return _patched(_add("/spec/containers/-", added))

    async def answer(self, request: HTTPRequest) -> HTTPAnswer:
        """The review with a response in place of its request."""
        path, _ = split_target(request)
        if path == "/readyz":
            return HTTPAnswer(200, "ok")
        review = self._reviews.get(path)
        if review is None:
            return NOT_FOUND
        if request.header("Content-Type") != "application/json":
            return HTTPAnswer(200)
        try:
            asked = json.loads(request.body)
            kind, version = asked["kind"], asked["apiVersion"]
        except (ValueError, TypeError, KeyError) as error:
            return HTTPAnswer(400, f"Request could not be decoded: {error}\n")
        if kind != "AdmissionReview" or version not in KINDS:
            what = f"{version}, Kind={kind}"
            return HTTPAnswer(400, f"Unsupported group version kind: {what}\n")
        try:
            response = await review(asked["request"])
        except WrongKind as error:
            response = _refused(message=str(error))
        response = {"uid": asked["request"]["uid"], **response}
        said = {"kind": kind, "apiVersion": version, "response": response}
        return HTTPAnswer(200, json.dumps(said), content_type="application/json")


async def webhook(process: Process, flags: Flags) -> int:
    """Serves until it is ended."""
    tls = await tls_of_flags(process, flags)
    server = Webhook(process, flags.text("sidecar-image"))
    process.serve(flags.number("port"), server.answer, tls)
    await process.sleep(float("inf"))
    return 0
