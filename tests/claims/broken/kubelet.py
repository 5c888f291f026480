"""What might go wrong in the kubelet: sync, status, admission, cgroups, directories."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lifecycle.kubelet.active_deadline import ShouldEvictResponse, generate_status_1_20
from lifecycle.kubelet.lifecycle.interfaces import PodAdmitResult
from lifecycle.kubelet.types.pod_update import PodOperation
from tests.claims.broken.breakage import Breakage, Wrapped, afterwards, beforehand, constant, nothing

CHECKS = "agreements.claim_checks"


BREAKAGES = (
    Breakage(
        "nothing is prepared",
        "kubelet.sync_pod.PodSyncer._prepare",
        nothing,
        (
            "kubelet-sync-order-of-steps",
            "kubelet-sync-also-volumes-logs-and-gc",
            "volumes-volumes-subdirectory",
            "volumes-plugins-subdirectory",
            "volumes-manager-attaches-volumes",
            "volumes-start-waits-for-volumes",
            "volumes-slow-volume-types",
        ),
    ),
    Breakage(
        "nothing is cleaned up",
        "kubelet.config.directories.PodDirectories.clean_up_orphaned",
        constant(None),
        ("kubelet-sync-also-volumes-logs-and-gc",),
    ),
    Breakage(
        "an idle pod is left alone",
        "kubelet.pod_workers.PodWorkers._retry",
        constant(None),
        ("kubelet-sync-callback-repeats-periodically",),
    ),
    Breakage(
        "every update is new",
        "kubelet.config.config.operation_for",
        constant(PodOperation.ADD),
        ("kubelet-sync-detects-changes-against-cache", "kubelet-sync-typed-updates-on-a-channel"),
    ),
    Breakage(
        "nothing is counted",
        "kubelet.pod.startup_latency_tracker.StartupMetrics.running",
        constant(None),
        ("kubelet-sync-startup-metrics-on-create",),
    ),
    Breakage(
        "a file is looked at once a minute",
        f"{CHECKS}.pod_sources.FILE_CHECK_FREQUENCY",
        60,
        ("kubelet-sync-poll-interval-configurable",),
    ),
    Breakage(
        "an environment is not handed over",
        "kubelet.kuberuntime.kuberuntime_manager.generate_container_config",
        Wrapped(lambda generate: lambda *arguments, **more: generate(*arguments, **{**more, "envs": (), "mounts": ()})),
        ("kubelet-sync-turns-pods-into-containers",),
    ),
    Breakage(
        "every pod is pending",
        f"{CHECKS}.kubelet_status.get_phase",
        constant("Pending"),
        (
            "kubelet-status-waiting-container-means-pending",
            "kubelet-status-five-phases",
            "kubelet-status-phase-derived-from-containers",
        ),
    ),
    Breakage(
        "what has not begun runs",
        "kubelet.kubelet_pods.api_pod_status.get_phase",
        constant("Running"),
        ("kubelet-status-generates-podstatus-with-phase",),
    ),
    Breakage(
        "a fifth phase",
        f"{CHECKS}.kubelet_status.get_phase",
        afterwards(lambda phase, spec, statuses, over: phase if all(s["state"] for s in statuses) else "Unknown"),
        ("kubelet-status-five-phases",),
    ),
    Breakage(
        "nobody objects",
        "kubelet.active_deadline.ActiveDeadlineHandler.should_evict",
        constant(ShouldEvictResponse(False)),
        ("kubelet-status-active-deadline-example", "kubelet-status-evicted-pod-becomes-failed"),
    ),
    Breakage(
        "no time is too long",
        "kubelet.active_deadline.ActiveDeadlineHandler.deadline",
        constant(None),
        ("kubelet-status-active-deadline-example", "kubelet-status-evicted-pod-becomes-failed"),
    ),
    Breakage(
        "handlers are asked first, as they were",
        f"{CHECKS}.kubelet_status.generate_status",
        generate_status_1_20,
        ("kubelet-status-handlers-run-before-phase",),
    ),
    Breakage(
        "one objection is not enough",
        f"{CHECKS}.kubelet_status.generate_status",
        lambda compute, pod, handlers: [handler(pod) for handler in handlers] and compute(),
        ("kubelet-status-sync-handler-chain",),
    ),
    Breakage(
        "a pod is ready from the start",
        "kubelet.kubelet_pods.api_pod_status._conditions",
        constant([{"type": "Ready", "status": "True", "reason": ""}]),
        ("kubelet-status-podready-false-before-containers",),
    ),
    Breakage(
        "the status waits for an answer",
        "kubelet.status.status_manager.StatusManager.get_pod_status",
        constant(None),
        ("kubelet-status-manager-updates-asynchronously",),
    ),
    Breakage(
        "everybody is admitted",
        f"{CHECKS}.kubelet_admit.can_admit_pod",
        constant(PodAdmitResult(True)),
        ("kubelet-admit-handlers-check-pod", "kubelet-admit-apparmor-handler"),
    ),
    Breakage(
        "privileges are nobody's business",
        "historical.kubelet.soft_admission.no_new_privs_required",
        constant(False),
        ("kubelet-admit-no-new-privs-handler",),
    ),
    Breakage(
        "a rejected pod waits",
        "kubelet.sync_pod.PodSyncer.reject_pod",
        constant(None),
        ("kubelet-admit-denied-pod-stays-pending",),
    ),
    Breakage(
        "groups are made whatever is said",
        "kubelet.cm.pod_container_manager.PodContainerManager.ensure_exists",
        constant(None),
        (
            "cgroups-pod-cgroups-when-flag-given",
            "cgroups-serve-qos-handling",
            "cgroups-govern-resource-allocation",
            "cgroups-resource-parameters-applied",
        ),
    ),
    Breakage(
        "limits are not written",
        "kubelet.cm.pod_container_manager.resource_config_for_pod",
        afterwards(lambda config, *_: type(config)()),
        ("cgroups-resource-parameters-applied", "cgroups-govern-resource-allocation"),
    ),
    Breakage(
        "volumes lie elsewhere",
        "kubelet.config.directories.PodDirectories.volumes",
        lambda self, uid: self.pod(uid) / "x",
        ("volumes-volumes-subdirectory",),
    ),
    Breakage(
        "plugins lie elsewhere",
        "kubelet.config.directories.PodDirectories.plugins",
        lambda self, uid: self.pod(uid) / "x",
        ("volumes-plugins-subdirectory",),
    ),
    Breakage(
        "pods lie where the article says",
        f"{CHECKS}.volumes.DEFAULT_ROOT_DIR",
        Path("/var/run/kubelet"),
        ("volumes-pod-directory-path",),
    ),
    Breakage(
        "what has no id is not waiting",
        f"{CHECKS}.kubelet_status.generate_api_pod_status",
        afterwards(
            lambda status, *_: {
                **status,
                "containerStatuses": [{**one, "state": {}} for one in status["containerStatuses"]],
            }
        ),
        ("kubelet-status-not-started-means-waiting",),
    ),
    Breakage(
        "pods of no node are taken",
        "kubelet.config.sources.new_source_apiserver",
        beforehand(lambda client, node, config: (client, "", config)),
        ("kubelet-sync-selects-pods-by-node-name", "kubelet-sync-handles-unscheduled-pods"),
    ),
    Breakage(
        "the API server is asked every twenty seconds",
        "client.reflector.Reflector._watch",
        lambda self, stream=None: asyncio.sleep(20),
        ("kubelet-sync-polls-api-every-20-seconds",),
    ),
    Breakage(
        "nobody asks for another sync",
        "kubelet.pod_workers.PodWorkers.sync",
        constant(None),
        ("kubelet-sync-syncpod-converges-real-to-desired", "kubelet-sync-callback-repeats-periodically"),
    ),
)
