"""Images on a full disk: a real kubelet removes as many as ours, spares the same, and says the same."""

from __future__ import annotations

from lifecycle.agreements.kubelet.image_collection import image_collection_agreement


def test_as_many_images_go_and_the_same_is_said() -> None:
    table = image_collection_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 22
