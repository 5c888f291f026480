"""Claims about starting containers: put to recorded events and `crictl inspect`, and to
our own kubelet.
"""

from __future__ import annotations

from lifecycle.agreements.claim_checks.kubelet_status import POD, story
from lifecycle.agreements.cri.container_start import (
    STARTING,
    inspected,
    order_of_events,
)
from lifecycle.agreements.kubelet.kubelet_scene import scene
from lifecycle.agreements.kubelet.pod_status import Played
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare.claims import Partly, check, rebuilt, some
from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.historical.kubelet.dockershim.docker_container import (
    CONTAINER_TYPE,
    LOG_PATH,
    SANDBOX_ID,
    docker_create_config,
)
from lifecycle.inspector import Recording
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.images.image_manager import ImageManager
from lifecycle.kubelet.kubelet_pods.run_container_options import PaperOptions
from lifecycle.kubelet.kuberuntime.container_config import generate_container_config
from lifecycle.kubelet.kuberuntime.kuberuntime_manager import RuntimeManager
from lifecycle.kubelet.kuberuntime.pod_actions import compute_pod_actions

DOCKERSHIM_LABELS = {CONTAINER_TYPE, LOG_PATH, SANDBOX_ID}


def generated_config() -> ContainerConfig:
    """What our kubelet makes of a container with a bit of everything."""
    return generate_container_config(
        {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {}},
        {
            "name": "c",
            "image": "nginx",
            "command": ["$(WHAT)", "-v"],
            "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
        },
        2,
        envs=[("WHAT", "run")],
        mounts=[{"container_path": "/v", "host_path": "/host/v", "readonly": True}],
        resources={"cpu_shares": 102},
    )


def configs(recording: Recording) -> list[Object]:
    """Every recorded container, as `crictl inspect` shows it."""
    return [
        document
        for node in recording.nodes()
        for document in inspected(recording, node)
    ]


@check("container-start-waits-for-ready-sandbox")
def waits_for_sandbox(recording: Recording) -> bool | None:
    """No container of any pod was ever seen with an id before the sandbox had given the
    pod its address.
    """
    played = story(recording)
    if played is None:
        return None
    statuses = [pod["status"] for seen in played.statuses.values() for pod in seen]
    begun = [
        status
        for status in statuses
        if any(
            c.get("containerID")
            for key in ("initContainerStatuses", "containerStatuses")
            for c in status.get(key, ())
        )
    ]
    return bool(begun) and all(status.get("podIP") for status in begun)


async def _nothing_there(plural: str, namespace: str, name: str) -> Object:
    raise LookupError(f'{plural} "{name}" not found')


@rebuilt("container-start-waits-for-ready-sandbox")
def our_wait() -> bool:
    """A runtime whose network is not set up: an event, and no container."""

    async def main() -> bool:
        runtime, events = HollowRuntime(), list[str]()

        def event(
            pod: Object, kind: str, reason: str, message: str, container: str
        ) -> None:
            events.append(reason)

        clock = Clock()
        options = PaperOptions(_nothing_there, "192.0.2.1", {})
        manager = RuntimeManager(
            runtime, clock, ImageManager(runtime, clock), options, event
        )
        actions = compute_pod_actions(POD, PodStatus(), {})
        await manager.sync_pod(POD, PodStatus(), actions)
        return (
            actions.create_sandbox
            and bool(actions.containers_to_start)
            and events == ["FailedCreatePodSandBox"]
            and not await runtime.list_containers()
        )

    return on_virtual_time(main())


NEVER = "~"
"""Later than any time, as text."""


def _ended(status: Object) -> str:
    return str((status["state"].get("terminated") or {}).get("finishedAt", NEVER))


def _began(status: Object) -> str:
    """When it began to run; of one that has ended, too."""
    state = status["state"].get("running") or status["state"].get("terminated") or {}
    return str(state.get("startedAt", NEVER))


@check("container-start-init-containers-first")
def init_first(recording: Recording) -> Partly | None:
    """Two plain ones had ended, one after the other, before the main one began; the
    sidecar ran beside it to the end.
    """
    played = story(recording)
    if played is None:
        return None
    status = played.pods["init"]["status"]
    one, two = status["initContainerStatuses"]
    main = _began(status["containerStatuses"][0])
    in_turn = _ended(one) <= _began(two) <= _ended(two) <= main < NEVER
    beside = [
        pod
        for pod in played.statuses["sidecar"]
        if "running"
        in pod["status"].get("initContainerStatuses", [{"state": {}}])[0]["state"]
        and "running" in pod["status"]["containerStatuses"][0]["state"]
    ]
    return Partly(in_turn, bool(beside))


@rebuilt("container-start-init-containers-first")
def our_init_first() -> Partly:
    """In the order of starts on our node: `one`, `side`, `c`; and `side` still runs
    while `c` does.
    """
    status = scene().pods["init"]["status"]
    one, side = status["initContainerStatuses"]
    main = _began(status["containerStatuses"][0])
    return Partly(
        _ended(one) <= _began(side) <= main < NEVER, "running" in side["state"]
    )


@check("container-start-pull-create-start-order")
def in_order(recording: Recording) -> bool | None:
    """The events of every container that was started, and a hook's failure after
    them.
    """
    played = story(recording)
    if played is None:
        return None
    orders = [
        order
        for order in order_of_events(
            played, {name: name for name in played.pods}
        ).values()
        if "Started" in order
    ]
    return (
        bool(orders)
        and all(order == [r for r in STARTING if r in order] for order in orders)
        and _hook_last(played)
    )


def _hook_last(played: Played) -> bool:
    mine = [
        e for e in played.events if e["involvedObject"]["name"] == "post-start-fails"
    ]
    reasons = [
        e["reason"]
        for e in sorted(
            mine,
            key=lambda e: (e["firstTimestamp"], int(e["metadata"]["resourceVersion"])),
        )
    ]
    return [r for r in reasons if r in ("Started", "FailedPostStartHook")][:2] == [
        "Started",
        "FailedPostStartHook",
    ]


@rebuilt("container-start-pull-create-start-order")
def our_order() -> bool:
    """The calls that our kubelet makes for the container with a hook."""
    calls = scene().calls
    [ours] = [
        p["status"]["containerStatuses"][0]
        for p in scene().pods.values()
        if p["metadata"]["name"] == "plain"
    ]
    container_id = ours["containerID"].partition("://")[2]
    created, started = (
        calls.index(("created", container_id)),
        calls.index(("start_container", container_id)),
    )
    hooks = [i for i, (name, _) in enumerate(calls) if name == "exec_sync"]
    if not hooks:
        return False
    first_hook = calls[hooks[0]][1]
    return created < started and calls.index(("start_container", first_hook)) < hooks[0]


@check("container-start-containerconfig-from-podspec")
def config_from_spec(recording: Recording) -> bool | None:
    """What the runtime had been sent, as it remembers it: the message's fields, filled
    in.
    """
    if not recording.nodes():
        return None
    fields = set().union(
        *(document["info"]["config"].keys() for document in configs(recording))
    )
    return {
        "command",
        "image",
        "labels",
        "mounts",
        "envs",
        "annotations",
        "log_path",
        "linux",
    } <= fields


@rebuilt("container-start-containerconfig-from-podspec")
def our_config() -> bool:
    """The same fields of ours, `$(WHAT)` filled in."""
    config = generated_config()
    return (
        config.command == ("run", "-v")
        and config.labels.get("io.kubernetes.container.name") == "c"
        and [mount["container_path"] for mount in config.mounts] == ["/v"]
        and dict(config.envs) == {"WHAT": "run"}
        and config.log_path == "c/2.log"
    )


@check("container-start-docker-translates-to-daemon-api")
def docker(recording: Recording) -> bool | None:
    """It would have to be Docker; what the nodes show is an OCI spec."""
    return some(
        "ociVersion" not in document["info"]["runtimeSpec"]
        for document in configs(recording)
    )


@rebuilt("container-start-docker-translates-to-daemon-api", model=True)
def dockershim() -> bool:
    """The model of dockershim turns our message into the body of Docker's own call."""
    body = docker_create_config(generated_config(), "sandbox", "/var/log/pods/n_p_u")
    return body["Entrypoint"] == ["run", "-v"] and body["HostConfig"]["Binds"] == [
        "/host/v:/v:ro"
    ]


@check("container-start-metadata-labels-added")
def labels_added(recording: Recording) -> bool | None:
    """Type, log path and sandbox would have to be labels."""
    return some(
        document["info"]["config"]["labels"].keys() & DOCKERSHIM_LABELS
        for document in configs(recording)
    )


@rebuilt("container-start-metadata-labels-added", model=True)
def dockershim_labels() -> bool:
    """All three are added by the model, and none of them by our kubelet."""
    body = docker_create_config(generated_config(), "sandbox", "/var/log/pods/n_p_u")
    return (
        body["Labels"].keys() >= DOCKERSHIM_LABELS
        and not DOCKERSHIM_LABELS & generated_config().labels.keys()
    )
