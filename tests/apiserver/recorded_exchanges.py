"""Replays a recorded scenario through our whole handler chain, in process, and says where the answers differ."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from lifecycle.api import fast_json
from lifecycle.api.http.wire import MASTERS, Object, Request, Response, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource_for_kind
from lifecycle.apiserver.filters.warning import warning_headers
from lifecycle.apiserver.http.headers import joined_headers
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.controllers.clusterrole_aggregation import ClusterRoleAggregationController
from lifecycle.etcd.memory import MemoryStore
from tests.furnished import restored

RECORDINGS = Path(__file__).parents[2] / "recordings"
ROOT = UserInfo("root", (MASTERS, "system:authenticated"))
RBAC = "rbac.authorization.k8s.io"


def exchanges(scenario: str, recording: str = "kind-1.36.2") -> list[dict[str, Any]]:
    """The recorded exchanges of a scenario, in order."""
    lines = (RECORDINGS / recording / "http" / f"{scenario}.jsonl").read_bytes().splitlines()
    return [fast_json.loads(line) for line in lines]


def client_certificate(name: str, *groups: str) -> bytes:
    """A self-signed client certificate (DER): what it says is all that counts behind the TLS layer."""
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    if name:
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    subject = x509.Name(attributes)
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    builder = (
        builder.serial_number(1).not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))
    )
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)


KUBEADM_ADMINS: Object = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "kubeadm:cluster-admins"},
    "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": "kubeadm:cluster-admins"}],
}


class Replay:
    """A server with what kubeadm adds to it, and the identities of the recorder."""

    def __init__(self) -> None:
        self.server = create_server_chain(MemoryStore())
        self.admin = client_certificate("kubernetes-admin", "kubeadm:cluster-admins")
        self.tokens: dict[str, str] = {}

    async def start(self) -> None:
        await self.server.start(restored)
        await self.write(KUBEADM_ADMINS)

    async def aggregate_roles(self) -> None:
        """Let the controller fill in `admin`, `edit` and `view`, as in the recorded cluster."""
        client = Client(self.server.in_process_transport(ROOT), "aggregation")
        controller = ClusterRoleAggregationController(
            client, SharedInformerFactory(client), clock=Clock(), names=NameSource()
        )
        working = asyncio.create_task(controller.run())
        await asyncio.sleep(5)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    async def write(self, obj: Object) -> Object:
        """Create an object as a master."""
        row = resource_for_kind(obj["apiVersion"], obj["kind"])
        assert row is not None
        path = row.path(obj["metadata"].get("namespace", ""))
        response = await self.server.handler(Request("POST", path, obj=obj, accepts_object=True, user=ROOT))
        assert response.status == 201, response.obj
        assert response.obj is not None
        return response.obj

    async def answer(self, exchange: dict[str, Any]) -> tuple[Response, Request]:
        """Our answer to a recorded request."""
        url = urlsplit(exchange["path"])
        headers = {"accept": exchange.get("accept") or "*/*", "user-agent": "recorder", **exchange["headers_sent"]}
        if exchange.get("content_type"):
            headers["content-type"] = exchange["content_type"]
        if "token" in exchange:
            headers["authorization"] = f"Bearer {self.tokens.get(exchange['token'], exchange['token'])}"
        body = exchange["body"]
        if body is not None:
            body = fast_json.dumps(body)
            for theirs, ours in self.tokens.items():
                body = body.replace(theirs.encode(), ours.encode())
        request = Request(
            method=exchange["method"],
            path=url.path,
            query=parse_qs(url.query, keep_blank_values=True),
            headers=joined_headers(headers.items()),
            body=body or b"",
            accepts_object=True,
            peer_certificate=self.admin if exchange["as"] == "admin" else None,
        )
        return await self.server.handler(request), request

    async def differences(self, exchange: dict[str, Any]) -> list[str]:
        """Where our answer and the recorded one differ, volatile values aside."""
        response, request = await self.answer(exchange)
        found = []
        if response.status != exchange["status"]:
            found.append(f"status: {exchange['status']} there, {response.status} here")
        ours: Any = response.obj
        if ours is None:
            text = (response.body or b"").decode()
            ours = fast_json.loads(text) if text.startswith("{") else text
        if isinstance(ours, dict) and (ours.get("status") or {}) and ours.get("kind") == "TokenRequest":
            self.tokens[exchange["response"]["status"]["token"]] = ours["status"]["token"]
            tampered = exchange["response"]["status"]["token"][:-4] + "AAAA"
            self.tokens[tampered] = ours["status"]["token"][:-4] + "AAAA"
        found += list(_differences("", _settled(exchange["response"]), _settled(ours)))
        recorded_warnings = exchange["headers"].get("warning") or []
        if warning_headers(request.warnings) != recorded_warnings:
            found.append(f"warnings: {recorded_warnings} there, {warning_headers(request.warnings)} here")
        for header, name in (
            ("cache-control", "Cache-Control"),
            ("x-kubernetes-pf-flowschema-uid", "X-Kubernetes-Pf-Flowschema-Uid"),
        ):
            if (header in exchange["headers"]) != (name in response.headers):
                found.append(
                    f"header {header}: {exchange['headers'].get(header)} there, {response.headers.get(name)} here"
                )
        return found


_VOLATILE = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"kube-api-access-[a-z0-9]{5}"), "kube-api-access-NAME"),
    (re.compile(r"X509SHA256=[0-9a-f]{64}"), "X509SHA256=HASH"),
    (re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+"), "TOKEN"),
    (re.compile(r"https://[\d.]+:\d+"), "https://ADDRESS"),
)


def _settled(value: Any, key: str = "") -> Any:
    """A value with everything that changes from run to run replaced by its name."""
    if isinstance(value, dict):
        return {k: _settled(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_settled(v) for v in value]
    if key == "resourceVersion":
        return "REVISION"
    if isinstance(value, str):
        for pattern, name in _VOLATILE:
            value = pattern.sub(name, value)
    return value


def _differences(path: str, theirs: Any, ours: Any) -> Iterator[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs.keys() | ours.keys():
            if key not in ours:
                yield f"{path}.{key}: only there: {str(theirs[key])[:200]}"
            elif key not in theirs:
                yield f"{path}.{key}: only here: {str(ours[key])[:200]}"
            else:
                yield from _differences(f"{path}.{key}", theirs[key], ours[key])
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from _differences(f"{path}[{index}]", one, other)
    elif theirs != ours:
        yield f"{path}: {str(theirs)[:200]} there, {str(ours)[:200]} here"


def basic(user: str, password: str) -> str:
    """A Basic credential, which no API server takes any more."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
