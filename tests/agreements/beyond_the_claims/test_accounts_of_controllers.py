"""All that the controller manager knows is controllers, and the server knows each."""

from __future__ import annotations

from lifecycle.cluster.rehearsal import rehearse
from lifecycle.controllers.manager import CONTROLLERS, OWN_IDENTITY

BINDINGS = "clusterrolebindings.rbac.authorization.k8s.io"


def test_each_controller_has_an_account_with_rights_of_its_own() -> None:
    accounts = {account for account, _ in CONTROLLERS.values()} - {OWN_IDENTITY}
    rights = rehearse(lambda cluster: cluster.items(BINDINGS))
    bound = {each["metadata"]["name"] for each in rights}
    assert {f"system:controller:{account}" for account in accounts} <= bound
