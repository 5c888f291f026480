"""What a request brings along is worked on beside the loop, also where it is refused: others are answered meanwhile."""

from __future__ import annotations

import asyncio
import threading
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, RequestInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import LARGE, size_of
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import invalid
from lifecycle.apiserver.admission import service_account
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.service_account import MANY, ServiceAccount
from lifecycle.apiserver.audit.backends import LogBackend
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.apiserver.endpoints import negotiation
from lifecycle.apiserver.endpoints.handlers import rest
from lifecycle.apiserver.endpoints.handlers.rest import RestHandler
from lifecycle.apiserver.filters import request_info
from lifecycle.apiserver.filters.audit import AuditLog
from lifecycle.apiserver.filters.refusal import refuse
from lifecycle.apiserver.registry import store
from lifecycle.apiserver.registry.rest.strategy import GENERIC
from lifecycle.apiserver.registry.scope import MAX_MANAGER_LENGTH, scope_of, user_agent_manager
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.etcd.memory import MemoryStore
from tests.apiserver.admission_server import Asker, config_map, pod

MAPS = "/api/v1/namespaces/default/configmaps"


def where(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[str]:
    """In which threads a function of a module is called from now on."""
    threads: list[str] = []
    function = getattr(module, name)

    def noted(*args: Any, **more: Any) -> Any:
        threads.append(threading.current_thread().name.partition("_")[0])
        return function(*args, **more)

    monkeypatch.setattr(module, name, noted)
    return threads


def answered(method: str, path: str, obj: Object | None = None, audit: AuditOptions | None = None, **query: str) -> int:
    """The status that a server answers with, on real time."""

    async def main() -> int:
        server = create_server_chain(MemoryStore(), audit=audit)
        await server.start()
        try:
            response = await Asker(server).ask(method, path, obj, **query)
            return response.status
        finally:
            await server.stop()

    return asyncio.run(main())


@pytest.mark.parametrize(("keys", "thread"), [(1, "MainThread"), (1_000, "worker")])
def test_a_refusal_that_names_many_causes_is_put_together_by_the_worker(
    keys: int, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = where(monkeypatch, store.status, "invalid")
    assert answered("POST", MAPS, config_map(**{f"not allowed {number}": "" for number in range(keys)})) == 422
    assert called == [thread]


@pytest.mark.parametrize("labels", [1, 2_000])
def test_metadata_is_checked_by_the_worker_if_there_is_much_of_it(labels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    called = where(monkeypatch, store, "check_object_meta")
    assert answered("POST", MAPS, config_map(labels={f"label-{number}": "x" for number in range(labels)})) == 201
    assert called.count("worker") == (labels > 1)


@pytest.mark.parametrize(("terms", "thread"), [(1, "MainThread"), (2_000, "worker")])
def test_a_long_field_selector_is_read_by_the_worker(terms: int, thread: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called = where(monkeypatch, request_info, "parse_field_selector")
    assert answered("GET", MAPS, fieldSelector=",".join(["metadata.name=a"] * terms)) == 200
    assert called == [thread]


def test_the_size_of_a_refusal_is_told_so_that_the_worker_encodes_a_large_one() -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "no", "field": f"data[{number}]"} for number in range(1_000)]
    few, many = (refuse(invalid("ConfigMap", "a", some)) for some in (causes[:1], causes))
    assert few.size < LARGE < many.size
    assert many.size == pytest.approx(len(fast_json.dumps(many.obj)), rel=0.5)


def test_a_byte_of_a_policy_counts_as_more_than_one_of_data() -> None:
    def size(name: str) -> int:
        row = resource(name)
        request = Request("POST", row.path(), {}, {}, b"x" * 2_000)
        request.info = RequestInfo(path=row.path(), verb="create", is_resource_request=True)
        return scope_of(request, row, GENERIC).size

    assert size("configmaps") == 2_000
    assert size("validatingadmissionpolicies.admissionregistration.k8s.io") > LARGE


def test_of_a_long_user_agent_no_more_is_looked_at_than_a_field_manager_may_have() -> None:
    assert user_agent_manager("a" * 900_000) == "a" * MAX_MANAGER_LENGTH
    assert user_agent_manager("\x01kube\x02ctl/v1") == "kubectl"
    assert user_agent_manager("\x01/v1") == "unknown"


def test_a_long_accept_header_is_read_once_not_again_for_whether_a_human_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    header = ",".join(["application/json;q=0.5"] * 1_000)
    called = where(monkeypatch, negotiation, "_by_quality")
    request = Request("GET", MAPS, {}, {"accept": header})
    assert negotiation.negotiate(request).media_type == "application/json"
    assert not negotiation.is_pretty(request)
    assert len(called) == 1
    request.headers["accept"] = f"{header},application/json;pretty=1"
    accepted = negotiation.parse_accept(request.headers["accept"], True, False)
    assert accepted is not None
    assert negotiation.is_pretty(request) == accepted.pretty


@pytest.mark.parametrize("keys", [1, 2_000])
def test_what_is_logged_of_a_large_request_is_copied_encoded_and_written_by_the_worker(
    keys: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, policy = tmp_path / "audit.log", tmp_path / "policy.yaml"
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]\n")
    noted, line, written = (
        where(monkeypatch, rest, "log_request_object"),
        where(monkeypatch, AuditLog, "_line"),
        where(monkeypatch, LogBackend, "_append"),
    )
    options = AuditOptions(policy_file=policy, log_path=path)
    body = config_map(**{f"key-{number}": "x" for number in range(keys)})
    assert answered("POST", MAPS, body, audit=options) == 201
    assert [where.count("worker") for where in (noted, line, written)] == ([1, 1, 1] if keys > 1 else [0, 0, 0])
    lines = [fast_json.loads(line) for line in path.read_bytes().splitlines()]
    (last,) = (line for line in lines if line["objectRef"].get("name") == "m" and line["stage"] == "ResponseComplete")
    assert len(last["requestObject"]["data"]) == keys


class Ticking(Clock):
    """A second later each time: a backup's name has its milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self._seconds = count(1_800_000_000)

    def now(self) -> float:
        return float(next(self._seconds))


def test_long_lines_of_the_worker_and_short_ones_of_the_loop_stay_whole_also_when_the_file_is_full(
    tmp_path: Path,
) -> None:
    written = [b"%d" % (number % 10) * (LARGE + 1 if number % 2 else 9) for number in range(60)]

    async def main() -> None:
        backend = LogBackend(tmp_path / "audit.log", Ticking())
        assert backend._file is not None
        backend._file._limit = 10 * LARGE
        await asyncio.gather(*map(backend.write, written))
        await backend.close()

    asyncio.run(main())
    files = list(tmp_path.iterdir())
    assert len(files) > 1
    assert sorted(line for file in files for line in file.read_bytes().splitlines()) == sorted(written)


@pytest.mark.parametrize(("variables", "thread"), [(1, "MainThread"), (1_000, "worker")])
def test_an_object_that_a_component_of_this_process_sends_counts_as_much_as_its_json(
    variables: int, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller makes pods of a template that somebody else has written."""
    called = where(monkeypatch, RestHandler, "_read")
    obj = config_map(**{f"key-{number}": "x" * 20 for number in range(variables)})
    assert answered("POST", MAPS, obj) == 201
    assert called.count("worker") == (thread == "worker")


def test_what_is_no_json_has_no_size() -> None:
    assert size_of({"a": [1]}) == len('{"a":[1]}')
    assert size_of(None) == len("null")
    assert size_of({"a": object()}) == 0


@pytest.mark.parametrize(("containers", "thread"), [(2, "MainThread"), (MANY + 1, "worker")])
def test_the_token_is_mounted_by_the_worker_if_there_are_many_containers(
    containers: int, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = where(monkeypatch, service_account, "_mount_token")
    attributes = Attributes("CREATE", resource("pods"), "", "default", "a", pod("a", *["nginx"] * containers))
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}}
    plugin = ServiceAccount(StaticReader([account]), NameSource(1))

    async def main() -> None:
        waiting = plugin.admit(attributes)
        if waiting is not None:
            await waiting

    asyncio.run(main())
    assert called == [thread]
    assert attributes.obj is not None
    spec = attributes.obj["spec"]
    (volume,) = spec["volumes"]
    assert {each["volumeMounts"][0]["name"] for each in spec["containers"]} == {volume["name"]}
