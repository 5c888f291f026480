"""Pull secrets: what a real kubelet showed the registry is what ours shows."""

from __future__ import annotations

from lifecycle.agreements.kubelet.pull_secrets import pull_secrets_agreement


def test_ours_shows_the_same_passwords_in_the_same_order() -> None:
    table = pull_secrets_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 56
