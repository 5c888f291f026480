"""What a probe makes of an answer, to which a hook does not listen."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lifecycle.agreements.claim_checks.lifecycle_hooks import ToldRuntime
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.kubelet.prober.prober import Prober

REDIRECTED = "Probe terminated redirects, Response body: "


@pytest.mark.parametrize(
    ("code", "well", "said"),
    [
        (0, False, "connection refused"), (200, True, ""), (302, True, REDIRECTED), (399, True, REDIRECTED),
        (400, False, "HTTP probe failed with statuscode: 400"), (500, False, "HTTP probe failed with statuscode: 500"),
    ],
)  # fmt: skip
def test_what_is_sent_elsewhere_is_well_and_what_is_refused_is_not(code: int, well: bool, said: str) -> None:
    prober = Prober(cast(Any, ToldRuntime(code)))
    assert on_virtual_time(prober.probe({"httpGet": {"port": 80}}, {"name": "c"}, "id", "10.0.0.9")) == (well, said)
