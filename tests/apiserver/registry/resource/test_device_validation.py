"""Classes, claims and slices: what is refused, in the words of the real server (v1.36.2, asked by `make fuzz`)."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.resource import (
    device_class,
    resource_claim,
    resource_claim_template,
    resource_slice,
)
from lifecycle.apiserver.registry.rest.create import before_create
from lifecycle.apiserver.registry.rest.strategy import Strategy

V1 = "resource.k8s.io/v1"
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an"
    " alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
ONE_NODE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
POOL = {"name": "p", "resourceSliceCount": 1, "generation": 1}
SLICE = {"driver": "d.example.com", "pool": POOL, "nodeName": "n"}
EXACTLY = {"deviceClassName": "gpu"}


def refusals(strategy: Strategy, kind: str, spec: Any, **metadata: Any) -> list[str]:
    """What a new object of the kind is refused for."""
    sent = {"metadata": {"name": "one", **metadata}, "spec": spec}
    if kind.startswith("ResourceClaim"):
        sent["metadata"]["namespace"] = "n"
    obj, _ = decode(sent, V1, kind)
    strategy.set_defaults(obj)
    before_create(strategy, obj)
    return [str(error) for error in strategy.validate(obj)]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, []),
        ({"driver": ""}, ["spec.driver: Required value"]),
        ({"pool": {**POOL, "name": ""}}, ["spec.pool.name: Required value"]),
        (
            {"pool": {"name": "p", "generation": -1}},
            [
                "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
                "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
            ],
        ),
        ({"nodeName": None}, [f"spec: Required value: {ONE_NODE}"]),
        (
            {"nodeName": ""},
            [
                'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
                f"spec: Required value: {ONE_NODE}",
            ],
        ),
        (
            {"allNodes": True},
            [f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {ONE_NODE}, but multiple fields are set'],
        ),
        ({"allNodes": False}, ["spec.allNodes: Invalid value: false: must be either unset or set to true"]),
        (
            {"devices": [{"name": "A"}, {"name": "A"}]},
            [
                f'spec.devices[0].name: Invalid value: "A": {LABEL}',
                f'spec.devices[1].name: Invalid value: "A": {LABEL}',
                'spec.devices[1]: Duplicate value: "A"',
            ],
        ),
        (
            {"devices": [{"name": "a", "attributes": {"x": {}, "y": {"bool": True}}}]},
            ['spec.devices[0].attributes[x]: Invalid value: "": exactly one value must be specified'],
        ),
        (
            {"devices": [{"name": "a", "attributes": {"x": {"version": "1"}}}]},
            [
                'spec.devices[0].attributes[x].version: Invalid value: "1": must be a string compatible with semver.org'
                " spec 2.0.0"
            ],
        ),
        (
            {"devices": [{"name": "a", "taints": [{"key": "k", "effect": "<&>"}]}]},
            [
                'spec.devices[0].taints[0].effect: Unsupported value: "\\u003c\\u0026\\u003e": supported values: "NoExecute",'
                ' "NoSchedule", "None"'
            ],
        ),
        (
            {"devices": [{"name": "a", "bindingConditions": ["c"]}]},
            [
                "spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use"
                " bindingConditions"
            ],
        ),
        (
            {"sharedCounters": [{"name": "c"}]},
            ["spec.sharedCounters[0].counters: Required value"],
        ),
        (
            {"devices": [{"name": f"d{index}"} for index in range(129)]},
            ["spec.devices: Too many: 129: must have at most 128 items"],
        ),
    ],
)
def test_a_slice_says_where_its_devices_are_and_what_they_can(change: Any, why: list[str]) -> None:
    spec = {key: value for key, value in {**SLICE, **change}.items() if value is not None}
    assert refusals(resource_slice.STRATEGY, "ResourceSlice", spec) == why


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ({"default": "1", "validValues": ["1", "2"]}, []),
        (
            {"default": "3", "validValues": ["2", "1"]},
            [
                'validValues[1]: Invalid value: "1": values must be sorted in ascending order',
                'validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
            ],
        ),
        ({"validRange": {"min": "1"}}, ["default: Required value: required when validRange is defined"]),
        (
            {"default": "3", "validRange": {"min": "1", "max": "9", "step": "3"}},
            [
                'validRange.max: Invalid value: "9": max is larger than capacity value: 4',
                'validRange.step: Invalid value: "3": value is not a multiple of a given step (3) from (1)',
                'validRange.step: Invalid value: "9": value is not a multiple of a given step (3) from (1)',
            ],
        ),
    ],
)
def test_a_shared_device_is_given_away_in_portions(policy: Any, why: list[str]) -> None:
    capacity = {"memory": {"value": "4", "requestPolicy": policy}}
    shared = {"name": "a", "allowMultipleAllocations": True, "capacity": capacity}
    path = "spec.devices[0].capacity[memory].requestPolicy"
    spec = {**SLICE, "devices": [shared]}
    assert refusals(resource_slice.STRATEGY, "ResourceSlice", spec) == [f"{path}.{line}" for line in why]
    alone = {**SLICE, "devices": [{**shared, "allowMultipleAllocations": False}]}
    assert refusals(resource_slice.STRATEGY, "ResourceSlice", alone) == [
        f"{path}: Forbidden: allowMultipleAllocations must be true"
    ]


@pytest.mark.parametrize(
    ("devices", "why"),
    [
        ({"requests": [{"name": "r", "exactly": EXACTLY}]}, []),
        (
            {"requests": [{"name": "r"}]},
            ["requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
        ),
        (
            {"requests": [{"name": "r", "exactly": {"deviceClassName": "", "allocationMode": "All", "count": 2}}]},
            [
                "requests[0].exactly.deviceClassName: Required value",
                "requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
            ],
        ),
        (
            {"requests": [{"name": "r", "exactly": {**EXACTLY, "selectors": [{}]}}]},
            ["requests[0].exactly.selectors[0].cel: Required value"],
        ),
        (
            {
                "requests": [{"name": "r", "firstAvailable": [{"name": "s", **EXACTLY}]}],
                "constraints": [{"requests": ["r/t"]}],
            },
            [
                'constraints[0].requests[0]: Invalid value: "r/t": must be the name of a request in the claim or the name of a'
                " request and a subrequest separated by '/'",
                'constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but'
                " multiple fields are set",
            ],
        ),
        ({"config": [{}]}, ["config[0].opaque: Required value"]),
        (
            {"config": [{"opaque": {"driver": "d", "parameters": [1]}}]},
            ['config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object'],
        ),
    ],
)
def test_a_claim_asks_for_devices_of_a_class(devices: Any, why: list[str]) -> None:
    expected = [f"spec.devices.{line}" for line in why]
    assert refusals(resource_claim.STRATEGY, "ResourceClaim", {"devices": devices}) == expected
    below = [line.replace("spec.", "spec.spec.", 1) for line in expected]
    template = {"spec": {"devices": devices}}
    assert refusals(resource_claim_template.STRATEGY, "ResourceClaimTemplate", template) == below


def test_selectors_are_compiled() -> None:
    def said(expression: str) -> list[str]:
        spec = {"selectors": [{"cel": {"expression": expression}}]}
        return refusals(device_class.STRATEGY, "DeviceClass", spec)

    assert said('device.driver == "d" && device.attributes["d"].healthy') == []
    assert said("1") == [
        'spec.selectors[0].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int'
    ]
    (wrong,) = said("device.nothing")
    assert "undefined field 'nothing'" in wrong


def test_of_the_claims_to_come_a_template_gives_labels_and_annotations_only() -> None:
    metadata = {"name": "x", "uid": "u", "generation": 0, "deletionGracePeriodSeconds": 0, "labels": {"a": "b"}}
    spec = {"metadata": metadata, "spec": {}}
    assert refusals(resource_claim_template.STRATEGY, "ResourceClaimTemplate", spec) == [
        f"spec.metadata.{field}: Forbidden: cannot be set" for field in ("name", "uID", "deletionGracePeriodSeconds")
    ]


def test_lists_as_attributes_are_dropped_while_their_feature_is_off() -> None:
    spec = {**SLICE, "devices": [{"name": "a", "attributes": {"x": {"bool": True, "ints": [1]}}}]}
    assert refusals(resource_slice.STRATEGY, "ResourceSlice", spec) == []


def claim_with(status: Any) -> dict[str, Any]:
    spec = {"devices": {"requests": [{"name": "r", "exactly": EXACTLY}]}}
    metadata = {"name": "c", "namespace": "n", "resourceVersion": "1"}
    return decode({"metadata": metadata, "spec": spec, "status": status}, V1, "ResourceClaim")[0]


ALLOCATION = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "e"}]}}
DEVICE = {"driver": "d", "pool": "p", "device": "e"}


@pytest.mark.parametrize(
    ("status", "before", "why"),
    [
        ({"allocation": ALLOCATION, "devices": [DEVICE]}, {}, []),
        (
            {"devices": [DEVICE]},
            {},
            [
                'status.devices[0]: Invalid value: {"Driver":"d","Pool":"p","Device":"e","ShareID":""}: must be an allocated'
                " device in the claim"
            ],
        ),
        (
            {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]},
            {},
            ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"],
        ),
        (
            {"allocation": ALLOCATION, "devices": [{**DEVICE, "networkData": {"ips": ["10.0.0.1"]}}]},
            {"allocation": ALLOCATION},
            [
                'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g.'
                " 10.9.8.7/24 or 2001:db8::1/64)"
            ],
        ),
    ],
)
def test_a_status_says_what_was_allocated(status: Any, before: Any, why: list[str]) -> None:
    own = resource_claim.STRATEGY.subresources["status"]
    new, old = claim_with(status), claim_with(before)
    own.prepare_for_update(new, old)
    assert [str(error) for error in own.validate_update(new, old)] == why


def test_the_status_of_a_device_goes_with_its_allocation() -> None:
    own = resource_claim.STRATEGY.subresources["status"]
    new, old = claim_with({"devices": [DEVICE]}), claim_with({"allocation": ALLOCATION, "devices": [DEVICE]})
    own.prepare_for_update(new, old)
    assert "devices" not in new["status"]
