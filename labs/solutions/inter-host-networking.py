"""Answers to labs/inter-host-networking.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_offset = 14 + 20 + 8 + 8 + 14


def your_change(frame):
    frame[46:49] = (42).to_bytes(3, "big")
    return frame


def at_the_flags(frame):
    frame[42:45] = (42).to_bytes(3, "big")
    return frame


def the_wrong_end(frame):
    frame[46:49] = (42).to_bytes(3, "little")
    return frame


your_layers = ["Ethernet", "IPv4", "UDP", "payload"]
your_room = {1500: (1450, 1410), 9000: (8950, 8910), 1460: (1410, 1370)}
your_lease_events = {
    "n1 comes": 0,
    "n2 comes, at 172.19.0.4": 1,
    "n2 sends a heartbeat": 0,
    "n2 goes": 1,
    "n2 comes back, at 172.19.0.9": 1,
}
your_last_entry = "172.19.0.9"
your_pieces = {
    '{"Network": "10.5.0.0/20"}': 15,
    '{"Network": "10.5.0.0/24"}': 3,
    '{"Network": "10.5.0.0/29"}': "refused",
    '{"Network": "10.5.0.0/16", "SubnetLen": 17}': "refused",
    '{"Network": "10.5.0.0/16", "SubnetMin": "10.5.3.0", "SubnetMax": "10.5.4.0"}': 2,
}


def your_routes(nodes, own):
    lines = []
    for one in nodes:
        if one["metadata"]["name"] == own:
            continue
        address = next(
            a["address"]
            for a in one["status"]["addresses"]
            if a["type"] == "InternalIP"
        )
        lines += [f"{cidr} via {address} dev eth0" for cidr in one["spec"]["podCIDRs"]]
    return sorted(lines)


def to_itself_too(nodes, own):
    return sorted(
        f"{cidr} via {one['status']['addresses'][0]['address']} dev eth0"
        for one in nodes
        for cidr in one["spec"]["podCIDRs"]
    )


MISTAKES = [
    Mistake(
        "offset",
        50,
        "There begins the inner Ethernet header: it is a whole frame that is carried.",
    ),
    Mistake(
        "offset",
        14,
        "That is the hosts' header. The pods' is further in.",
    ),
    Mistake(
        "change",
        at_the_flags,
        "There is a flag and three bytes of nothing before the VNI.",
        seen=lambda came: came["VNI"] != [str(42 << 16)],
    ),
    Mistake(
        "change",
        the_wrong_end,
        "On the wire the highest byte comes first.",
        seen=lambda came: came["VNI"] == [str(42 << 16)],
    ),
    Mistake(
        "layers",
        ["Ethernet", "IPv4", "UDP", "VXLAN"],
        "Nothing but the port says that it is VXLAN.",
    ),
    Mistake(
        "room",
        {1500: (1500, 1460)},
        "The outer headers need room on the wire, too.",
    ),
    Mistake(
        "room",
        {1500: (1436, 1396)},
        "The outer Ethernet header does not count: no MTU includes it.",
    ),
    Mistake(
        "lease_events",
        {"n2 sends a heartbeat": 1},
        "Nothing changed that others need to know.",
    ),
    Mistake(
        "lease_events",
        {"n1 comes": 1},
        "That is the host itself.",
    ),
    Mistake(
        "last_entry",
        "172.19.0.4",
        "When a node goes, its entries go with it.",
    ),
    Mistake(
        "pieces",
        {'{"Network": "10.5.0.0/20"}': 16},
        "The first piece of a network is not given away.",
    ),
    Mistake(
        "pieces",
        {'{"Network": "10.5.0.0/24"}': "refused"},
        "Four pieces are enough, even small ones.",
    ),
    Mistake(
        "routes",
        to_itself_too,
        "A node needs no route to its own pods through itself.",
        seen=lambda lines: any(len(own) > 2 for own in lines.values()),
    ),
]
