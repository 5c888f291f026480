"""What our informer asks for when it begins, and a real one."""

from __future__ import annotations

from lifecycle.agreements.client.questions_of_informers import as_asked, informed_agreement


def test_every_beginning_is_the_real_one() -> None:
    table = informed_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 2


def test_a_chance_counts_only_within_its_bounds() -> None:
    asked = [as_asked({"timeoutSeconds": [text]})["timeoutSeconds"] for text in ("299", "300", "599", "600")]
    assert asked == ["299", "five to ten minutes", "five to ten minutes", "600"]
