"""Which secrets a pull is tried with, and what is said of those that are missing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.kubelet_pods.pull_secrets import get_pull_secrets_for_pod

THERE = ("one", "two", "three")


def _found(*references: Object) -> tuple[list[str], list[str]]:
    """The names of the secrets that a pod in the namespace `shop` gets, and the events."""
    events = list[str]()

    async def get(plural: str, name: str, namespace: str) -> Object:
        assert (plural, namespace) == ("secrets", "shop")
        if name not in THERE:
            raise LookupError(name)
        return {"metadata": {"name": name, "namespace": namespace}}

    def event(kind: str, reason: str, message: str, *_: Any) -> None:
        events.append(f"{kind} {reason} {message}")

    pod = {"metadata": {"name": "p", "namespace": "shop"}, "spec": {"imagePullSecrets": list(references)}}
    secrets = asyncio.run(get_pull_secrets_for_pod(pod, get, event))
    return [secret["metadata"]["name"] for secret in secrets], events


def _missed(names: str) -> str:
    return (
        f"Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets ({names}); attempting to"
        " pull the image may not succeed."
    )


@pytest.mark.parametrize(
    ("names", "found", "events"),
    [
        ("two one", "two one", []),
        ("gone", "", [_missed("gone")]),
        # those behind it are looked for all the same, and all that is missing is said at once, in the pod's order
        ("one gone two lost three", "one two three", [_missed("gone, lost")]),
        ("lost gone", "", [_missed("lost, gone")]),
        ("", "", []),
    ],
)
def test_what_is_missing_is_told_once_and_the_rest_is_used(names: str, found: str, events: list[str]) -> None:
    assert _found(*({"name": name} for name in names.split())) == (found.split(), events)


@pytest.mark.parametrize("reference", [{}, {"name": ""}])
def test_a_reference_without_a_name_means_nothing_and_is_not_missed(reference: Object) -> None:
    assert _found(reference, {"name": "one"}, reference) == (["one"], [])
