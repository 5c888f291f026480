"""The names that `--controllers` knows, the accounts they work as, and the steps of the one controller that has a table."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.client.keyed_worker import RetryError
from lifecycle.controllers.manager import CONTROLLERS, OWN_IDENTITY, is_enabled
from lifecycle.controllers.ttl import TTL_BOUNDARIES, TTLController

LISTED = """
bootstrap-signer-controller certificatesigningrequest-approving-controller certificatesigningrequest-cleaner-controller
certificatesigningrequest-signing-controller cloud-node-lifecycle-controller clusterrole-aggregation-controller cronjob-controller
daemonset-controller deployment-controller device-taint-eviction-controller disruption-controller endpoints-controller
endpointslice-controller endpointslice-mirroring-controller ephemeral-volume-controller garbage-collector-controller
horizontal-pod-autoscaler-controller job-controller kube-apiserver-serving-clustertrustbundle-publisher-controller
legacy-serviceaccount-token-cleaner-controller namespace-controller node-ipam-controller node-lifecycle-controller
node-route-controller persistentvolume-attach-detach-controller persistentvolume-binder-controller
persistentvolume-expander-controller persistentvolume-protection-controller persistentvolumeclaim-protection-controller
pod-garbage-collector-controller podcertificaterequest-cleaner-controller podgroup-protection-controller replicaset-controller
replicationcontroller-controller resourceclaim-controller resourcepoolstatusrequest-controller resourcequota-controller
root-ca-certificate-publisher-controller selinux-warning-controller service-ca-certificate-publisher-controller
service-cidr-controller service-lb-controller serviceaccount-controller serviceaccount-token-controller statefulset-controller
storage-version-migrator-controller storageversion-garbage-collector-controller taint-eviction-controller
token-cleaner-controller ttl-after-finished-controller ttl-controller validatingadmissionpolicy-status-controller
volumeattributesclass-protection-controller
"""
"""What `kube-controller-manager --help` lists, v1.36.2."""

LEFT_OUT = {
    "bootstrap-signer-controller", "certificatesigningrequest-approving-controller", "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller", "cloud-node-lifecycle-controller", "device-taint-eviction-controller",
    "kube-apiserver-serving-clustertrustbundle-publisher-controller", "legacy-serviceaccount-token-cleaner-controller",
    "node-route-controller", "persistentvolume-attach-detach-controller", "podcertificaterequest-cleaner-controller",
    "podgroup-protection-controller", "resourceclaim-controller", "resourcepoolstatusrequest-controller", "selinux-warning-controller",
    "service-ca-certificate-publisher-controller", "service-lb-controller", "storage-version-migrator-controller",
    "storageversion-garbage-collector-controller", "token-cleaner-controller",
}  # fmt: skip


def test_every_controller_has_the_name_of_the_real_one() -> None:
    assert list(CONTROLLERS) == [name for name in LISTED.split() if name not in LEFT_OUT]


def test_every_account_has_the_role_that_is_bound_to_it() -> None:
    """The accounts are those of `bootstrappolicy/controller_policy.go`: a name without a role could do nothing."""
    from importlib.resources import files

    policy = files("lifecycle.apiserver").joinpath("bootstrap/policy.json").read_text()
    for name, (account, _) in CONTROLLERS.items():
        assert f'"system:controller:{account}"' in policy or account in (OWN_IDENTITY,), name
    assert {account for account, _ in CONTROLLERS.values()} >= {
        "generic-garbage-collector",
        "endpointslicemirroring-controller",
    }
    shared = [account for account, _ in CONTROLLERS.values() if account == "node-controller"]
    assert len(shared) == 3


@pytest.mark.parametrize(
    ("controllers", "enabled"),
    [
        ("*", True), ("", False), ("a", True), ("b", False), ("-a", False), ("*,-a", False), ("-a,*", False),
        ("a,-a", True),
        ("-a,a", False),
        (["b", "*"], True), ([], False), ("-b,*", True), ("b,-b", False), ("aa", False),
    ],
)  # fmt: skip
def test_the_first_entry_about_a_name_decides(controllers: Any, enabled: bool) -> None:
    assert is_enabled("a", controllers) is enabled


def test_the_steps_of_the_ttl_overlap() -> None:
    """`pkg/controller/ttl/ttl_controller.go` (`ttlBoundaries`)."""
    assert [(fewest, min(most, 10**9), seconds) for fewest, most, seconds in TTL_BOUNDARIES] == [
        (0, 100, 0), (90, 500, 15), (450, 1000, 30), (900, 2000, 60), (1800, 10**9, 300),
    ]  # fmt: skip
    assert TTL_BOUNDARIES[-1][1] >= (1 << 31) - 1


def test_a_cluster_climbs_one_step_at_a_time_and_does_not_flap_at_a_boundary() -> None:
    nodes: list[None] = []
    informer: Any = SimpleNamespace(indexer=nodes, add_event_handler=lambda **handlers: None)
    anything: Any = SimpleNamespace(informer=lambda kind: informer)

    async def main() -> None:
        controller = TTLController(anything, anything, clock=anything, names=anything)
        ways = (
            (100, 0), (101, 15), (90, 15), (89, 0), (501, 15), (501, 30), (450, 30), (449, 15), (1001, 30), (1001, 60), (900, 60),
            (2000, 60), (2001, 300), (1800, 300), (1799, 60), (0, 30), (0, 15), (0, 0), (0, 0),
        )  # fmt: skip
        for count, seconds in ways:
            nodes[:] = [None] * count
            controller.cluster_size_changed()
            assert (count, controller.desired_ttl_seconds) == (count, seconds)

    asyncio.run(main())


def test_what_could_not_be_deleted_is_said_when_a_namespace_is_tried_again() -> None:
    from lifecycle.controllers.namespace.namespaced_resources_deleter import NamespacedResourcesDeleter, _Totals

    going = {"metadata": {"name": "n", "deletionTimestamp": "t"}, "spec": {"finalizers": ["kubernetes"]}}

    async def told(totals: _Totals) -> str:
        async def get(*_: Any) -> Any:
            return going

        async def content(_: Any) -> _Totals:
            return totals

        client: Any = SimpleNamespace(get=get)
        anything: Any = None
        deleter = NamespacedResourcesDeleter(client, anything)
        deleter._delete_all_content = content  # type: ignore[method-assign, assignment]
        with pytest.raises(RetryError) as again:
            await deleter.delete("n")
        return str(again.value)

    assert asyncio.run(told(_Totals(errors=["first", "second"]))) == "first"
    assert asyncio.run(told(_Totals(errors=["first"], undiscovered="no discovery"))) == "no discovery"
    assert asyncio.run(told(_Totals(undiscovered="no discovery"))) == "no discovery"
