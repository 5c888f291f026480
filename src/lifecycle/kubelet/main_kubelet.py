"""Of what a kubelet is made, in the order in which its parts can be made.

Each part gets what it needs when it is made, and nothing afterwards. Where two parts
need each other, what they share is an object of its own, made before both:

- the pod workers drive the transactions, these set statuses, and a status must know
  whether its pod may still run: all three know the `PodSyncStatuses`;
- the eviction manager ends pods and makes the node report pressure, and the report asks
  for the pressure: both know the `NodePressure`;
- probes and the runtime's events wake the workers, whose transactions start the probes:
  they send into an `UpdateChannel`, from which the kubelet receives;
- static pods are shown by mirror pods, to which their status goes: a `PodManager`.

Upstream: `pkg/kubelet/kubelet.go` (`NewMainKubelet`, `Dependencies`), v1.36.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.quantity import parse_quantity
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.cri.apis.events import ContainerEventResponse
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.apis.volume_files import VolumeFiles
from lifecycle.cri.node_access import NodeAccess
from lifecycle.kubelet.allocation.allocation_manager import AllocationManager
from lifecycle.kubelet.cm.cpumanager.cpu_manager import CPUManager, Policy
from lifecycle.kubelet.cm.cpumanager.policy_static import NonePolicy
from lifecycle.kubelet.cm.cpumanager.state import CPUState
from lifecycle.kubelet.cm.internal_container_lifecycle import (
    InternalContainerLifecycle,
)
from lifecycle.kubelet.config.config import PodConfig
from lifecycle.kubelet.config.sources import PodSources
from lifecycle.kubelet.container.ref import Events, NoEvents, RecordedEvents
from lifecycle.kubelet.eviction.eviction_manager import (
    EvictionManager,
    MeasureDisk,
    NodePressure,
)
from lifecycle.kubelet.eviction.storage_usage import local_storage
from lifecycle.kubelet.housekeeping import Housekeeping, Job
from lifecycle.kubelet.images.credentials import NodeCredentials
from lifecycle.kubelet.images.image_gc_manager import (
    ImageGCManager,
    image_fs_stats,
)
from lifecycle.kubelet.images.image_manager import ImageManager
from lifecycle.kubelet.kubelet import Kubelet, Loop
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration, LocalNode
from lifecycle.kubelet.kubelet_node_status import (
    Machine,
    NodeRegistration,
    nobody_is_told,
)
from lifecycle.kubelet.kubelet_pods.paper_volumes import PaperVolumes
from lifecycle.kubelet.kuberuntime.kuberuntime_gc import ContainerGC
from lifecycle.kubelet.kuberuntime.kuberuntime_manager import RuntimeManager
from lifecycle.kubelet.kuberuntime.resize_actions import PodResizer
from lifecycle.kubelet.lifecycle.admit_handlers import default_handlers
from lifecycle.kubelet.lifecycle.predicate import predicate_handler
from lifecycle.kubelet.local_pod_host import LocalPodHost
from lifecycle.kubelet.logs.container_log_manager import rotate_logs
from lifecycle.kubelet.logs.files import (
    ContainerLogs,
    LogDirectories,
    LogsOfTheRuntime,
)
from lifecycle.kubelet.nodestatus.machine_info import (
    machine_info,
    paper_machine_info,
)
from lifecycle.kubelet.pleg.generic import EventedPLEG
from lifecycle.kubelet.pod.mirror_client import MirrorPods
from lifecycle.kubelet.pod.pod_manager import PodManager
from lifecycle.kubelet.pod.startup_latency_tracker import StartupMetrics
from lifecycle.kubelet.pod_cleanups import PodCleanups
from lifecycle.kubelet.pod_host import PaperPodHost, PodHost
from lifecycle.kubelet.pod_sync_status import PodSyncStatuses
from lifecycle.kubelet.pod_workers import PodWorkers
from lifecycle.kubelet.prober.prober_manager import ProbeManager, ProbeUpdate
from lifecycle.kubelet.runtime_state import RuntimeState
from lifecycle.kubelet.server.auth import KubeletAuth
from lifecycle.kubelet.server.handler import KubeletServer
from lifecycle.kubelet.server.listener import KubeletListener, NoListener
from lifecycle.kubelet.service_lister import ServiceLister
from lifecycle.kubelet.stats.summary import Summary
from lifecycle.kubelet.status.resize_conditions import PodResizeConditions
from lifecycle.kubelet.status.status_manager import StatusManager
from lifecycle.kubelet.sync_pod import (
    OnStep,
    PodSyncer,
    nobody_watches,
    on_pod_sandbox_ready,
)
from lifecycle.kubelet.token.token_manager import TokenManager
from lifecycle.kubelet.types.update_channel import UpdateChannel
from lifecycle.kubelet.volumemanager.references import ObjectReferences

CGROUP_V1_WARNING = (
    "cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a"
    " future release. Please migrate to cgroup v2. More information at"
    " https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1"
)
UNKNOWN_MEMORY = 1 << 34
"""Bytes that a node is taken to have which does not say."""


@dataclass(slots=True)
class Dependencies:
    """What a kubelet is given to work with.

    `node_credentials`: what the node itself may pull with. `cpu_policy`: the CPU
    manager's, *none* without it. `summary()` is awaited for what is measured on the
    node; without it nobody is evicted. `on_step` hears of the steps of each pod's sync.
    `volume_files`: who takes what a kubelet without a disk has to mount. `services`:
    an informer that kubelets without a disk share.
    """

    client: Client
    runtime: Runtime
    clock: Clock
    node_credentials: NodeCredentials | None = None
    cpu_policy: Policy | None = None
    summary: Callable[[], Awaitable[Summary]] | None = None
    on_step: OnStep = nobody_watches
    volume_files: VolumeFiles | None = None
    services: SharedInformer | None = None


def new_main_kubelet(config: KubeletConfiguration, deps: Dependencies) -> Kubelet:
    """A kubelet, ready to `run`."""
    client, runtime, clock = deps.client, deps.runtime, deps.clock
    real = isinstance(runtime, NodeAccess)
    rng = random.Random(config.node_name)
    tasks = BackgroundTasks()
    events = _events(config, deps)
    pods = PodSyncStatuses()
    pod_manager = PodManager()
    status_manager = StatusManager(client, clock, pod_manager, pods)
    container_events: UpdateChannel[ContainerEventResponse] = UpdateChannel()
    pleg = EventedPLEG(runtime, container_events.send)
    pressure = NodePressure(clock.now)
    runtime_state = RuntimeState()
    registration = NodeRegistration(
        client,
        _machine(config, real),
        runtime,
        clock,
        asks_runtime=real,
        healthy=pleg.healthy,
        pressures=pressure.node_conditions,
        runtime_state=runtime_state,
        event=events.node_event if real else nobody_is_told,
    )

    references = ObjectReferences(client)
    host = _pod_host(
        config, deps, references, registration, status_manager, runtime_state, rng
    )
    cpu_policy = deps.cpu_policy or NonePolicy()
    cpu_state = CPUState(cpu_policy.name, config.cpu_manager_state_file)
    cpu_manager = CPUManager(cpu_policy, cpu_state, runtime, pods.active_pods)
    metrics = StartupMetrics()
    images = ImageManager(
        runtime, clock, deps.node_credentials, pulling=metrics.pulling
    )
    memory = parse_quantity(str(config.capacity.get("memory", "0"))).value()
    runtime_manager = RuntimeManager(
        runtime,
        clock,
        images,
        host.runtime_helper,
        events.pod_event,
        lifecycle=InternalContainerLifecycle(cpu_manager, host.unified),
        logs=_logs(config) if real else LogsOfTheRuntime(),
        on_pod_sandbox_ready=partial(on_pod_sandbox_ready, status_manager),
        memory_capacity=memory or UNKNOWN_MEMORY,
        user_namespace=host.userns.get_or_create_user_namespace_mappings,
    )
    resize_conditions = PodResizeConditions()
    allocations = AllocationManager(
        default_handlers(
            predicate_handler,
            unsafe_sysctls=config.allowed_unsafe_sysctls,
            node_conditions=pressure.node_conditions,
            allocate=cpu_manager.allocate,
        ),
        pods.counted_pods,
        pods.pod_by_uid,
        registration.node_as_known,
        config.allocatable,
        resize_conditions,
        events.pod_event,
        static_cpus=cpu_policy.name == "static",
    )
    probe_updates: UpdateChannel[ProbeUpdate] = UpdateChannel()
    probe_manager = ProbeManager(
        runtime,
        clock,
        events.pod_event,
        probe_updates.send,
        status_manager.get_pod_status,
    )
    mirror_pods = MirrorPods(
        client, pod_manager, lambda: registration.node, tasks.start
    )
    syncer = PodSyncer(
        runtime_manager,
        status_manager,
        probe_manager,
        host,
        images,
        pods,
        allocations,
        resize_conditions,
        PodResizer(runtime, runtime_manager.desired_resources),
        mirror_pods,
        clock,
        node_ip=config.node_ip,
        get_object=references.get,
        network_error=lambda: registration.network_error,
        runtime_state=runtime_state,
        event=events.pod_event,
        metrics=metrics,
        on_step=deps.on_step,
    )
    pod_workers = PodWorkers(pods, syncer, clock, rng, config.sync_frequency)

    pod_config = PodConfig()
    sources = PodSources(
        client,
        config.node_name,
        pod_config,
        clock,
        static_pod_path=config.static_pod_path,
        static_pod_url=config.static_pod_url,
    )
    cleanups = PodCleanups(
        runtime,
        sources,
        pods,
        pod_workers,
        runtime_manager,
        status_manager,
        probe_manager,
        metrics,
        host,
        tasks,
    )
    loops: list[Loop] = []
    jobs: list[Job] = [registration.keep_fresh]
    collector = ContainerGC(runtime, clock.now, lambda uid: not pods.known(uid))

    async def retry_pending_resizes() -> None:
        for uid in allocations.retry_pending_resizes():
            pod_workers.sync(uid)

    gc_jobs: list[Job] = [collector.garbage_collect, retry_pending_resizes]
    if real:  # a hollow runtime tells of everything, and what it has it keeps itself
        announce = partial(_announce, events, host)
        loops += [announce, pleg.run, cleanups.clean_up_when_ready]
        jobs.append(lambda: rotate_logs(runtime, clock.now()))
        gc_jobs.append(cleanups.kill_unknown_pods)
        image_gc = ImageGCManager(
            runtime,
            runtime,
            clock.now,
            lambda: image_fs_stats(runtime),
            events.node_event,
            config.image_gc,
        )
        loops.append(image_gc.run)
    if deps.summary is not None:
        eviction_manager = EvictionManager(
            deps.summary,
            pods.active_pods,
            pod_workers.evict,
            pressure,
            events=events,
            pressure_changed=registration.report_status,
            thresholds=config.eviction_hard,
            measure_disk=_measure_disk(config.local) if config.local else None,
        )
        loops.append(eviction_manager.run)
    server = KubeletServer(
        runtime,
        clock,
        pods=pods.all_pods,
        status=status_manager.get_pod_status,
        metrics=(metrics.text, pleg.text),
        system_logs=config.local.log_dir if config.local else None,
    )
    return Kubelet(
        node_name=config.node_name,
        runtime=runtime,
        clock=clock,
        allocatable=config.allocatable,
        tasks=tasks,
        events=events,
        pods=pods,
        pod_manager=pod_manager,
        status_manager=status_manager,
        registration=registration,
        host=host,
        cpu_manager=cpu_manager,
        probe_manager=probe_manager,
        mirror_pods=mirror_pods,
        syncer=syncer,
        pod_workers=pod_workers,
        allocations=allocations,
        pleg=pleg,
        pod_config=pod_config,
        sources=sources,
        cleanups=cleanups,
        housekeeping=Housekeeping(clock, rng, jobs, gc_jobs, sources.all_ready),
        server=server,
        listener=_listener(config, client, server),
        container_events=container_events,
        probe_updates=probe_updates,
        loops=loops,
    )


def _measure_disk(node: LocalNode) -> MeasureDisk:
    return partial(
        local_storage, root_dir=node.root_dir, pod_logs_dir=node.pod_logs_dir
    )


def _events(config: KubeletConfiguration, deps: Dependencies) -> Events:
    if not config.record_events:
        return NoEvents()
    name = config.node_name
    recorder = EventRecorder(deps.client, "kubelet", clock=deps.clock, host=name)
    return RecordedEvents(recorder, name)


async def _announce(events: Events, host: PodHost) -> None:
    """What a kubelet says when it begins its work. Upstream: `BirthCry`,
    `enforceNodeAllocatableCgroups`, `warnIfCgroupV1` (`CgroupV1`).
    """
    events.node_event("Normal", "Starting", "Starting kubelet.")
    if not isinstance(host, LocalPodHost) or host.cgroups is None:
        return
    if host.qos_cgroups is not None:
        text = "Updated Node Allocatable limit across pods"
        events.node_event("Normal", "NodeAllocatableEnforced", text)
    if not host.unified:
        events.node_event("Warning", "CgroupV1", CGROUP_V1_WARNING)


def _machine(config: KubeletConfiguration, real: bool) -> Machine:
    known = machine_info() if real else paper_machine_info()
    return Machine(
        config.node_name,
        config.node_ip,
        config.pod_cidr,
        dict(config.labels),
        list(config.taints),
        config.capacity,
        config.allocatable,
        config.provider_id,
        {**known, **(config.machine_info or {})},
    )


def _pod_host(
    config: KubeletConfiguration,
    deps: Dependencies,
    references: ObjectReferences,
    registration: NodeRegistration,
    status_manager: StatusManager,
    runtime_state: RuntimeState,
    rng: random.Random,
) -> PodHost:
    tokens = TokenManager(deps.client, deps.clock)
    if config.local is None:
        volumes = None
        if deps.volume_files is not None:
            volumes = PaperVolumes(
                deps.volume_files,
                references.get,
                tokens.get_service_account_token,
                config.allocatable,
                lambda pod: status_manager.get_pod_status(pod["metadata"]["uid"]) or {},
            )
        return PaperPodHost(
            references,
            tokens,
            config.allocatable,
            config.node_ip,
            volumes,
            config.cluster_dns,
            services=ServiceLister(deps.client, deps.services),
            rng=rng,
            now=deps.clock.now,
        )

    def volumes_attached() -> list[Object]:
        return (registration.node.get("status") or {}).get("volumesAttached") or []

    def status(pod: Object) -> Object:
        reported = status_manager.get_pod_status(pod["metadata"]["uid"])
        return reported or pod.get("status") or {}

    return LocalPodHost(
        config.local,
        deps.client,
        deps.clock,
        references,
        tokens,
        config.allocatable,
        capacity=config.capacity,
        host_ip=config.node_ip,
        volumes_attached=volumes_attached,
        status=status,
        supports_user_namespaces=runtime_state.supports_user_namespaces,
        rng=rng,
    )


def _logs(config: KubeletConfiguration) -> LogDirectories:
    if config.local is None:
        return LogsOfTheRuntime()
    return ContainerLogs(config.local.pod_logs_dir, config.local.container_logs_dir)


def _listener(
    config: KubeletConfiguration, client: Client, server: KubeletServer
) -> KubeletListener | NoListener:
    """The port of the kubelet's API, for those who may."""
    if config.listen is None:
        return NoListener()
    auth = KubeletAuth(client, config.node_name)
    return KubeletListener(auth.guard(server), config.listen)
