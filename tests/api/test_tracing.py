"""Spans: who listens hears what was finished in the block, how it is nested, and nothing else."""

from __future__ import annotations

import pytest

from lifecycle.api.tracing import Span, heard, listening, span


def test_without_a_listener_a_span_is_nothing() -> None:
    assert not heard()
    with span("apiserver", "stage", uid="u") as nobody:
        assert nobody is None


def test_spans_are_handed_over_when_they_end_with_their_parent_and_attributes() -> None:
    spans: list[Span] = []
    with listening(spans.append):
        assert heard()
        with span("apiserver", "outer", uid="u") as outer:
            assert outer is not None
            assert spans == []
            with span("etcd", "inner") as inner:
                assert inner is not None
            with span("etcd", "second") as second:
                assert second is not None
        with span("kubelet", "after") as after:
            assert after is not None
    assert spans == [inner, second, outer, after]
    assert [each.parent for each in spans] == [outer.id, outer.id, 0, 0]
    assert len({each.id for each in spans}) == 4
    assert 0 not in {each.id for each in spans}
    assert (outer.component, outer.name, outer.attributes) == ("apiserver", "outer", {"uid": "u"})
    assert outer.start <= inner.start <= inner.end <= second.start <= second.end <= outer.end
    assert not heard()


def test_a_stage_that_fails_ends_its_span_too() -> None:
    spans: list[Span] = []
    with listening(spans.append):
        with pytest.raises(KeyError), span("apiserver", "fails"):
            raise KeyError("x")
        with span("apiserver", "next"):
            pass
    assert [(each.name, each.parent) for each in spans] == [("fails", 0), ("next", 0)]
    assert spans[0].end >= spans[0].start > 0


def test_each_listener_hears_as_long_as_its_block_runs() -> None:
    first: list[Span] = []
    second: list[Span] = []
    with listening(first.append), listening(second.append), span("a", "both"):
        pass
    with listening(first.append), span("a", "one"):
        pass
    assert [each.name for each in first] == ["both", "one"]
    assert [each.name for each in second] == ["both"]
