"""Our kubectl's patches and explanations beside the real one's."""

from __future__ import annotations

from lifecycle.agreements.kubectl.published_schemas import published_schemas_agreement


def test_every_patch_and_every_text_is_the_real_one() -> None:
    table = published_schemas_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 26
