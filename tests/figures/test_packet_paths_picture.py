"""The ways of packets through a node's rules: one picture, large enough for a phone."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from lifecycle.agreements.proxy.iptables_rules import recorded_objects
from lifecycle.figures.packet_paths import draw_ways, short
from lifecycle.inspector import open_recording
from lifecycle.proxy.iptables.rule_text import parse_saved
from lifecycle.proxy.iptables.walk import Node, Packet, outcomes

NODE, POD, STRANGER = "172.19.0.3", "10.244.1.99", "203.0.113.7"
ON_A_PHONE = 500
"""Pixels that a picture is wide there (book.css)."""


@pytest.fixture(scope="module")
def picture() -> Any:
    saved = open_recording().node("lifecycle-worker").run("iptables-save", moment="services")
    node = Node(parse_saved(saved), {NODE})
    address = {
        obj["metadata"]["name"]: obj["spec"].get("clusterIP")
        for obj in recorded_objects(open_recording(), "services")[0]
    }
    packets = [Packet(POD, address["web"], 80), Packet(STRANGER, NODE, 30080), Packet(POD, address["empty"], 80)]
    return draw_ways([(f"packet {number}", outcomes(node, packet)) for number, packet in enumerate(packets)])


def test_the_letters_are_ten_pixels_high_on_a_phone(picture: Any) -> None:
    pixels = [
        text.get_fontsize() / 72 * ON_A_PHONE / picture.get_size_inches()[0]
        for axes in picture.axes
        for text in axes.texts
    ]
    assert min(pixels) >= 10


def test_no_box_touches_another_or_leaves_the_picture(picture: Any) -> None:
    FigureCanvasAgg(picture).draw()
    for axes in picture.axes:
        boxes = [text.get_bbox_patch().get_window_extent() for text in axes.texts]
        assert [box for one, box in itertools.combinations(boxes, 2) if one.overlaps(box)] == []
        for box in boxes:
            assert picture.bbox.contains(box.x0, box.y0), box
            assert picture.bbox.contains(box.x1, box.y1), box


def test_a_way_ends_at_a_pod_with_its_share_or_where_it_is_refused(picture: Any) -> None:
    said = [[text.get_text() for text in axes.texts] for axes in picture.axes]
    assert [sum("33.3%" in text for text in texts) for texts in said] == [3, 3, 0]
    assert said[2] == ["FORWARD", "KUBE-\nSERVICES", "REJECT"]


def test_a_chains_name_is_cut_where_its_letters_mean_nothing() -> None:
    assert short("KUBE-SVC-IO6LXXXXXXXXXXXX") == "KUBE-\nSVC-\nIO6L…"
    assert short("KUBE-SEP-5IJZXXXXXXXXXXXX") == "KUBE-SEP\n5IJZ…"
    assert short("KUBE-NODEPORTS") == "KUBE-\nNODEPORTS"
    assert short("PREROUTING") == "PREROUTING"
