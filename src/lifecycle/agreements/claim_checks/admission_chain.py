"""Claims about the chain of admission plugins, and what becomes of a refusal: put to
recorded ones, and to our own chain.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.agreements.apiserver.initializers import Stage
from lifecycle.agreements.claim_checks.admitting import (
    POD,
    Watchman,
    at,
    play,
    pod,
    refusals,
    refused,
    stored,
    use,
)
from lifecycle.api.http.wire import UserInfo
from lifecycle.apiserver.admission.priority import Priority
from lifecycle.client.rest import Client
from lifecycle.compare.claims import check, every, rebuilt
from lifecycle.inspector import Exchange, Recording

BY_AUTHORIZERS = re.compile(r'User "[^"]*" cannot ')
"""How every refusal by an authorizer reads."""


@rebuilt("admission-runs-between-authz-and-storage")
def between() -> bool:
    """Nobody is asked about a stranger's pod; about the administrator's, while it is
    not stored yet.
    """

    async def scene(stage: Stage) -> bool:
        log: list[Any] = []
        use(stage, Watchman("watchman", log, stored=lambda: stored(stage)))
        stranger = Client(
            stage.server.in_process_transport(
                UserInfo("jane", ("system:authenticated",))
            ),
            "test",
        )
        error = await refused(stranger, pod())
        unasked = error is not None and error.code == 403 and not log
        await stage.client.create(POD, pod(), "default")
        return unasked and log == [("watchman", 0)] and stored(stage) == 1

    return bool(play(scene))


@check("admission-runs-between-authz-and-storage")
def recorded_between(recording: Recording) -> bool:
    """After authorization: nobody said that the administrator "cannot" do what was
    refused. Before storage: the deletion of a namespace that admission refused left no
    trace, pods are still made in it; the one that it let pass is felt by the next pod.
    """
    refused = refusals(recording)
    authorized = bool(refused) and not any(
        BY_AUTHORIZERS.search(each.response["message"]) for each in refused
    )
    after = {
        each.status: _later_pod_creations(recording, each)
        for each in recording.exchanges("admission")
        if each.method == "DELETE"
        and each.path.count("/") == 4
        and each.path.startswith("/api/v1/namespaces/")
    }
    return authorized and 201 in after.get(403, set()) and after.get(200) == {403}


def _later_pod_creations(recording: Recording, deletion: Exchange) -> set[int]:
    """How creations of pods were answered after somebody tried to delete their
    namespace.
    """
    path = f"{deletion.path}/pods"
    later = (
        each
        for each in recording.exchanges("admission")
        if each.n > deletion.n and each.method == "POST"
    )
    return {each.status for each in later if each.path.partition("?")[0] == path}


@rebuilt("admission-can-refuse-authorized-request")
def may_refuse() -> bool:
    """Even a member of system:masters, whom no authorizer refuses."""

    async def scene(stage: Stage) -> bool:
        use(stage, Watchman("no", [], refuses=True))
        error = await refused(stage.client, pod())
        return error is not None and error.code == 403

    return bool(play(scene))


@check("admission-can-refuse-authorized-request")
def recorded_refusals(recording: Recording) -> bool:
    """The administrator was refused."""
    return len(refusals(recording)) > 5


@rebuilt("admission-enabled-by-server-flag")
def only_named_ones() -> bool:
    """Without any name given none would run: what PodSecurity, LimitRanger and Priority
    refuse is stored; a name more, and it is not.
    """

    async def scene(stage: Stage) -> bool:
        unheard_of = {
            **pod("none"),
            "spec": {**pod()["spec"], "priorityClassName": "absent"},
        }
        unnamed = await refused(stage.client, unheard_of)
        if unnamed is not None:
            assert "no PriorityClass with name absent" in unnamed.message, (
                "refused by a plugin that nobody named"
            )
            return False
        use(stage, Priority(stage.server.reader))
        unheard_of["metadata"] = {"name": "named"}
        named = await refused(stage.client, unheard_of)
        assert named is not None, "a plugin that is named refuses"
        return True

    return bool(play(scene))


@rebuilt("admission-named-plugins-form-a-chain")
def chain() -> bool:
    """All of them are executed."""

    async def scene(stage: Stage) -> bool:
        log: list[Any] = []
        use(stage, Watchman("one", log), Watchman("two", log))
        await stage.client.create(POD, pod(), "default")
        return sorted(name for name, _ in log) == ["one", "two"]

    return bool(play(scene))


@rebuilt("admission-one-failure-fails-request")
def one_failure() -> bool:
    """The first refusal is the answer, and nobody behind it is asked."""

    async def scene(stage: Stage) -> bool:
        log: list[Any] = []
        use(
            stage,
            Watchman("one", log, refuses=True),
            Watchman("two", log, refuses=True),
        )
        error = await refused(stage.client, pod())
        return (
            error is not None
            and error.message.endswith("one says no")
            and [name for name, _ in log] == ["one"]
        )

    return bool(play(scene))


@check("admission-one-failure-fails-request")
def recorded_one_failure(recording: Recording) -> bool:
    """One plugin's reason is enough."""
    return at(recording, "Priority missing class").status == 403


@check("admission-error-becomes-http-response")
def recorded_statuses(recording: Recording) -> bool | None:
    """Every refusal is a Status with the code of the response."""
    return every(
        each.response["kind"] == "Status" and each.response["code"] == each.status
        for each in refusals(recording)
    )


@rebuilt("admission-error-becomes-http-response")
def status_object() -> bool:
    """The same of ours."""

    async def scene(stage: Stage) -> bool:
        use(stage, Watchman("no", [], refuses=True))
        error = await refused(stage.client, pod())
        return (
            error is not None
            and error.status["kind"] == "Status"
            and error.status["code"] == 403
        )

    return bool(play(scene))


@rebuilt("admission-rejected-object-not-persisted")
def not_stored() -> bool:
    """Nothing is written."""

    async def scene(stage: Stage) -> bool:
        use(stage, Watchman("no", [], refuses=True))
        before = stage.server.store.revision
        await refused(stage.client, pod())
        return stored(stage) == 0 and stage.server.store.revision == before

    return bool(play(scene))
