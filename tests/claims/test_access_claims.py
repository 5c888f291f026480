"""Checks of claims about access notice a cluster, or an order of things, that is otherwise than claimed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.agreements.claim_checks import admission, authn, authz
from lifecycle.apiserver.authn import options
from lifecycle.apiserver.authz import configuration
from lifecycle.inspector import Recording

RECORDED = Path(__file__).parents[2] / "recordings" / "kind-1.36.2" / "http" / "admission.jsonl"
Line = dict[str, Any]


def changed(tmp_path: Path, change: Callable[[Line], None]) -> Recording:
    """The recorded scenario with other answers."""
    (tmp_path / "http").mkdir()
    lines = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    for line in lines:
        change(line)
    (tmp_path / "http" / "admission.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name in ("recording.json", "provenance.json"):
        source = RECORDED.parents[1] / name
        if source.is_file():
            shutil.copy(source, tmp_path / name)
    return Recording(tmp_path)


def refused_by_an_authorizer(line: Line) -> None:
    if line["note"] == "Priority missing class":
        line["response"]["message"] = 'pods is forbidden: User "admin" cannot create resource "pods"'


def stored_all_the_same(line: Line) -> None:
    if line["path"].startswith("/api/v1/namespaces/default/pods"):
        line["status"], line["response"] = 403, {"message": "the namespace is being terminated"}


def deleted_without_effect(line: Line) -> None:
    if line["path"].startswith("/api/v1/namespaces/rec-term/pods"):
        line["status"] = 201


@pytest.mark.parametrize("change", [refused_by_an_authorizer, stored_all_the_same, deleted_without_effect])
def test_admission_elsewhere_than_between_authorization_and_storage_is_noticed(
    tmp_path: Path, change: Callable[[Line], None]
) -> None:
    assert admission.recorded_between(Recording(RECORDED.parents[1]))
    assert not admission.recorded_between(changed(tmp_path, change))


def test_authenticators_in_another_order_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert authn.chain_at_startup().holds_here
    requests = options._requests
    monkeypatch.setattr(options, "_requests", lambda *given: requests(*given)[::-1])
    assert not authn.chain_at_startup().holds_here


def test_authorizers_in_another_order_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert authz.built_from_config().holds_here
    build = configuration.build_authorizers
    monkeypatch.setattr(configuration, "build_authorizers", lambda *given: build(*given)[::-1])
    assert not authz.built_from_config().holds_here
