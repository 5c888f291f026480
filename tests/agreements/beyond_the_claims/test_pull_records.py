"""Who is asked for a secret although the image is there."""

from __future__ import annotations

from lifecycle.cri.apis.image import AuthConfig
from lifecycle.kubelet.images.credentials import TrackedAuth
from lifecycle.kubelet.images.image_pull_manager import PullRecords

REF = "sha256:1"
MINE = TrackedAuth(AuthConfig("me", "hunter2"), ("default", "right", "u"))


def test_an_image_that_was_there_before_is_for_everybody_until_somebody_pulls_it() -> None:
    records = PullRecords()
    assert not records.must_attempt_image_pull("app", REF, [MINE])
    records.record_pull_intent("app")
    assert records.must_attempt_image_pull("app", REF, [MINE])


def test_who_comes_later_is_asked_for_the_secret_and_for_it_under_each_name() -> None:
    records = PullRecords()
    records.record_pull_intent("app")
    records.record_image_pulled("app", REF, MINE)
    asked = [
        records.must_attempt_image_pull(name, REF, shown)
        for name, shown in (("app", [MINE]), ("app", []), ("copy", [MINE]))
    ]
    assert asked == [False, True, True]
