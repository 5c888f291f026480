"""Pictures of a network: what is drawn is what the host, the packet, the rules and the answers have."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lifecycle.cni.overlay.dissect import Layer
from lifecycle.dns.records import NXDOMAIN, Answer, Record
from lifecycle.figures import names, packet, packet_paths
from lifecycle.figures.host import HOST, POD, draw_host
from lifecycle.proxy.iptables.rule_text import Rule
from lifecycle.proxy.iptables.walk import Packet, Step, Walk
from tests.figures.network_namespace import End, Namespace, Way


def words(figure: Figure, row: int = 0) -> list[str]:
    return [text.get_text() for text in figure.axes[row].texts if text.get_text()]


def frames(figure: Figure, row: int = 0) -> list[str]:
    """The colours of the frames around words."""
    patches = [text.get_bbox_patch() for text in figure.axes[row].texts]
    return [to_hex(patch.get_edgecolor()) for patch in patches if patch is not None]


def test_a_name_leads_to_each_of_its_records_and_stands_at_their_middle() -> None:
    both = Answer(answer=[Record("web", 5, "A", "10.0.0.1"), Record("web", 5, "AAAA", "fd00::1")])
    alias = Answer(answer=[Record("db", 5, "CNAME", "db.example.org.")])
    figure = names.draw_names([("web", both), ("db", alias), ("nope", Answer(NXDOMAIN))])
    assert words(figure) == ["web", "A 10.0.0.1", "AAAA fd00::1", "db", "CNAME db.example.org.", "nope", "NXDOMAIN"]
    assert frames(figure) == [
        names.NAME, names.ADDRESS, names.ADDRESS, names.NAME, names.ALIAS, names.NAME, names.NO,
    ]  # fmt: skip
    heights = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts}
    assert heights["web"] == (heights["A 10.0.0.1"] + heights["AAAA fd00::1"]) / 2
    assert heights["db"] == heights["CNAME db.example.org."] == heights["AAAA fd00::1"] - 1
    arrows = [note for note in figure.axes[0].texts if hasattr(note, "arrow_patch")]
    assert [(note.xy[1], note.xyann[1]) for note in arrows] == [(0, -0.5), (-1, -0.5), (-2, -2), (-3, -3)]
    low, high = figure.axes[0].get_ylim()
    assert low < -3
    assert high > 0


LAYERS = [
    Layer("Ethernet", 0, 14, {"from": "aa", "to": "bb", "type": "IPv4"}),
    Layer("VXLAN", 14, 8, {}),
    Layer("IPv4", 22, 78, {"to": "10.244.1.2"}),
]


def test_a_header_is_as_long_as_its_bytes_and_what_the_tunnel_carries_has_another_colour() -> None:
    figure = packet.draw_packet(LAYERS)
    bars = figure.axes[0].patches
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [(0, 14), (14, 8), (22, 78)]
    assert [to_hex(bar.get_facecolor()) for bar in bars] == [packet.OUTER, packet.OUTER, packet.INNER]
    assert words(figure) == ["Ethernet · 14 bytes\nfrom aa\nto bb", "VXLAN · 8 bytes", "IPv4 · 78 bytes\nto 10.244.1.2"]
    assert figure.axes[0].yaxis_inverted(), "the first header stands on top"
    assert {side for side, spine in figure.axes[0].spines.items() if spine.get_visible()} == {"bottom"}
    assert figure.axes[0].get_xlabel() == "byte of the frame on the wire between the hosts"


def test_the_words_of_a_header_stand_on_the_side_where_there_is_room() -> None:
    figure = packet.draw_packet(LAYERS)
    places = [(text.get_ha(), text.get_position()) for text in figure.axes[0].texts]
    assert places == [("left", (15, 0)), ("left", (23, 1)), ("right", (21, 2))]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("KUBE-SVC-4N57TFCL4MD7ZTDA", "KUBE-\nSVC-\n4N57…"),
        ("KUBE-SEP-4N57TFCL4MD7ZTDA", "KUBE-SEP\n4N57…"),
        ("KUBE-SERVICES", "KUBE-\nSERVICES"),
        ("KUBE-MARK-MASQ-XY", "KUBE-\nMARK-MASQ-XY"),
        ("KUBE-MARK-MASQ-XYZ", "KUBE-\nMARK-\nMASQ-\nXYZ…"),
        ("PREROUTING", "PREROUTING"),
        ("10.244.1.2:8080 over", "10.244.1.2:8080 over"),
    ],
)
def test_a_chain_is_named_without_most_of_its_hash(name: str, said: str) -> None:
    assert packet_paths.short(name) == said


def step(chain: str, target: str, depth: int, table: str = "nat", hook: str = "PREROUTING") -> Step:
    return Step(table, hook, depth, Rule(chain, "", {}, (), target), Packet("10.0.0.9", "10.96.0.1", 80))


SERVICE = (
    step("PREROUTING", "KUBE-SERVICES", 0),
    step("KUBE-SERVICES", "KUBE-SVC-A", 1),
    step("KUBE-SVC-A", "KUBE-MARK-MASQ", 2),
    step("KUBE-MARK-MASQ", "MARK", 3),
)


def way(endpoint: str, share: Fraction) -> Walk:
    steps = (*SERVICE, step("KUBE-SVC-A", f"KUBE-SEP-{endpoint}", 2), step(f"KUBE-SEP-{endpoint}", "DNAT", 3))
    after = step("FORWARD", "ACCEPT", 0, "filter", "FORWARD")
    return Walk(Packet("10.0.0.9", endpoint, 8080), steps=(*steps, after), probability=share)


def test_the_path_of_a_packet_is_the_chains_that_lead_to_its_new_destination() -> None:
    chains = ("PREROUTING", "KUBE-SERVICES", "KUBE-SVC-A", "KUBE-SEP-10.0.0.1")
    one = way("10.0.0.1", Fraction(1))
    assert packet_paths.path_of(one) == (*chains, one.destination)


def test_the_path_of_a_refused_packet_ends_in_the_table_that_refused_it() -> None:
    steps = (
        *SERVICE,
        step("FORWARD", "KUBE-SERVICES", 0, "filter", "FORWARD"),
        step("KUBE-SERVICES", "REJECT", 1, "filter", "FORWARD"),
    )
    refused = Walk(Packet("10.0.0.9", "10.96.0.1", 80), "REJECT", steps=steps)
    assert packet_paths.path_of(refused) == ("FORWARD", "KUBE-SERVICES", refused.destination)


def test_a_packet_that_no_rule_redirects_goes_straight_to_where_it_was_sent() -> None:
    sent = Packet("10.0.0.9", "10.0.0.7", 80)
    assert packet_paths.path_of(Walk(sent)) == (Walk(sent).destination,)
    passing = Walk(sent, steps=(step("FORWARD", "ACCEPT", 0, "filter", "FORWARD"),))
    assert packet_paths.path_of(passing) == ("FORWARD", passing.destination)


def test_a_packet_that_meets_no_rule_is_one_box() -> None:
    figure = packet_paths.draw_ways([("to a neighbour", [Walk(Packet("10.0.0.9", "10.0.0.7", 80))])])
    assert words(figure) == ["10.0.0.7\n:80 – 100.0%"]


def test_ways_that_share_chains_share_their_boxes_and_ends_have_their_share() -> None:
    ways = [way("10.0.0.1", Fraction(1, 4)), way("10.0.0.2", Fraction(1, 2)), way("10.0.0.1", Fraction(1, 4))]
    refused = Walk(
        Packet("10.0.0.9", "10.96.0.2", 80), "REJECT", steps=(step("KUBE-SERVICES", "REJECT", 0, "filter", "FORWARD"),)
    )
    figure = packet_paths.draw_ways([("to a Service", ways), ("to nobody", [refused])])
    texts = words(figure)
    assert [text for text in texts if "%" not in text].count("KUBE-\nSVC-A") == 1
    assert [text.rpartition(" ")[2] for text in texts if "%" in text] == ["50.0%", "50.0%"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["to a Service", "to nobody"]
    heights = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts}
    ends = [height for name, height in heights.items() if "%" in name]
    assert sorted(ends) == [-1, 0]
    assert heights["KUBE-\nSVC-A"] == -0.5, "a chain stands at the middle of what it leads to"
    assert packet_paths.REFUSED in frames(figure, 1)
    assert packet_paths.END not in frames(figure, 1)
    assert frames(figure).count(packet_paths.END) == 2
    assert len(figure.axes[0].lines) == len(texts) - 1, "a line to each box but the first"
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim(), "columns stand below each other"


def pod(address: str, parent: int) -> Any:
    return Namespace([End(2, "eth0", parent=parent)], {2: [address] if address else []})


def test_without_a_bridge_each_pod_has_a_route_of_its_own() -> None:
    host = Namespace(
        [End(7, "vetha"), End(8, "vethb")],
        {7: ["10.244.1.1/32"]},
        [Way("10.244.1.2/32", 7), Way("10.244.1.3/32", 8), Way("default", 1)],
    )
    figure = draw_host([("one", pod("10.244.1.2/24", 7)), ("two", pod("", 8))], cast(Any, host), "ptp")
    assert words(figure) == [
        "one\neth0 10.244.1.2/24", "vetha\n10.244.1.1/32", "route\n10.244.1.2/32",
        "two\neth0 no address", "vethb\nno address", "route\n10.244.1.3/32", "the host's routing table",
    ]  # fmt: skip
    assert [to_hex(box.get_edgecolor()) for box in figure.axes[0].patches] == [POD, HOST, POD, HOST, HOST]
    assert [line.get_linestyle() for line in figure.axes[0].lines] == ["-", ":", "-", ":"]
    assert figure.axes[0].get_title() == "ptp"


def test_on_a_bridge_the_hosts_ends_are_plugged_in() -> None:
    host = Namespace(
        [End(3, "cni0", "bridge"), End(7, "vetha", master=3), End(8, "vethb", master=3)],
        {3: ["10.244.1.1/24", "fd00::1/64"]},
        [Way("10.244.1.0/24", 3)],
    )
    figure = draw_host([("one", pod("a", 7)), ("two", pod("b", 8))], cast(Any, host), "bridge")
    assert words(figure)[-1] == "bridge cni0 · 10.244.1.1/24, fd00::1/64"
    assert not any("route" in text for text in words(figure))
    assert [line.get_linestyle() for line in figure.axes[0].lines] == ["-"] * 4
    axes = figure.axes[0]
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    for box in axes.patches:
        assert left <= box.get_x() <= box.get_x() + box.get_width() <= right
        assert low <= box.get_y() <= box.get_y() + box.get_height() <= high
    uppers = [box for box in axes.patches if to_hex(box.get_edgecolor()) == POD]
    assert uppers[0].get_x() + uppers[0].get_width() < uppers[1].get_x(), "pods stand beside each other"
