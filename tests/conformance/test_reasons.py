"""What did not pass has a reason, and what passes needs none."""

from __future__ import annotations

import pytest
import yaml
from conformance.results import REASONS, read, reasons

SUBJECTS = ("sandbox", "containerd", "hollow", "sandbox node", "sandbox network")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_test_that_failed_has_a_reason_and_no_other_has_one(subject: str) -> None:
    assert set(reasons(subject)) == {each.name for each in read(subject) if not each.passed}


def test_a_reason_is_a_sentence_and_stands_once() -> None:
    groups = [group for groups in yaml.safe_load(REASONS.read_text()).values() for group in groups]
    assert [group["because"] for group in groups if not group["because"].strip().endswith(".")] == []
    for subject in SUBJECTS:
        listed = yaml.safe_load(REASONS.read_text()).get(subject) or ()
        names = [name for group in listed for name in group["tests"]]
        assert len(names) == len(set(names))
