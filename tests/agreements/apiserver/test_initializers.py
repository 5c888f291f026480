"""Nobody offers initializers any more; what does their job answers as the recorded cluster does."""

from __future__ import annotations

import pytest

from lifecycle.agreements.apiserver.initializers import initializers_agreement, resources_of
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.inspector import open_recording


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_the_successors_answer_as_recorded(name: str) -> None:
    table = initializers_agreement(open_recording(name))
    assert [row.input for row in table.rows if not row.equal] == []
    assert len(table.rows) >= 4


def test_without_policies_the_refusal_is_missed() -> None:
    def without(server: GenericAPIServer) -> None:
        chain = server.config.admission
        chain.use([plugin for plugin in chain.plugins if plugin.name != "ValidatingAdmissionPolicy"])

    table = initializers_agreement(open_recording(), without)
    assert any("denies" in row.stage and not row.equal for row in table.rows)


@pytest.mark.parametrize("name", ["kind-1.36.2", "bare-1.20.2"])
def test_no_recorded_cluster_has_initializers(name: str) -> None:
    found = resources_of(open_recording(name))
    assert "mutatingwebhookconfigurations" in found
    assert "initializerconfigurations" not in found
