"""Our electors beside two real controller managers."""

from __future__ import annotations

from lifecycle.agreements.client.leader_election import leader_election_agreement


def test_the_lease_changes_hands_as_it_did() -> None:
    table = leader_election_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert (len(table.computed), table.total) == (6, 31)
