"""Who is asked for a secret although the image is there."""

from __future__ import annotations

import pytest

from lifecycle.cri.apis.image import AuthConfig
from lifecycle.kubelet.images.credentials import TrackedAuth
from lifecycle.kubelet.images.image_pull_manager import WRITE_RECORD_WHILE_MATCHING_LIMIT, PullRecords

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


OTHER_WORD, THIRD_WORD = AuthConfig("me", "hunter3"), AuthConfig("me", "hunter4")
COPY, STRANGER = ("other", "copy", "v"), ("other", "strange", "w")
SHOWN = [
    # what is shown, one after the other – a secret and what is in it –, and who has to ask the registry
    # a password that was changed where it was kept is believed, the old one no more
    ([(MINE.secret, OTHER_WORD), (STRANGER, OTHER_WORD), (STRANGER, MINE.auth)], "no no no"),
    ([(MINE.secret, OTHER_WORD), (STRANGER, MINE.auth)], "no yes"),
    ([(STRANGER, OTHER_WORD), (MINE.secret, OTHER_WORD), (STRANGER, OTHER_WORD)], "yes no no"),
    # so is a copy, once it was shown with the right one
    ([(COPY, OTHER_WORD)], "yes"),
    ([(COPY, MINE.auth), (COPY, OTHER_WORD)], "no no"),
    ([(COPY, MINE.auth), (COPY, OTHER_WORD), (STRANGER, OTHER_WORD), (STRANGER, MINE.auth)], "no no no no"),
    ([(COPY, OTHER_WORD), (COPY, MINE.auth), (COPY, OTHER_WORD), (COPY, THIRD_WORD)], "yes no no no"),
    # a secret is the same by namespace, name and uid: one that was made again is another one
    ([(("default", "right", "u2"), OTHER_WORD)], "yes"),
    ([(("default", "left", "u"), OTHER_WORD)], "yes"),
    ([(("other", "right", "u"), OTHER_WORD)], "yes"),
    # what the node knows itself proves nothing here
    ([(("", "", ""), MINE.auth), (("", "", ""), OTHER_WORD)], "yes yes"),
]


@pytest.mark.parametrize(("shown", "asked"), SHOWN)
def test_a_secret_that_was_right_once_is_believed_and_so_is_who_shows_what_was_in_it(
    shown: list[tuple[tuple[str, str, str], AuthConfig]], asked: str
) -> None:
    records = PullRecords()
    records.record_pull_intent("app")
    records.record_image_pulled("app", REF, MINE)
    found = [records.must_attempt_image_pull("app", REF, [TrackedAuth(auth, secret)]) for secret, auth in shown]
    assert " ".join("yes" if each else "no" for each in found) == asked


def test_after_a_hundred_secrets_no_more_are_written_down() -> None:
    records = PullRecords()
    records.record_image_pulled("app", REF, MINE)
    records.record_image_pulled("app", REF, TrackedAuth(THIRD_WORD, COPY))
    last = WRITE_RECORD_WHILE_MATCHING_LIMIT

    def asks(number: int, auth: AuthConfig) -> bool:
        return records.must_attempt_image_pull("app", REF, [TrackedAuth(auth, ("team", f"copy-{number}", "u"))])

    assert not any(asks(number, MINE.auth) for number in range(2, last + 1)), "all show what it was pulled with"
    assert [asks(last - 1, OTHER_WORD), asks(last, OTHER_WORD)] == [True, True], "no room for news, whoever brings them"
    assert not asks(last, MINE.auth)
    assert records.must_attempt_image_pull("app", REF, [TrackedAuth(OTHER_WORD, MINE.secret)])
    for secret, auth in ((COPY, MINE.auth), (STRANGER, THIRD_WORD)):
        assert not records.must_attempt_image_pull("app", REF, [TrackedAuth(auth, secret)]), "what is known stays known"
