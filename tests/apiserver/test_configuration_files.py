"""Files that say who is who, who may what, and what is written down of it, each with something wrong with it.

What Kubernetes' own API server said before it gave up is in `answers_to_configurations.jsonl.gz`;
`python -m tests.differential.record configurations` asks it again.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.audit.policy_reader import read_policy
from lifecycle.apiserver.authn.configuration import ConfiguredTokens
from lifecycle.apiserver.authz.configuration import ConfiguredAuthorizer
from lifecycle.apiserver.config_file.api_server import read_authentication_file, read_authorization_file
from lifecycle.apiserver.storage.object_reader import StaticReader

KEPT = [
    json.loads(line)
    for line in gzip.decompress(
        (Path(__file__).parent / "answers_to_configurations.jsonl.gz").read_bytes()
    ).splitlines()
]


def _authorization(file: Path) -> None:
    ConfiguredAuthorizer(read_authorization_file(file), StaticReader([]), Clock())


def _authentication(file: Path) -> None:
    ConfiguredTokens(Clock(), ("https://own",)).reload(read_authentication_file(file))


READ: dict[str, Callable[[Path], object]] = {
    "AuthorizationConfiguration": _authorization,
    "AuthenticationConfiguration": _authentication,
    "Policy": read_policy,
}


def said(kind: str, text: str, folder: Path) -> str:
    file = folder / "configuration.yaml"
    file.write_text(text)
    try:
        READ[kind](file)
    except ValueError as error:
        return str(error).replace(str(file), "FILE")
    return ""


@pytest.mark.parametrize("kind", READ)
def test_a_file_is_refused_in_the_real_servers_words(kind: str, tmp_path: Path) -> None:
    rows = [row for row in KEPT if row["kind"] == kind]
    assert len(rows) > 300
    for row in rows:
        assert said(kind, row["text"], tmp_path) == row["said"], row["text"]


def test_some_files_are_taken() -> None:
    assert {row["kind"] for row in KEPT if not row["said"]} == set(READ)
