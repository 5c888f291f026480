"""By what a client knows that objects would have to be written again: `storageVersionHash` of the recorded servers."""

from __future__ import annotations

import pytest

from lifecycle.api.custom_resources import version_hash


@pytest.mark.parametrize(
    ("group", "version", "kind", "published"),
    [
        ("", "v1", "Pod", "xPOwRZ+Yhw8="),
        ("", "v1", "Service", "0/CO1lhkEBI="),
        ("", "v1", "ConfigMap", "qFsyl6wFWjQ="),
        ("apps", "v1", "Deployment", "8aSe+NMegvE="),
        ("apps", "v1", "ReplicaSet", "P1RzHs8/mWQ="),
    ],
)
def test_a_hash_is_of_the_group_the_version_and_the_kind(group: str, version: str, kind: str, published: str) -> None:
    assert version_hash(group, version, kind) == published
