"""Pods whose finalizer has been taken off, while the cache still shows it.

A Job's status and its pods come back by two watches, and nothing keeps them in step.
When the status is there first, the pod looks as if it were still to be counted: it
would count twice, the Job would want fewer pods than it needs, and one that works would
be deleted. So the controller remembers whose finalizer it took off, and does not count
these until their watch has said so.

Upstream: `pkg/controller/job/tracking_utils.go` (`uidTrackingExpectations`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable


class UIDTrackingExpectations:
    """By the Job's key: uids of pods that are to be seen without the finalizer."""

    def __init__(self) -> None:
        self._uids: dict[str, set[str]] = {}

    def expect_finalizers_removed(self, key: str, uids: Iterable[str]) -> None:
        """Call it before the first patch: the watch may be faster than the answer."""
        self._uids.setdefault(key, set()).update(uids)

    def finalizer_removal_observed(self, key: str, uid: str) -> None:
        """The pod came without it or is gone; or the patch failed, and it stays."""
        self._uids.get(key, set()).discard(uid)

    def expected_uids(self, key: str) -> frozenset[str]:
        """Those that have not been seen without it. Upstream: `getExpectedUIDs`."""
        return frozenset(self._uids.get(key, ()))

    def delete_expectations(self, key: str) -> None:
        """The Job is gone."""
        self._uids.pop(key, None)
