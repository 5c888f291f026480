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
OLD_DEFINITION = {
    "spec": {
        "group": "example.org",
        "names": {"plural": "things", "kind": "Thing"},
        "scope": "Namespaced",
        "version": "v1",
        "versions": [
            {"name": "v1", "served": True, "storage": True},
            {"name": "v2", "served": True, "storage": False},
        ],
        "validation": {"openAPIV3Schema": {"type": "object"}},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "JSONPath": ".spec.size"}],
        "conversion": {
            "strategy": "Webhook",
            "webhookClientConfig": {"url": "https://example.org"},
            "conversionReviewVersions": ["v1beta1"],
        },
        "preserveUnknownFields": False,
    }
}
_SHARED = {
    "schema": {"openAPIV3Schema": {"type": "object"}},
    "subresources": {"status": {}},
    "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
}
TODAYS_DEFINITION = {
    "spec": {
        "group": "example.org",
        "names": {"plural": "things", "kind": "Thing"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True, **_SHARED},
            {"name": "v2", "served": True, "storage": False, **_SHARED},
        ],
        "conversion": {
            "strategy": "Webhook",
            "webhook": {"clientConfig": {"url": "https://example.org"}, "conversionReviewVersions": ["v1beta1"]},
        },
        "preserveUnknownFields": False,
    }
}
OLD_AUTOSCALER = {
    "metadata": {
        "name": "web",
        "annotations": {
            "autoscaling.alpha.kubernetes.io/behavior": (
                '{"ScaleUp":{"StabilizationWindowSeconds":3,"SelectPolicy":null,"Policies":null,"Tolerance":null},'
                '"ScaleDown":null}'
            )
        },
    },
    "spec": {
        "maxReplicas": 3,
        "metrics": [
            {"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": 50}},
            {"type": "Pods", "pods": {"metricName": "hits", "targetAverageValue": "7"}},
            {
                "type": "Object",
                "object": {
                    "target": {"kind": "Service", "name": "web"},
                    "metricName": "hits",
                    "targetValue": "9",
                },
            },
            {"type": "External", "external": {"metricName": "queue", "targetValue": "5"}},
        ],
    },
    "status": {
        "currentMetrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "currentAverageUtilization": 4, "currentAverageValue": "1"},
            }
        ]
    },
}
TODAYS_AUTOSCALER = {
    "metadata": {"name": "web"},
    "spec": {
        "maxReplicas": 3,
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
            },
            {
                "type": "Pods",
                "pods": {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "7"}},
            },
            {
                "type": "Object",
                "object": {
                    "describedObject": {"kind": "Service", "name": "web"},
                    "metric": {"name": "hits"},
                    "target": {"type": "Value", "value": "9"},
                },
            },
            {"type": "External", "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "5"}}},
        ],
        "behavior": {"scaleUp": {"stabilizationWindowSeconds": 3}},
    },
    "status": {
        "currentMetrics": [
            {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 4, "averageValue": "1"}}}
        ]
    },
}
PAIRS = [
    ("apiextensions.k8s.io/v1beta1", "customresourcedefinitions", OLD_DEFINITION, TODAYS_DEFINITION),
    ("autoscaling/v2beta1", "horizontalpodautoscalers", OLD_AUTOSCALER, TODAYS_AUTOSCALER),
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
