"""A connection through a Service drawn as four packets: what the kernel changed is the only thing in colour."""

from __future__ import annotations

import random
import re

from lifecycle.agreements.proxy.iptables_rules import recorded_objects
from lifecycle.figures.picture import GOOD
from lifecycle.figures.translation import draw_translation
from lifecycle.inspector import open_recording
from lifecycle.proxy.iptables.rule_text import parse_saved
from lifecycle.proxy.iptables.walk import Node, Packet, Walk, walk

NODE, POD, STRANGER = "172.19.0.3", "10.244.1.99", "203.0.113.7"


def way(source: str, destination: str, port: int) -> Walk:
    saved = open_recording().node("lifecycle-worker").run("iptables-save", moment="services")
    return walk(Node(parse_saved(saved), {NODE}), Packet(source, destination, port), random.Random(1).random)


def told(svg: str) -> tuple[list[str], int]:
    return re.findall(r"<!-- ((?:from|to) \S+) -->", svg), len(re.findall(rf'<g style="fill: {GOOD}"', svg))


def test_a_pods_packet_gets_another_destination_and_its_answer_another_source() -> None:
    services, _ = recorded_objects(open_recording(), "services")
    [web] = [obj["spec"]["clusterIP"] for obj in services if obj["metadata"]["name"] == "web"]
    taken = way(POD, web, 80)
    lines, changed = told(draw_translation(POD, f"{web}:80", taken, NODE).svg)
    pod = taken.destination
    forth = [f"from {POD}", f"to {web}:80", f"from {POD}", f"to {pod}"]
    back = [f"from {pod}", f"to {POD}", f"from {web}:80", f"to {POD}"]
    assert lines == forth + back
    assert changed == 2


def test_a_strangers_packet_gets_the_nodes_address_as_well() -> None:
    taken = way(STRANGER, NODE, 30080)
    lines, changed = told(draw_translation(STRANGER, f"{NODE}:30080", taken, "10.244.1.1").svg)
    assert lines[2] == "from 10.244.1.1"
    assert lines[-1] == f"to {STRANGER}"
    assert changed == 4
