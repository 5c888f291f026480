"""What might go wrong in programs that are asked directly: a kubelet's admission, cgroups, pulls, CPUs, volumes and rubbish, and an
aggregator."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import pytest

from lifecycle.agreements.apiserver.aggregated_servers import aggregation_agreement
from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.kubelet.configured import configured_agreement
from lifecycle.agreements.kubelet.cpus import cpu_agreement
from lifecycle.agreements.kubelet.evicted_pods import evicted_pods_agreement
from lifecycle.agreements.kubelet.image_collection import image_collection_agreement
from lifecycle.agreements.kubelet.mounted_volumes import volume_agreement
from lifecycle.agreements.kubelet.node_admission import cgroup_agreement, node_admission_agreement
from lifecycle.agreements.kubelet.probed import probe_agreement
from lifecycle.agreements.kubelet.pull_secrets import pull_secrets_agreement
from lifecycle.agreements.kubelet.resized_pods import resized_pods_agreement
from lifecycle.agreements.kubelet.troubled import troubled_agreement
from lifecycle.apiserver.aggregation.availability import PASSED
from lifecycle.kubelet.cm.cpumanager.cpu_assignment import NotEnoughCPUsError
from lifecycle.kubelet.cm.cpumanager.cpu_manager import CPUManager
from lifecycle.kubelet.images.image_manager import ImageError, ImageManager
from lifecycle.kubelet.volume.atomic_writer import AtomicWriter
from lifecycle.kubelet.volume.payloads import VolumeError
from lifecycle.kubelet.volumemanager.volume_manager import VolumeManager
from tests.agreements.sabotages.judged import Answers, Install, IsSpoilt, Judged, Sabotage, called, listed
from tests.claims.broken.breakage import Breakage, Wrapped, afterwards, constant


def by_name(target: str, numbers: Callable[..., int | None], change: Callable[[Any], Any]) -> Install:
    """Spoils results of a function; `numbers(*arguments)` says which row a call is about, if any."""

    def install(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
        def make(original: Any) -> Any:
            @wraps(original)
            def changed(*arguments: Any, **more: Any) -> Any:
                number = numbers(*arguments, **more)
                result = original(*arguments, **more)
                return change(result) if number is not None and spoilt(number) else result

            return changed

        Breakage("", target, Wrapped(make), ()).apply(monkeypatch)

    return install


def tells_twice(reason: str) -> Callable[[Any], Any]:
    """Of an event recorder: what is told for this reason is told twice."""

    def make(real: Any) -> Any:
        def event(self: Any, obj: Any, event_type: str, why: str, message: str, **more: Any) -> None:
            for _ in range(1 + (why == reason)):
                real(self, obj, event_type, why, message, **more)

        return event

    return make


def told_twice(real: Any) -> Any:
    def event(*told: Any) -> None:
        real(*told)
        real(*told)

    return event


def images_told_of_twice(real: Any) -> Any:
    def init(self: Any, runtime: Any, images: Any, now: Any, stats: Any, event: Any, policy: Any = None) -> None:
        def twice(*told: str) -> None:
            event(*told)
            event(*told)

        real(self, runtime, images, now, stats, twice, policy)

    return init


def _admitted_pods() -> list[str]:
    return [each.answer["pod"]["metadata"]["name"] for each in asked(None, "admitted")]


def other_answers(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Refusals in other words; of those who were let in, nobody says that they run, or ended well."""
    names = _admitted_pods()
    by_name(
        "kubelet.allocation.allocation_manager.can_admit_pod",
        lambda _, attributes: names.index(attributes.pod["metadata"]["name"]),
        lambda result: result if result.admit else result._replace(message="no"),
    )(monkeypatch, spoilt)
    by_name(
        "kubelet.kubelet_pods.api_pod_status._phase",
        lambda pod, *_: names.index(pod["metadata"]["name"]),
        lambda phase: {"Running": "Pending", "Succeeded": "Failed"}.get(phase, phase),
    )(monkeypatch, spoilt)


def _boxes() -> list[tuple[bool, str]]:
    """Of each row about a pod: whether there was a limit of processes, and which pod it is."""
    return [
        (each.answer["settings"].get("podPidsLimit", 0) > 0, group.rpartition("/pod")[2])
        for each in asked(None, "cgroups")
        for group in sorted(each.answer["groups"])
        if "/pod" in group
    ]


def other_periods(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    rows = _boxes()
    by_name(
        "kubelet.cm.pod_container_manager.resource_config_for_pod",
        lambda pod, pod_pids_limit=-1, **_: rows.index((pod_pids_limit > 0, pod["metadata"]["name"])),
        lambda config: replace(config, cpu_period=50_000),
    )(monkeypatch, spoilt)


def other_pulls(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some pods hear of their image in other words."""
    names = [each.answer["pod"]["metadata"]["name"] for about in ("shown", "used") for each in asked(None, about)]
    real = ImageManager.ensure_image_exists

    async def ensure_image_exists(self: ImageManager, pod: Any, container: Any, event: Any) -> str:
        if not spoilt(names.index(pod["metadata"]["name"])):
            return await real(self, pod, container, event)
        try:
            return await real(self, pod, container, lambda kind, reason, text: event(kind, reason, f"{text}!"))
        except ImageError as error:
            raise ImageError("Spoilt", error.message) from None

    monkeypatch.setattr(ImageManager, "ensure_image_exists", ensure_image_exists)


def _mounted_once() -> list[str]:
    """Pods whose volumes are looked at only once."""
    [scene] = asked(None, "mounted")
    return [name for name in scene.answer["before"] if name not in scene.answer["after"]]


def closed_to_others(wrong: Callable[[str], bool]) -> Wrapped:
    """Some pods' volumes get another mode; what cannot be mounted is told in another word."""

    def make(real: Any) -> Any:
        async def set_up(self: VolumeManager, pod: Any, volume: Any) -> None:
            if not wrong(pod["metadata"]["name"]):
                await real(self, pod, volume)
                return
            try:
                await real(self, pod, volume)
            except (VolumeError, OSError, ValueError) as error:
                raise VolumeError(f"{error}!") from None
            self.mounted[pod["metadata"]["uid"]][volume["name"]].path.chmod(0o711)

        return set_up

    return Wrapped(make)


def other_volumes(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    names = _mounted_once()
    wrong = closed_to_others(lambda name: name in names and spoilt(names.index(name)))
    Breakage("", "kubelet.volumemanager.volume_manager.VolumeManager._set_up", wrong, ()).apply(monkeypatch)


def written_once(real: Any) -> Any:
    def write(self: AtomicWriter, files: Any, *more: Any) -> Any:
        return real(self, files, *more) if not any(self.target.iterdir()) else None

    return write


def other_findings(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some servers are missing for another reason."""
    names = [each.answer["name"] for each in asked(None, "aggregated")]
    by_name(
        "apiserver.aggregation.availability.check_service",
        lambda _, api_service: names.index(api_service["metadata"]["name"]),
        lambda finding: finding._replace(message="gone fishing"),
    )(monkeypatch, spoilt)


def other_entries(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Of some pods the containers are never called ready, or always, if they are not."""
    names = [each.answer["pod"]["metadata"]["name"] for each in asked(None, "probed")]

    def make(real: Any) -> Any:
        def generate(pod: Any, *more: Any) -> Any:
            status = real(pod, *more)
            if not spoilt(names.index(pod["metadata"]["name"])):
                return status
            turned = [{**each, "ready": not each["ready"]} for each in status["containerStatuses"]]
            return {**status, "containerStatuses": turned}

        return generate

    Breakage("", "kubelet.sync_pod.generate_api_pod_status", Wrapped(make), ()).apply(monkeypatch)


def all_alike(real: Any) -> Any:
    """A ranking that knows no priorities."""

    def rank(pods: Any, usages: Any, resource: str) -> Any:
        given = {pod["metadata"]["name"]: pod for pod in pods}
        plain = [{**pod, "spec": {**pod["spec"], "priority": 0}} for pod in given.values()]
        return [given[pod["metadata"]["name"]] for pod in real(plain, usages, resource)]

    return rank


def in_other_words(real: Any) -> Any:
    return lambda self, kind, reason, message: real(self, kind, reason, f"{message}!")


BOTH = "two kubelets were asked, set up differently"


def tells_nobody(_: Any) -> Any:
    async def reconcile_state(self: CPUManager) -> list[tuple[str, str]]:
        self.remove_stale_state()
        return []

    return reconcile_state


EVICTED = tuple(rf"\| {name}$" for name, each in asked(None, "evicted")[0].answer["after"].items() if each["turn"])
STARTED = tuple(
    f"^{re.escape(each.question.partition('/')[2])} \\| {re.escape(step['what'])}$"
    for each in asked(None, "resized")
    for step in each.answer["steps"]
    if any(" ResizeStarted: " in text for text in step["after"]["events"])
)
NOT_ENOUGH = tuple(
    f"{re.escape(each.question.partition('/')[2])}$"
    for each in asked(None, "collected")
    if each.answer["after"]["said"]
)
JUDGED = (
    Judged(
        "troubled_agreement",
        troubled_agreement,
        sabotages=(
            Sabotage(
                "the runtime's words come with those of gRPC before them",
                "cri.apis.errors.RuntimeServiceError.message",
                property(str),
                ("no-container", "no-start", "two-of"),
                because="each of these containers fails at the runtime",
            ),
            Sabotage(
                "failures are told twice",
                "client.events.EventRecorder.event",
                Wrapped(tells_twice("Failed")),
                ("no-container", "no-start", "two-of"),
                because="each of these containers fails at the runtime",
            ),
        ),
        answers=(
            Answers(
                "what is seen of it",
                "",
                called("agreements.kubelet.troubled.told", lambda seen, *_: {**seen, "phase": "Spoilt"}),
            ),
        ),
    ),
    Judged(
        "resized_pods_agreement",
        resized_pods_agreement,
        sabotages=(
            Sabotage(
                "who has waited longest is first",
                "kubelet.allocation.allocation_manager.AllocationManager._order",
                constant((False, 0, False, "")),
                ("filler goes$", "first goes$"),
                because="two pods wait for the same room, and the later one counts for more",
            ),
            Sabotage(
                "what begins is told twice",
                "client.events.EventRecorder.event",
                Wrapped(tells_twice("ResizeStarted")),
                STARTED,
                because="each of these steps begins a resize",
            ),
        ),
        answers=(
            Answers(
                "what is so after each step",
                "",
                called("agreements.kubelet.resized_pods.after", lambda after, *_: {**after, "told": {"spoilt": {}}}),
            ),
        ),
    ),
    Judged(
        "evicted_pods_agreement",
        evicted_pods_agreement,
        sabotages=(
            Sabotage(
                "priorities count for nothing",
                "kubelet.eviction.eviction_manager.rank",
                Wrapped(all_alike),
                (r"\| (asks-for-nothing|within|important|unimportant|unimportant-within|exactly-what-it-asks)$",),
                because="who counts for more or less than others goes at another time, and others in between",
            ),
            Sabotage(
                "too little of another resource",
                "agreements.kubelet.evicted_pods._Telling.node_event",
                Wrapped(in_other_words),
                ("of the node$",),
            ),
            Sabotage(
                "that a pod is evicted is told twice",
                "agreements.kubelet.evicted_pods._Telling.pod_event",
                Wrapped(told_twice),
                EVICTED,
                because="each of these pods is evicted",
            ),
        ),
        answers=(
            Answers(
                "what becomes of each pod",
                r"eviction \|",
                called(
                    "agreements.kubelet.evicted_pods.after", lambda after, *_: {**after, "turn": after["turn"] + 100}
                ),
            ),
        ),
    ),
    Judged(
        "probe_agreement",
        probe_agreement,
        sabotages=(
            Sabotage(
                "each no is told twice",
                "client.events.EventRecorder.event",
                Wrapped(tells_twice("Unhealthy")),
                (r"\| (never-ready|ready-after-four|two-noes|six-noes|one-no|three-yeses|stuck|late|never-begun)",),
                because="the probe of each of these containers says no at some time",
            ),
            Sabotage(
                "each end is told twice",
                "client.events.EventRecorder.event",
                Wrapped(tells_twice("Killing")),
                (r"\| (stuck|stuck-at-once|never-begun)$",),
                because="each of these containers is ended",
            ),
        ),
        answers=(Answers("who is called ready", "", other_entries),),
    ),
    Judged(
        "aggregation_agreement",
        aggregation_agreement,
        sabotages=(
            Sabotage(
                "whoever is not there is asked all the same",
                "apiserver.aggregation.availability.check_service",
                constant(PASSED),
                (".",),
                because="one function looks at all of them",
            ),
        ),
        answers=(Answers("why it is not there", "", other_findings),),
    ),
    Judged(
        "image_collection_agreement",
        image_collection_agreement,
        sabotages=(
            Sabotage(
                "down to the upper mark is enough",
                "kubelet.images.image_gc_manager.amount_to_free",
                afterwards(lambda amount, stats, policy: amount and 1),
                (
                    "exactly at",
                    "none either",
                    "some are",
                    "used and",
                    "above",
                    "brim",
                    "formerly",
                    "four are",
                    "some have",
                ),
                because="each of these disks is above its mark, and has more than one image that may go",
            ),
            Sabotage(
                "that it was not enough is told twice",
                "kubelet.images.image_gc_manager.ImageGCManager.__init__",
                Wrapped(images_told_of_twice),
                NOT_ENOUGH,
                because="on each of these disks it is not enough",
            ),
        ),
        answers=(
            Answers(
                "what goes",
                "",
                called(
                    "agreements.kubelet.image_collection.after",
                    lambda after, *_: {**after, "removed": after["removed"] + 1},
                ),
            ),
        ),
    ),
    Judged(
        "volume_agreement",
        volume_agreement,
        sabotages=(
            Sabotage(
                "what has changed is not written again",
                "kubelet.volume.atomic_writer.AtomicWriter.write",
                Wrapped(written_once),
                (r"after \| (?!empty|optional|fields|limits|config-map-(item-mode|immutable))",),
                because="six volumes change",
            ),
            Sabotage(
                "nobody may look into a volume",
                "kubelet.volumemanager.volume_manager.VolumeManager._set_up",
                closed_to_others(lambda name: True),
                (".",),
                because="one function makes them all",
            ),
        ),
        answers=(
            Answers(
                "what becomes of each volume",
                rf"before \| (?!({'|'.join(asked(None, 'mounted')[0].answer['after'])})$)",
                other_volumes,
            ),
        ),
    ),
    Judged(
        "cpu_agreement",
        cpu_agreement,
        sabotages=(
            Sabotage(
                "another policy",
                "kubelet.cm.cpumanager.policy_static.StaticPolicy.name",
                "dynamic",
                (".",),
                because="each row compares the whole state file",
            ),
            Sabotage(
                "those who share are not told",
                "kubelet.cm.cpumanager.cpu_manager.CPUManager.reconcile_state",
                Wrapped(tells_nobody),
                (
                    r"two sockets \| (?!shares)",
                    r"whole cores only \| (?!shares|one)",
                    r"one thread in each core \| (?!shares)",
                    r"nobody on what is reserved \| (?!shares)",
                    r"more than one, and not whole \| (two|a-thousandth-more|own-and)",
                ),
                because="from the first pod on that has CPUs of its own the others run elsewhere",
            ),
            Sabotage(
                "who has gone keeps its CPUs",
                "kubelet.cm.cpumanager.cpu_manager.CPUManager.remove_stale_state",
                constant(None),
                (
                    "goes$",
                    r"two sockets \| (three|five)",
                    r"whole cores only \| (four|two-more)",
                    r"one thread in each core \| (one-of-two|four)",
                    "four-again",
                ),
                because="those who come later find them taken",
            ),
            Sabotage(
                "no CPUs in a new container's config",
                "kubelet.cm.cpumanager.cpu_manager.CPUManager.pre_create_container",
                lambda self, pod, container, resources: resources,
                (".",),
                because="each row tells of all containers that run",
            ),
            Sabotage(
                "half cores will do",
                "kubelet.cm.cpumanager.policy_static.SMTAlignmentError",
                NotEnoughCPUsError,
                (r"whole cores only \| (one|three) comes",),
                because="two pods ask for half a core",
            ),
        ),
    ),
    Judged(
        "pull_secrets_agreement",
        pull_secrets_agreement,
        sabotages=(
            Sabotage(
                "the least specific first",
                "kubelet.images.credentials.Keyring.lookup",
                afterwards(lambda credentials, *_: credentials[::-1]),
                (
                    "specific first",
                    "another image",
                    "versions",
                    "hub and path",
                    "secrets, ",
                    "other way",
                    "is missing",
                    r"used \| right$",
                ),
                because="each of these images has several entries that fit",
            ),
            Sabotage(
                "whatever is here is everybody's",
                "kubelet.images.image_pull_manager.PullRecords.must_attempt_image_pull",
                constant(False),
                ("later, without", "later, wrong", "later, never$", "later, words that nobody"),
                because="each of these pods comes later, and may not use what is here",
            ),
        ),
        answers=(Answers("what becomes of each pod's image", "", other_pulls),),
    ),
    Judged(
        "configured_agreement",
        configured_agreement,
        answers=(
            Answers(
                "what the runtime is told",
                "",
                listed("agreements.kubelet.configured.our_configs", lambda told: {**told, "spoilt": True}),
            ),
        ),
    ),
    Judged(
        "node_admission_agreement",
        node_admission_agreement,
        answers=(Answers("what becomes of each pod", "", other_answers),),
    ),
    Judged(
        "cgroup_agreement",
        cgroup_agreement,
        sabotages=(
            Sabotage(
                "all pods together may have twice as much",
                "kubelet.cm.qos_container_manager.node_cgroup_config",
                afterwards(lambda config, *_: replace(config, memory=2 * config.memory)),
                (": kubepods$",),
                because=BOTH,
            ),
            Sabotage(
                "a class has no weight of its own",
                "kubelet.cm.qos_container_manager.total_cpu_request",
                constant(0),
                (": kubepods/burstable$",),
                because=BOTH,
            ),
            Sabotage(
                "those who asked for nothing weigh more",
                "kubelet.cm.qos_container_manager.MIN_SHARES",
                3,
                (": kubepods/besteffort$",),
                because=BOTH,
            ),
        ),
        answers=(Answers("what the kernel is told of a pod", "/pod", other_periods),),
    ),
)
