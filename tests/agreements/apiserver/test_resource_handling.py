"""Our answers to the recorded requests of the storage scenario."""

from __future__ import annotations

from lifecycle.agreements.apiserver.resource_handling import resource_handling_agreement
from lifecycle.apiserver.registry.store import ResourceStore
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.inspector import open_recording


def test_every_request_is_answered_as_recorded_or_the_difference_has_a_reason() -> None:
    table = resource_handling_agreement(open_recording())
    assert [question for question, _ in table.unexplained] == []
    assert len(table.rows) >= 70


def test_a_registry_that_ignores_versions_is_found_out() -> None:
    def forgetful(server: GenericAPIServer) -> None:
        store: ResourceStore = server.stores["", "configmaps"]
        update = store.update

        async def without_version(scope, change, validate, **options):  # type: ignore[no-untyped-def]
            async def changed(live):  # type: ignore[no-untyped-def]
                new = await change(live)
                new["metadata"].pop("resourceVersion", None)
                return new

            return await update(scope, changed, validate, **options)

        store.update = without_version  # type: ignore[method-assign]

    table = resource_handling_agreement(open_recording(), forgetful)
    assert any("stale" in row.stage and not row.equal for row in table.rows)
