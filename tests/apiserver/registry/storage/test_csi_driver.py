"""CSIDrivers: a generation that counts some fields only."""

from __future__ import annotations

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.rest.create import before_create
from lifecycle.apiserver.registry.rest.update import before_update
from lifecycle.apiserver.registry.storage.csi_driver import STRATEGY


def test_a_driver_counts_changes_of_its_spec_from_zero() -> None:
    driver, _ = decode({"metadata": {"name": "d"}, "spec": {}}, "storage.k8s.io/v1", "CSIDriver")
    STRATEGY.set_defaults(driver)
    before_create(STRATEGY, driver)
    assert "generation" not in driver["metadata"]
    for change, generation in (({}, None), ({"podInfoOnMount": True}, 1), ({"requiresRepublish": True}, 1)):
        new = {**driver, "metadata": dict(driver["metadata"]), "spec": {**driver["spec"], **change}}
        before_update(STRATEGY, new, driver)
        assert new["metadata"].get("generation") == generation
