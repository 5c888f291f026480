"""Claims about admission plugins: what one may do, and where they come from."""

from __future__ import annotations

from copy import deepcopy

from lifecycle.agreements.apiserver.admission import added, moment
from lifecycle.agreements.apiserver.initializers import Stage
from lifecycle.agreements.claim_checks.admitting import (
    POD,
    play,
    pod,
    refusals,
    refused,
    use,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.apiserver.admission.limit_ranger import LimitRanger
from lifecycle.apiserver.admission.pod_security import PodSecurity
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording

POLICIES = resource("validatingadmissionpolicies.admissionregistration.k8s.io")
BINDINGS = resource("validatingadmissionpolicybindings.admissionregistration.k8s.io")


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
        return Partly(built_in, await refused(stage.client, pod()) is not None)

    verdict = play(scene)
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
        use(stage, Small())
        created = await stage.client.create(POD, pod(), "default")
        return bool(created["metadata"].get("labels") == {"small": "yes"})

    return bool(play(scene))


@rebuilt("admission-registry-allow-list-possible")
def allow_list() -> bool:
    """One line of CEL."""

    async def scene(stage: Stage) -> bool:
        await _put(
            stage,
            "registry",
            "object.spec.containers.all(c, c.image.startsWith('registry.example/'))",
        )
        ours = await refused(stage.client, pod("ours", "registry.example/app"))
        theirs = await refused(stage.client, pod("theirs", "docker.io/nginx"))
        return ours is None and theirs is not None and theirs.code == 422

    return bool(play(scene))


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
