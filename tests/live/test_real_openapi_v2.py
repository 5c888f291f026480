"""OpenAPI of the real kube-apiserver and of ours. v2: the same requests, parameters and types, as JSON and as protobuf; v3: what is told of
custom resources. Runs where `KUBE_BIN` is set.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from lifecycle.apiserver.apiextensions.openapi import document
from lifecycle.apiserver.non_resource.gnostic import encode_document
from lifecycle.apiserver.non_resource.openapi_v2 import EVERY_GROUP, KIND_EXTENSION, REQUESTED_PROTOBUF, openapi_v2
from tests.conftest import ROOT
from tests.live.real_programs import ATTEMPTS, RealControlPlane, kube_bin

WEBSITES: dict[str, Any] = yaml.safe_load((ROOT / "examples/website-operator/websites.yaml").read_text())
WEBSITES["spec"]["versions"][0]["subresources"]["scale"] = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
}
GLOBES: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "globes.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Cluster",
        "names": {"kind": "Globe", "plural": "globes"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}

Fields = list[tuple[int, bytes | int]]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, bytes]]:
    """The real server's documents by media type."""
    kube_bin("kube-apiserver")
    with RealControlPlane(tmp_path_factory.mktemp("real"), "bare", controllers=False) as plane:
        api = config.new_client_from_config(str(plane.identity("admin", "system:masters")))
        with api:
            documents = {
                accept: fetched(api, "/openapi/v2", accept) for accept in ("application/json", REQUESTED_PROTOBUF)
            }
            extensions = client.ApiextensionsV1Api(api)
            for definition in (WEBSITES, GLOBES):
                extensions.create_custom_resource_definition(definition)
            stored = fetched(api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json")
            yield {**documents, "definitions": stored, "custom": settled(api)}


def fetched(api: Any, path: str, accept: str) -> bytes:
    answer = api.rest_client.pool_manager.request("GET", api.configuration.host + path, headers={"Accept": accept})
    return bytes(answer.data) if answer.status == 200 else b""


def settled(api: Any) -> bytes:
    """The document of the group, when both kinds are in it."""
    for _ in range(ATTEMPTS):
        document = fetched(api, "/openapi/v3/apis/example.org/v1", "application/json")
        if b"/globes/{name}" in document and b"/websites/{name}/scale" in document:
            return document
        time.sleep(0.1)
    raise AssertionError("the real server does not tell of its custom resources")


def test_custom_resources_are_told_of_as_built_in_ones_are(real: dict[str, bytes]) -> None:
    definitions = json.loads(real["definitions"])["items"]
    ours = json.loads(json.dumps(document([(each, each["spec"]["versions"][0]) for each in definitions])))
    theirs = json.loads(real["custom"])
    for each in (ours, theirs):
        each["components"]["schemas"][EVERY_GROUP[0]].pop(KIND_EXTENSION)
    assert ours["paths"] == theirs["paths"]
    assert ours == theirs


def test_all_paths_parameters_and_types_are_the_same(real: dict[str, bytes]) -> None:
    theirs, ours = json.loads(real["application/json"]), json.loads(json.dumps(openapi_v2()))
    for name in EVERY_GROUP:  # also of groups that are compiled in and not served
        groups = (each["definitions"][name].pop(KIND_EXTENSION) for each in (theirs, ours))
        compiled, served = ({(each["group"], each["version"]) for each in kinds} for kinds in groups)
        assert served < compiled
    assert len(ours["paths"]) > 400
    for part in theirs:
        for name, value in theirs[part].items() if isinstance(theirs[part], dict) else ():
            assert ours[part].get(name) == value, (part, name)
    assert ours == theirs


def test_the_protobuf_form_has_the_same_fields(real: dict[str, bytes]) -> None:
    theirs = json.loads(real["application/json"])
    same(real[REQUESTED_PROTOBUF], encode_document(theirs), ())


def same(theirs: bytes, ours: bytes, place: tuple[int, ...]) -> None:
    """Field by field. What travels as YAML may be written in another way: we write JSON."""
    if theirs == ours:
        return
    try:
        assert yaml.safe_load(theirs) == yaml.safe_load(ours)
    except (yaml.YAMLError, UnicodeDecodeError, AssertionError):
        pass
    else:
        return
    left, right = fields(theirs), fields(ours)
    assert [number for number, _ in left] == [number for number, _ in right], place
    for (number, value), (_, other) in zip(left, right, strict=True):
        if isinstance(value, bytes) and isinstance(other, bytes):
            same(value, other, (*place, number))
        else:
            assert value == other, (*place, number)


def fields(message: bytes) -> Fields:
    """(number, value) of each field. Raises IndexError for what is no message."""
    read: Fields = []
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        value, at = varint(message, at)
        if tag & 7 == 2:
            assert at + value <= len(message), message[:80]
            read.append((tag >> 3, message[at : at + value]))
            at += value
        else:
            read.append((tag >> 3, value))
    return read


def varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at
