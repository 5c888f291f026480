"""What a write of a signing request's subresources may change, in the words of kube-apiserver 1.36.2, which was asked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from lifecycle.apiserver.registry.certificates.certificate_signing_request import validation
from lifecycle.apiserver.registry.certificates.certificate_signing_request.validation import ValidationOptions
from tests.apiserver.emulation.signing_request import signing_request
from tests.apiserver.https_site import Site

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
APPROVED: Any = {"type": "Approved", "status": "True", "reason": "x"}
DENIED: Any = {"type": "Denied", "status": "True"}
FAILED: Any = {"type": "Failed", "status": "True"}
TWO = "Approved and Denied conditions are mutually exclusive"
WRITES: list[tuple[str, Any, str | list[tuple[str, Any]]]] = [
    ("/status", {"conditions": [APPROVED]}, 'Forbidden: updates may not add a condition of type "Approved"'),
    ("/approval", {"conditions": [APPROVED, DENIED]}, f'Invalid value: "Denied": {TWO}'),
    ("/approval", {"conditions": [DENIED, APPROVED]}, f'Invalid value: "Approved": {TWO}'),
    ("/approval", {"conditions": [APPROVED, APPROVED]}, 'Duplicate value: "Approved"'),
    (
        "/approval",
        {"conditions": [{**APPROVED, "status": "False"}]},
        'Unsupported value: "False": supported values: "True"',
    ),
    ("/approval", {"conditions": [{"type": "", "status": "True"}]}, "Required value"),
    ("/approval", {"conditions": [APPROVED], "certificate": "eA=="}, [("Approved", "x")]),
    ("/approval", {"conditions": []}, 'Forbidden: updates may not remove a condition of type "Approved"'),
    ("/status", {"conditions": [{**APPROVED, "reason": "y"}, FAILED]}, [("Approved", "x"), ("Failed", None)]),
    (
        "/status",
        {"certificate": "eA=="},
        'Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ),
    ("", {"conditions": []}, [("Approved", "x"), ("Failed", None)]),
]


def test_approval_and_certificate_go_their_own_ways() -> None:
    async def main() -> None:
        async with Site() as site:
            made = signing_request("jane", usages=["client auth"], signerName="example.org/s")
            made["apiVersion"] = "certificates.k8s.io/v1"
            assert (await site.ask("POST", REQUESTS, made))[0] == 201
            for subresource, change, said in WRITES:
                current = json.loads((await site.ask("GET", f"{REQUESTS}/r"))[2])
                current["status"] = {**current.get("status", {}), **change}
                status, _, body = await site.ask("PUT", f"{REQUESTS}/r{subresource}", current)
                answer = json.loads(body)
                if isinstance(said, str):
                    assert (status, [c["message"] for c in answer["details"]["causes"]]) == (422, [said])
                else:
                    conditions = answer["status"]["conditions"]
                    assert (status, [(c["type"], c.get("reason")) for c in conditions]) == (200, said)

    asyncio.run(main())


def test_a_usage_given_again_is_told_of_each_time_wherever_the_first_was() -> None:
    usages = ["client auth", "server auth", "client auth", "digital signature", "client auth", "server auth"]
    errors = validation._validate_spec({"usages": usages, "signerName": "example.org/s"}, ValidationOptions())
    found = [(error.field, error.bad_value) for error in errors if error.type == "FieldValueDuplicate"]
    assert found == [(f"spec.usages[{index}]", usages[index]) for index in (2, 4, 5)]
