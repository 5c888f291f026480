"""What a pod calls for, as a source of the kubelet now says it is."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.config.config import PodOperation, operation_for

POD: Object = {
    "metadata": {"name": "p", "namespace": "default", "uid": "u"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
    "status": {"phase": "Running"},
}


def _but(**more: Object) -> Object:
    return {**POD, **{key: {**POD[key], **value} for key, value in more.items()}}


@pytest.mark.parametrize(
    ("known", "now", "operation"),
    [
        (None, POD, PodOperation.ADD),
        (POD, POD, None),
        (POD, _but(status={"phase": "Failed"}), PodOperation.RECONCILE),  # somebody else has written, or we have
        (POD, _but(spec={"activeDeadlineSeconds": 5}), PodOperation.UPDATE),
        (POD, _but(metadata={"labels": {"a": "b"}}), PodOperation.UPDATE),
        (POD, _but(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), PodOperation.DELETE),
        (
            _but(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            _but(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            None,
        ),
    ],
)
def test_news_call_for_what_has_changed(known: Object | None, now: Object, operation: PodOperation | None) -> None:
    """Upstream: `checkAndUpdatePod`."""
    assert operation_for(known, now) is operation
