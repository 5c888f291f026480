"""What might go wrong where containers are made and started: pull secrets, hooks, CRI, pause, CPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.claims.broken.breakage import Breakage, Wrapped, afterwards, constant, eventually, nothing

CHECKS = "agreements.claim_checks"


def _without_network(run: Any) -> Any:
    async def later(self: Any, config: Any) -> Any:
        await self.update_runtime_config("10.9.0.0/24")
        return await run(self, config)

    return later


def _first_range_only(update: Any) -> Any:
    async def later(self: Any, pod_cidr: str) -> None:
        if not hasattr(self, "has_a_range"):
            self.has_a_range = True
            await update(self, pod_cidr)

    return later


def _creates_anywhere(create: Any) -> Any:
    async def later(self: Any, sandbox: str, *more: Any) -> Any:
        return "c-1" if sandbox == "no-such-sandbox" else await create(self, sandbox, *more)

    return later


def _sleeps_badly(run: Any) -> Any:
    async def later(self: Any, pod: Any, container_id: str, container: Any, hook: Any, ip: str) -> str:
        return "sleep: not found" if "sleep" in hook else await run(self, pod, container_id, container, hook, ip)

    return later


BREAKAGES = (
    Breakage(
        "no credentials fit",
        "kubelet.images.credentials.urls_match",
        constant(False),
        ("image-pull-secrets-used-for-private-pull",),
    ),
    Breakage(
        "pull secrets are not fetched",
        "kubelet.sync_pod.get_pull_secrets_for_pod",
        eventually([]),
        ("image-pull-secrets-retrieved-from-api-server", "image-pull-secrets-used-for-private-pull"),
    ),
    Breakage(
        "the CPU manager gives nothing",
        "kubelet.cm.cpumanager.policy_static.guaranteed_cpus",
        constant(0),
        ("cpu-manager-assigns-containers-to-cpus", "cpu-manager-uses-updatecontainerresources"),
    ),
    Breakage(
        "hooks run before the start",
        "kubelet.lifecycle.handlers.HookRunner._exec",
        eventually(("", "")),
        ("lifecycle-hooks-exec-hook", "lifecycle-hooks-poststart-runs-after-start"),
    ),
    Breakage(
        "a hook's failure does not matter",
        "kubelet.lifecycle.handlers.HookRunner.run",
        eventually(""),
        (
            "lifecycle-hooks-http-hook",
            "lifecycle-hooks-exec-hook",
            "lifecycle-hooks-failing-or-hanging-hook-blocks-running",
        ),
    ),
    Breakage(
        "a container does not wait for its sandbox",
        "cri.hollow.runtime.HollowRuntime.run_pod_sandbox",
        Wrapped(_without_network),
        ("container-start-waits-for-ready-sandbox",),
    ),
    Breakage(
        "Docker is told nothing",
        f"{CHECKS}.container_start.docker_create_config",
        constant({"Entrypoint": [], "HostConfig": {"Binds": []}, "Labels": {}}),
        ("container-start-docker-translates-to-daemon-api", "container-start-metadata-labels-added"),
    ),
    Breakage(
        "CRI came later",
        f"{CHECKS}.cri.supported",
        constant(("docker",)),
        ("cri-used-since-1-5", "cri-docker-and-rkt-runtimes"),
    ),
    Breakage(
        "a container starts with its creation",
        "cri.hollow.runtime.HollowRuntime.stop_container",
        nothing,
        ("cri-protobuf-over-grpc",),
    ),
    Breakage(
        "another version is spoken",
        "cri.client.CriClient.version",
        afterwards(lambda version, *_: replace(version, runtime_api_version="v1alpha2")),
        ("cri-protobuf-over-grpc", "cri-docker-or-crio-are-cri"),
    ),
    Breakage(
        "a container gets namespaces of its own",
        "cri.oci_spec.namespaces_of",
        constant([{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]),
        (
            "pause-sandbox-is-first-container-of-pod",
            "pause-sandbox-acts-as-parent-hosting-net-and-ipc",
            "pause-sandbox-localhost-between-containers",
        ),
    ),
    Breakage(
        "all processes of a pod see each other",
        "cri.oci_spec.namespaces_of",
        afterwards(
            lambda spaces, security, pid, *_: [
                {**space, "path": f"/proc/{pid}/ns/pid"} if space["type"] == "pid" else space for space in spaces
            ]
        ),
        ("pause-sandbox-hosts-pid-namespace", "pause-sandbox-pid-one-reaps-zombies"),
    ),
    Breakage(
        "a limit is a namespace",
        "cri.oci_spec.resources",
        constant({"memory": {"limit": 1}}),
        ("pause-sandbox-namespaces-dedicate-resources",),
    ),
    Breakage(
        "dockershim makes no pause container",
        f"{CHECKS}.pause_sandbox.dockershim_run_pod_sandbox",
        Wrapped(lambda run: lambda pod: run(pod)[::-1]),
        ("pause-sandbox-checkpointed-to-disk-then-started",),
    ),
    Breakage(
        "the pause container has no name",
        f"{CHECKS}.pause_sandbox.make_sandbox_name",
        constant("k8s_web_POD_default_u-1_0"),
        ("pause-sandbox-docker-creates-pause-container",),
    ),
    Breakage(
        "a limit where none is asked for",
        f"{CHECKS}.pause_sandbox.resources",
        constant({"memory": {"limit": 1}}),
        ("pause-sandbox-docker-combines-namespaces-and-cgroups",),
    ),
    Breakage(
        "the kubelet gives the addresses",
        "cri.hollow.runtime.HollowRuntime.update_runtime_config",
        Wrapped(_first_range_only),
        (
            "cni-kubelet-delegates-to-plugin",
            "cni-default-conf-dir",
            "cni-result-json-returned",
            "ipam-kubelet-assigns-the-ip",
        ),
    ),
    Breakage(
        "init containers are forgotten",
        "kubelet.sync_pod.compute_pod_actions",
        Wrapped(
            lambda compute: (
                lambda pod, *more, **others: compute(
                    {**pod, "spec": {key: value for key, value in pod["spec"].items() if key != "initContainers"}},
                    *more,
                    **others,
                )
            )
        ),
        ("container-start-init-containers-first",),
    ),
    Breakage(
        "post-start hooks are forgotten",
        "kubelet.kuberuntime.kuberuntime_manager.RuntimeManager._post_start",
        eventually(""),
        ("container-start-pull-create-start-order", "lifecycle-hooks-poststart-runs-after-start"),
    ),
    Breakage(
        "mounts, environment and notes are left out of the config",
        f"{CHECKS}.container_start.generate_container_config",
        Wrapped(lambda generate: lambda *arguments, **more: replace(generate(*arguments), mounts=(), annotations={})),
        ("container-start-containerconfig-from-podspec", "lifecycle-hooks-runtime-interprets-hooks"),
    ),
    Breakage(
        "a stop over the socket is not passed on",
        "cri.client.CriClient.stop_container",
        nothing,
        ("cri-decouples-runtimes", "cri-protobuf-over-grpc"),
    ),
    Breakage(
        "a container needs no sandbox",
        "cri.hollow.runtime.HollowRuntime.create_container",
        Wrapped(_creates_anywhere),
        ("cri-runpodsandbox-comes-first",),
    ),
    Breakage(
        "nothing is started",
        "cri.hollow.runtime.HollowRuntime.start_container",
        nothing,
        ("cri-sandbox-is-the-pod-and-may-be-a-vm", "kubelet-sync-agent-on-every-node", "cri-protobuf-over-grpc"),
    ),
    Breakage(
        "there is no hook that sleeps",
        "kubelet.lifecycle.handlers.HookRunner.run",
        Wrapped(_sleeps_badly),
        ("lifecycle-hooks-only-exec-and-http-exist", "lifecycle-hooks-failing-or-hanging-hook-blocks-running"),
    ),
    Breakage(
        "pull secrets are put into the container",
        "kubelet.kuberuntime.kuberuntime_manager.generate_container_config",
        Wrapped(
            lambda generate: (
                lambda *arguments, **more: generate(
                    *arguments, **{**more, "envs": [*(more.get("envs") or ()), ("PULL", "hunter2")]}
                )
            )
        ),
        ("image-pull-secrets-injected-into-container",),
    ),
)
