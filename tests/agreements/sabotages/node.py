"""What might go wrong on a node: in the kubelet and in the runtime."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lifecycle.agreements.cri.container_end import END, SECONDS, STEPS, container_end_agreement
from lifecycle.agreements.cri.container_end import EVENTS as END_EVENTS
from lifecycle.agreements.cri.container_runtime import container_runtime_agreement
from lifecycle.agreements.cri.container_start import container_start_agreement
from lifecycle.agreements.kubelet.pleg import HEALTH, REMOVED, STARTED, pleg_agreement
from lifecycle.agreements.kubelet.pod_status import EVENTS, LOGS, PHASES, STATES, pod_status_agreement
from lifecycle.agreements.kubelet.pod_sync import MOUNTS, pod_sync_agreement
from tests.agreements.sabotages.asked_kubelet import tells_twice
from tests.agreements.sabotages.judged import Answers, Judged, Sabotage, called, opened
from tests.claims.broken.breakage import Wrapped, afterwards, beforehand, constant

ALL_NODES = "one function makes the configs of all nodes"


def without_message(condition: Any, *_: Any) -> Any:
    return {key: value for key, value in condition.items() if key != "message"}


def silent_about(reason: str) -> Any:
    """A recorder that does not tell of one thing."""

    def make(real: Any) -> Any:
        def event(self: Any, obj: Any, event_type: str, told: str, message: str, **more: Any) -> None:
            if told != reason:
                real(self, obj, event_type, told, message, **more)

        return event

    return make


def readable_by_all(writer: Any, files: Any, *more: Any) -> Any:
    """Whatever mode was asked for."""
    return writer, {name: replace(file, mode=0o777) for name, file in files.items()}, *more


def without(kind: str) -> Wrapped:
    return afterwards(lambda events, *_: [event for event in events if event.type != kind])


JUDGED = (
    Judged(
        "container_end_agreement",
        lambda: container_end_agreement(opened()),
        sabotages=(
            Sabotage(
                "what was killed has succeeded",
                "kubelet.kubelet_pods.api_pod_status.get_phase",
                afterwards(lambda phase, *_: "Succeeded" if phase == "Failed" else phase),
                (f"{STEPS}$",),
            ),
            Sabotage(
                "it ended for another reason",
                "kubelet.kubelet_pods.container_statuses._terminated",
                afterwards(lambda state, *_: {"terminated": {**state["terminated"], "reason": "Spoilt"}}),
                (f"{END}$",),
            ),
            Sabotage(
                "what the hook took is given back",
                "kubelet.kuberuntime.container_killer.ContainerKiller._pre_stop",
                afterwards(lambda seconds, *_: -seconds),
                (f"{SECONDS}$",),
            ),
            Sabotage(
                "nobody hears of it",
                "client.events.EventRecorder.event",
                Wrapped(silent_about("Killing")),
                (f"{END_EVENTS}$",),
            ),
        ),
    ),
    Judged(
        "pleg_agreement",
        lambda: pleg_agreement(opened()),
        sabotages=(
            Sabotage(
                "starts are not seen",
                "kubelet.pleg.generic.generate_events",
                without(STARTED),
                (r"^containers \|",),
                because="each pod has a sandbox that started",
            ),
            Sabotage(
                "removals are not seen",
                "kubelet.pleg.generic.generate_events",
                without(REMOVED),
                ("init-fails$", "sidecar", "crashloop", "liveness-fails", "post-start-fails", "post-start-http"),
                because="one function tells of all of them",
            ),
            Sabotage(
                "a pause of a second is too long",
                "kubelet.pleg.generic.GenericPLEG.healthy",
                constant("pleg was last seen active 1s ago; threshold is 0m0s"),
                (f"{HEALTH}$",),
            ),
        ),
    ),
    Judged(
        "container_runtime_agreement",
        lambda: container_runtime_agreement(opened()),
        answers=(
            Answers(
                "what becomes of a pause container",
                "pause of",
                called("agreements.cri.container_runtime.sandbox_spec", lambda spec, *_: {**spec, "hostname": "other"}),
            ),
            Answers(
                "configs, sent and received",
                "config of",
                called("cri.translate.sandbox_config", lambda config, *_: {**config, "hostname": "other"}),
            ),
            Answers(
                "what becomes of a container",
                r"\| container ",
                called(
                    "agreements.cri.container_runtime.container_spec",
                    lambda spec, *_: {**spec, "ociVersion": "0.9"},
                ),
            ),
        ),
    ),
    Judged(
        "container_start_agreement",
        lambda: container_start_agreement(opened()),
        sabotages=(
            Sabotage(
                "no limits",
                "agreements.cri.container_start.linux_container_resources",
                constant({}),
                ("ContainerConfig of what runs",),
                because=ALL_NODES,
            ),
            Sabotage(
                "nobody hears of pulled images",
                "client.events.EventRecorder.event",
                Wrapped(silent_about("Pulled")),
                ("Pulling, Pulled, Created, Started",),
            ),
            Sabotage(
                "what has ended was started at the end of time",
                "kubelet.kubelet_pods.container_statuses._terminated",
                afterwards(
                    lambda state, *_: {"terminated": {**state["terminated"], "startedAt": "2999-01-01T00:00:00Z"}}
                ),
                ("init containers before the others",),
            ),
        ),
    ),
    Judged(
        "pod_status_agreement",
        lambda: pod_status_agreement(opened()),
        sabotages=(
            Sabotage(
                "the phase is told at once",
                "agreements.kubelet.pod_status.merge_pod_status",
                lambda old, new, running: new,
                ("the phase that each recorded status calls for",),
            ),
            Sabotage(
                "conditions without a message",
                "agreements.kubelet.pod_status.containers_ready",
                afterwards(without_message),
                ("its conditions",),
            ),
            Sabotage(
                "what succeeded has failed",
                "kubelet.kubelet_pods.api_pod_status.get_phase",
                afterwards(lambda phase, *_: "Failed" if phase == "Succeeded" else phase),
                ("phase of each pod in the end", PHASES, "conditions in the end"),
                because="how it ended is also the last phase on the way, and the reason of its conditions",
            ),
            Sabotage(
                "containers end for another reason",
                "kubelet.kubelet_pods.container_statuses._terminated",
                afterwards(lambda state, *_: {"terminated": {**state["terminated"], "reason": "Spoilt"}}),
                (STATES,),
            ),
            Sabotage(
                "conditions of the played pods have no reason",
                "kubelet.kubelet_pods.api_pod_status.initialized",
                afterwards(lambda condition, *_: {**condition, "message": "spoilt"}),
                ("conditions in the end",),
            ),
            Sabotage(
                "starts are told twice",
                "client.events.EventRecorder.event",
                Wrapped(tells_twice("Started")),
                (EVENTS,),
            ),
            Sabotage(
                "nobody says as whom a container runs",
                "kubelet.kubelet_pods.container_statuses._user",
                constant({}),
                (STATES,),
            ),
            Sabotage(
                "nobody hears of starts",
                "client.events.EventRecorder.event",
                Wrapped(silent_about("Started")),
                (EVENTS,),
            ),
            Sabotage(
                "a variable more for everybody",
                "cri.hollow.containers.HollowContainers._environment",
                afterwards(lambda envs, *_: {**envs, "SPOILT": "1"}),
                (LOGS,),
            ),
        ),
    ),
    Judged(
        "pod_sync_agreement",
        lambda: pod_sync_agreement(opened()),
        sabotages=(
            Sabotage(
                "shares of nobody's CPU",
                "kubelet.cm.resource_config.milli_cpu_to_shares",
                constant(1024),
                ("cgroups",),
            ),
            Sabotage(
                "nothing is mounted read-only",
                "kubelet.volumemanager.volume_manager.READ_ONLY_PLUGINS",
                set(),
                (MOUNTS,),
            ),
            Sabotage(
                "everybody may be killed first",
                "kubelet.kuberuntime.container_resources.oom_score_adjust",
                constant(0),
                ("limits",),
            ),
            Sabotage(
                "a tmpfs as large as the machine's memory",
                "kubelet.volume.empty_dir.memory_size",
                lambda pod, limit, memory: memory,
                ("size of each tmpfs",),
            ),
            Sabotage(
                "another name for the file that says that a volume is ready",
                "kubelet.volume.empty_dir.READY_FILE",
                "steady",
                ("every path below",),
            ),
            Sabotage(
                "nobody is told of Services",
                "kubelet.kubelet_pods.environment.from_services",
                constant({}),
                ("environment",),
            ),
            Sabotage(
                "another hosts file",
                "kubelet.kubelet_pods.hosts_file.managed_hosts_file",
                afterwards(lambda text, *_: f"{text}# spoilt\n"),
                ("/etc/hosts",),
            ),
            Sabotage(
                "everybody may read everything",
                "kubelet.volume.atomic_writer.AtomicWriter.write",
                beforehand(readable_by_all),
                ("one volume of each kind",),
            ),
        ),
    ),
)
