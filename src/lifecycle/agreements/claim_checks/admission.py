"""Claims about admission, put to recorded refusals and completions, and to our own
chain.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any

from lifecycle.agreements.admission import added, moment
from lifecycle.agreements.claim_checks.logged import logged
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.agreements.claim_checks.second_round import (
    there_is_a_second_round_and_no_third,
)
from lifecycle.agreements.initializers import Stage, with_initializers
from lifecycle.api.late_import import LibraryMissingError
from lifecycle.api.resources import resource
from lifecycle.api.status import PanicError, StatusError, internal_error
from lifecycle.api.wire import Object, Request, Response, UserInfo
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.apiserver.admission.limit_ranger import LimitRanger
from lifecycle.apiserver.admission.pod_security import PodSecurity
from lifecycle.apiserver.admission.priority import Priority
from lifecycle.apiserver.filters.panic_recovery import MESSAGE, with_panic_recovery
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.client.rest import Client
from lifecycle.compare.claims import Partly, check, every, rebuilt
from lifecycle.inspector import Exchange, Recording

POD = resource("pods")
BY_AUTHORIZERS = re.compile(r'User "[^"]*" cannot ')
"""How every refusal by an authorizer reads."""
POLICIES = resource("validatingadmissionpolicies.admissionregistration.k8s.io")
BINDINGS = resource("validatingadmissionpolicybindings.admissionregistration.k8s.io")


def refusals(recording: Recording) -> list[Exchange]:
    """What admission refused the recorded administrator."""
    return [
        each
        for each in recording.exchanges("admission")
        if each.moment and each.status == 403 and each.identity == "admin"
    ]


def at(recording: Recording, name: str) -> Exchange:
    """The exchange of a moment."""
    return next(
        each for each in recording.exchanges("admission") if each.moment == name
    )


def pod(name: str = "p", image: str = "nginx", **resources: Object) -> Object:
    """A pod of one container."""
    container: Object = {"name": "c", "image": image, "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container]},
    }


class _Watchman(Plugin):
    """Notes that it was asked, and what was stored at that moment."""

    resources = PODS

    def __init__(
        self,
        name: str,
        log: list[Any],
        refuses: bool = False,
        stored: Callable[[], int] | None = None,
    ) -> None:
        self.name, self._log, self._refuses, self._stored = name, log, refuses, stored

    def validate(self, attributes: Attributes) -> None:
        """Refuse, if that is what it is for."""
        self._log.append((self.name, self._stored() if self._stored is not None else 0))
        if self._refuses:
            raise attributes.forbidden(f"{self.name} says no")


async def _refused(client: Client, obj: Object) -> StatusError | None:
    try:
        await client.create(POD, obj, "default")
    except StatusError as error:
        return error
    return None


def _play(scene: Callable[[Stage], Awaitable[Any]]) -> Any:
    return with_initializers(scene, {}, gate=False)


def _with(stage: Stage, *plugins: Plugin) -> None:
    chain = stage.server.config.admission
    chain.use([*chain.plugins, *plugins])


def _stored(stage: Stage) -> int:
    return len(stage.server.reader.list(POD, "default"))


@rebuilt("admission-runs-between-authz-and-storage")
def between() -> bool:
    """Nobody is asked about a stranger's pod; about the administrator's, while it is
    not stored yet.
    """

    async def scene(stage: Stage) -> bool:
        log: list[Any] = []
        _with(stage, _Watchman("watchman", log, stored=lambda: _stored(stage)))
        stranger = Client(
            stage.server.in_process_transport(
                UserInfo("jane", ("system:authenticated",))
            ),
            "test",
        )
        error = await _refused(stranger, pod())
        unasked = error is not None and error.code == 403 and not log
        await stage.client.create(POD, pod(), "default")
        return unasked and log == [("watchman", 0)] and _stored(stage) == 1

    return bool(_play(scene))


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
        _with(stage, _Watchman("no", [], refuses=True))
        error = await _refused(stage.client, pod())
        return error is not None and error.code == 403

    return bool(_play(scene))


@check("admission-can-refuse-authorized-request")
def recorded_refusals(recording: Recording) -> bool:
    """The administrator was refused."""
    return len(refusals(recording)) > 5


@check("admission-only-validates")
def recorded_phases(recording: Recording) -> Partly:
    """Some are refused; others come out with more than was posted."""
    posted, answered = moment(recording, "LimitRanger defaults")
    return Partly(
        bool(refusals(recording)),
        "spec.serviceAccountName" in dict(added(posted, answered)),
    )


@rebuilt("admission-only-validates")
def phases() -> Partly:
    """One refuses and changes nothing; another changes what it lets pass."""
    return Partly(
        _refuses(_restricted(), _privileged()),
        _completes(limits_of(default={"memory": "512M"})),
    )


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
        unnamed = await _refused(stage.client, unheard_of)
        if unnamed is not None:
            assert "no PriorityClass with name absent" in unnamed.message, (
                "refused by a plugin that nobody named"
            )
            return False
        _with(stage, Priority(stage.server.reader))
        unheard_of["metadata"] = {"name": "named"}
        named = await _refused(stage.client, unheard_of)
        assert named is not None, "a plugin that is named refuses"
        return True

    return bool(_play(scene))


@rebuilt("admission-named-plugins-form-a-chain")
def chain() -> bool:
    """All of them are executed; again, if somebody late has changed the object."""

    async def scene(stage: Stage) -> bool:
        log: list[Any] = []
        _with(stage, _Watchman("one", log), _Watchman("two", log))
        await stage.client.create(POD, pod(), "default")
        return sorted(name for name, _ in log) == ["one", "two"]

    return bool(_play(scene)) and there_is_a_second_round_and_no_third()


@rebuilt("admission-one-failure-fails-request")
def one_failure() -> bool:
    """The first refusal is the answer, and nobody behind it is asked."""

    async def scene(stage: Stage) -> bool:
        log: list[Any] = []
        _with(
            stage,
            _Watchman("one", log, refuses=True),
            _Watchman("two", log, refuses=True),
        )
        error = await _refused(stage.client, pod())
        return (
            error is not None
            and error.message.endswith("one says no")
            and [name for name, _ in log] == ["one"]
        )

    return bool(_play(scene))


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
    """The same of ours. What nobody meant to raise is rendered as well: without a
    detail, which is for the log.
    """

    async def scene(stage: Stage) -> bool:
        _with(stage, _Watchman("no", [], refuses=True))
        error = await _refused(stage.client, pod())
        return (
            error is not None
            and error.status["kind"] == "Status"
            and error.status["code"] == 403
        )

    return bool(_play(scene)) and _bugs_are_answered()


def _bugs_are_answered() -> bool:
    """What the outermost stage makes of a refusal, of a bug, of a library that is not
    here, and of a bug that upstream has, too, and its clients know: each time what the
    client gets, and what is written down.
    """
    told = {
        internal_error("no"): ("500 Internal error occurred: no", []),
        ValueError("x"): (
            f"500 {MESSAGE}",
            ["ERROR apiserver panic'd on POST /pods: ValueError"],
        ),
        LibraryMissingError("cel"): ("500 Internal error occurred: cel", []),
        PanicError("nil"): ("PanicError", ["WARNING panic on POST /pods: nil"]),
    }
    return all(_outermost(error) == expected for error, expected in told.items())


def _outermost(error: Exception) -> tuple[str, list[str]]:
    async def fails(request: Request) -> Response:
        raise error

    async def ask() -> Response:
        return await with_panic_recovery(fails)(Request("POST", "/pods"))

    with logged(with_panic_recovery.__module__) as lines:
        try:
            answer = on_a_loop(ask())
        except PanicError:
            return "PanicError", lines
    status = answer.obj
    said = (
        status["message"] if isinstance(status, dict) else (answer.body or b"").decode()
    )
    return f"{answer.status} {said.strip()}", lines


@rebuilt("admission-rejected-object-not-persisted")
def not_stored() -> bool:
    """Nothing is written."""

    async def scene(stage: Stage) -> bool:
        _with(stage, _Watchman("no", [], refuses=True))
        before = stage.server.store.revision
        await _refused(stage.client, pod())
        return _stored(stage) == 0 and stage.server.store.revision == before

    return bool(_play(scene))


def _policy(name: str, expression: str) -> tuple[Object, Object]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression}],
    }
    return (
        {"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec},
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    )  # fmt: skip


async def _put(stage: Stage, name: str, expression: str) -> None:
    policy, binding = _policy(name, expression)
    await stage.client.create(POLICIES, policy)
    await stage.client.create(BINDINGS, binding)


@rebuilt("admission-plugins-live-in-one-directory")
def compiled_in() -> Partly:
    """Some rules are code of the server; others become rules while it runs, as
    objects.
    """

    async def scene(stage: Stage) -> Partly:
        built_in = any(
            plugin.name == "LimitRanger"
            for plugin in stage.server.config.admission.plugins
        )
        await _put(stage, "none", "false")
        return Partly(built_in, await _refused(stage.client, pod()) is not None)

    verdict = _play(scene)
    assert isinstance(verdict, Partly)
    return verdict


@rebuilt("admission-small-interface")
def one_method() -> bool:
    """A class with one method takes part."""

    class Small(Plugin):
        name, resources = "Small", PODS

        def admit(self, attributes: Attributes) -> None:
            """Change something."""
            assert attributes.obj is not None
            attributes.obj["metadata"].setdefault("labels", {})["small"] = "yes"

    async def scene(stage: Stage) -> bool:
        _with(stage, Small())
        created = await stage.client.create(POD, pod(), "default")
        return bool(created["metadata"].get("labels") == {"small": "yes"})

    return bool(_play(scene))


@rebuilt("admission-registry-allow-list-possible")
def allow_list() -> bool:
    """One line of CEL."""

    async def scene(stage: Stage) -> bool:
        await _put(
            stage,
            "registry",
            "object.spec.containers.all(c, c.image.startsWith('registry.example/'))",
        )
        ours = await _refused(stage.client, pod("ours", "registry.example/app"))
        theirs = await _refused(stage.client, pod("theirs", "docker.io/nginx"))
        return ours is None and theirs is not None and theirs.code == 422

    return bool(_play(scene))


@rebuilt("admission-four-categories")
def categories() -> Partly:
    """PodSecurity is security and nothing else; LimitRanger manages resources and sets
    defaults.
    """
    ranger = limits_of(default={"memory": "512M"}, max={"memory": "1Gi"})
    two_things = _completes(ranger) and _refuses(ranger, pod(limits={"memory": "2Gi"}))
    return Partly(
        _refuses(_restricted(), _privileged()) and not _completes(_restricted()),
        two_things,
    )


def admitted(plugin: Plugin, obj: Object) -> Object:
    """What a plugin makes of a pod. Raises StatusError if it refuses it."""
    attributes = Attributes(CREATE, POD, "", "default", "p", obj)
    getattr(plugin, "admit", lambda _: None)(attributes)
    return obj


def _completes(plugin: Plugin) -> bool:
    """Whether a pod that it lets pass comes out with more than it had."""
    return admitted(plugin, pod()) != pod()


def _refuses(plugin: Plugin, obj: Object) -> bool:
    """Whether it refuses this, and leaves it as it was."""
    before = deepcopy(obj)
    try:
        plugin.validate(Attributes(CREATE, POD, "", "default", "p", obj))  # type: ignore[attr-defined]
    except StatusError as error:
        return error.code == 403 and obj == before
    return False


def _restricted() -> PodSecurity:
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    return PodSecurity(
        StaticReader(
            [
                {
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "metadata": {"name": "default", "labels": labels},
                }
            ]
        )
    )


def _privileged() -> Object:
    privileged = pod()
    privileged["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    return privileged


def limits_of(**item: Object) -> LimitRanger:
    """A LimitRanger in whose namespace containers have such limits."""
    spec = {"limits": [{"type": "Container", **item}]}
    meta = {"name": "l", "namespace": "default"}
    return LimitRanger(
        StaticReader(
            [{"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": spec}]
        )
    )
