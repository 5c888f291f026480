"""Whom a change of a pod or a slice concerns; under whose name controllers ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fake_api import FakeAPI

import lifecycle
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.controllers.endpointslice.owned_slices import LABEL_MANAGED_BY, LABEL_SERVICE_NAME, OwnedSlices
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.manager import CONTROLLERS, OWN_IDENTITY
from lifecycle.controllers.owned_pods import OwnedPods


def test_every_controller_asks_under_a_name_that_may_do_its_work() -> None:
    """The API server's first roles are made for these names; the one that makes the others' tokens is the manager itself."""
    policy = json.loads(Path(lifecycle.__file__).with_name("apiserver").joinpath("bootstrap/policy.json").read_text())
    roles = {
        each["metadata"]["name"].removeprefix("system:controller:")
        for each in policy["objects"]
        if each["kind"] == "ClusterRole"
    }
    accounts = {name: account for name, (account, _) in CONTROLLERS.items() if account != OWN_IDENTITY}
    assert {name: account for name, account in accounts.items() if account not in roles} == {}
    assert [name for name in CONTROLLERS if name not in accounts] == ["serviceaccount-token-controller"]
    assert all(name.endswith("-controller") for name in CONTROLLERS)


def owner(name: str = "rs", uid: str = "u", **labels: str) -> Object:
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": uid},
        "spec": {"selector": {"matchLabels": labels or {"app": "web"}}},
    }


def ref(name: str = "rs", uid: str = "u", kind: str = "ReplicaSet") -> Object:
    return {"kind": kind, "name": name, "uid": uid, "controller": True}


def pod(*owners: Object, version: str = "1", going: bool = False, **labels: str) -> Object:
    meta: Object = {"name": "p", "namespace": "ns", "uid": "p", "resourceVersion": version, "labels": labels}
    if owners:
        meta["ownerReferences"] = list(owners)
    if going:
        meta["deletionTimestamp"] = "now"
    return {"metadata": meta, "spec": {}}


class Listening:
    """What a controller of ReplicaSets is told."""

    def __init__(self, *owners: Object, adopts: bool = True) -> None:
        informers = SharedInformerFactory(Client(FakeAPI(), "x/1"))
        sets = informers.informer(resource("replicasets.apps"))
        for each in owners:
            sets.indexer.set(f"ns/{each['metadata']['name']}", each)
        self.keys: list[str] = []
        self.expectations = ControllerExpectations(Clock())
        self.pods = OwnedPods(
            informers,
            sets,
            "ReplicaSet",
            lambda key, pod: self.keys.append(key),
            self.expectations,
            adopts=adopts,
        )

    def added(self, new: Object) -> list[str]:
        self.pods._add(new)
        return self.keys

    def updated(self, old: Object, new: Object) -> list[str]:
        self.pods._update(old, {**new, "metadata": {**new["metadata"], "resourceVersion": "2"}})
        return sorted(self.keys)


def listening(**more: Any) -> Listening:
    return Listening(owner(), owner("other", "o", app="other"), **more)


@pytest.mark.parametrize(
    ("new", "told"),
    [
        (pod(ref(), app="web"), ["ns/rs"]),
        (pod(ref(), app="anything"), ["ns/rs"]),
        (pod(ref(uid="before")), []),  # one of the same name, made again
        (pod(ref(kind="DaemonSet")), []),
        (pod(ref("nobody")), []),
        (pod({**ref(), "controller": False}, app="other"), ["ns/other"]),
        (pod(app="web"), ["ns/rs"]),  # nobody's: who selects it may want it
        (pod(app="stranger"), []),
        (pod(), []),
        (pod(ref(), going=True), ["ns/rs"]),
        (pod(app="web", going=True), []),
    ],
)
def test_a_pod_that_comes(new: Object, told: list[str]) -> None:
    assert listening().added(new) == told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (pod(ref()), pod(ref()), ["ns/rs"]),
        (pod(ref()), pod(ref("other", "o")), ["ns/other", "ns/rs"]),
        (pod(ref()), pod(), ["ns/rs"]),
        (pod(ref(), app="other"), pod(app="other"), ["ns/other", "ns/rs"]),  # let go: somebody else may want it
        (pod(app="web"), pod(app="web"), []),
        (pod(app="stranger"), pod(app="web"), ["ns/rs"]),
        (pod(app="web"), pod(app="stranger"), []),
        (pod(app="web"), pod(ref(), app="web"), ["ns/rs"]),
        (pod(ref()), pod(ref(), going=True), ["ns/rs"]),
    ],
)
def test_a_pod_that_changes(old: Object, new: Object, told: list[str]) -> None:
    assert listening().updated(old, new) == told


def test_a_pod_that_was_seen_as_it_is_concerns_nobody() -> None:
    here = listening()
    here.pods._update(pod(ref()), pod(ref(), going=True))
    assert here.keys == []


def test_who_adopts_nobody_is_not_asked_to() -> None:
    assert listening(adopts=False).added(pod(app="web")) == []


def test_a_pod_that_was_waited_for_is_not_waited_for_any_more() -> None:
    here = listening()
    here.expectations.expect_creations("ns/rs", 1)
    here.added(pod(ref(uid="before")))
    assert not here.expectations.satisfied("ns/rs")
    here.added(pod(ref()))
    assert here.expectations.satisfied("ns/rs")
    here.expectations.expect_deletions("ns/rs", ["ns/p"])
    here.updated(pod(ref()), pod(ref()))
    assert not here.expectations.satisfied("ns/rs")
    here.updated(pod(ref()), pod(ref(), going=True))
    assert here.expectations.satisfied("ns/rs")
    here.expectations.expect_deletions("ns/rs", ["ns/p"])
    here.added(pod(ref(), going=True))
    assert here.expectations.satisfied("ns/rs")


def a_slice(service: str = "web", manager: str = "me", generation: int = 1, uid: str = "s") -> Object:
    labels = {LABEL_SERVICE_NAME: service, LABEL_MANAGED_BY: manager}
    meta = {"name": "s", "namespace": "ns", "uid": uid, "generation": generation}
    return {"metadata": {**meta, "labels": {key: value for key, value in labels.items() if value}}}


def slices() -> tuple[OwnedSlices, list[str]]:
    keys: list[str] = []
    informers = SharedInformerFactory(Client(FakeAPI(), "x/1"))
    return OwnedSlices(informers.informer(resource("endpointslices.discovery.k8s.io")), "me", keys.append), keys


def test_a_slice_that_somebody_else_made_changed_or_took_away_is_looked_at() -> None:
    mine, keys = slices()
    mine._changed(a_slice())
    assert keys == ["ns/web"], "nobody here wrote it"
    mine.tracker.update("ns/web", a_slice(generation=2))
    keys.clear()
    mine._changed(a_slice(generation=2))
    mine._updated(a_slice(), a_slice(generation=2))
    mine._changed(a_slice(generation=1))
    assert keys == [], "as it was written, or older"
    mine._updated(a_slice(generation=2), a_slice(generation=3))
    assert keys == ["ns/web"]
    mine._deleted(a_slice())
    assert keys == ["ns/web"] * 2
    mine.tracker.expect_deletion("ns/web", a_slice())
    mine._deleted(a_slice())
    mine._deleted(a_slice(uid="never written"))
    assert keys == ["ns/web"] * 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (a_slice(), a_slice("other"), ["ns/other", "ns/web"]),
        (a_slice(), a_slice(manager="other"), ["ns/web"]),
        (a_slice(), a_slice(""), ["ns/web"]),
        (a_slice(manager="other"), a_slice(), ["ns/web"]),
        (a_slice(manager="other"), a_slice(manager="other", generation=2), []),
        (a_slice(manager=""), a_slice(""), []),
    ],
)
def test_a_label_makes_a_slice_somebody_elses(old: Object, new: Object, told: list[str]) -> None:
    mine, keys = slices()
    for each in (old, new):
        mine.tracker.update("ns/web", each)  # its generation says nothing
        mine.tracker.update("ns/other", each)
    mine._updated(old, new)
    assert keys == told
