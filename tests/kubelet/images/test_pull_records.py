"""Whom an image that is on the node belongs to: who has to ask the registry all the same, and who need not."""

from __future__ import annotations

import pytest

from lifecycle.cri.apis.image import AuthConfig
from lifecycle.kubelet.images.credentials import TrackedAuth
from lifecycle.kubelet.images.image_pull_manager import PullRecords, credential_hash

IMAGE, REF = "registry.test/private", "sha256:1"
MINE = TrackedAuth(AuthConfig("me", "secret"), ("ns", "pull", "uid"))
RENAMED = TrackedAuth(MINE.auth, ("other", "copy", "uid-2"))
OTHERS = TrackedAuth(AuthConfig("me", "guessed"), ("other", "pull", "uid-3"))
NODES = TrackedAuth(AuthConfig("node", "secret"))


def pulled(used: TrackedAuth | None, image: str = IMAGE) -> PullRecords:
    records = PullRecords()
    records.record_pull_intent(image)
    records.record_image_pulled(image, REF, used)
    return records


@pytest.mark.parametrize(
    ("used", "shown", "must"),
    [
        (None, [], False),  # nobody needed anything
        (NODES, [], False),  # the node's own open it to all
        (NODES, [OTHERS], False),
        (MINE, [], True),
        (MINE, [MINE], False),
        (MINE, [RENAMED], False),  # the same credentials out of another secret
        (MINE, [OTHERS], True),
        (MINE, [OTHERS, MINE], False),
    ],
)
def test_an_image_is_for_those_who_have_what_it_was_pulled_with(
    used: TrackedAuth | None, shown: list[TrackedAuth], must: bool
) -> None:
    records = pulled(used)
    assert records.must_attempt_image_pull(IMAGE, REF, shown) is must
    assert records.must_attempt_image_pull(IMAGE, REF, shown) is must, "to ask changes nothing of it"


def test_the_same_layers_under_another_name_are_another_matter() -> None:
    records = pulled(None)
    assert records.must_attempt_image_pull("registry.test/other", REF, [MINE])
    records.record_image_pulled("registry.test/other", REF, MINE)
    assert not records.must_attempt_image_pull("registry.test/other", REF, [MINE])
    assert records.must_attempt_image_pull("registry.test/other", REF, [OTHERS])
    assert not records.must_attempt_image_pull(IMAGE, REF, [])


def test_who_pulled_it_first_shares_it_with_who_pulled_it_next() -> None:
    records = pulled(MINE)
    records.record_image_pulled(IMAGE, REF, OTHERS)
    assert not any(records.must_attempt_image_pull(IMAGE, REF, [each]) for each in (MINE, OTHERS))
    records.record_image_pulled(IMAGE, REF, None)
    assert not records.must_attempt_image_pull(IMAGE, REF, [])


def test_an_image_that_was_here_before_is_everybodys_unless_a_pull_of_it_has_begun() -> None:
    records = PullRecords()
    assert not records.must_attempt_image_pull(IMAGE, REF, [])
    for _ in range(2):
        records.record_pull_intent(IMAGE)
    assert records.must_attempt_image_pull(IMAGE, REF, [])
    assert not records.must_attempt_image_pull("registry.test/other", REF, [])
    records.record_pull_failed(IMAGE)
    assert records.must_attempt_image_pull(IMAGE, REF, []), "the other one goes on"
    records.record_pull_failed(IMAGE)
    assert not records.must_attempt_image_pull(IMAGE, REF, [])
    records.record_pull_failed(IMAGE)
    records.record_pull_intent(IMAGE)
    assert records.must_attempt_image_pull(IMAGE, REF, [])
    records.record_image_pulled(IMAGE, "sha256:2", None)
    assert not records.must_attempt_image_pull(IMAGE, REF, [])


def test_of_credentials_only_what_proves_something_counts() -> None:
    same = AuthConfig("me", "secret", server_address="elsewhere", registry_token="t")
    assert credential_hash(same) == credential_hash(MINE.auth)
    others = [
        AuthConfig("me", "secre", "t"),
        AuthConfig("mes", "ecret"),
        AuthConfig("me", "secret", identity_token="x"),
    ]
    hashes = {credential_hash(each) for each in [MINE.auth, *others]}
    assert len(hashes) == 4
    assert not any("secret" in each for each in hashes)
