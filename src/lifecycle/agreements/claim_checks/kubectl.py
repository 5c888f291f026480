"""Claims about kubectl's validation and generators, put to what recorded kubectls
printed.

The evidence is `kubectl/dry-run/*.txt`: lines of `create` and `run` with what
`--dry-run=client -o json` made of them. Claims about requests that no recording shows
(manifests, `apply`, `--record`, the strategies of a dry run) have no check here.
"""

from __future__ import annotations

from typing import Any

from lifecycle.compare.claims import Partly, check
from lifecycle.inspector import Recording
from lifecycle.inspector.transcript import Transcript, parse_transcript

CONTROLLERS = {
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Job",
    "CronJob",
    "Pod",
}


def printed(recording: Recording, name: str) -> Transcript:
    """A recorded line of `create` or `run`."""
    return parse_transcript(recording.kubectl(f"dry-run/{name}"))


def created_objects(recording: Recording, name: str) -> list[Any]:
    """The objects that a recorded line made; none if it was refused."""
    return printed(recording, name).objects


def kinds(recording: Recording, *names: str) -> set[str]:
    """The kinds of all objects that some lines made."""
    return {obj["kind"] for name in names for obj in created_objects(recording, name)}


def _refused_locally(recording: Recording, name: str) -> bool:
    """A refusal that is kubectl's own: a server's would be announced as `Error from
    server`, or as an invalid object.
    """
    answer = printed(recording, name)
    return (
        answer.code == 1
        and not answer.objects
        and "from server" not in answer.err
        and "is invalid" not in answer.err
    )


@check("client-validation-fail-fast-without-request")
def fail_fast(recording: Recording) -> bool:
    """An impossible image, an impossible restart policy, and a flag without its
    companion are refused by kubectl itself.
    """
    return all(
        _refused_locally(recording, name)
        for name in ("run-bad-image", "run-bad-restart", "run-expose-no-port")
    )


@check("client-validation-malformed-image-name-rejected")
def malformed_image(recording: Recording) -> Partly:
    """`run` refuses it; `create deployment`, of which the claim speaks, does not."""
    return Partly(
        _refused_locally(recording, "run-bad-image"),
        not _refused_locally(recording, "create-deployment-bad-image"),
    )


@check("client-validation-run-name-is-optional")
def name_is_optional(recording: Recording) -> bool:
    """The opening command as printed. (1.36 stumbles over `--replicas` before it can
    miss the name.)
    """
    return printed(recording, "run-seed").code == 0


@check("client-validation-run-replicas-flag")
def run_replicas(recording: Recording) -> bool:
    """Some object with three replicas would have to come out."""
    return any(
        obj["spec"].get("replicas") == 3
        for obj in created_objects(recording, "run-seed")
    )


@check("client-validation-create-deployment-replicas-flag")
def create_replicas(recording: Recording) -> bool:
    """A Deployment, three replicas."""
    return [
        (obj["kind"], obj["spec"]["replicas"])
        for obj in created_objects(recording, "create-deployment")
    ] == [("Deployment", 3)]


@check("client-validation-printed-create-command-parses")
def fused_command(recording: Recording) -> bool:
    """A name and its flag run together are one word, so no image is given: exactly this
    line.
    """
    return printed(recording, "create-deployment-no-image").code == 0


@check("generators-run-creates-several-kinds")
def several_kinds(recording: Recording) -> bool | None:
    """All workloads that any recorded `run` made."""
    names = (
        "run-pod",
        "run-onfailure",
        "run-pod-never",
        "run-args",
        "run-command",
        "run-generator",
        "run-expose",
    )
    workload_kinds = kinds(recording, *names) & CONTROLLERS
    return len(workload_kinds) > 1 if workload_kinds else None


@check("generators-generator-flag-selects-kind")
def generator_flag(recording: Recording) -> bool:
    """`--generator=deployment/apps.v1` would have to make a Deployment."""
    return kinds(recording, "run-generator") == {"Deployment"}


@check("generators-kind-inferred-when-unspecified")
def kind_inferred(recording: Recording) -> bool | None:
    """Three restart policies would have to make different kinds."""
    created_kinds = kinds(recording, "run-pod", "run-onfailure", "run-pod-never")
    return len(created_kinds) > 1 if created_kinds else None


@check("generators-restart-policy-always-is-deployment")
def always_is_deployment(recording: Recording) -> bool | None:
    """`run` without `--restart` means Always."""
    created_kinds = kinds(recording, "run-pod")
    return created_kinds == {"Deployment"} if created_kinds else None


@check("generators-restart-policy-never-is-pod")
def never_is_pod(recording: Recording) -> bool | None:
    """A Pod *because of* the policy: under another policy it would have to be something
    else.
    """
    never, always = kinds(recording, "run-pod-never"), kinds(recording, "run-pod")
    return never == {"Pod"} != always if never and always else None


@check("generators-expose-adds-service-object")
def expose_adds_service(recording: Recording) -> bool:
    """A Service whose selector finds the Pod made with it."""
    objects = {obj["kind"]: obj for obj in created_objects(recording, "run-expose")}
    return (
        objects["Service"]["spec"]["selector"] == objects["Pod"]["metadata"]["labels"]
    )


@check("generators-deployment-apps-v1-generator")
def deployment_generator(recording: Recording) -> bool:
    """Asked for by its name, the generator would have to make a Deployment."""
    return "Deployment" in kinds(recording, "run-generator")
