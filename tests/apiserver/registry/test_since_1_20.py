"""What upstream has learned to check since v1.20, the last version whose answers are recorded: one change each, and what is said of it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from lifecycle.api.schema import decode
from tests.apiserver.registry.by_kind import set_defaults, validate_create, validate_update, warnings_for
from tests.apiserver.registry.test_validation import prepared
from tests.apiserver.registry.test_validation_kinds import changed

CASES = yaml.load(
    (Path(__file__).parent / "since_1_20.yaml").read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
)
CLUSTER_SCOPED = {"node", "ingressclass"}


def made(of: str, changes: dict[str, Any]) -> dict[str, Any]:
    """A good object, changed, as it reaches validation."""
    obj = copy.deepcopy(CASES["good"][of])
    for path, value in changes.items():
        obj = changed(obj, path, value)
    metadata = {**obj.pop("metadata", {}), **({"namespace": ""} if of in CLUSTER_SCOPED else {})}
    return prepared(obj.pop("apiVersion"), obj.pop("kind"), metadata=metadata, **obj)


@pytest.mark.parametrize("of", CASES["good"])
def test_the_good_ones_are_fine(of: str) -> None:
    assert validate_create(made(of, {})) == []


@pytest.mark.parametrize("case", CASES["creates"], ids=lambda case: f"{case['of']} {', '.join(case['with'])}"[:70])
def test_what_is_said_of_a_new_object(case: Any) -> None:
    assert [str(error) for error in validate_create(made(case["of"], case["with"]))] == case["says"]


# --- updates -------------------------------------------------------------------------------------------------------------------------


def said_of_update(of: str, old_changes: dict[str, Any], changes: dict[str, Any]) -> list[str]:
    old = made(of, old_changes)
    old["metadata"]["resourceVersion"] = "1"
    new = old
    for path, value in changes.items():
        new = changed(new, path, value)
    return [str(error).partition("\n")[0] for error in validate_update(new, old)]


TERMS = "spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
IN_A = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["a"]}]}
IN_B = {"matchExpressions": [{"key": "b", "operator": "In", "values": ["b"]}]}
BOTH = {"matchExpressions": IN_A["matchExpressions"] + IN_B["matchExpressions"]}
GATED = {"spec/schedulingGates": [{"name": "g"}]}


def test_a_gated_pod_may_be_steered_to_fewer_nodes() -> None:
    held = {**GATED, "spec/nodeSelector": {"a": "b"}, TERMS: [IN_A]}
    assert said_of_update("pod", held, {"spec/nodeSelector": {"a": "b", "c": "d"}, TERMS: [BOTH]}) == []
    (fewer,) = said_of_update("pod", held, {"spec/nodeSelector": {"a": "c"}})[:1]
    assert fewer.endswith("only additions to spec.nodeSelector are allowed (no mutations or deletions)")
    (other,) = said_of_update("pod", held, {TERMS: [IN_B]})[:1]
    assert other.startswith(f"{TERMS.replace('/', '.')}[0]: Invalid value: ")
    assert other.endswith("only additions are allowed (no mutations or deletions)")
    (more,) = said_of_update("pod", held, {TERMS: [IN_A, IN_B]})[:1]
    assert more.endswith("no additions/deletions to non-empty NodeSelectorTerms list are allowed")
    assert said_of_update("pod", {"spec/nodeSelector": {"a": "b"}}, {"spec/nodeSelector": {"a": "b", "c": "d"}})


def test_gates_only_go_away() -> None:
    assert said_of_update("pod", GATED, {"spec/schedulingGates": []}) == []
    (added,) = said_of_update("pod", GATED, {"spec/schedulingGates": [{"name": "g"}, {"name": "h"}]})[:1]
    assert (
        added == "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'h'"
    )


def test_an_old_address_stays_as_it_was_written() -> None:
    sloppy = {"spec/clusterIP": "None", "spec/clusterIPs": ["None"], "spec/externalIPs": ["010.0.0.1"]}
    assert said_of_update("service", sloppy, {"spec/selector": {"c": "d"}}) == []
    (error,) = said_of_update("service", sloppy, {"spec/externalIPs": ["010.0.0.2"]})
    assert error == 'spec.externalIPs[0]: Invalid value: "010.0.0.2": must not have leading 0s'


# --- warnings ------------------------------------------------------------------------------------------------------------------------


def test_two_sources_want_the_same_place() -> None:
    secret = {"secret": {"name": "a", "items": [{"key": "k", "path": "p"}]}}
    config = {"configMap": {"name": "b", "items": [{"key": "k", "path": "p/q"}]}}
    sources = {"spec/volumes": [{"name": "v", "projected": {"sources": [secret, config]}}]}
    assert warnings_for(made("pod", sources)) == [
        'volume "v" (Projected): overlapping paths: "p/q" (ConfigMap "b") with "p" (Secret "a")'
    ]


@pytest.mark.parametrize(
    ("of", "changes", "warning"),
    [
        ("pod", {"spec/dnsConfig": {"nameservers": ["::ffff:1.2.3.4"]}},
         'spec.dnsConfig.nameservers[0]: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"'),
        ("daemonset", {"spec/template/spec/terminationGracePeriodSeconds": -1},
         "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"),
        ("service", {"spec/type": "ExternalName", "spec/externalName": "a", "spec/externalIPs": ["10.0.0.1"]},
         'spec.externalIPs is ignored when spec.type is "ExternalName"'),
    ],
)  # fmt: skip
def test_what_a_new_object_is_warned_about(of: str, changes: dict[str, Any], warning: str) -> None:
    assert warning in warnings_for(made(of, changes))


# --- what is filled in, and what is dropped ------------------------------------------------------------------------------------------


def defaulted(api_version: str, kind: str, **body: Any) -> dict[str, Any]:
    obj, _ = decode({"metadata": {"name": "x"}, **body}, api_version, kind)
    set_defaults(obj)
    return obj


def test_a_device_request_means_one_device() -> None:
    requests = [
        {"name": "a", "exactly": {"deviceClassName": "d", "tolerations": [{"key": "k"}]}},
        {"name": "b", "firstAvailable": [{"name": "s", "deviceClassName": "d", "allocationMode": "All"}]},
    ]
    claim = defaulted("resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": requests}})
    first, second = claim["spec"]["devices"]["requests"]
    assert (first["exactly"]["allocationMode"], first["exactly"]["count"]) == ("ExactCount", 1)
    assert first["exactly"]["tolerations"] == [{"key": "k", "operator": "Equal"}]
    assert "count" not in second["firstAvailable"][0]


def test_an_image_by_digest_alone_is_not_pulled_always() -> None:
    def policy(image: str) -> str:
        pod = defaulted("v1", "Pod", spec={"containers": [{"name": "c", "image": image}]})
        return str(pod["spec"]["containers"][0]["imagePullPolicy"])

    digest = "sha256:" + "a" * 64
    assert (policy("i"), policy("i:latest"), policy("i:1"), policy(f"i@{digest}")) == (
        "Always",
        "Always",
        "IfNotPresent",
        "IfNotPresent",
    )


def test_what_a_gate_holds_back_is_dropped() -> None:
    bundle = {"clusterTrustBundle": {"name": "b", "path": "p"}}
    pod = made(
        "pod",
        {
            "spec/schedulingGroup": {"podGroupName": "g"},
            "spec/containers/0/lifecycle": {"stopSignal": "SIGUSR1"},
            "spec/volumes": [{"name": "v", "projected": {"sources": [bundle]}}],
        },
    )
    assert "schedulingGroup" not in pod["spec"]
    assert "lifecycle" not in pod["spec"]["containers"][0]
    assert pod["spec"]["volumes"][0]["projected"]["sources"] == [{}]


def test_a_claims_two_sources_are_kept_in_step() -> None:
    old = {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "a"}
    assert made("claim", {"spec/dataSource": old})["spec"]["dataSourceRef"] == old
    new = {"apiGroup": "example.com", "kind": "Populator", "name": "a"}
    assert made("claim", {"spec/dataSourceRef": new})["spec"]["dataSource"] == new
    assert "dataSource" not in made("claim", {"spec/dataSource": new})["spec"]
    abroad = {"spec/dataSourceRef": {**new, "namespace": "far"}}
    assert "dataSourceRef" not in made("claim", abroad)["spec"]
