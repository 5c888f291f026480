"""Endpoints: is a pod behind its Service, and in what condition?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from lifecycle.api.http.wire import Object
from lifecycle.controllers.endpointslice.pod_endpoints import pod_to_endpoint
from lifecycle.controllers.service_pods import should_pod_be_in_endpoints
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
endpoint(pod, publish_not_ready) -> dict or None

pod:               a Pod as the API shows it, which the Service selects.
publish_not_ready: the Service's publishNotReadyAddresses.
Returns {"ready": bool, "serving": bool, "terminating": bool}, or None for a pod that
has no endpoint."""

STARTER = '''\
def endpoint(pod, publish_not_ready):
    """The three conditions of a pod's endpoint."""
    running = pod["status"].get("phase") == "Running"
    return {"ready": running, "serving": running, "terminating": False}
'''

PHASES = ("Pending", "Running", "Failed", "Succeeded", "Unknown")
READINESS = ("True", "False", "Unknown", "")
ADDRESSES = ("10.244.1.2", "")


def cases() -> Iterator[Case]:
    """Every combination of what counts, and the recorded pods."""
    for phase, ready, leaving, address, publish in product(
        PHASES, READINESS, (False, True), ADDRESSES, (False, True)
    ):
        words = (
            phase,
            f"Ready {ready or 'unsaid'}",
            "leaving" if leaving else "",
            address or "no address",
            "published" if publish else "",
        )
        pod = _pod(phase, ready, leaving, address)
        yield _case("made up", ", ".join(filter(None, words)), pod, publish)
    recording = open_recording()
    seen: set[str] = set()
    for exchange in recording.exchanges("services"):
        if exchange.method != "GET" or not exchange.path.endswith("/svc/pods"):
            continue
        for pod in exchange.response["items"]:
            meta = pod["metadata"]
            label = f"{meta['name']} at {meta['resourceVersion']}"
            if label not in seen:
                seen.add(label)
                for publish in (False, True):
                    more = ", published" if publish else ""
                    yield _case("recorded pods", label + more, pod, publish)


def _pod(phase: str, ready: str, leaving: bool, address: str) -> Object:
    status: Object = {"phase": phase}
    if ready:
        status["conditions"] = [{"type": "Ready", "status": ready}]
    if address:
        status |= {"podIP": address, "podIPs": [{"ip": address}]}
    meta: Object = {"name": "p", "namespace": "shop", "uid": "u"}
    if leaving:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": meta, "spec": {"nodeName": "n1"}, "status": status}


def _case(group: str, label: str, pod: Object, publish: bool) -> Case:
    ask: Callable[[Attempt], object] = lambda attempt: attempt(pod, publish)  # noqa: E731
    question = {"pod": pod, "publish_not_ready": publish}
    return Case(group, label, _ours(pod, publish), ask, pod, question)


def _ours(pod: Object, publish_not_ready: bool) -> Object | None:
    if not should_pod_be_in_endpoints(pod, include_terminating=True):
        return None
    service = {
        "metadata": {"name": "s", "namespace": pod["metadata"]["namespace"]},
        "spec": {"publishNotReadyAddresses": publish_not_ready},
    }
    conditions: Object = pod_to_endpoint(pod, None, service, "IPv4")["conditions"]
    return conditions


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "endpoint-conditions",
    "A pod behind a Service",
    CONTRACT,
    STARTER,
    "the book's own, which writes the recorded slices",
    cases,
    ours,
    ("services", "endpoints"),
)
