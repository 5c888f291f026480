"""Names drawn: labels are numbered from behind, questions stand in their order with their answers' colours."""

from __future__ import annotations

import re

from lifecycle.figures.picture import BAD, GOOD
from lifecycle.figures.resolving import draw_labels, draw_questions


def test_labels_are_written_forwards_and_numbered_backwards() -> None:
    svg = draw_labels([("web", "Service"), ("shop", "namespace"), ("svc", "kind")]).svg
    texts = re.findall(r"<!-- (.+?) -->", svg)
    assert [text for text in texts if text in ("web", "shop", "svc")] == ["web", "shop", "svc"]
    assert [text for text in texts if text.isdigit()] == ["3", "2", "1"]


def test_each_question_has_its_answer_and_a_no_is_red() -> None:
    tried = [("web.a.svc.", "NXDOMAIN"), ("web.svc.", "10.0.0.7")]
    svg = draw_questions([("web", tried)]).svg
    texts = [text for text in re.findall(r"<!-- (.+?) -->", svg) if "." in text or text == "NXDOMAIN"]
    assert texts == ["web.a.svc.", "NXDOMAIN", "web.svc.", "10.0.0.7"]
    assert [len(re.findall(rf'<g style="fill: {colour}"', svg)) for colour in (BAD, GOOD)] == [1, 1]
    assert svg == draw_questions([("web", tried)]).svg
