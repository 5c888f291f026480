"""Objects of old versions become today's, and today's theirs; nothing is lost on the way and back."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.apiserver.emulation.conversions import CONVERSIONS, Conversion
from lifecycle.apiserver.emulation.served_version import recorded_version

OLD_INGRESS = {
    "metadata": {"name": "web"},
    "spec": {
        "ingressClassName": "nginx",
        "backend": {"serviceName": "all", "servicePort": 80},
        "tls": [{"secretName": "s"}],
        "rules": [
            {
                "host": "a.example",
                "http": {
                    "paths": [
                        {"path": "/", "pathType": "Prefix", "backend": {"serviceName": "web", "servicePort": "http"}},
                        {"pathType": "Exact", "path": "/r", "backend": {"resource": {"kind": "Bucket", "name": "b"}}},
                    ]
                },
            },
            {"host": "empty.example"},
        ],
    },
}
TODAYS_INGRESS = {
    "metadata": {"name": "web"},
    "spec": {
        "ingressClassName": "nginx",
        "defaultBackend": {"service": {"name": "all", "port": {"number": 80}}},
        "tls": [{"secretName": "s"}],
        "rules": [
            {
                "host": "a.example",
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "web", "port": {"name": "http"}}},
                        },
                        {"pathType": "Exact", "path": "/r", "backend": {"resource": {"kind": "Bucket", "name": "b"}}},
                    ]
                },
            },
            {"host": "empty.example"},
        ],
    },
}
OLD_SLICE = {
    "addressType": "IPv4",
    "endpoints": [
        {
            "addresses": ["10.0.0.1"],
            "topology": {"kubernetes.io/hostname": "n", "topology.kubernetes.io/zone": "z", "rack": "r"},
        },
        {"addresses": ["10.0.0.2"]},
    ],
}
TODAYS_SLICE = {
    "addressType": "IPv4",
    "endpoints": [
        {"addresses": ["10.0.0.1"], "nodeName": "n", "zone": "z", "deprecatedTopology": {"rack": "r"}},
        {"addresses": ["10.0.0.2"]},
    ],
}
PAIRS = [
    ("networking.k8s.io/v1beta1", "ingresses", OLD_INGRESS, TODAYS_INGRESS),
    ("extensions/v1beta1", "ingresses", OLD_INGRESS, TODAYS_INGRESS),
    ("discovery.k8s.io/v1beta1", "endpointslices", OLD_SLICE, TODAYS_SLICE),
    (
        "authorization.k8s.io/v1beta1",
        "subjectaccessreviews",
        {"spec": {"user": "u", "group": ["g"]}},
        {"spec": {"user": "u", "groups": ["g"]}},
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "prioritylevelconfigurations",
        {"spec": {"type": "Limited", "limited": {"assuredConcurrencyShares": 7}}},
        {"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 7}}},
    ),
]


@pytest.mark.parametrize(("version", "resource", "old", "today"), PAIRS)
def test_there_and_back(version: str, resource: str, old: Any, today: Any) -> None:
    conversion = CONVERSIONS[version, resource]
    assert conversion.to_served(old) == today
    assert conversion.to_old(today) == old
    assert not conversion.same_form


def test_a_path_without_a_type_gets_the_old_default() -> None:
    paths = [{"backend": {"serviceName": "web", "servicePort": 80}}]
    new = CONVERSIONS["extensions/v1beta1", "ingresses"].to_served({"spec": {"rules": [{"http": {"paths": paths}}]}})
    assert new["spec"]["rules"][0]["http"]["paths"][0]["pathType"] == "ImplementationSpecific"


@pytest.mark.parametrize(("version", "resource", "old", "today"), PAIRS)
def test_what_is_converted_stays_what_it_was(version: str, resource: str, old: Any, today: Any) -> None:
    before = repr(old), repr(today)
    CONVERSIONS[version, resource].to_served(old)
    CONVERSIONS[version, resource].to_old(today)
    assert (repr(old), repr(today)) == before


def test_only_what_was_served_is_converted() -> None:
    resources = recorded_version("1.20").resources
    served = {(gv, entry["name"]) for gv, entries in resources.items() for entry in entries}
    assert set(CONVERSIONS) <= served
    assert CONVERSIONS["batch/v1beta1", "cronjobs"] == Conversion("batch/v1")
