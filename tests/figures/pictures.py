"""One of each picture, small, and with every turn that its drawing can take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from matplotlib.figure import Figure

from lifecycle.api.tracing import Span
from lifecycle.cni.overlay.dissect import Layer
from lifecycle.dns.records import NXDOMAIN, Answer, Record
from lifecycle.figures import (
    api_services,
    bars,
    boxes,
    cgroup_tree,
    columns,
    control_loops,
    cost_curves,
    costs,
    cpus,
    endpoint_slices,
    exchanges,
    fan,
    form,
    hands,
    host,
    knocks,
    lanes,
    looks,
    moments,
    mutations,
    names,
    namespaces,
    node_decisions,
    owned_fields,
    ownership,
    packet,
    packet_paths,
    path_parts,
    pod_lifecycle,
    rbac,
    reach,
    resolving,
    revisions,
    roles,
    rollout,
    sameness,
    scores,
    stages,
    startups,
    steps,
    timeline,
    token,
    translation,
    verdicts,
    watermarks,
    weights,
)
from lifecycle.figures.boxes import Arrow, Box
from lifecycle.figures.picture import Picture
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology
from lifecycle.proxy.iptables.rule_text import Rule
from lifecycle.proxy.iptables.walk import Packet, Step, Walk
from lifecycle.trace.journey import Journey
from lifecycle.trace.journey import Step as Work
from tests.figures.network_namespace import End, Namespace, Way

Drawn = Figure | Picture
IDEAS = {
    "control_loops": control_loops,
    "node_decisions": node_decisions,
    "pod_lifecycle": pod_lifecycle,
}


@dataclass
class Table:
    total: int
    fields_equal: int
    freedoms: dict[str, int] = field(default_factory=dict)


def pictures() -> dict[str, Callable[[], Drawn]]:
    """Name → how to draw it."""
    ideas = {
        f"{module_name}-{name.removeprefix('draw_')}": draw
        for module_name, module in IDEAS.items()
        for name, draw in vars(module).items()
        if name.startswith("draw_") and name not in ("draw_boxes", "draw_admit_handlers")
    }
    return ideas | OF_DATA


PLAIN = {"plain": Box(0, 0), "other": Box(1.5, 0, "one\ntwo"), "below": Box(0.5, 1, "", "#123456"), "far": Box(2.5, 1)}
WORDS = [
    Arrow("plain", "other", "there", -0.15),
    Arrow("other", "plain", "and back", -0.15, 0.25, dashed=True),
    Arrow("other", "plain", "straight back"),
    Arrow("plain", "below", "steep"),
    Arrow("other", "far", "slope down"),
    Arrow("far", "other", "slope back"),
    Arrow("below", "other", "slope up"),
    Arrow("below", "far", "flat"),
    Arrow("below", "plain"),
]


def endpoint(address: str, **more: Any) -> dict[str, Any]:
    return {"addresses": [address], **more}


def owned(kind: str, name: str, *owners: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "metadata": {"name": name, "uid": name, "ownerReferences": [{"uid": each} for each in owners]},
    }


def managed(data: dict[str, str], **fields: str) -> dict[str, Any]:
    entries = [
        {"manager": manager, "fieldsV1": {"f:data": {f"f:{name}": {} for name in names.split()}}}
        for manager, names in fields.items()
    ]
    return {"metadata": {"name": "m", "managedFields": entries}, "data": data}


def role(kind: str, name: str, namespace: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind,
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        "rules": list(rules),
    }


def binding(kind: str, ref: str, name: str, namespace: str, *subjects: dict[str, Any]) -> dict[str, Any]:
    meta = {"name": f"{name}s", **({"namespace": namespace} if namespace else {})}
    return {"kind": kind, "metadata": meta, "roleRef": {"kind": ref, "name": name}, "subjects": list(subjects) or None}


RULES = [
    {"verbs": ["get", "list"], "resources": ["pods", "secrets"]},
    {"verbs": ["get"], "nonResourceURLs": ["/healthz"]},
    {"verbs": ["any"]},
]
RBAC = [
    role("Role", "reader", "a", *RULES),
    role("ClusterRole", "all", ""),
    binding("RoleBinding", "Role", "reader", "a", {"kind": "User", "name": "jane"}),
    binding("RoleBinding", "Role", "reader", "b", {"kind": "ServiceAccount", "name": "bot", "namespace": "b"}),
    binding("ClusterRoleBinding", "ClusterRole", "all", "", {"kind": "Group", "name": "g"}),
    binding("RoleBinding", "ClusterRole", "all", "c"),
]
SERVICES = [
    {"spec": {"group": group, "version": "v1"}} for group in ("", "apps", "batch", "policy", "long.example")
] + [{"spec": {"group": "metrics", "version": "v1", "service": {"name": "server", "namespace": "monitoring"}}}]
PRIVATE = {
    "serviceaccount": {"name": "robot", "uid": "0123456789"},
    "pod": {"name": "p", "uid": "abcdefghij"},
    "node": {},
}
TOKEN = {"aud": ["here", "there"], "exp": 4600, "iat": 1000, "kubernetes.io": PRIVATE}


PODS: Any = [
    ("one", Namespace([End(2, "eth0", parent=7)], {2: ["10.1.0.2/24", "fd00::2/64"]})),
    ("two", Namespace([End(2, "eth0", parent=8)], {})),
]
BRIDGED: Any = Namespace(
    [End(3, "cni0", "bridge"), End(7, "va", master=3), End(8, "vb", master=3)], {3: ["10.1.0.1/24", "fd00::1/64"]}
)
BARE_BRIDGE: Any = Namespace([End(3, "cni0", "bridge"), End(7, "va", master=3), End(8, "vb")], {7: ["x", "y"]})
ROUTED: Any = Namespace([End(7, "va"), End(8, "vb")], {7: ["10.1.0.1/32"]}, [Way("10.1.0.2/32", 7), Way("default", 7)])
ANSWERS = [
    ("web", Answer(answer=[Record("web", 5, "A", "10.0.0.1"), Record("web", 5, "AAAA", "fd00::1")])),
    ("db", Answer(answer=[Record("db", 5, "CNAME", "db.example.")])),
    ("nope", Answer(NXDOMAIN)),
    ("text", Answer(answer=[Record("text", 5, "TXT", "x")])),
]
LAYERS = [
    Layer("Ethernet", 0, 14, {"from": "aa", "to": "bb", "type": "IPv4"}),
    Layer("VXLAN", 14, 8, {}),
    Layer("IPv4", 22, 33, {"to": "10.244.1.2"}),
    Layer("TCP", 55, 45, {}),
]


def hop(chain: str, target: str, depth: int, table: str = "nat", hook: str = "PREROUTING") -> Step:
    return Step(table, hook, depth, Rule(chain, "", {}, (), target), Packet("10.0.0.9", "10.96.0.1", 80))


def taken(end: str, share: Fraction) -> Walk:
    hops = (
        hop("PREROUTING", "KUBE-SERVICES", 0),
        hop("KUBE-SERVICES", "KUBE-SVC-4N57TFCL4MD7ZTDA", 1),
        hop("KUBE-SVC-4N57TFCL4MD7ZTDA", "KUBE-SEP-X", 2),
        hop("KUBE-SEP-X", "DNAT", 3),
    )
    return Walk(Packet("10.0.0.9", end, 8080), steps=hops, probability=share)


REFUSED = Walk(
    Packet("10.0.0.9", "10.96.0.2", 80), "REJECT", steps=(hop("KUBE-SERVICES", "REJECT", 0, "filter", "FORWARD"),)
)
STRAIGHT = Walk(Packet("10.0.0.9", "fd00::7", 80), steps=(hop("FORWARD", "ACCEPT", 0, "filter", "FORWARD"),))
SPANS = [
    Span(1, 0, "apiserver", "decode", 0.0, 1.0),
    Span(2, 0, "apiserver", "storage", 2.0, 6.0),
    Span(3, 2, "etcd", "txn", 2.0, 6.0),
    Span(4, 3, "etcd", "fsync", 3.5, 3.9),
    Span(5, 3, "etcd", "sync", 3.6, 3.8),
    Span(6, 3, "etcd", "disk", 3.6, 3.7),
    Span(7, 3, "etcd", "block", 3.6, 3.7),
    Span(8, 0, "apiserver", "encode", 7.0, 8.0),
]
JOURNEY = Journey(
    "deployments/nginx",
    (
        Work("kubectl", "create", 0.0, 0.01),
        Work("scheduler", "bind", 0.2, 0.2),
        Work("scheduler", "bind", 0.4, 0.5),
        Work("kubelet", "status", 0.5, 0.75),
    ),
    "here",
)
SLOW = Journey("pods/slow", (Work("kubelet", "status", 0.5, 2.5),), "there")
OWN = {"type": "mount"}
FORM = {"kind": "K", "name": "a", "spec": {"label": "a", "number": 1}}
OTHER_NAME = {**FORM, "name": "b", "spec": {"label": "b", "number": 1}}
OTHER_NUMBER = {**FORM, "spec": {"label": "a", "number": 2}}
LONG = {"a": "x" * 30}
FAMILY = [
    owned("Pod", "lost", "gone"),
    owned("Deployment", "d"),
    owned("ReplicaSet", "r", "d"),
    owned("Pod", "p", "r", "s"),
    owned("Pod", "q", "r"),
    owned("Service", "s"),
    owned("EndpointSlice", "e", "s"),
    owned("ConfigMap", "a", "b"),
    owned("ConfigMap", "b", "a"),
    {"kind": "Node", "metadata": {"name": "n", "uid": "n"}},
]
POINTS = [(0.1 * n, 10 * n) for n in range(1, 11)]
COLUMN = columns.Box("one", ("a", "b")), columns.Box("two"), columns.Box("three", (), "#123456")

OF_DATA: dict[str, Callable[[], Drawn]] = {
    "boxes": lambda: boxes.draw_boxes(PLAIN, WORDS),
    "boxes-long-words": lambda: boxes.draw_boxes(
        {"a name that is longer than its box": Box(0, 0, "and a longer line " * 3)}
    ),
    "links": lambda: boxes.draw_links({"a": ["x", "y", "z"], "b": ["y"]}, ("from", "to")),
    "links-none": lambda: boxes.draw_links({}, ("from", "to")),
    "admit-handlers": lambda: pod_lifecycle.draw_admit_handlers({f"h{n}": f"why {n}" for n in range(5)}),
    "cgroup-tree": lambda: cgroup_tree.draw_cgroup_tree(
        {"k": "1", "k/b": "2", "k/b/p": "3", "k/b/q": "4", "k/b/q/c": "5", "k/g": "6", "other/x": "7"}
    ),
    "api-services": lambda: api_services.draw_api_services(SERVICES),
    "api-services-few": lambda: api_services.draw_api_services(SERVICES[:3]),
    "bars": lambda: bars.draw_bars({"some": 3, "none": 0, "many": 40}, "things", marked=["many"]),
    "columns": lambda: columns.draw_columns(("x", "y"), (COLUMN[:2], COLUMN[2:]), [(COLUMN[0], COLUMN[2])]),
    "columns-one": lambda: columns.draw_columns(("x",), (COLUMN[:1],), []),
    "costs": lambda: costs.draw_costs(
        {1: {"kubelet": 5, "scheduler": 1}, 10: {"kubelet": 40, "scheduler": 39, "gc": 0}, 100: {"gc": 3, "kubelet": 9}}
    ),
    "cost-curves": lambda: cost_curves.draw_cost_curves(
        {"pods": ((10, 0.1), (100, 1.0), (1000, 10.0)), "watchers": ((10, 0.2), (100, 0.2))},
        {"watchers": ((10, 0.1), (100, 1.0))},
    ),
    "cpus": lambda: cpus.draw_cpus(CPUTopology.regular(2, 2), {"system": frozenset({0}), "pair": frozenset({1, 5})}),
    "hints": lambda: endpoint_slices.draw_hints(
        [
            endpoint("10.0.0.1", zone="a", hints={"forZones": [{"name": "a"}]}),
            endpoint("10.0.0.2", zone="b", hints={"forNodes": [{"name": "n2"}], "forZones": [{"name": "b"}]}),
            endpoint("10.0.0.3"),
        ],
        {"n1": ("a", ["10.0.0.1"]), "n2": ("b", ["10.0.0.1", "10.0.0.3"])},
    ),
    "slice-sizes": lambda: endpoint_slices.draw_slice_sizes({"100 pods": [100], "113": [100, 13], "112": [99, 12, 1]}),
    "slice-sizes-small": lambda: endpoint_slices.draw_slice_sizes({"few": [8, 1]}, full=8),
    "exchanges": lambda: exchanges.draw_exchanges(
        ["Ann", "store", "Bob"],
        [
            exchanges.Message("Ann", "store", "read"),
            exchanges.Message("Ann", "Bob", "there"),
            exchanges.Message("Bob", "Ann", "back"),
            exchanges.Message("store", "Bob", "no", refused=True),
            exchanges.Message("Bob", "Bob", "think"),
            exchanges.Message("Bob", "Bob", "stop", refused=True),
        ],
    ),
    "fan": lambda: fan.draw_fan("etcd", ["cache", "objects"], ["a", "b", "c", "d"], "1 watch", "4 events"),
    "fan-few": lambda: fan.draw_fan("etcd", ["cache", "x", "y"], ["a"], "1 watch", "1 event"),
    "form": lambda: form.draw_form(FORM, {"--name": OTHER_NAME, "--number": OTHER_NUMBER}),
    "form-long": lambda: form.draw_form(LONG, {"--a": {"a": "other"}}),
    "form-unchanged": lambda: form.draw_form(LONG, {}),
    "hands": lambda: hands.draw_hands(40, {"loop": [3, 7], "you": [39, 7]}),
    "hands-none": lambda: hands.draw_hands(2, {}),
    "host-bridged": lambda: host.draw_host(PODS, BRIDGED, "bridge"),
    "host-bare-bridge": lambda: host.draw_host(PODS, BARE_BRIDGE, "bridge"),
    "host-routed": lambda: host.draw_host(PODS, ROUTED, "ptp"),
    "knocks": lambda: knocks.draw_knocks(
        {"a container": [(0.0, 4.0), (4.2, 50.0), (60.0, 70.0), (10.0, 12.0)]},
        {"ready?": [(1.0, True), (10.0, True), (5.0, False), (99.0, False)], "live?": [(2.0, True)]},
        10.0,
    ),
    "lanes": lambda: lanes.draw_lanes(
        {
            "init": [(0, "waiting"), (10, "running"), (40, "terminated:Completed"), (200, "x")],
            "main": [(0, ""), (50, "running"), (62, "waiting"), (70, "Pending"), (80, "ready"), (90, "something")],
            "late": [(120, "running")],
        },
        100,
    ),
    "looks": lambda: looks.draw_looks(
        {"long": [(0.3, "running"), (3.0, "exited")], "quick": [(1.2, "running"), (1.3, "gone")]},
        [0, 1, 2, 3],
        {"long": [(1, "Started"), (3, "Died")]},
    ),
    "moments": lambda: moments.draw_moments(
        {"a": [(0, True), (10, True), (10, False), (10, True)], "b": [], "c": [(float(n), n > 3) for n in range(12)]}
    ),
    "moments-many": lambda: moments.draw_moments({"a": [(float(n), True) for n in range(13)]}, unit="s"),
    "moments-none": lambda: moments.draw_moments({"a": []}),
    "counts": lambda: moments.draw_counts({"a": [(0, 0), (1, 3)], "b": [(0, 7)], "c": [(2, 1)]}),
    "counts-none": lambda: moments.draw_counts({"a": []}),
    "mutations": lambda: mutations.draw_mutations(
        [
            mutations.Step("posted", "you", ("x",)),
            mutations.Step("1", "a", ("x",)),
            mutations.Step("1", "b", ("x", "y")),
        ]
    ),
    "names": lambda: names.draw_names(ANSWERS),
    "namespaces": lambda: namespaces.draw_namespaces(
        [{"type": "pid"}, {"type": "ipc"}, {"type": "uts"}, OWN, {"type": "network", "path": "/x"}],
        {"a": [{"type": "ipc", "path": "/p"}, {"type": "network", "path": "/x"}, {"type": "pid"}, OWN], "b": [OWN]},
    ),
    "owned-fields": lambda: owned_fields.draw_owned_fields(
        [
            ("first", managed({"x": "1", "y": "2"}, ann="x y")),
            ("then", managed({"x": "1", "y": "3"}, ann="x", bob="x y")),
            ("last", managed({"x": "1"})),
            ("more", managed({"x": "1"}, c="x", d="x", e="x")),
        ],
        {"data.x": ".data.x", "data.y": ".data.y"},
    ),
    "ownership": lambda: ownership.draw_ownership(FAMILY),
    "ownership-none": lambda: ownership.draw_ownership([]),
    "packet": lambda: packet.draw_packet(LAYERS),
    "ways": lambda: packet_paths.draw_ways(
        [
            ("to a Service", [taken("10.0.0.1", Fraction(1, 4)), taken("10.0.0.2", Fraction(3, 4))]),
            ("to nobody", [REFUSED]),
            ("straight", [STRAIGHT]),
        ]
    ),
    "path-parts": lambda: path_parts.draw_path_parts(
        [[("/api", "group"), ("/v1", "version")], [("/apis/apps", "group")]]
    ),
    "rbac": lambda: rbac.draw_rbac(RBAC),
    "reach": lambda: reach.draw_reach(
        10,
        20,
        [
            reach.Question("nothing", None, 20),
            reach.Question("not older", 15, 20),
            reach.Question("forgotten", 7, None, "410"),
        ],
    ),
    "reach-narrow": lambda: reach.draw_reach(10, 11, []),
    "labels": lambda: resolving.draw_labels([("web", "Service"), ("shopping", "ns"), ("svc", "kind")]),
    "questions": lambda: resolving.draw_questions(
        [
            ("web", [("web.a.svc.", "NXDOMAIN"), ("web.svc.", "10.0.0.7")]),
            ("db", [("db.a.", "NODATA"), ("db.", "SERVFAIL")]),
        ]
    ),
    "revisions": lambda: revisions.draw_revisions(
        [revisions.Change(2, "a", "put"), revisions.Change(3, "b", "put"), revisions.Change(4, "a", "delete")], {3, 4}
    ),
    "roles": lambda: roles.draw_roles([["a", "b"], ["c"], ["d"], ["e"]], [("b", "c"), ("c", "d")]),
    "rollout": lambda: rollout.draw_rollout(
        [rollout.Look(1, 5, 0, 5), rollout.Look(2, 4, 3, 4), rollout.Look(11, 0, 5, 5)], 4, 7
    ),
    "sameness": lambda: sameness.draw_sameness(
        {
            "pair": {"one": Table(200, 150, {"a": 30, "b": 20}), "two": Table(4, 3, {"a": 9})},
            "twice": {"none": Table(0, 0)},
        }
    ),
    "scores": lambda: scores.draw_scores(
        {"Fit": {"a": 90, "b": 29}, "Balanced": {"a": 30}, "Nothing": {"a": 0}, **{f"p{n}": {"b": 1} for n in range(6)}}
    ),
    "scores-none": lambda: scores.draw_scores({}),
    "stages": lambda: stages.draw_stages(SPANS),
    "startups": lambda: startups.draw_startups(
        [startups.Startup("fast", 1.0, 1.0), startups.Startup("slow", 2.0, 6.0), startups.Startup("mid", 2.5, 3.0)], 5
    ),
    "steps": lambda: steps.draw_steps(
        [
            steps.Step("pull", "Pulling\nPulled", "Err"),
            steps.Step("create"),
            steps.Step("start", "Started", "Run\nError"),
        ]
    ),
    "steps-bare": lambda: steps.draw_steps([steps.Step("a", stops="x"), steps.Step("b")], colour="#123456"),
    "steps-plain": lambda: steps.draw_steps([steps.Step("a"), steps.Step("b")]),
    "timeline": lambda: timeline.draw(JOURNEY),
    "timelines": lambda: timeline.draw_side_by_side([SLOW, Journey("none", (), "nowhere")]),
    "token": lambda: token.draw_token(TOKEN),
    "token-one-audience": lambda: token.draw_token(TOKEN | {"aud": ["here"], "kubernetes.io": {}}),
    "translation": lambda: translation.draw_translation(
        "c", "s:80", Walk(Packet("c", "p", 8080), steps=(), probability=Fraction(1)), "n"
    ),
    "translation-masqueraded": lambda: translation.draw_translation(
        "c", "s:80", Walk(Packet("c", "p", 8080), masqueraded=True), "n"
    ),
    "verdicts": lambda: verdicts.draw_verdicts(
        {"one": Counter(holds=3, partly=1, changed=2), "two": Counter({"removed": 4, "wrong-from-the-start": 1})}
    ),
    "watermarks": lambda: watermarks.draw_watermarks([(0, 10), (1, 90), (2, 80.5)], 80, 85.5),
    "weights": lambda: weights.draw_weights({"now": POINTS, "before": POINTS[:4], "then": POINTS[2:]}),
}
