"""An initializer whose object is gone, or was written by somebody else, by the time it writes."""

from __future__ import annotations

import asyncio
import base64
import copy
import logging

import pytest

from lifecycle.api import status
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.historical.controllers.initializer_controller import InitializerController
from lifecycle.historical.controllers.initializer_examples import (
    ANNOTATION,
    CERTIFICATE,
    CERTIFICATE_PATH,
    SHORTEST,
    SIDECAR,
    TEST_NAMESPACE,
    Refused,
    inject_sidecar,
    mount_test_certificate,
    refuse_short_secret,
)

MAPS = resource("configmaps")
LATE = "late.example.com"


class _Refusing:
    """Lists one object that waits for the initializer, and answers what is written with a refusal."""

    def __init__(self, refusal: StatusError) -> None:
        self.refusal, self.written = refusal, list[Object]()

    async def round_trip(self, request: Request) -> Response:
        if request.method == "PUT":
            self.written.append(request.obj or {})
            return Response(self.refusal.code, obj=self.refusal.status)
        if request.param("watch"):
            await asyncio.sleep(9999)
        waits = {"pending": [{"name": LATE}, {"name": "next"}]}
        meta = {"name": "m", "namespace": "default", "resourceVersion": "4", "initializers": waits}
        item = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta}
        return Response(obj={"kind": "ConfigMapList", "metadata": {"resourceVersion": "5"}, "items": [item]})

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("refusal", "again"), [(status.not_found("configmaps", "m"), False), (status.conflict("configmaps", "m"), True)]
)
def test_what_is_gone_needs_nobody_and_what_has_changed_is_tried_again(
    refusal: StatusError, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.Logger, "handle", lambda *_: None)

    async def main() -> int:
        server = _Refusing(refusal)
        controller = InitializerController(Client(server, "late"), LATE, MAPS, lambda obj: None)
        running = asyncio.create_task(controller.run())
        await asyncio.sleep(2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return len(server.written)

    written = on_virtual_time(main())
    assert written >= 1
    assert (written > 1) is again


def test_what_is_refused_goes_on_waiting_and_says_why() -> None:
    """A reason that the server answers the client with, as if it were its own."""

    def refuse(obj: Object) -> None:
        raise Refused("not here")

    async def main() -> list[Object]:
        server = _Refusing(status.not_found("configmaps", "m"))
        controller = InitializerController(Client(server, "late"), LATE, MAPS, refuse)
        running = asyncio.create_task(controller.run())
        await asyncio.sleep(2)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return server.written

    [written] = on_virtual_time(main())
    assert written["metadata"]["initializers"] == {
        "pending": [{"name": LATE}, {"name": "next"}],
        "result": {"status": "Failure", "message": "not here", "reason": "Forbidden", "code": 403},
    }


def test_a_sidecar_is_put_in_once() -> None:
    workload = {"metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": [{"name": "web"}]}}}}
    wanted = {**workload, "metadata": {"name": "web", "annotations": {ANNOTATION: "true"}}}
    for _ in range(2):
        inject_sidecar(wanted)
    assert [each["name"] for each in wanted["spec"]["template"]["spec"]["containers"]] == ["web", SIDECAR["name"]]
    inject_sidecar(workload)
    assert [each["name"] for each in workload["spec"]["template"]["spec"]["containers"]] == ["web"]


@pytest.mark.parametrize(("length", "refused"), [(SHORTEST - 1, True), (SHORTEST, False), (SHORTEST + 1, False)])
def test_a_secret_of_the_least_length_is_long_enough(length: int, refused: bool) -> None:
    secret = {"data": {"password": base64.b64encode(b"x" * length).decode()}}
    if not refused:
        refuse_short_secret(secret)
        return
    with pytest.raises(Refused, match=f"password has {length} characters"):
        refuse_short_secret(secret)


def _workload(namespace: str, *containers: Object, **spec: object) -> Object:
    template = {"metadata": {}, "spec": {"containers": list(containers), **spec}}
    return {"metadata": {"name": "w", "namespace": namespace}, "spec": {"replicas": 2, "template": template}}


def test_every_container_sees_the_certificate_beside_what_it_saw_before() -> None:
    data = {"name": "data", "mountPath": "/data"}
    workload = _workload(
        TEST_NAMESPACE, {"name": "a", "volumeMounts": [data]}, {"name": "b"}, volumes=[{"name": "data"}]
    )
    before = copy.deepcopy(workload)
    shared = {**workload, "spec": workload["spec"]}
    mount_test_certificate(shared)
    assert workload == before, "what an informer has stays as it is"
    spec = shared["spec"]["template"]["spec"]
    mount = {"name": CERTIFICATE, "mountPath": CERTIFICATE_PATH, "readOnly": True}
    assert [one["volumeMounts"] for one in spec["containers"]] == [[data, mount], [mount]]
    assert spec["volumes"] == [{"name": "data"}, {"name": CERTIFICATE, "secret": {"secretName": CERTIFICATE}}]
    assert shared["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    "workload",
    [
        _workload("default", {"name": "a"}),
        _workload(TEST_NAMESPACE, {"name": "a"}, volumes=[{"name": CERTIFICATE, "emptyDir": {}}]),
    ],
    ids=["in another namespace", "one that has a volume of that name"],
)
def test_nobody_else_gets_the_certificate(workload: Object) -> None:
    before = copy.deepcopy(workload)
    mount_test_certificate(workload)
    assert workload == before


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"a": b"x" * SHORTEST}, ""),
        ({"a": b"x" * (SHORTEST - 1)}, f"a has {SHORTEST - 1} characters, {SHORTEST} are the least"),
        ({"z": b"", "a": b"x" * 99, "b": b"x" * 3}, f"b has 3 characters, {SHORTEST} are the least"),
        ({}, ""),
        (None, ""),
    ],
)
def test_what_is_counted_is_what_a_secret_holds_and_not_how_it_is_written(
    data: dict[str, bytes] | None, why: str
) -> None:
    encoded = data and {key: base64.b64encode(value).decode() for key, value in data.items()}
    secret = {"metadata": {"name": "s"}, "data": encoded}
    if not why:
        refuse_short_secret(secret)
        return
    with pytest.raises(Refused, match=f"^{why}$"):
        refuse_short_secret(secret)
