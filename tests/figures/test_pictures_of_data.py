"""What is drawn is what was given: lengths, places, colours and words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lifecycle.api.tracing import Span
from lifecycle.figures import bars, form, namespaces, path_parts, revisions, roles, stages, verdicts, weights
from lifecycle.figures.picture import INK, Picture


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def rows(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def boxes(figure: Figure) -> list[Any]:
    return list(figure.axes[0].patches)


def test_a_bar_is_as_long_as_its_number_and_the_marked_one_stands_out() -> None:
    figure = bars.draw_bars({"some": 3, "none": 0, "many": 40}, "things", marked=["many"])
    assert rows(figure) == ["some", "none", "many"]
    assert [bar.get_width() for bar in boxes(figure)] == [3, 0, 40]
    assert [to_hex(bar.get_facecolor()) for bar in boxes(figure)] == [bars.PLAIN, bars.PLAIN, bars.MARKED]
    assert words(figure) == ["3", "0", "40"]
    assert figure.axes[0].get_xlabel() == "things"
    assert figure.axes[0].yaxis_inverted()  # the first on top


def test_the_meaning_of_the_colours_stands_clear_of_the_bars_of_verdicts() -> None:
    counts = Counter(dict.fromkeys(verdicts.COLOURS, 30))
    figure = verdicts.draw_verdicts({"one": counts, "another": counts})
    [legend] = figure.legends
    figure.canvas.draw()
    assert [text.get_text() for text in legend.get_texts()] == list(verdicts.COLOURS)
    bars_drawn = [bar.get_window_extent() for bar in boxes(figure) if bar.get_width()]
    assert len(bars_drawn) == 2 * len(verdicts.COLOURS)
    assert not any(bar.overlaps(legend.get_window_extent()) for bar in bars_drawn)


def test_revisions_stand_in_the_lane_of_their_key_and_what_a_watch_was_told_is_coloured() -> None:
    history = [revisions.Change(2, "a", "put"), revisions.Change(3, "b", "put"), revisions.Change(4, "a", "delete")]
    figure = revisions.draw_revisions(history, reported={3, 4})
    dots = figure.axes[0].collections
    assert [tuple(dot.get_offsets()[0]) for dot in dots] == [(2, 0), (3, 1), (4, 0)]
    assert [to_hex(dot.get_facecolor()[0]) for dot in dots] == [INK, revisions.REPORTED, revisions.REPORTED]
    assert words(figure) == ["put a\nrevision 2", "put b\nrevision 3", "delete a\nrevision 4"]
    assert rows(figure) == ["key a", "key b"]


def test_each_way_to_weigh_is_a_line_with_its_name_on_logarithmic_axes() -> None:
    lines = {"now": [(0.1, 10), (1.0, 100)], "before": [(0.1, 4), (1.0, 39)]}
    figure = weights.draw_weights(lines)
    [axes] = figure.axes
    assert [list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()] == list(lines.values())
    assert words(figure) == list(lines)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    with pytest.raises(ValueError, match=r"4 lines, and 3 colours$"):
        weights.draw_weights(dict.fromkeys("abcd", lines["now"]))


PAUSE = [
    {"type": "pid"},
    {"type": "ipc"},
    {"type": "uts"},
    {"type": "mount"},
    {"type": "network", "path": "/var/run/netns/x"},
]


def joining(*kinds: str) -> list[dict[str, str]]:
    return [{"type": kind, "path": f"/proc/42/ns/{kind}"} for kind in kinds]


def table(figure: Figure) -> dict[str, list[tuple[str, str]]]:
    """Process → word and colour for each kind of namespace."""
    texts = words(figure)[len(namespaces.KINDS) :]
    colours = [to_hex(box.get_facecolor()) for box in boxes(figure)]
    width = len(namespaces.KINDS)
    return {
        texts[row * (width + 1)]: list(
            zip(texts[row * (width + 1) + 1 :][:width], colours[row * width :], strict=False)
        )
        for row in range(len(texts) // (width + 1))
    }


def test_who_makes_and_who_joins_a_namespace() -> None:
    own = [*joining("network", "ipc", "uts"), {"type": "pid"}, {"type": "mount"}]
    drawn = table(namespaces.draw_namespaces(PAUSE, {"a": own}))
    shared = (namespaces.MAKES_SHARED, namespaces.SHARED)
    assert drawn["pause"] == [
        ("made before", shared[0]), ("makes", shared[0]), ("makes", shared[0]),
        ("makes", namespaces.OWN), ("makes", namespaces.OWN),
    ]  # fmt: skip
    assert drawn["a"] == [("joins", shared[1])] * 3 + [("its own", namespaces.OWN)] * 2


def test_a_shared_pid_namespace_is_one_and_the_nodes_is_nobodys() -> None:
    shared = table(
        namespaces.draw_namespaces(PAUSE, {"a": [*joining("network", "ipc", "uts", "pid"), {"type": "mount"}]})
    )
    assert [shared[name][3][0] for name in ("pause", "a")] == ["makes", "joins"]
    assert shared["pause"][3][1] == namespaces.MAKES_SHARED
    host = table(namespaces.draw_namespaces([{"type": "mount"}], {"a": [{"type": "mount"}]}))
    assert [word for word, _ in host["a"]] == ["the node's"] * 4 + ["its own"]


def test_stages_make_a_stair_and_what_is_inside_another_lies_within_it() -> None:
    spans = [
        Span(1, 0, "apiserver", "decode", 0.0, 1.0),
        Span(2, 0, "apiserver", "storage", 2.0, 6.0),
        Span(3, 2, "etcd", "txn", 3.0, 4.0),
        Span(4, 3, "etcd", "fsync", 3.5, 3.9),
        Span(5, 0, "apiserver", "encode", 7.0, 8.0),
    ]
    figure = stages.draw_stages(spans)
    assert rows(figure) == [span.name for span in spans]
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in boxes(figure)]
    assert ends[0][1] < ends[1][0]
    assert ends[1][1] < ends[4][0]
    for inner, outer in ((2, 1), (3, 2)):
        assert ends[outer][0] < ends[inner][0] < ends[inner][1] < ends[outer][1]


FORM = {"kind": "K", "name": "a", "spec": {"label": "a", "number": 1}}
OTHER_NAME = {**FORM, "name": "b", "spec": {"label": "b", "number": 1}}
OTHER_NUMBER = {**FORM, "spec": {"label": "a", "number": 2}}


def test_the_lines_of_a_form_that_follow_a_word_are_boxed_in_its_colour() -> None:
    figure = form.draw_form(FORM, {"--name": OTHER_NAME, "--number": OTHER_NUMBER})
    boxed = {
        text.get_text(): to_hex(text.get_bbox_patch().get_facecolor())
        for text in figure.axes[0].texts
        if text.get_bbox_patch()
    }
    name, number = form.COLOURS[:2]
    assert boxed == {"name: a": name, "label: a": name, "number: 1": number}
    assert words(figure).count("--name") == 2
    assert words(figure).count("--number") == 1
    assert {"kind: K", "spec:"} <= set(words(figure))


def test_a_form_is_drawn_on_nothing_the_same_each_time() -> None:
    first = form.draw_form(FORM, {"--name": OTHER_NAME})
    assert first.patch.get_alpha() == 0
    assert Picture(first).svg == Picture(form.draw_form(FORM, {"--name": OTHER_NAME})).svg


def test_the_words_beside_a_form_stand_clear_of_its_longest_line() -> None:
    def where(value: str) -> float:
        figure = form.draw_form({"a": value}, {"--a": {"a": "other"}})
        return next(text.get_position()[0] for text in figure.axes[0].texts if text.get_text() == "--a")

    assert where("x") == where("y" * 10)
    assert where("x" * 30) > 0.1 + form.LETTER * len("a: " + "x" * 30)


def test_a_form_with_more_words_than_colours_or_other_lines_is_refused() -> None:
    with pytest.raises(ValueError, match=r"5 words, and 4 colours$"):
        form.draw_form(FORM, dict.fromkeys("abcde", OTHER_NAME))
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is longer than argument 1$"):
        form.draw_form(FORM, {"a": {**FORM, "more": 1}})


def test_a_path_has_a_box_for_each_part_and_its_meaning_below() -> None:
    figure = path_parts.draw_path_parts([[("/api", "group"), ("/v1", "version")], [("/apis/apps", "group")]])
    assert words(figure) == ["/api", "group", "/v1", "version", "/apis/apps", "group"]
    colours = [to_hex(t.get_bbox_patch().get_facecolor()) for t in figure.axes[0].texts if t.get_bbox_patch()]
    assert colours == [path_parts.COLOURS[place] for place in (0, 1, 0)]
    assert figure.patch.get_alpha() == 0
    with pytest.raises(ValueError, match=r"6 parts, and 5 colours$"):
        path_parts.draw_path_parts([[("/a", "")] * 6])


def test_roles_stand_in_columns_and_each_arrow_leads_from_its_giver_to_its_taker() -> None:
    figure = roles.draw_roles([["a", "b"], ["c"]], [("b", "c")])
    assert words(figure) == ["a", "b", "c", ""]
    [arrow] = [text for text in figure.axes[0].texts if not text.get_text()]
    assert arrow.xyann == (0.5 + roles.WIDE / 2, 1)
    assert arrow.xy == (1.5 - roles.WIDE / 2, 0.5)
    assert [to_hex(box.get_facecolor()) for box in boxes(figure)[:3]] == [*roles.COLOURS[:1] * 2, roles.COLOURS[1]]
    with pytest.raises(KeyError, match="d"):
        roles.draw_roles([["a"]], [("a", "d")])
    with pytest.raises(ValueError, match=r"5 columns, and 4 colours$"):
        roles.draw_roles([["a"]] * 5, [])


def test_each_is_the_same_each_time_and_draws_on_nothing() -> None:
    def all_of_them() -> list[str]:
        figures = [
            bars.draw_bars({"a": 1}, "things"),
            revisions.draw_revisions([revisions.Change(2, "a", "put")], {2}),
            weights.draw_weights({"now": [(0.1, 10), (1.0, 100)]}),
            namespaces.draw_namespaces(PAUSE, {}),
            stages.draw_stages([Span(1, 0, "c", "s", 0.0, 1.0)]),
        ]
        return [Picture(figure).svg for figure in figures]

    first = all_of_them()
    assert first == all_of_them()
    for svg in first:
        assert svg.startswith("<svg")
        assert "fill: #ffffff" not in svg
