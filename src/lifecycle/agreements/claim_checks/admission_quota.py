"""Claims about the plugins that set, bound and count what is asked for:
InitialResources, LimitRanger, ResourceQuota.
"""

from __future__ import annotations

from lifecycle.agreements.apiserver.admission import added, moment
from lifecycle.agreements.claim_checks.admission_plugins import admitted, limits_of
from lifecycle.agreements.claim_checks.admitting import POD, at, pod
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.resource_quota import ResourceQuota, UpdateStatus
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare.claims import check, rebuilt, some
from lifecycle.historical.apiserver.initial_resources import (
    ANNOTATION,
    InitialResources,
)
from lifecycle.inspector import Recording


@rebuilt("admission-initial-resources-plugin", model=True)
def initial_resources() -> bool:
    """The model takes the past usage of the same image."""

    def usage(
        name: str, percentile: int, image: str, namespace: str, exact: bool, days: int
    ) -> tuple[int, int]:
        return (
            ({"cpu": 120, "memory": 50_000_000}[name], 40)
            if image == "nginx" and exact
            else (0, 0)
        )

    known = admitted(InitialResources(usage), pod())
    unknown = admitted(InitialResources(usage), pod(image="other"))
    requests = known["spec"]["containers"][0]["resources"].get("requests")
    return requests == {
        "cpu": "120m",
        "memory": "50000000",
    } and ANNOTATION not in unknown["metadata"].get("annotations", {})


@check("admission-initial-resources-plugin")
def recorded_initial_resources(recording: Recording) -> bool | None:
    """No recorded pod carries the plugin's annotation."""
    answers = [
        each.response
        for each in recording.exchanges("admission")
        if isinstance(each.response, dict)
    ]
    pods = [each for each in answers if each.get("kind") == "Pod"]
    return some(
        ANNOTATION in (each["metadata"].get("annotations") or {}) for each in pods
    )


@check("admission-limitranger-sets-defaults")
def recorded_defaults(recording: Recording) -> bool:
    """A container that asked for nothing got 256 MiB."""
    posted, answered = moment(recording, "LimitRanger defaults")
    resources = dict(added(posted, answered)).get("spec.containers[0].resources") or {}
    return bool((resources.get("limits") or {}).get("memory") == "256Mi")


@rebuilt("admission-limitranger-sets-defaults")
def defaults() -> bool:
    """The articles' 512 MB."""
    filled = admitted(limits_of(default={"memory": "512M"}), pod())
    return bool(
        filled["spec"]["containers"][0]["resources"].get("limits") == {"memory": "512M"}
    )


@check("admission-limitranger-enforces-maximum")
def recorded_maximum(recording: Recording) -> bool:
    """Four CPUs where two are the most."""
    return (
        "maximum cpu usage per Container is 2, but limit is 4"
        in at(recording, "LimitRanger max").response["message"]
    )


@rebuilt("admission-limitranger-enforces-maximum")
def maximum() -> bool:
    """The articles' 2 GB."""
    try:
        limits_of(max={"memory": "2G"}).validate(
            Attributes(
                CREATE,
                POD,
                "",
                "default",
                "p",
                pod(limits={"memory": "3G"}, requests={"memory": "3G"}),
            )
        )
    except StatusError as error:
        return (
            error.code == 403
            and "maximum memory usage per Container is 2G" in error.message
        )
    return False


def quota(hard: Object, used: Object) -> Object:
    """A quota of so much, of which so much is used."""
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default", "resourceVersion": "1"},
        "spec": {"hard": hard},
        "status": {"hard": hard, "used": used},
    }


async def _is_written(_: Object) -> None:
    """A charge that nobody has anything against."""


def refusal(
    hard_and_used: Object, obj: Object, update: UpdateStatus = _is_written
) -> StatusError | None:
    """What a quota says to one pod more; nothing if it pays."""
    plugin = ResourceQuota(StaticReader([hard_and_used]), update)

    async def main() -> StatusError | None:
        try:
            waiting = plugin.validate(Attributes(CREATE, POD, "", "default", "p", obj))
            if waiting is not None:
                await waiting
        except StatusError as error:
            return error
        return None

    return on_a_loop(main())


def _charged(hard: Object, used: Object, obj: Object) -> str:
    """Its words."""
    refused = refusal(quota(hard, used), obj)
    return refused.message if refused is not None else ""


@rebuilt("admission-quota-counts-objects")
def counts_objects() -> bool:
    """Two pods, and then a third."""
    last = _charged({"pods": "2"}, {"pods": "1"}, pod())
    return (
        last == ""
        and "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"
        in _charged({"pods": "2"}, {"pods": "2"}, pod())
    )


@check("admission-quota-limits-compute-and-storage")
def recorded_quota(recording: Recording) -> bool:
    """CPU and memory, by what is declared."""
    return (
        "exceeded quota: rq, requested: limits.memory=2Gi,requests.cpu=600m"
        in at(recording, "quota exceeded").response["message"]
    )


@rebuilt("admission-quota-limits-compute-and-storage")
def quota_of_compute() -> bool:
    """600 thousandths of a CPU do not fit twice into one."""
    small = pod(requests={"cpu": "600m"})
    return _charged(
        {"requests.cpu": "1"}, {"requests.cpu": "0"}, small
    ) == "" and "exceeded quota" in _charged(
        {"requests.cpu": "1"}, {"requests.cpu": "600m"}, small
    )
