"""Certificates: approving and signing take a right on the signer; nobody gets `system:masters` signed."""

from __future__ import annotations

import base64

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from lifecycle.api.http.wire import Object
from tests.apiserver.asked_server import MERGE, Asked, asked

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT = "kubernetes.io/kube-apiserver-client"
KEY = ec.generate_private_key(ec.SECP256R1())
WRITE = {
    "apiGroups": ["certificates.k8s.io"],
    "resources": [f"certificatesigningrequests{sub}" for sub in ("", "/approval", "/status")],
    "verbs": ["create", "patch"],
}


def request(name: str, signer: str, *groups: str) -> Object:
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    subject += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    made = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject)).sign(KEY, hashes.SHA256())
    pem = base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    return {"metadata": {"name": name}, "spec": {"request": pem, "signerName": signer, "usages": ["client auth"]}}


def condition(kind: str) -> Object:
    return {"status": {"conditions": [{"type": kind, "status": "True", "reason": "r", "message": "m"}]}}


def signer_right(verb: str, name: str) -> Object:
    return {"apiGroups": ["certificates.k8s.io"], "resources": ["signers"], "resourceNames": [name], "verbs": [verb]}


def test_nobody_asks_this_servers_signer_for_masters() -> None:
    async def scene(ask: Asked) -> None:
        found = await ask.refused("POST", REQUESTS, request("root", CLIENT, "devs", "system:masters"))
        why = f"use of {CLIENT} signer with system:masters group is not allowed"
        assert found == (403, f'certificatesigningrequests.certificates.k8s.io "root" is forbidden: {why}')
        assert (await ask("POST", REQUESTS, request("jane", CLIENT, "devs")))[0] == 201
        assert (await ask("POST", REQUESTS, request("other", "example.com/own", "system:masters")))[0] == 201

    asked(scene)


def test_approving_takes_the_verb_approve_on_the_signer_or_on_its_domain() -> None:
    async def scene(ask: Asked) -> None:
        await ask.may("liz", "writer", WRITE)
        await ask("POST", REQUESTS, request("a", "example.com/team"))
        path = f"{REQUESTS}/a/approval"
        refusal = await ask.refused("PATCH", path, condition("Approved"), user="liz", **MERGE)
        why = 'user not permitted to approve requests with signerName "example.com/team"'
        assert refusal == (403, f'certificatesigningrequests.certificates.k8s.io "a" is forbidden: {why}')
        await ask.may("liz", "approver", signer_right("approve", "example.com/*"))
        status, answer = await ask("PATCH", path, condition("Approved"), user="liz", **MERGE)
        assert status == 200
        (approved,) = answer["status"]["conditions"]
        assert approved["type"] == "Approved"
        assert approved["lastUpdateTime"] == approved["lastTransitionTime"]
        back = await ask.refused("PATCH", path, condition("Denied"), **MERGE)
        assert back[0] == 422
        assert 'updates may not remove a condition of type "Approved"' in back[1]

    asked(scene)


def test_signing_takes_the_verb_sign_and_other_changes_of_the_status_do_not() -> None:
    async def scene(ask: Asked) -> None:
        await ask.may("liz", "writer", WRITE)
        await ask.may("liz", "approver", signer_right("approve", "example.com/team"))
        await ask("POST", REQUESTS, request("a", "example.com/team"))
        path, failed = f"{REQUESTS}/a/status", condition("Failed")
        refusal = await ask.refused("PATCH", path, failed, user="liz", **MERGE)
        assert refusal[0] == 403
        assert refusal[1].endswith('user not permitted to sign requests with signerName "example.com/team"')
        assert (await ask("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, user="liz", **MERGE))[0] == 200
        await ask.may("liz", "signer", signer_right("sign", "example.com/team"))
        assert (await ask("PATCH", path, failed, user="liz", **MERGE))[0] == 200

    asked(scene)
