"""The files of volumes that the API fills, and all that is wrong with one, each thing once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.volume.atomic_writer import FileProjection
from lifecycle.kubelet.volume.payloads import VolumeError, volume_payload

OBJECTS = {
    ("configmaps", "cm"): {"data": {"a": "1", "b": "2"}, "binaryData": {"c": "AP8="}},
    ("secrets", "s"): {"data": {"key": "aHVzaA=="}},
    ("clustertrustbundles.certificates.k8s.io", "roots"): {"spec": {"trustBundle": "PEM"}},
}
POD: Object = {
    "metadata": {"name": "p", "namespace": "n", "uid": "u", "labels": {"app": "x"}},
    "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]},
}


async def get(plural: str, name: str, namespace: str) -> Object:
    try:
        assert namespace == ("" if plural.startswith("clustertrustbundles") else "n")
        return OBJECTS[plural, name]
    except KeyError:
        raise LookupError(f'{plural.partition(".")[0][:-1]} "{name}" not found') from None


async def token(pod: Object, audience: str, seconds: int) -> str:
    if audience == "nobody":
        raise LookupError("serviceaccounts is forbidden")
    return f"{audience}:{seconds}"


def filled(volume: Object, pod: Object = POD) -> dict[str, FileProjection]:
    return asyncio.run(volume_payload(volume, pod, {"podIP": "10.0.0.5"}, {"memory": "1Gi"}, get, token))


def projected(*sources: Object, **more: Any) -> Object:
    return {"projected": {"sources": list(sources), **more}}


FIELD = {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}
DEEP = {"key": "b", "path": "x/y", "mode": 0o440}
LIMIT = {"path": "cpu", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"}, "mode": 0o400}


@pytest.mark.parametrize(
    ("volume", "files"),
    [
        ({"configMap": {"name": "cm"}}, {"a": (b"1", 0o644), "b": (b"2", 0o644), "c": (b"\x00\xff", 0o644)}),
        (
            {
                "configMap": {
                    "name": "cm",
                    "defaultMode": 0o600,
                    "items": [{"key": "b", "path": "x/y", "mode": 0o440}, {"key": "a", "path": "z"}],
                }
            },
            {"x/y": (b"2", 0o440), "z": (b"1", 0o600)},
        ),
        ({"configMap": {"name": "cm", "optional": True, "items": [{"key": "none", "path": "x"}]}}, {}),
        ({"configMap": {"name": "none", "optional": True}}, {}),
        ({"secret": {"secretName": "s"}}, {"key": (b"hush", 0o644)}),
        ({"downwardAPI": {"items": [FIELD, LIMIT]}}, {"labels": (b'app="x"', 0o644), "cpu": (b"2", 0o400)}),
        (
            projected(
                {"configMap": {"name": "cm", "items": [{"key": "a", "path": "one"}]}},
                {"secret": {"name": "s", "items": [{"key": "key", "path": "one"}]}},
                {"downwardAPI": {"items": [LIMIT]}},
                {"serviceAccountToken": {"path": "t", "audience": "vault", "expirationSeconds": 600}},
                {"serviceAccountToken": {"path": "u"}},
                {"clusterTrustBundle": {"name": "roots", "path": "ca.pem"}},
                {"clusterTrustBundle": {"name": "none", "path": "none.pem", "optional": True}},
                defaultMode=0o640,
            ),
            {
                "one": (b"hush", 0o640),
                "cpu": (b"2", 0o400),
                "t": (b"vault:600", 0o640),
                "u": (b":3600", 0o640),
                "ca.pem": (b"PEM", 0o640),
                "none.pem": (b"", 0o640),
            },
        ),
    ],
)
def test_what_is_in_a_volume(volume: Object, files: dict[str, tuple[bytes, int]]) -> None:
    assert {path: (file.data, file.mode) for path, file in filled(volume).items()} == files


NONE = {"configMap": {"name": "none"}}


@pytest.mark.parametrize(
    ("volume", "said"),
    [
        (NONE, 'configmap "none" not found'),
        ({"configMap": {"name": "cm", "items": [{"key": "no", "path": "x"}]}}, "configmap references non-existent config key: no"),
        ({"secret": {"secretName": "s", "items": [{"key": "no", "path": "x"}]}}, "references non-existent secret key: no"),
        (
            {"downwardAPI": {"items": [
                FIELD,
                {"path": "x", "fieldRef": {"fieldPath": "spec.colour"}},
                {"path": "y", "resourceFieldRef": {"containerName": "d", "resource": "limits.cpu"}},
                {"path": "z", "resourceFieldRef": {"containerName": "d", "resource": "limits.memory"}},
            ]}},
            "[unsupported fieldPath: spec.colour, container d not found]",
        ),
        (projected(NONE, NONE), 'configmap "none" not found'),
        (
            projected(
                NONE,
                {"configMap": {"name": "cm"}},
                {"serviceAccountToken": {"path": "t", "audience": "nobody"}},
                {"clusterTrustBundle": {"name": "none", "path": "x"}},
                {"clusterTrustBundle": {"signerName": "example.com/s", "path": "x"}},
            ),
            '[configmap "none" not found, failed to fetch token: serviceaccounts is forbidden, clustertrustbundle "none" not found,'
            " selecting ClusterTrustBundles by signer is not supported here: name one]",
        ),
    ],
)  # fmt: skip
def test_all_that_is_wrong_with_a_volume_is_told_once(volume: Object, said: str) -> None:
    with pytest.raises(VolumeError) as refused:
        filled(volume)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("security", "mode", "owner"),
    [
        ({}, 0o644, None),
        ({"runAsUser": 7}, 0o600, 7),
        ({"fsGroup": 8}, 0o600, None),
        ({"runAsUser": 7, "fsGroup": 8}, 0o600, 7),
    ],
)
def test_a_token_is_only_for_whom_the_pod_is_known_to_be(security: Object, mode: int, owner: int | None) -> None:
    pod = {**POD, "spec": {**POD["spec"], "securityContext": security}}
    volume = projected({"serviceAccountToken": {"path": "t"}}, {"configMap": {"name": "cm"}})
    files = filled(volume, pod)
    assert (files["t"].mode, files["t"].uid) == (mode, owner)
    assert (files["a"].mode, files["a"].uid) == (0o644, None)
