"""What becomes of a file's cluster if flags have something else to say of it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from lifecycle.kubectl.kubeconfig import Config, client_config, empty_config
from lifecycle.kubectl.kubeconfig.client_config import DirectClientConfig, Overrides

CA = base64.b64encode(b"of-the-file").decode()


def _file(**cluster: Any) -> Config:
    return {
        **empty_config(),
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


def _cluster(config: Config, **flags: Any) -> dict[str, Any]:
    found = DirectClientConfig(config, Overrides(**flags)).cluster()
    return {key: value for key, value in found.items() if value}


FILE = {"server": "https://file:6443", "certificate-authority-data": CA, "tls-server-name": "of-the-file"}
BY_NAME = {"server": "https://file:6443", "certificate-authority": "/of/the/file"}
INSECURE = {"server": "https://file:6443", "insecure-skip-tls-verify": True}
SERVER = {"server": "https://file:6443"}


@pytest.mark.parametrize(
    ("cluster", "flags", "found"),
    [
        (FILE, {}, FILE),
        # who trusts anybody needs no authority, neither as text nor as a file
        (FILE, {"insecure": True}, {**SERVER, "tls-server-name": "of-the-file", "insecure-skip-tls-verify": True}),
        (BY_NAME, {"insecure": True}, {**SERVER, "insecure-skip-tls-verify": True}),
        # who names an authority trusts nobody else
        (INSECURE, {"certificate_authority": "/own"}, {**SERVER, "certificate-authority": "/own"}),
        (
            FILE,
            {"certificate_authority": "/own"},
            {**SERVER, "tls-server-name": "of-the-file", "certificate-authority": "/own"},
        ),
        # another server has not the name of the first one
        (FILE, {"server": "https://flag"}, {"server": "https://flag", "certificate-authority-data": CA}),
        (FILE, {"server_name": "flag"}, {**FILE, "tls-server-name": "flag"}),
        # what is empty is not said
        ({"server": ""}, {}, {"server": "http://localhost:8080"}),
        ({"server": "", "insecure-skip-tls-verify": False}, {}, {"server": "http://localhost:8080"}),
        ({}, {"server": "https://flag"}, {"server": "https://flag"}),
    ],
)
def test_flags_say_something_of_a_cluster_and_take_back_what_contradicts_it(
    cluster: dict[str, Any], flags: dict[str, Any], found: dict[str, Any]
) -> None:
    assert _cluster(_file(**cluster), **flags) == found


def test_an_empty_address_is_the_usual_one() -> None:
    assert client_config(_file(server=""), environ={}).server == "http://localhost:8080"
