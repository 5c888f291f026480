"""A model of rules that are gone: the *soft* admission of 1.5 … 1.30.

Beside the handlers that fail a pod for good there were others, asked again at every
sync. A pod they refused was not failed: its containers said `Blocked`, nothing started,
and it stayed `Pending`, for ever unless the node changed. In 1.20 they were three:
AppArmor; `NO_NEW_PRIVS`, which for Docker looked at the version of its API;
`procMount`. The second went with dockershim (1.24), soft admission as a whole in 1.31:
AppArmor's became an ordinary handler.

Upstream at v1.20: `pkg/kubelet/kubelet.go` (`canRunPod`, `syncPod`),
`lifecycle/handlers.go` (`noNewPrivsAdmitHandler`). Nothing else in the package uses
this.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.lifecycle.interfaces import (
    ADMITTED,
    AdmitHandler,
    PodAdmitAttributes,
    PodAdmitResult,
    can_admit_pod,
)

BLOCKED = "Blocked"
DOCKER_WITH_NO_NEW_PRIVS = (1, 23, 0)
"""Docker's API since 1.11."""


def no_new_privs_required(pod: Object) -> bool:
    """Whether a container must not gain privileges. Upstream at v1.20:
    `noNewPrivsRequired`.
    """
    containers = pod["spec"]["containers"]
    return any(
        (c.get("securityContext") or {}).get("allowPrivilegeEscalation") is False
        for c in containers
    )


def no_new_privs_handler(
    runtime: str, api_version: tuple[int, int, int]
) -> AdmitHandler:
    """`runtime`: `docker` or another, which is trusted to know."""

    def admit(attributes: PodAdmitAttributes) -> PodAdmitResult:
        if (
            not no_new_privs_required(attributes.pod)
            or runtime != "docker"
            or api_version >= DOCKER_WITH_NO_NEW_PRIVS
        ):
            return ADMITTED
        docker_version = ".".join(str(number) for number in api_version)
        return PodAdmitResult(
            False,
            "NoNewPrivs",
            f"Cannot enforce NoNewPrivs: docker API version {docker_version} does not "
            "support"
            " NoNewPrivs",
        )

    return admit


def can_run_pod(
    handlers: Iterable[AdmitHandler], attributes: PodAdmitAttributes
) -> PodAdmitResult:
    """Ask the soft handlers, in the same way as those that fail a pod for good."""
    return can_admit_pod(handlers, attributes)


def sync_pod_status(pod: Object, result: PodAdmitResult) -> Object:
    """The status that syncPod stored for a pod so refused: `Pending`, each container
    waiting with `Blocked`.
    """
    if result.admit:
        return {"phase": "Pending"}
    waiting = {"waiting": {"reason": BLOCKED}}
    return {
        "phase": "Pending",
        "message": result.message,
        "reason": result.reason,
        "containerStatuses": [
            {"name": c["name"], "ready": False, "state": waiting}
            for c in pod["spec"]["containers"]
        ],
    }
