"""The audit log as an administrator sets it up: a policy file, a file or a webhook to write to."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.go.duration import go_duration
from lifecycle.api.http.wire import MASTERS, Request, RequestInfo, Response, UserInfo
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.protobuf.envelope import encode
from lifecycle.apiserver.audit import backends
from lifecycle.apiserver.audit.backends import WebhookBackend
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.apiserver.audit.policy import AuditPolicy
from lifecycle.apiserver.audit.policy_reader import load_policy, read_policy
from lifecycle.apiserver.filters.audit import AuditLog, with_audit
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.cluster.outside_services import LoopbackService
from lifecycle.etcd.memory import MemoryStore

ROOT = UserInfo("root", (MASTERS, "system:authenticated"))
POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    users: [system:apiserver]
  - level: RequestResponse
    resources: [{group: "", resources: [configmaps]}]
    omitManagedFields: true
  - level: Metadata
    nonResourceURLs: ["/version", "/apis*"]
"""
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy"),
        (
            "apiVersion: audit.k8s.io/v2\nkind: Policy",
            'failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v2" in scheme "pkg/audit/scheme.go:30"',
        ),
        ("apiVersion: audit.k8s.io/v1\nkind: Policy", "loaded illegal policy with 0 rules"),
        ("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{}]", "rules[0].level: Required value"),
        (
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: All}]",
            'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
        ),
        (
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, nonResourceURLs: [x]}]",
            "rules[0].nonResourceURLs[0]: Invalid value: \"x\": non-resource URL rules must begin with a '/' character",
        ),
        (
            'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, nonResourceURLs: ["/a*b"]}]',
            'rules[0].nonResourceURLs[0]: Invalid value: "/a*b": '
            "non-resource URL wildcards '*' must be the final character of the rule",
        ),
    ],
)
def test_a_policy_that_is_none_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        load_policy(text)
    file = tmp_path / "policy"
    file.write_text(text)
    with pytest.raises(ValueError, match="from file"):
        read_policy(file)


def test_options_that_would_record_nothing_are_refused() -> None:
    AuditOptions().check()
    with pytest.raises(
        ValueError,
        match=r"an audit log without --audit-policy-file records nothing; give it a Policy of audit\.k8s\.io/v1$",
    ):
        AuditOptions(log_path=Path("x")).check()
    with pytest.raises(ValueError, match=r"--audit-policy-file needs --audit-log-path or --audit-webhook-config-file$"):
        AuditOptions(Path("x")).check()


def test_the_log_holds_what_the_policy_wants(tmp_path: Path) -> None:
    (tmp_path / "policy").write_text(POLICY)

    async def main() -> None:
        options = AuditOptions(tmp_path / "policy", tmp_path / "log")
        server = create_server_chain(MemoryStore(), audit=options)
        await server.start()
        try:
            for method, path, obj in (
                ("POST", "/api/v1/namespaces/default/configmaps", CONFIG_MAP),
                ("GET", "/api/v1/namespaces/default/secrets", None),
                ("GET", "/version", None),
                ("GET", "/healthz", None),
            ):
                await server.handler(Request(method, path, obj=obj, user=ROOT, accepts_object=True))  # type: ignore[arg-type]
        finally:
            await server.stop()

    run_virtual(main())
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [(e["stage"], e["level"], e["requestURI"]) for e in events] == [
        ("ResponseComplete", "RequestResponse", "/api/v1/namespaces/default/configmaps"),
        ("ResponseComplete", "Metadata", "/version"),
    ]
    assert events[0]["requestObject"]["data"] == {"a": "b"}
    assert "managedFields" not in events[0]["responseObject"]["metadata"]
    assert events[0]["annotations"]["authorization.k8s.io/decision"] == "allow"


@pytest.mark.parametrize("media_type", ["application/json", "application/vnd.kubernetes.protobuf"])
def test_how_something_is_to_be_deleted_is_logged_in_whatever_form_it_was_sent(tmp_path: Path, media_type: str) -> None:
    (tmp_path / "policy").write_text(POLICY)
    wanted = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}
    body = json.dumps(wanted).encode() if media_type.endswith("json") else encode(wanted)

    async def main() -> None:
        server = create_server_chain(MemoryStore(), audit=AuditOptions(tmp_path / "policy", tmp_path / "log"))
        await server.start()
        try:
            path, headers = "/api/v1/namespaces/default/configmaps", {"content-type": media_type}
            await server.handler(Request("POST", path, obj=CONFIG_MAP, user=ROOT))
            for sent in (body, b""):
                name = f"{path}/{CONFIG_MAP['metadata']['name']}"  # type: ignore[index]
                await server.handler(Request("DELETE", name, body=sent, headers=dict(headers), user=ROOT))
        finally:
            await server.stop()

    run_virtual(main())
    _, deleted, again = (json.loads(line) for line in (tmp_path / "log").read_text().splitlines())
    logged = {**wanted, "apiVersion": "meta.k8s.io/__internal"}  # as the real server's log says it
    assert (deleted["verb"], deleted["requestObject"]) == ("delete", logged)
    assert "requestObject" not in again


class Collector(LoopbackService):
    """An audit webhook; some answers are failures first."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__()
        self.failures = failures
        self.batches: list[int] = []

    def answer(self, request: Request) -> tuple[int, Any]:
        if self.failures:
            self.failures -= 1
            return 500, {}
        posted = json.loads(request.body)
        assert (posted["kind"], posted["apiVersion"]) == ("EventList", "audit.k8s.io/v1")
        self.batches.append(len(posted["items"]))
        return 200, {}


def test_a_webhook_gets_batches_over_https(tmp_path: Path) -> None:
    async def main() -> None:
        from lifecycle.apiserver.webhook.client import WebhookClient
        from lifecycle.client.transport_https import ConnectionConfig

        async with Collector(failures=1) as collector:
            client = WebhookClient(ConnectionConfig(collector.url, collector.authority.ca_pem), retry_delay=0.001)
            backend = WebhookBackend(client, max_batch=3, max_wait=60)
            for i in range(7):
                backend.write(b'{"n":%d}' % i)
            await backend.close()
            assert collector.batches == [3, 3, 1]
            assert backend.dropped == 0

    asyncio.run(main())


class Silent:
    """A webhook that never answers well."""

    def __init__(self) -> None:
        self.told: list[int] = []

    async def tell(self, body: bytes) -> None:
        self.told.append(len(json.loads(body)["items"]))
        raise WebhookError("out to lunch")


def test_events_are_dropped_rather_than_requests_held_up() -> None:
    async def main() -> None:
        silent = Silent()
        backend = WebhookBackend(silent, buffer_size=5, max_batch=10, max_wait=30)  # type: ignore[arg-type]
        for _ in range(8):
            backend.write(b"{}")
        assert backend.dropped == 3
        start = asyncio.get_running_loop().time()
        assert backend._task is not None
        await backend._task
        assert asyncio.get_running_loop().time() - start == pytest.approx(30)
        assert (silent.told, backend.dropped) == ([5], 8)

    run_virtual(main())


def test_events_wait_in_so_many_bytes_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "BUFFER_BYTES", 100)

    async def main() -> None:
        silent = Silent()
        backend = WebhookBackend(silent, max_wait=30)  # type: ignore[arg-type]
        event = b'{"n":"%b"}' % (b"x" * 32)
        for _ in range(3):
            backend.write(event)
        assert backend.dropped == 1
        await asyncio.sleep(31)
        assert (silent.told, backend.dropped) == ([2], 3)
        backend.write(event)  # there is room again
        assert backend.dropped == 3
        await backend.close()
        assert silent.told == [2, 1]

    run_virtual(main())


def test_a_slow_request_says_so() -> None:
    lines: list[Any] = []

    async def main() -> None:
        clock = Clock()

        async def slow(request: Request) -> Response:
            await asyncio.sleep(1.25 if request.path == "/slow" else 0.4)
            return Response(obj={})

        log = AuditLog(
            AuditPolicy({"rules": [{"level": "Metadata"}]}), lambda line: lines.append(json.loads(line)), clock
        )
        for path in ("/slow", "/quick"):
            request = Request("GET", path, user=ROOT)
            request.info = RequestInfo(False, path, "get")
            await with_audit(slow, log)(request)

    run_virtual(main())
    notes = {line["requestURI"]: line.get("annotations", {}) for line in lines if line["stage"] == "ResponseComplete"}
    assert notes["/slow"]["apiserver.latency.k8s.io/total"].startswith("1.25")
    assert notes["/quick"] == {}


def test_spans_of_time_are_written_as_go_does() -> None:
    assert [go_duration(s) for s in (0.6125, 1.25, 60, 120.5)] == ["612.5ms", "1.25s", "1m0s", "2m0.5s"]
    assert [go_duration(s) for s in (0, 2e-6, 3600, -90)] == ["0s", "2µs", "1h0m0s", "-1m30s"]
