"""Small controllers, each with nobody else there: what they say, what they put right, and what they leave alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controllers.alone import NO_MORE, TERMINATING, Alone, alone, refusing

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, failure
from lifecycle.controllers.nodeipam import NodeIPAMController
from lifecycle.controllers.root_ca_publisher import DESCRIPTION_ANNOTATION, RootCACertPublisher
from lifecycle.controllers.serviceaccount.serviceaccounts_controller import ServiceAccountsController
from lifecycle.controllers.validating_admission_policy_status import ValidatingAdmissionPolicyStatusController

NODES, MAPS = resource("nodes"), resource("configmaps")


def node(name: str, cidr: str = "") -> tuple[str, Object]:
    spec = {"podCIDR": cidr, "podCIDRs": [cidr]} if cidr else {}
    return "nodes", {"metadata": {"name": name, "uid": name}, "spec": spec}


def ranges(stage: Alone) -> dict[str, str | None]:
    return {each["metadata"]["name"]: each["spec"].get("podCIDR") for each in stage.items("nodes")}


def test_nodes_keep_the_range_they_have_and_others_get_the_next() -> None:
    async def main() -> None:
        async with alone(NodeIPAMController, node("a"), node("b", "10.244.0.0/24")) as stage:
            assert ranges(stage) == {"a": "10.244.1.0/24", "b": "10.244.0.0/24"}
            a = next(each for each in stage.items("nodes") if each["metadata"]["name"] == "a")
            assert a["spec"]["podCIDRs"] == ["10.244.1.0/24"]
            assert stage.told() == []

    run_virtual(main())


def test_a_node_without_a_range_is_told_and_gets_the_next_that_is_given_back() -> None:
    def small(*args: Any, **more: Any) -> NodeIPAMController:
        controller = NodeIPAMController(*args, **more)
        controller.set_cluster_cidr("10.9.0.0/23")
        return controller

    async def main() -> None:
        async with alone(small, node("a", "10.9.0.0/24"), node("b", "10.9.1.0/24"), node("c")) as stage:
            said = ("Normal", "CIDRNotAvailable", "Node c status is now: CIDRNotAvailable")
            assert set(stage.told()) == {said}
            assert ranges(stage)["c"] is None
            await stage.client.delete(NODES, "a", "")
            await asyncio.sleep(60)
            assert ranges(stage) == {"b": "10.9.1.0/24", "c": "10.9.0.0/24"}

    run_virtual(main())


def test_a_range_is_kept_for_a_node_whose_patch_was_refused() -> None:
    async def main() -> None:
        async with alone(NodeIPAMController, node("a"), node("b"), refuse=refusing("PATCH", "/a")) as stage:
            await asyncio.sleep(1)
            assert ranges(stage) == {"a": None, "b": "10.244.1.0/24"}
            stage.api.refuse = lambda request: None
            await asyncio.sleep(60)
            assert ranges(stage)["a"] == "10.244.0.0/24"

    run_virtual(main())


def namespace(name: str = "ns", phase: str = "Active") -> tuple[str, Object]:
    return "namespaces", {"metadata": {"name": name, "uid": name}, "status": {"phase": phase}}


def publisher(*args: Any, **more: Any) -> RootCACertPublisher:
    controller = RootCACertPublisher(*args, **more)
    controller.root_ca = "PEM"
    return controller


async def published(stage: Alone) -> Object:
    await asyncio.sleep(0.1)
    (found,) = [each for each in stage.items("configmaps") if each["metadata"]["name"] == "kube-root-ca.crt"]
    return found


def test_the_root_certificate_is_in_every_namespace_and_put_right_there() -> None:
    async def main() -> None:
        async with alone(publisher, namespace()) as stage:
            made = await published(stage)
            assert made["data"] == {"ca.crt": "PEM"}
            assert (made["kind"], made["apiVersion"], set(made)) == (
                "ConfigMap",
                "v1",
                {"kind", "apiVersion", "metadata", "data"},
            )
            assert made["metadata"]["annotations"][DESCRIPTION_ANNOTATION] == (
                "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such"
                " as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across"
                " distributions of Kubernetes clusters."
            )
            await stage.client.update(MAPS, {**made, "data": {"ca.crt": "forged"}})
            assert (await published(stage))["data"] == {"ca.crt": "PEM"}
            bare = await published(stage)
            await stage.client.update(MAPS, {**bare, "metadata": {**bare["metadata"], "annotations": {"mine": "kept"}}})
            annotations = (await published(stage))["metadata"]["annotations"]
            assert set(annotations) == {"mine", DESCRIPTION_ANNOTATION}
            await stage.client.delete(MAPS, "kube-root-ca.crt", "ns")
            assert (await published(stage))["metadata"]["uid"] != made["metadata"]["uid"]

    run_virtual(main())


def test_other_config_maps_are_nobodys_business_here() -> None:
    async def main() -> None:
        async with alone(publisher, namespace()) as stage:
            await published(stage)
            before = len(stage.api.log)
            other = await stage.client.create(MAPS, {"metadata": {"name": "other"}, "data": {"a": "b"}}, "ns")
            await stage.client.update(MAPS, {**other, "data": {"a": "c"}})
            asked: list[str] = []
            stage.controller._queue.add = asked.append
            await stage.client.delete(MAPS, "other", "ns")
            await asyncio.sleep(0.1)
            assert asked == []
            await stage.client.delete(MAPS, "kube-root-ca.crt", "ns")
            await asyncio.sleep(0.1)
            assert asked == ["ns"]
            assert len(stage.api.log) == before + 4, "all of them ours"

    run_virtual(main())


def test_what_is_right_is_not_written_again() -> None:
    async def main() -> None:
        async with alone(publisher, namespace()) as stage:
            before = [await published(stage), len(stage.api.log)]
            (known,) = stage.items("namespaces")
            await stage.client.update(
                resource("namespaces"), {**known, "metadata": {**known["metadata"], "labels": {}}}
            )
            assert [await published(stage), len(stage.api.log) - 1] == before

    run_virtual(main())


def test_a_namespace_that_goes_away_gets_no_certificate_back() -> None:
    async def main() -> None:
        async with alone(publisher, namespace()) as stage:
            (known,) = stage.items("namespaces")
            going = {**known, "status": {"phase": "Terminating"}}
            await stage.client.update(resource("namespaces"), going, subresource="status")
            await asyncio.sleep(0.1)
            asked: list[str] = []
            stage.controller._queue.add = asked.append
            labelled = {**known["metadata"], "labels": {"a": "b"}}
            labelled.pop("resourceVersion")
            await stage.client.update(resource("namespaces"), {**going, "metadata": labelled})
            await asyncio.sleep(0.1)
            assert asked == []

    run_virtual(main())


EXISTS = failure(409, "AlreadyExists", "there")
CONFLICT = failure(409, "Conflict", "changed")
GONE = failure(404, "NotFound", "no such namespace")


@pytest.mark.parametrize("make", [publisher, ServiceAccountsController], ids=["certificate", "account"])
@pytest.mark.parametrize(
    ("error", "again"), [(EXISTS, False), (TERMINATING, False), (NO_MORE, True), (CONFLICT, True), (GONE, None)]
)
def test_what_is_there_already_or_goes_away_is_not_tried_again(
    make: Any, error: StatusError, again: bool | None
) -> None:
    async def main() -> None:
        async with alone(make, namespace()) as stage:
            pass
        (_, path) = stage.writes("POST")[0]
        async with alone(make, namespace(), refuse=refusing("POST", path, error)) as stage:
            await asyncio.sleep(5)
            if again is None:
                again_here = make is not publisher  # there is no namespace to make an account in: it is asked again
                assert (len(stage.writes("POST")) > 1) is again_here
            else:
                assert (len(stage.writes("POST")) > 1) is again

    run_virtual(main())


def test_without_a_certificate_nothing_is_published() -> None:
    async def main() -> None:
        async with alone(RootCACertPublisher, namespace()) as stage:
            await asyncio.sleep(1)
            assert stage.api.log == []

    run_virtual(main())


def policy(generation: int = 2, observed: int | None = None) -> tuple[str, Object]:
    status = {} if observed is None else {"status": {"observedGeneration": observed}}
    meta = {"name": "p", "uid": "p", "generation": generation}
    return "validatingadmissionpolicies.admissionregistration.k8s.io", {"metadata": meta, "spec": {}, **status}


@pytest.mark.parametrize(
    ("warnings", "checking"), [([], {}), ([{"warning": "w"}], {"expressionWarnings": [{"warning": "w"}]})]
)
def test_the_types_of_a_policy_are_checked_once_a_generation(warnings: list[Any], checking: Object) -> None:
    checked: list[str] = []

    def check(policy: Object) -> list[Any]:
        checked.append(policy["metadata"]["name"])
        return warnings

    def checking_controller(*args: Any, **more: Any) -> ValidatingAdmissionPolicyStatusController:
        controller = ValidatingAdmissionPolicyStatusController(*args, **more)
        controller.check = check
        return controller

    async def main() -> None:
        async with alone(checking_controller, policy()) as stage:
            await asyncio.sleep(1)
            ((_, method, path, sent),) = stage.api.log
            assert (method, path.rpartition("/v1/")[2]) == ("PATCH", "validatingadmissionpolicies/p/status")
            assert sent == {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingAdmissionPolicy",
                "metadata": {"name": "p"},
                "status": {"observedGeneration": 2, "typeChecking": checking},
            }
            assert checked == ["p"], "its own write is no reason to look again"
        for seen, looks in ((2, 0), (3, 0), (1, 1)):
            async with alone(checking_controller, policy(observed=seen)) as stage:
                assert len(stage.api.log) == looks
        async with alone(ValidatingAdmissionPolicyStatusController, policy()) as stage:
            assert stage.api.log == [], "who cannot check says nothing"
        for error, tries in ((GONE, 1), (NO_MORE, 2)):
            async with alone(checking_controller, policy(), refuse=refusing("PATCH", "/status", error)) as stage:
                await asyncio.sleep(1)
                assert min(2, len(stage.api.log)) == tries

    run_virtual(main())


def test_the_expressions_of_a_policy_are_checked_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be thousands, each to be compiled for ten kinds."""
    given = list[tuple[int, str]]()

    async def beside(size: int, work: Any, *args: Any) -> Any:
        given.append((size, args[0]["metadata"]["name"]))
        return work(*args)

    monkeypatch.setattr("lifecycle.controllers.validating_admission_policy_status.beside", beside)

    def checking_controller(*args: Any, **more: Any) -> ValidatingAdmissionPolicyStatusController:
        controller = ValidatingAdmissionPolicyStatusController(*args, **more)
        controller.check = lambda _: []
        return controller

    made: Object = {"metadata": {"name": "p", "uid": "p", "generation": 1}, "spec": {}}

    async def main() -> None:
        async with alone(checking_controller, ("validatingadmissionpolicies.admissionregistration.k8s.io", made)):
            await asyncio.sleep(1)

    run_virtual(main())
    assert given == [(LARGE + 1, "p")]
