"""ServiceAccounts: references without anything but a name."""

from __future__ import annotations

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.core.service_account import STRATEGY
from lifecycle.apiserver.registry.rest.create import before_create
from lifecycle.apiserver.registry.rest.update import before_update


def test_a_service_account_keeps_only_the_names_of_its_secrets() -> None:
    account, _ = decode(
        {"metadata": {}, "secrets": [{"name": "s", "kind": "Secret"}, {"kind": "X"}]}, "v1", "ServiceAccount"
    )
    new = {**account, "metadata": {}}
    before_create(STRATEGY, account)
    assert account["secrets"] == [{"name": "s"}, {}]
    before_update(STRATEGY, new, account)
    assert new["secrets"] == [{"name": "s"}, {}]
