"""A charge that comes between another's reading and writing makes that one count again."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.admission_quota import quota, refusal
from lifecycle.agreements.claim_checks.admitting import pod
from lifecycle.api.http.wire import Object
from lifecycle.api.status import failure


def _written_after(*refusals: int) -> tuple[int, int]:
    """How often a charge is written if the first times are refused so, and with which
    code the pod is (0: it is not).
    """
    written: list[str] = []

    async def update(changed: Object) -> None:
        written.append(changed["status"]["used"]["pods"])
        if len(written) <= len(refusals):
            raise failure(refusals[len(written) - 1], "", "not now")

    charged = quota({"pods": "9"}, {"pods": "1"})
    refused = refusal(charged, pod(), update)
    assert set(written) == {"2"}, "each time for the one pod"
    return len(written), refused.code if refused is not None else 0


@pytest.mark.parametrize(
    ("refusals", "outcome"),
    [
        ([409] * 0, (1, 0)),
        ([409] * 1, (2, 0)),
        ([409] * 2, (3, 0)),
        ([409] * 3, (4, 0)),
        ([409] * 4, (4, 409)),
        ([403], (1, 403)),
    ],
)
def test_a_charge_that_comes_second_is_tried_three_times_more(refusals: list[int], outcome: tuple[int, int]) -> None:
    assert _written_after(*refusals) == outcome


def test_all_that_is_exceeded_is_told_in_the_order_of_names() -> None:
    hard = {"requests.memory": "1Mi", "pods": "1", "requests.cpu": "1", "limits.cpu": "9"}
    used = {"requests.memory": "0", "pods": "1", "requests.cpu": "900m", "limits.cpu": "0"}
    asks = pod(requests={"memory": "2Mi", "cpu": "200m"}, limits={"cpu": "1"})
    refused = refusal(quota(hard, used), asks)
    assert refused is not None
    assert refused.message.endswith(
        "exceeded quota: q, requested: pods=1,requests.cpu=200m,requests.memory=2Mi, "
        "used: pods=1,requests.cpu=900m,requests.memory=0, limited: pods=1,requests.cpu=1,requests.memory=1Mi"
    )
