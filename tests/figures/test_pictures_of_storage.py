"""The pictures of who writes what, and who owns it: words, places and colours are those of what was given."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lifecycle.figures import exchanges, fan, owned_fields, reach
from lifecycle.figures.exchanges import Message
from lifecycle.figures.picture import BAD, GOOD, Picture
from lifecycle.figures.reach import Question


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def arrows(figure: Figure) -> list[Any]:
    return [text for text in figure.axes[0].texts if getattr(text, "arrow_patch", None) is not None]


def owned(data: dict[str, str], **fields: str) -> dict[str, Any]:
    """An object of which each manager owns the fields that are named, separated by blanks."""
    entries = [
        {"manager": manager, "fieldsV1": {"f:data": {f"f:{name}": {} for name in names.split()}}}
        for manager, names in fields.items()
    ]
    return {"metadata": {"name": "m", "managedFields": entries}, "data": data}


def test_a_message_goes_from_its_sender_to_its_receiver_and_a_refusal_is_dashed() -> None:
    talk = [
        Message("Ann", "store", "read"),
        Message("store", "Bob", "no", refused=True),
        Message("Bob", "Bob", "think"),
    ]
    figure = exchanges.draw_exchanges(["Ann", "store", "Bob"], talk)
    assert words(figure) == ["Ann", "store", "Bob", "read", "no", "think"]
    read, refusal = arrows(figure)
    assert (read.xyann[0], read.xy[0]) == (0, 1)
    assert (refusal.xyann[0], refusal.xy[0]) == (1, 2)
    assert read.xy[1] < refusal.xy[1]  # downwards, on an axis that points down
    assert figure.axes[0].yaxis_inverted()
    assert to_hex(refusal.arrow_patch.get_edgecolor()) == BAD
    assert (read.arrow_patch.get_linestyle(), refusal.arrow_patch.get_linestyle()) == ("-", "--")
    with pytest.raises(KeyError, match="Cyd"):
        exchanges.draw_exchanges(["Ann"], [Message("Ann", "Cyd", "hello")])


def test_words_stand_beside_the_line_of_a_party_that_a_message_passes() -> None:
    talk = [Message("Ann", "Bob", "there"), Message("Bob", "Ann", "back"), Message("Ann", "store", "near")]
    figure = exchanges.draw_exchanges(["Ann", "store", "Bob"], talk)
    places = {text.get_text(): text.get_position()[0] for text in figure.axes[0].texts}
    assert (places["there"], places["back"], places["near"]) == (0.5, 1.5, 0.5)


def test_a_field_has_the_colours_of_all_its_owners_and_its_value_once() -> None:
    moments = [
        ("first", owned({"x": "1", "y": "2"}, ann="x y")),
        ("then", owned({"x": "1", "y": "3"}, ann="x", bob="x y")),
        ("last", owned({"x": "1"}, bob="x")),
    ]
    figure = owned_fields.draw_owned_fields(moments, {"data.x": ".data.x", "data.y": ".data.y"})
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["data.x", "data.y"]
    cells = [(to_hex(box.get_facecolor()), box.get_width()) for box in figure.axes[0].patches]
    ann, bob = owned_fields.COLOURS[:2]
    whole, half = owned_fields.CELL, owned_fields.CELL / 2
    assert cells == [(ann, whole), (ann, whole), (ann, half), (bob, half), (bob, whole), (bob, whole)]
    assert words(figure) == ["first", "ann", "1", "ann", "2", "then", "ann", "bob", "1", "bob", "3", "last", "bob", "1"]


def test_a_field_that_nobody_owns_any_more_says_so_and_one_that_nobody_ever_owned_is_a_mistake() -> None:
    moments = [("first", owned({"x": "1"}, ann="x")), ("then", owned({"x": "1"}))]
    assert "nobody" in words(owned_fields.draw_owned_fields(moments, {"x": ".data.x"}))
    with pytest.raises(KeyError, match=r"\.data\.z"):
        owned_fields.draw_owned_fields(moments, {"z": ".data.z"})


def test_the_item_of_a_list_is_found_by_its_key() -> None:
    fields = {"f:containers": {'k:{"name":"b"}': {".": {}, "f:image": {}}}}
    obj = {
        "metadata": {"managedFields": [{"manager": "ann", "fieldsV1": fields}]},
        "containers": [{"name": "a", "image": "wrong"}, {"name": "b", "image": "right"}],
    }
    figure = owned_fields.draw_owned_fields([("now", obj)], {"image": '.containers[name="b"].image'})
    assert words(figure) == ["now", "ann", "right"]


def test_every_reader_has_an_arrow_and_the_source_has_one() -> None:
    figure = fan.draw_fan("etcd", ["cache", "objects"], ["a", "b", "c"], "1 watch", "3 events")
    assert words(figure) == ["etcd", "cache", "objects", "1 watch", "3 events", "a", "b", "c"]
    ends = [(each.xyann, each.xy) for each in arrows(figure)]
    (from_etcd, to_cache), *out = ends
    assert from_etcd[0] < to_cache[0] < out[0][0][0]
    assert len({begin for begin, _ in out}) == 1
    assert [end[1] for _, end in out] == [0, 1, 2]
    bold = [text.get_text() for text in figure.axes[0].texts if text.get_weight() == "bold"]
    assert bold == ["etcd", "cache", "a", "b", "c"], "the first line of a box is its name"


def test_what_was_asked_and_what_was_answered_stand_at_their_revisions() -> None:
    questions = [
        Question("nothing", None, 20),
        Question("not older", 15, 20),
        Question("forgotten", 7, None, "410"),
    ]
    figure = reach.draw_reach(10, 20, questions)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["nothing", "not older", "forgotten"]
    marks = [tuple(each.get_offsets()[0]) for each in figure.axes[0].collections]
    assert marks == [(20, 0), (15, 1), (20, 1), (7, 2)]
    filled = [to_hex(each.get_facecolor()[0]) for each in figure.axes[0].collections if len(each.get_facecolor())]
    assert filled == [GOOD, GOOD]
    assert words(figure) == ["compacted", "revisions 10 to 20", "not yet", "410"]
    forgotten, kept, future = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in figure.axes[0].patches]
    assert forgotten[0] < 7 < forgotten[1] == kept[0] == 10
    assert kept[1] == future[0] == 20


def test_they_are_the_same_each_time_and_draw_on_nothing() -> None:
    def all_of_them() -> list[Figure]:
        return [
            exchanges.draw_exchanges(["a", "b"], [Message("a", "b", "x"), Message("b", "b", "y", True)]),
            owned_fields.draw_owned_fields([("now", owned({"x": "1"}, ann="x"))], {"x": ".data.x"}),
            fan.draw_fan("a", ["b"], ["c"], "1", "2"),
            reach.draw_reach(1, 2, [Question("x", 1, 2)]),
        ]

    assert [Picture(figure).svg for figure in all_of_them()] == [Picture(figure).svg for figure in all_of_them()]
    assert [(each.patch.get_alpha(), each.axes[0].patch.get_alpha()) for each in all_of_them()] == [(0, 0)] * 4
