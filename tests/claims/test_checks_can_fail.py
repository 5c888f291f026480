"""A check that cannot fail proves nothing: break what a claim is about in our component, and its check must notice.

Each row breaks one behaviour, in the way a hasty programmer might. The check then has to contradict the ledger, or to fall over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from lifecycle.agreements import claim_checks
from lifecycle.compare import claims
from tests.conftest import ROOT


async def nothing(*_: Any, **__: Any) -> None:
    """Instead of something."""


def constant(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def always_the_same(ranges: Any, _: Any) -> Iterator[Any]:
    yield ip_address("10.0.0.2"), ranges[0]


BROKEN: list[tuple[str, str, Any]] = [
    # claim · what is replaced, below `lifecycle` · by what
    (
        "kubeconfig-home-directory-fallback",
        "agreements.claim_checks.kubeconfig.loading_precedence",
        constant([]),
    ),
    (
        "kubeconfig-env-var-has-second-priority",
        "agreements.claim_checks.kubeconfig.loading_precedence",
        constant([]),
    ),
    (
        "discovery-cache-folder-per-server",
        "agreements.claim_checks.discovery.compute_discover_cache_dir",
        lambda root, _: root,
    ),
    ("etcd-key-is-namespace-slash-name", "etcd.keys.resource_prefix", constant("/registry/things")),
    ("informers-offer-list-and-get-helpers", "client.listers.Lister.list", constant([])),
    (
        "deployment-controller-first-revision-is-one",
        "controllers.deployment.new_replica_set.max_revision",
        constant(6),
    ),
    (
        "deployment-controller-assigns-label-selector",
        "controllers.deployment.new_replica_set.compute_hash",
        constant(""),
    ),
    (
        "replicaset-controller-creates-missing-pods",
        "controllers.replicaset.manage_replicas.BURST_REPLICAS",
        3,
    ),
    (
        "replicaset-controller-slow-start-batches",
        "agreements.claim_checks.replicaset_controller.SLOW_START_INITIAL_BATCH_SIZE",
        99,
    ),
    (
        "garbage-collection-orphans-are-adopted",
        "controllers.controller_ref_manager.ControllerRefManager._adopt",
        nothing,
    ),
    (
        "garbage-collection-cascading-delete",
        "controllers.garbagecollector.garbage_collector.GarbageCollector._judge",
        nothing,
    ),
    (
        "scheduler-favours-least-requested-nodes",
        "scheduler.plugins.node_resources_fit.STRATEGIES",
        {"LeastAllocated": constant(0)},
    ),
    (
        "scheduler-resource-requests-are-checked",
        "scheduler.plugins.node_resources_fit.insufficient_resources",
        constant([]),
    ),
    ("binding-sets-podscheduled-condition", "apiserver.registry.pods._assigned", lambda pod, *_: pod),
    ("binding-posted-to-api-server", "scheduler.plugins.default_binder.DefaultBinder.bind", nothing),
    ("kubelet-sync-order-of-steps", "kubelet.sync_pod.PodSyncer._prepare", nothing),
    (
        "kubelet-status-active-deadline-example",
        "kubelet.active_deadline.ActiveDeadlineHandler.deadline",
        constant(None),
    ),
    (
        "kubelet-status-waiting-container-means-pending",
        "agreements.claim_checks.kubelet_status.get_phase",
        constant("Pending"),
    ),
    (
        "volumes-volumes-subdirectory",
        "kubelet.directories.PodDirectories.volumes",
        lambda self, uid: self.pod(uid) / "x",
    ),
    ("cgroups-resource-parameters-applied", "kubelet.cgroups.pods.resource_config_for_pod", constant({})),
    ("cri-used-since-1-5", "agreements.claim_checks.cri.supported", constant(("docker",))),
    ("cni-json-config-on-stdin", "cni.libcni.build_one_config", lambda name, version, plugin, result, rt: plugin),
    ("cni-plugin-list-runs-in-order", "cni.libcni.build_one_config", lambda name, version, plugin, result, rt: plugin),
    ("image-pull-secrets-used-for-private-pull", "kubelet.credentials.urls_match", constant(False)),
    ("dns-srv-record-for-service", "dns.answering.Answerer._services", constant(None)),
    ("inter-host-network-overlay-joins-hosts", "cni.overlay.vxlan.VxlanBackend.handle", constant(None)),
    ("cni-bridge-gets-gateway-address", "cni.plugins.bridge.calc_gateways", constant([])),
    (
        "ipam-host-local-allocates-from-ranges",
        "cni.plugins.host_local.allocator.candidates",
        always_the_same,
    ),
    (
        "container-start-init-containers-first",
        "kubelet.pod_actions.compute_init_container_actions",
        constant(None),
    ),
    (
        "services-request-repeats-full-pipeline",
        "apiserver.registry.services.ServiceStore.write",
        nothing,
    ),
    (
        "kube-proxy-writes-iptables-rules",
        "proxy.iptables.service_rules.ServiceRules.write_captures",
        constant(None),
    ),
    ("dns-a-record-for-service", "dns.kubernetes_plugin.KubernetesPlugin._find_services", constant([])),
    (
        "cpu-manager-assigns-containers-to-cpus",
        "kubelet.cpu_manager.policy_static.take_by_topology",
        constant(frozenset()),
    ),
]


def forget_scenes() -> None:
    """Checks play their scenes once and remember them."""
    for name, module in list(sys.modules.items()):
        if name.startswith("lifecycle.agreements"):
            for value in vars(module).values():
                if hasattr(value, "cache_clear") and value.__module__ == name:  # theirs, not what they import
                    value.cache_clear()


@pytest.fixture(autouse=True)
def _fresh_scenes() -> Iterator[None]:
    claims.import_checks(claim_checks)
    forget_scenes()
    yield
    forget_scenes()


@pytest.mark.parametrize(("claim_id", "target", "replacement"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_broken_component_turns_the_check_red(
    claim_id: str, target: str, replacement: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = {claim.id: claim for claim in claims.load_claims(ROOT / "book" / "claims.yaml")}
    check = claims.rebuilt_checks()[claim_id]
    monkeypatch.setattr(f"lifecycle.{target}", replacement)
    try:
        seen = check()
    except Exception:
        return
    seen = seen if isinstance(seen, claims.Partly) else bool(seen)
    assert claims.Cell(ledger[claim_id].verdicts["v1.36"], seen).contradicted
