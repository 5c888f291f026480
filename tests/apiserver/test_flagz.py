"""`/flagz`: the flags a server was started with; the cases of upstream's `flagz_test.go`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.api.http.wire import Request
from lifecycle.api.names import NameSource
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.audit.log_file import Rotation
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.non_resource.flagz import Flagz, flag_string
from lifecycle.apiserver.server.flags import server_flags
from lifecycle.apiserver.storage.encryption_config.controller import EncryptionOptions
from tests.apiserver.asked_server import Asked, asked

OBJECT = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz"
HEAD = "\napiserver flagz\nWarning: This endpoint is not meant to be machine parseable, "


@pytest.mark.parametrize("accept", ["", "*/*", "text/plain", f"{OBJECT.replace('v1beta1', 'foo')},*/*"])
def test_people_get_text_which_is_made_once(accept: str) -> None:
    page = Flagz({"b": 1, "a": "x"}, NameSource(1))
    request = Request("GET", "/flagz", headers={"accept": accept} if accept else {})
    first, second = page.serve(request), page.serve(request)
    assert first.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert first.body == second.body
    text = (first.body or b"").decode()
    assert text.startswith(HEAD)
    lines = text.splitlines()[-2:]
    assert {lines[0][0], lines[1][0]} == {"a", "b"}
    assert lines[0][1:-1] == lines[1][1:-1]
    assert lines[0][1:-1] in (":", ": ", "=", " ")


def test_each_start_puts_another_sign_between() -> None:
    found = {
        (Flagz({"a": "x"}, NameSource(seed)).serve(Request("GET", "/flagz")).body or b"")[-4:] for seed in range(40)
    }
    assert len(found) == 4


def test_programs_get_the_flags_of_the_server_by_name() -> None:
    async def scene(ask: Asked) -> None:
        status, found = await ask("GET", "/flagz", Accept=OBJECT)
        assert status == 200
        assert (found["kind"], found["apiVersion"], found["metadata"]) == (
            "Flagz",
            "config.k8s.io/v1beta1",
            {"name": "apiserver"},
        )
        flags = found["flags"]
        assert flags["authorization-mode"] == "[Node,RBAC]"
        assert (flags["event-ttl"], flags["request-timeout"], flags["anonymous-auth"]) == ("1h0m0s", "1m0s", "true")
        assert (flags["audit-log-path"], flags["max-requests-inflight"]) == ("", "400")
        older = await ask("GET", "/flagz", Accept=OBJECT.replace("v1beta1", "v1alpha1"))
        assert older[1]["apiVersion"] == "config.k8s.io/v1alpha1"
        assert older[1]["flags"] == flags

    asked(scene)


def test_the_older_version_warns() -> None:
    request = Request("GET", "/flagz", headers={"accept": OBJECT.replace("v1beta1", "v1alpha1")})
    Flagz({}, NameSource()).serve(request)
    assert request.warnings == ["This version of the flagz endpoint is deprecated. Please use a newer version."]


@pytest.mark.parametrize("accept", ["application/xml", "application/json", OBJECT.replace(";as=Flagz", "")])
def test_nothing_else_is_to_be_had(accept: str) -> None:
    async def scene(ask: Asked) -> None:
        assert (await ask.refused("GET", "/flagz", Accept=accept))[0] == 406

    asked(scene)


def test_flags_are_what_the_options_say() -> None:
    rotation = Rotation(max_size=7, max_backups=2, max_age=1, compress=True)
    flags = server_flags(
        AuthenticationOptions(token_auth_file=Path("/tokens"), anonymous=False),
        AuthorizationOptions(modes=("AlwaysAllow",)),
        AdmissionOptions(enable=["AlwaysPullImages"], disable=["LimitRanger"]),
        AuditOptions(Path("/policy"), Path("/log"), rotation=rotation),
        EncryptionOptions(Path("/encryption"), automatic_reload=True),
        ["//a$", "//b$"],
        90,
    )
    printed = {name: flag_string(value) for name, value in flags.items()}
    assert {
        "token-auth-file": "/tokens",
        "encryption-provider-config": "/encryption",
        "encryption-provider-config-automatic-reload": "true",
        "anonymous-auth": "false",
        "authorization-mode": "[AlwaysAllow]",
        "enable-admission-plugins": "[NodeRestriction,AlwaysPullImages]",
        "disable-admission-plugins": "[LimitRanger]",
        "audit-log-maxsize": "7",
        "audit-log-maxbackup": "2",
        "audit-log-maxage": "1",
        "audit-log-compress": "true",
        "audit-policy-file": "/policy",
        "cors-allowed-origins": "[//a$,//b$]",
        "event-ttl": "1m30s",
        "authorization-config": "",
    }.items() <= printed.items()
