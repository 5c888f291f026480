"""Claims about initializers: true of the model of 1.7 to 1.13, and of no cluster that
was recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from lifecycle.agreements.apiserver.initializers import (
    CONFIGURATIONS,
    Stage,
    resources_of,
    with_initializers,
)
from lifecycle.agreements.claim_checks.admitting import pod
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.compare.claims import check, rebuilt, some
from lifecycle.historical.controllers.initializer_controller import Work
from lifecycle.historical.controllers.initializer_examples import (
    initializer_configuration,
    inject_sidecar,
    mount_test_certificate,
    refuse_short_secret,
)
from lifecycle.inspector import InspectorError, Recording

MAPS, PODS, SECRETS = resource("configmaps"), resource("pods"), resource("secrets")
DEPLOYMENTS, DEFINITIONS = (
    resource("deployments.apps"),
    resource("customresourcedefinitions.apiextensions.k8s.io"),
)
CONFIG_MAP: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "m"},
}
NOBODY: Mapping[str, tuple[str, Work | None]] = {"a.example.com": ("configmaps", None)}


def _play(
    scene: Callable[[Stage], Awaitable[bool]],
    initializers: Mapping[str, tuple[str, Work | None]],
) -> bool:
    return bool(with_initializers(scene, initializers))


def _recorded_metadata(recording: Recording) -> list[Object]:
    """The metadata of every object that a recorded answer to a write shows."""
    answers = [
        each.response
        for each in recording.exchanges("admission")
        if isinstance(each.response, dict)
    ]
    return [
        each["metadata"]
        for each in answers
        if each.get("kind") != "Status" and each.get("metadata")
    ]


@rebuilt("initializers-hide-object-until-finished", model=True)
def hidden() -> bool:
    """In the store, and in no list."""

    async def scene(stage: Stage) -> bool:
        await stage.all_seeing.create(MAPS, CONFIG_MAP, "default")
        stored = stage.server.reader.list(MAPS, "default")
        return (
            len(stored) == 1
            and (await stage.client.list(MAPS, "default"))["items"] == []
        )

    return _play(scene, NOBODY)


@check("initializers-hide-object-until-finished")
def recorded_hidden(recording: Recording) -> bool | None:
    """A watch of the journey would have to see the objects begin later than the audit
    log's answers to their creation say.
    """
    try:
        events = list(recording.audit("journey"))
    except InspectorError:
        return None
    answered = [
        event["responseObject"]["metadata"]
        for event in events
        if event["verb"] == "create"
        and event.get("responseStatus", {}).get("code") == 201
        and "resourceVersion" in event.get("responseObject", {}).get("metadata", {})
    ]
    created = {metadata["uid"]: metadata["resourceVersion"] for metadata in answered}
    begun: dict[str, str] = {}
    for line in recording.watch("journey"):
        if line["event"].get("type") == "ADDED":
            meta = line["event"]["object"]["metadata"]
            begun.setdefault(meta["uid"], meta["resourceVersion"])
    return some(
        begun[uid] != version for uid, version in created.items() if uid in begun
    )


@rebuilt("initializers-block-scheduling-until-finished", model=True)
def unscheduled() -> bool:
    """The scheduler's own question, for pods without a node, is answered with none."""

    async def scene(stage: Stage) -> bool:
        await stage.all_seeing.create(PODS, pod(), "default")
        selected = await stage.client.list(
            PODS, "default", field_selector="spec.nodeName="
        )
        return selected["items"] == []

    return _play(scene, {"a.example.com": ("pods", None)})


@rebuilt("initializers-none-configured-means-visible", model=True)
def visible() -> bool:
    """No configuration, no waiting."""

    async def scene(stage: Stage) -> bool:
        try:
            await stage.client.create(MAPS, CONFIG_MAP, "default")
        except StatusError:  # nobody came to let it be seen
            return False
        return len((await stage.client.list(MAPS, "default"))["items"]) == 1

    return _play(scene, {})


async def _certified(stage: Stage, web: Object) -> bool:
    """Whether a certificate is mounted in one namespace and in no other, and what has
    one keeps its own. The sidecar comes later in the row, and has none.
    """
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "testing"}}
    await stage.client.create(resource("namespaces"), space)
    name = "test-certificate"
    own = {"name": name, "emptyDir": {}}
    template = web["spec"]["template"]
    kept = {
        **web,
        "metadata": {"name": "own"},
        "spec": {
            **web["spec"],
            "template": {**template, "spec": {**template["spec"], "volumes": [own]}},
        },
    }
    mounts: list[list[Object]] = []
    volumes: list[list[Object]] = []
    for obj, where in ((web, "testing"), (kept, "testing"), (kept, "default")):
        made = await stage.client.create(DEPLOYMENTS, obj, where)
        inside = made["spec"]["template"]["spec"]
        volumes.append(inside.get("volumes", []))
        mounts += [each.get("volumeMounts", []) for each in inside["containers"]]
    secret = {"name": name, "secret": {"secretName": name, "defaultMode": 420}}
    mount = {"name": name, "mountPath": f"/etc/{name}", "readOnly": True}
    return volumes == [[secret], [own], [own]] and mounts == [[mount], *[[]] * 5]


@rebuilt("initializers-are-controllers-with-custom-logic", model=True)
def custom_logic() -> bool:
    """The sidecar is in the Deployment, the short secret never comes to be."""

    async def scene(stage: Stage) -> bool:
        labels = {"app": "web"}
        container = {"name": "web", "image": "nginx", "ports": [{"containerPort": 80}]}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        web = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }
        deployment = await stage.client.create(DEPLOYMENTS, web, "default")
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s"},
            "stringData": {"p": "hunter2"},
        }
        try:
            await stage.client.create(SECRETS, secret, "default")
        except StatusError:
            inside = deployment["spec"]["template"]["spec"]
            return len(inside["containers"]) == 2 and await _certified(stage, web)
        return False

    work: Mapping[str, tuple[str, Work | None]] = {
        "sidecar.example.com": ("deployments.apps", inject_sidecar),
        "secrets.example.com": ("secrets", refuse_short_secret),
        "certificates.example.com": ("deployments.apps", mount_test_certificate),
    }
    return _play(scene, work)


@rebuilt("initializers-configuration-kind", model=True)
def configuration_kind() -> bool:
    """It is served, and its rules decide."""

    async def scene(stage: Stage) -> bool:
        response = await stage.client.request("GET", CONFIGURATIONS)
        kinds = [item["kind"] for item in (response.obj or {})["items"]]
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        untouched = await stage.all_seeing.create(SECRETS, secret, "default")
        return (
            kinds == ["InitializerConfiguration"]
            and "initializers" not in untouched["metadata"]
        )

    return _play(scene, NOBODY)


@check("initializers-configuration-kind")
def recorded_kind(recording: Recording) -> bool | None:
    """Discovery would have to list it, in the group that has webhook configurations
    now.
    """
    return some(row == "initializerconfigurations" for row in resources_of(recording))


@rebuilt("initializers-name-added-to-pending-list", model=True)
def pending() -> bool:
    """The name is on the list."""

    async def scene(stage: Stage) -> bool:
        created = await stage.all_seeing.create(MAPS, CONFIG_MAP, "default")
        return bool(
            created["metadata"].get("initializers")
            == {"pending": [{"name": "a.example.com"}]}
        )

    return _play(scene, NOBODY)


@check("initializers-name-added-to-pending-list")
def recorded_pending(recording: Recording) -> bool | None:
    """No recorded object has the field."""
    return some("initializers" in meta for meta in _recorded_metadata(recording))


@rebuilt("initializers-run-in-sequence-and-remove-themselves", model=True)
def in_sequence() -> bool:
    """Each sees itself first on the list, and afterwards nobody is."""
    lists: list[list[str]] = []

    def work(obj: Object) -> None:
        lists.append(
            [each["name"] for each in obj["metadata"]["initializers"]["pending"]]
        )

    async def scene(stage: Stage) -> bool:
        created = await stage.client.create(MAPS, CONFIG_MAP, "default")
        await asyncio.sleep(0.1)
        return (
            "initializers" not in created["metadata"]
            and len((await stage.client.list(MAPS, "default"))["items"]) == 1
        )

    done = _play(
        scene,
        {"b.example.com": ("configmaps", work), "a.example.com": ("configmaps", work)},
    )
    return done and lists == [["a.example.com", "b.example.com"], ["b.example.com"]]


@rebuilt("initializers-pod-status-podinitializing")
def pod_initializing() -> bool:
    """An uninitialized pod has no kubelet, and so no containers' status to say
    anything.
    """

    async def scene(stage: Stage) -> bool:
        created = await stage.all_seeing.create(PODS, pod(), "default")
        assert created["metadata"].get("initializers"), "they have not run yet"
        return any(
            (each.get("state") or {}).get("waiting", {}).get("reason")
            == "PodInitializing"
            for each in (created.get("status") or {}).get("containerStatuses") or ()
        )

    return _play(scene, {"a.example.com": ("pods", None)})


@check("initializers-pod-status-podinitializing")
def recorded_pod_initializing(recording: Recording) -> bool | None:
    """It is seen of pods with init containers; the claim wants one without."""
    try:
        lines = list(recording.watch("kubelet"))
    except Exception:  # not recorded for this version
        return None
    pods = [line["event"]["object"] for line in lines if line["path"].endswith("/pods")]
    waiting = [
        each
        for each in pods
        for status in (each.get("status") or {}).get("containerStatuses") or ()
        if ((status.get("state") or {}).get("waiting") or {}).get("reason")
        == "PodInitializing"
    ]
    return (
        any(not each["spec"].get("initContainers") for each in waiting)
        if waiting
        else None
    )


@rebuilt("initializers-include-uninitialized-parameter", model=True)
def include_parameter() -> bool:
    """Who asks is shown what is hidden; for who watches and has not asked, an object
    comes when it has been finished.
    """

    async def scene(stage: Stage) -> bool:
        told: list[list[str]] = [[], []]

        async def follow(client: Client, kinds: list[str]) -> None:
            async for frame in await client.watch(MAPS, "default", bookmarks=False):
                kinds.append(frame.type)

        following = [
            asyncio.create_task(follow(*each))
            for each in zip((stage.client, stage.all_seeing), told, strict=True)
        ]
        await asyncio.sleep(1)
        made = await stage.all_seeing.create(MAPS, CONFIG_MAP, "default")
        listed = (await stage.all_seeing.list(MAPS, "default"))["items"]
        hidden = (await stage.client.list(MAPS, "default"))["items"] == []
        for change in ({"initializers": None}, {"labels": {"a": "1"}}):
            made = await stage.all_seeing.update(
                MAPS, {**made, "metadata": {**made["metadata"], **change}}
            )
        await asyncio.sleep(1)
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        return (
            len(listed) == 1
            and hidden
            and told == [["ADDED", "MODIFIED"], ["ADDED", "MODIFIED", "MODIFIED"]]
        )

    return _play(scene, NOBODY)


@rebuilt("initializers-enabled-by-default")
def enabled() -> bool:
    """A server without options would have to take a configuration."""

    async def scene(stage: Stage) -> bool:
        code = 0
        try:
            await stage.client.request(
                "POST",
                CONFIGURATIONS,
                obj=initializer_configuration("a", "a.example.com", "pods"),
            )
        except StatusError as error:
            code = error.code
        assert code in (0, 404), "it is taken, or nobody knows the kind"
        return code == 0

    return bool(with_initializers(scene, {}, gate=False))


@check("initializers-enabled-by-default")
def recorded_enabled(recording: Recording) -> bool | None:
    """A cluster that nobody told about initializers would have to offer them."""
    return some(row == "initializerconfigurations" for row in resources_of(recording))


@rebuilt("initializers-now-done-by-custom-resources")
def custom_resources() -> bool:
    """A definition called Initializer would have to change a pod that is created after
    it.
    """

    async def scene(stage: Stage) -> bool:
        names = {
            "plural": "initializers",
            "singular": "initializer",
            "kind": "Initializer",
        }
        schema = {"openAPIV3Schema": {"type": "object"}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema}
        spec = {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": [version],
        }
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "initializers.example.com"},
            "spec": spec,
        }
        before = await stage.client.create(PODS, pod("before"), "default")
        await stage.client.create(DEFINITIONS, definition)
        after = await stage.client.create(PODS, pod("after"), "default")
        return set(before["metadata"]) != set(after["metadata"]) or len(
            after["spec"]
        ) != len(before["spec"])

    return bool(with_initializers(scene, {}, gate=False))
