"""What holds if nobody says otherwise: numbers that most clusters never change, as
Kubernetes' own programs give them, and where ours has them.

Each program says itself what its flags are set to if they are not used (`--help`); a
scheduler writes down the configuration that it would run with. These numbers decide how
long a dead node is believed, or how soon a pod is tried again, and a test on a clock of
its own would never miss a second of them.
"""

from __future__ import annotations

import re
from inspect import signature
from pkgutil import resolve_name
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.go.duration import parse_duration
from lifecycle.api.quantity import parse_quantity
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

_CONTROLLERS = "controllers."
_LEADS = "client.leader_election.LeaderElector"
_QUEUE = "scheduler.backend.queue.scheduling_queue."
_CONNTRACK = "proxy.iptables.config.ConntrackConfig"
_PROXIER = "proxy.iptables.config.ProxierConfig"
_IMAGES = "kubelet.images.image_gc_manager.ImageGCPolicy"
_HORIZONTAL = "controllers.podautoscaler."
WHERE: dict[str, dict[str, str]] = {
    "kube-apiserver": {
        "audit-webhook-batch-buffer-size": "apiserver.audit.backends.BUFFER_SIZE",
        "audit-webhook-batch-max-size": "apiserver.audit.backends.MAX_BATCH_SIZE",
        "audit-webhook-batch-max-wait": "apiserver.audit.backends.MAX_BATCH_WAIT",
        "authentication-token-webhook-cache-ttl": (
            "apiserver.authn.token_webhook.CACHE_TTL"
        ),
        "default-not-ready-toleration-seconds": (
            "apiserver.admission.default_toleration_seconds.SECONDS"
        ),
        "etcd-compaction-interval": "apiserver.storage.compactor.COMPACT_INTERVAL",
        "event-ttl": "apiserver.registry.event_stores.EVENT_TTL",
        "max-mutating-requests-inflight": (
            "apiserver.filters.max_in_flight.MAX_MUTATING_REQUESTS"
        ),
        "max-requests-inflight": "apiserver.filters.max_in_flight.MAX_REQUESTS",
        "min-request-timeout": "apiserver.endpoints.lists.MIN_WATCH_TIMEOUT",
        "request-timeout": "apiserver.server.chain.REQUEST_TIMEOUT",
    },
    "kube-controller-manager": {
        "concurrent-deployment-syncs": (
            f"{_CONTROLLERS}deployment.deployment_controller.WORKERS"
        ),
        "concurrent-endpoint-syncs": (
            f"{_CONTROLLERS}endpoints.endpoints_controller.WORKERS"
        ),
        "concurrent-ephemeralvolume-syncs": (
            f"{_CONTROLLERS}ephemeral.ephemeral_controller.WORKERS"
        ),
        "concurrent-gc-syncs": (
            f"{_CONTROLLERS}garbagecollector.garbage_collector.WORKERS"
        ),
        "concurrent-horizontal-pod-autoscaler-syncs": (
            f"{_HORIZONTAL}horizontal_controller.WORKERS"
        ),
        "concurrent-namespace-syncs": (
            f"{_CONTROLLERS}namespace.namespace_controller.WORKERS"
        ),
        "concurrent-replicaset-syncs": (
            f"{_CONTROLLERS}replicaset.replica_set_controller.WORKERS"
        ),
        "concurrent-resource-quota-syncs": (
            f"{_CONTROLLERS}resourcequota.resource_quota_controller.WORKERS"
        ),
        "concurrent-service-endpoint-syncs": (
            f"{_CONTROLLERS}endpointslice.endpointslice_controller.WORKERS"
        ),
        "horizontal-pod-autoscaler-cpu-initialization-period": (
            f"{_HORIZONTAL}replica_calculator.CPU_INITIALIZATION_PERIOD"
        ),
        "horizontal-pod-autoscaler-downscale-stabilization": (
            f"{_HORIZONTAL}scaling_rules.DOWNSCALE_STABILIZATION_WINDOW"
        ),
        "horizontal-pod-autoscaler-initial-readiness-delay": (
            f"{_HORIZONTAL}replica_calculator.INITIAL_READINESS_DELAY"
        ),
        "horizontal-pod-autoscaler-sync-period": (
            f"{_HORIZONTAL}horizontal_controller.SYNC_PERIOD"
        ),
        "horizontal-pod-autoscaler-tolerance": (
            f"{_HORIZONTAL}horizontal_controller.TOLERANCE"
        ),
        "large-cluster-size-threshold": (
            f"{_CONTROLLERS}node_lifecycle.zones.LARGE_CLUSTER_THRESHOLD"
        ),
        "leader-elect-lease-duration": f"{_LEADS}(lease_duration)",
        "leader-elect-renew-deadline": f"{_LEADS}(renew_deadline)",
        "leader-elect-retry-period": f"{_LEADS}(retry_period)",
        "max-endpoints-per-slice": (
            f"{_CONTROLLERS}endpointslice.reconciler.MAX_ENDPOINTS_PER_SLICE"
        ),
        "mirroring-concurrent-service-endpoint-syncs": (
            f"{_CONTROLLERS}endpointslicemirroring.endpointslicemirroring_controller"
            ".WORKERS"
        ),
        "mirroring-max-endpoints-per-subset": (
            f"{_CONTROLLERS}endpointslicemirroring.mirrored_slices"
            ".MAX_ENDPOINTS_PER_SUBSET"
        ),
        "node-eviction-rate": (
            f"{_CONTROLLERS}node_lifecycle.zones.EVICTION_LIMITER_QPS"
        ),
        "node-monitor-grace-period": (
            f"{_CONTROLLERS}node_lifecycle.health.NODE_MONITOR_GRACE_PERIOD"
        ),
        "node-monitor-period": (
            f"{_CONTROLLERS}node_lifecycle.health.NODE_MONITOR_PERIOD"
        ),
        "node-startup-grace-period": (
            f"{_CONTROLLERS}node_lifecycle.health.NODE_STARTUP_GRACE_PERIOD"
        ),
        "resource-quota-sync-period": (
            f"{_CONTROLLERS}resourcequota.resource_quota_controller.RESYNC_PERIOD"
        ),
        "secondary-node-eviction-rate": (
            f"{_CONTROLLERS}node_lifecycle.zones.SECONDARY_EVICTION_LIMITER_QPS"
        ),
        "terminated-pod-gc-threshold": (
            f"{_CONTROLLERS}podgc.gc_controller.TERMINATED_POD_THRESHOLD"
        ),
        "unhealthy-zone-threshold": (
            f"{_CONTROLLERS}node_lifecycle.zones.UNHEALTHY_ZONE_THRESHOLD"
        ),
    },
    "kubelet": {
        "container-log-max-files": "kubelet.logs.container_log_manager.MAX_FILES",
        "container-log-max-size": "kubelet.logs.container_log_manager.MAX_SIZE",
        "cpu-manager-reconcile-period": (
            "kubelet.cm.cpumanager.cpu_manager.RECONCILE_PERIOD"
        ),
        "eviction-pressure-transition-period": (
            "kubelet.eviction.eviction_manager.PRESSURE_TRANSITION_PERIOD"
        ),
        "file-check-frequency": "kubelet.config.file.FILE_CHECK_FREQUENCY",
        "http-check-frequency": "kubelet.config.http.HTTP_CHECK_FREQUENCY",
        "image-gc-high-threshold": f"{_IMAGES}(high_threshold_percent)",
        "image-gc-low-threshold": f"{_IMAGES}(low_threshold_percent)",
        "minimum-image-ttl-duration": f"{_IMAGES}(min_age)",
        "node-status-max-images": "kubelet.nodestatus.setters.MAX_IMAGES_IN_STATUS",
        "port": "kubelet.server.listener.KUBELET_PORT",
        "sync-frequency": "kubelet.pod_workers.RESYNC_INTERVAL",
    },
    "kube-proxy": {
        "conntrack-max-per-core": "proxy.kube_proxy_configuration.MAX_PER_CORE",
        "conntrack-min": f"{_CONNTRACK}(min)",
        "conntrack-tcp-timeout-close-wait": f"{_CONNTRACK}(tcp_close_wait_timeout)",
        "conntrack-tcp-timeout-established": f"{_CONNTRACK}(tcp_established_timeout)",
        "iptables-localhost-nodeports": f"{_PROXIER}(localhost_node_ports)",
        "iptables-masquerade-bit": f"{_PROXIER}(masquerade_bit)",
        "iptables-min-sync-period": f"{_PROXIER}(min_sync_period)",
        "iptables-sync-period": f"{_PROXIER}(sync_period)",
    },
    "kube-scheduler": {
        "pod-max-in-unschedulable-pods-duration": (
            f"{_QUEUE}POD_MAX_IN_UNSCHEDULABLE_PODS_DURATION"
        ),
        "podInitialBackoffSeconds": f"{_QUEUE}POD_INITIAL_BACKOFF",
        "podMaxBackoffSeconds": f"{_QUEUE}POD_MAX_BACKOFF",
        "DefaultPreemption.minCandidateNodesAbsolute": (
            "scheduler.framework.plugins.default_preemption.MIN_CANDIDATES"
        ),
        "DefaultPreemption.minCandidateNodesPercentage": (
            "scheduler.framework.plugins.default_preemption.MIN_CANDIDATES_PERCENTAGE"
        ),
        "InterPodAffinity.hardPodAffinityWeight": (
            "scheduler.framework.plugins.inter_pod_affinity.HARD_POD_AFFINITY_WEIGHT"
        ),
        "VolumeBinding.bindTimeoutSeconds": (
            "scheduler.framework.plugins.volume_binding.binder.BIND_TIMEOUT"
        ),
        "percentageOfNodesToScore": (
            "scheduler.schedule_pod.Algorithm(percentage_of_nodes_to_score)"
        ),
        **{
            f"{name}.weight": f"scheduler.config.MULTI_POINT_DEFAULTS[{name}]"
            for name in (
                "DynamicResources",
                "ImageLocality",
                "InterPodAffinity",
                "NodeAffinity",
                "NodeResourcesBalancedAllocation",
                "NodeResourcesFit",
                "PodTopologySpread",
                "TaintToleration",
            )
        },
    },
}
"""By program and setting, where ours has the same: a name below `lifecycle`, the
default of a parameter, one of several pairs.
"""
PAIR = re.compile(r"(.+)\[(\w+)\]$")
PARAMETER = re.compile(r"(.+)\((\w+)\)$")
_DURATION = re.compile(r"(\d+(\.\d+)?(h|m|s|ms))+$")


def default_settings_agreement(
    programs: ProgramAnswers | None = None,
) -> AgreementTable:
    """A row for each setting. `programs`: what the real ones said; None: as
    recorded.
    """
    table = AgreementTable(
        "Settings that nobody has changed",
        "lifecycle",
        "Kubernetes' own programs, asked directly",
        lambda table: (
            f"{len(table.computed)} numbers that hold if nobody says otherwise, as the"
            " programs give them in their own help, and in our code:"
            f" {table.outcome('settings')}."
        ),
    )
    for answer in asked(programs, "defaults"):
        program = answer.question.partition("/")[2]
        for setting, where in WHERE[program].items():
            mine, theirs = ours(where), amount(answer.answer[setting])
            table.add(
                program,
                setting,
                str(mine),
                str(answer.answer[setting]),
                compare({"default": mine}, {"default": theirs}),
            )
    return table


def ours(where: str) -> Any:
    """Our default, a number."""
    if parameter := PARAMETER.match(where):
        found = resolve_name(f"lifecycle.{parameter[1]}")
        return amount(signature(found).parameters[parameter[2]].default)
    if pair := PAIR.match(where):
        return amount(dict(resolve_name(f"lifecycle.{pair[1]}"))[pair[2]])
    return amount(resolve_name(f"lifecycle.{where}"))


def amount(value: Any) -> Any:
    """`5m0s` is 300, `10Mi` so many bytes, `true` a bool; a number is itself."""
    text = str(value)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _DURATION.match(text):
        return float(parse_duration(text))
    return float(parse_quantity(text))
