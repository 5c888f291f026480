"""Who one is if somebody else says it, held against a real API server.

A proxy in front of a server says who asks, in headers, and shows a certificate that
proves that it may. An administrator asks to be taken for somebody else. The server's
own answer to a SelfSubjectReview tells what it makes of that. And a token is believed
for a while after what it hangs on is gone: the server remembers whom it has believed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.authn.request_header import RequestHeaderConfig
from lifecycle.apiserver.http.headers import joined_headers
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.etcd.memory import MemoryStore

x509 = late_import("cryptography.x509")
serialization = late_import("cryptography.hazmat.primitives.serialization")

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
AFTERWARDS = (0.5, 5.0, 13.0)
"""Seconds after which it is looked whether a token is still believed."""
SPACE = "introduced"
CERTIFICATE = re.compile(r"X509SHA256=\w+")
"""The fingerprint of a certificate that was made for this one scene."""
CERTIFICATES: Mapping[str, tuple[str, tuple[str, ...]] | None] = {
    "the proxy": ("front-proxy-client", ()),
    "another proxy": ("another-proxy", ()),
    "a client": ("ken", ("team",)),
    "nobody": None,
}
ADMIN = ("admin", ("system:masters",))
ABOUT = {
    "proxied": "a proxy says who asks",
    "posed": "an administrator would be another",
    "forgotten": "what a token hangs on is gone",
}


def introduced_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each request. `programs`: what the real one said; None: as recorded."""
    requests = [each for about in ABOUT for each in asked(programs, about)]
    table = AgreementTable(
        "Who one is said to be",
        "lifecycle",
        f"{requests[0].program}, asked directly",
        lambda table: (
            f"{len(requests)} times somebody else says who asks, or the server goes by"
            " what it remembers. Whom a real API server takes the asker for, and ours:"
            f" {table.outcome('answers')}."
        ),
    )
    ours = our_answers([(each.question, each.answer) for each in requests])
    for each, mine in zip(requests, ours, strict=True):
        about, _, what = each.question.partition("/")
        theirs = {key: each.answer[key] for key in mine}
        table.add(
            ABOUT[about], what, _short(mine), _short(theirs), compare(mine, theirs)
        )
    return table


def our_answers(cases: list[tuple[str, Object]]) -> list[Object]:
    """Whom ours takes everybody for."""
    return on_virtual_time(_known(cases))


def _short(answer: Object) -> str:
    if "codes" in answer:
        return ", ".join(map(str, answer["codes"]))
    known = answer["known"]
    return str(known.get("username") or known.get("message") or known.get("code"))


def headers_of(lines: Iterable[Iterable[str]]) -> dict[str, str]:
    """Header lines as a server of ours sees them."""
    return joined_headers((name, value) for name, value in lines)


def known_as(code: int, body: Any) -> Object:
    """Whom a review names, or what is said instead."""
    if code != 201:
        told = body if isinstance(body, dict) else {}
        return {"code": code} | {k: told[k] for k in ("reason", "message") if k in told}
    text = CERTIFICATE.sub("X509SHA256=...", json.dumps(body["status"]["userInfo"]))
    known: Object = json.loads(text)
    return known


class _Server:
    """One of ours, and certificates that it knows."""

    def __init__(self, target: HandlerTarget, authority: CertificateAuthority) -> None:
        self._target = target
        self._authority = authority

    async def ask(
        self,
        method: str,
        path: str,
        body: Object,
        who: tuple[str, tuple[str, ...]] | None = ADMIN,
        **headers: str,
    ) -> tuple[int, Any]:
        """As whoever has such a certificate."""
        certificate = None
        if who is not None:
            pem, _ = self._authority.client_certificate(*who)
            certificate = x509.load_pem_x509_certificate(pem).public_bytes(
                serialization.Encoding.DER
            )
        self._target.present(certificate)
        json_both = {"Accept": "application/json", "Content-Type": "application/json"}
        code, _, answer = await self._target.request(
            method, path, {**json_both, **headers}, json.dumps(body).encode()
        )
        return code, json.loads(answer)


async def _known(cases: list[tuple[str, Object]]) -> list[Object]:
    authority = CertificateAuthority()
    header = RequestHeaderConfig(authority.ca_pem)
    chain = create_server_chain(
        MemoryStore(),
        authentication=AuthenticationOptions(
            request_header=header, client_ca=authority.ca_pem
        ),
    )
    await chain.start()
    server = _Server(HandlerTarget(chain, ADMIN), authority)
    try:
        await server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
        return [
            await _forgotten(server, case)
            if question.startswith("forgotten/")
            else {"known": await _introduced(server, case)}
            for question, case in cases
        ]
    finally:
        await chain.stop()


async def _introduced(server: _Server, case: Object) -> Object:
    who = CERTIFICATES[case["by"]] if "by" in case else ADMIN
    return known_as(
        *await server.ask("POST", REVIEWS, REVIEW, who, **headers_of(case["sent"]))
    )


async def _forgotten(server: _Server, case: Object) -> Object:
    path, name = f"/api/v1/namespaces/{SPACE}", case["of"]
    account = f"{path}/serviceaccounts/{name}"
    for plural in ("serviceaccounts", "secrets"):
        await server.ask("POST", f"{path}/{plural}", {"metadata": {"name": name}})
    bound = {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": name}}
    wanted = {"spec": bound if name == "secret" else {}}
    _, made = await server.ask("POST", f"{account}/token", wanted)
    bearer = f"Bearer {made['status']['token']}"

    async def believed() -> int:
        code, _ = await server.ask("POST", REVIEWS, REVIEW, None, Authorization=bearer)
        return code

    await believed()
    gone = f"{path}/secrets/{name}" if name == "secret" else account
    await server.ask("DELETE", gone, {})
    codes, begun = [], 0.0
    for after in case["after"]:
        await asyncio.sleep(after - begun)
        begun = after
        codes.append(await believed())
    return {"codes": codes}
