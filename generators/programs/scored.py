"""How a scheduler scores nodes, and why it refuses them, on both sides of what decides:
cases of a few nodes each, a pod, and what the scheduler's own log says of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import ControlPlane, Server, until
from generators.programs.scheduling import MERGE, Nodes

WHO = "kube-scheduler v1.36.2"
SPACE, USER = "scored", "scoring"
Object = dict[str, Any]
MIB = 1 << 20
SCORE = re.compile(
    rf'"Plugin scored node for pod" pod="{SPACE}/([^"]+)" plugin="(\w+)" node="([^"]+)"'
    r" score=(-?\d+)"
)
APP = "registry.example/app"
DIGEST = f"sha256:{'a' * 64}"


def node(name: str, /, taints: tuple[str, ...] = (), **of: Any) -> Object:
    """A ready node. `taints`: `key=value:Effect`; `cpu`, `memory`, `pods`: what it has;
    `images`: bytes by name; all else are labels.
    """
    has = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    has |= {key: of.pop(key) for key in tuple(has) if key in of}
    images = of.pop("images", {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **of}},
        "spec": {"taints": [_taint(each) for each in taints]},
        "status": {
            "capacity": has,
            "allocatable": has,
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": [{"names": [k], "sizeBytes": v} for k, v in images.items()],
        },
    }


def _taint(text: str) -> Object:
    where, _, effect = text.partition(":")
    key, _, value = where.partition("=")
    return {"key": key, "value": value, "effect": effect}


def pod(
    name: str, *asks: str, on: str = "", images: tuple[str, ...] = (), **spec: Any
) -> Object:
    """A pod of a container for each of `asks`: `500m/1Gi`, `500m`, `/1Gi`, or nothing.
    `on`: where it is already.
    """
    labels = spec.pop("labels", {"app": "web"})
    containers = []
    for number, each in enumerate(asks or ("",)):
        cpu, _, memory = each.partition("/")
        wanted = {"cpu": cpu, "memory": memory}
        requests = {key: value for key, value in wanted.items() if value}
        image = images[number] if number < len(images) else "nginx"
        container = {"name": f"c{number}", "image": image}
        containers.append({**container, "resources": {"requests": requests}})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": containers, **({"nodeName": on} if on else {}), **spec},
    }


def tolerates(**toleration: str) -> Object:
    """A toleration, as a part of a spec."""
    return {"tolerations": [toleration]}


def near(kind: str, key: str, *weights: tuple[int, str]) -> Object:
    """Pods that would rather be beside (or not beside) others."""
    terms = [
        {
            "weight": weight,
            "podAffinityTerm": {
                "topologyKey": key,
                "labelSelector": {"matchLabels": {"app": app}},
            },
        }
        for weight, app in weights
    ]
    return {
        "affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    }


def prefers(*weights: tuple[int, str, str]) -> Object:
    """Nodes with a label, each so much."""
    terms = [
        {
            "weight": weight,
            "preference": {
                "matchExpressions": [{"key": key, "operator": "In", "values": [value]}]
            },
        }
        for weight, key, value in weights
    ]
    return {
        "affinity": {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}
        }
    }


def spread(key: str, skew: int, when: str = "ScheduleAnyway") -> Object:
    """Evenly over the values of a label."""
    return {
        "topologySpreadConstraints": [
            {
                "maxSkew": skew,
                "topologyKey": key,
                "whenUnsatisfiable": when,
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ]
    }


FOUR = (node("empty"), node("half"), node("cpu"), node("memory"))
ON_FOUR = (
    pod("half-0", "2/4Gi", on="half"),
    pod("cpu-0", "3/1Gi", on="cpu"),
    pod("memory-0", "500m/7Gi", on="memory"),
    pod("memory-1", on="memory"),
)
SOFT = (
    node("none"),
    node("one", ("a=1:PreferNoSchedule",)),
    node("two", ("a=1:PreferNoSchedule", "b=2:PreferNoSchedule")),
    node("three", tuple(f"{key}=1:PreferNoSchedule" for key in "abc")),
    node("hard", ("a=1:PreferNoSchedule", "h=1:NoSchedule")),
    node("out", ("a=1:NoExecute",)),
)


def _half_has(
    there: str, mebibytes: int, wanted: str = ""
) -> tuple[tuple[Object, ...], tuple[Object, ...], Object]:
    """Two nodes, one of which has an image, and a pod that wants it, or another."""
    nodes = node("has", images={there: mebibytes * MIB}), node("has-not")
    return nodes, (), pod("p", images=(wanted or there,))


def _with_images(name: str) -> tuple[Object, ...]:
    """An image of more and more bytes, on a node each."""
    sizes = (0, 22, 23, 24, 45, 100, 500, 999, 1000, 1001, 2500)
    return tuple(
        node(f"mib-{size}", images={name: size * MIB} if size else {}) for size in sizes
    )


ZONES = (
    node("a1", zone="a"),
    node("a2", zone="a"),
    node("b1", zone="b"),
    node("no-zone"),
)
ON_ZONES = (
    pod("a1-0", on="a1"),
    pod("a1-1", on="a1"),
    pod("a2-0", on="a2", labels={"app": "db"}),
    pod("b1-0", on="b1", labels={"app": "db"}),
)
CASES: tuple[tuple[str, tuple[Object, ...], tuple[Object, ...], Object], ...] = (
    ("some of both", FOUR, ON_FOUR, pod("p", "500m/512Mi")),
    ("only CPU", FOUR, ON_FOUR, pod("p", "300m")),
    ("only memory", FOUR, ON_FOUR, pod("p", "/300Mi")),
    ("nothing", FOUR, ON_FOUR, pod("p")),
    ("two containers", FOUR, ON_FOUR, pod("p", "100m/1Gi", "333m")),
    (
        "an init container that asks more",
        FOUR,
        ON_FOUR,
        pod(
            "p",
            "100m/128Mi",
            initContainers=[
                {
                    "name": "i",
                    "image": "nginx",
                    "resources": {"requests": {"cpu": "700m", "memory": "1Gi"}},
                }
            ],
        ),
    ),
    (
        "exactly what is left",
        (node("exactly"), node("less"), node("more")),
        (
            pod("exactly-0", "3500m/7Gi", on="exactly"),
            pod("less-0", "3501m/6Gi", on="less"),
            pod("more-0", "3499m/6Gi", on="more"),
        ),
        pod("p", "500m/1Gi"),
    ),
    (
        "a little more than is left",
        (node("cpu"), node("memory"), node("both"), node("never", cpu="400m")),
        (
            pod("cpu-0", "3501m", on="cpu"),
            pod("memory-0", "/7169Mi", on="memory"),
            pod("both-0", "3600m/7500Mi", on="both"),
        ),
        pod("p", "500m/1Gi"),
    ),
    (
        "one pod more",
        (node("full", pods="1"), node("room", pods="2"), node("much")),
        (pod("full-0", on="full"), pod("room-0", on="room")),
        pod("p"),
    ),
    (
        "no pod more",
        (node("full", pods="1"), node("none", pods="0"), node("small", cpu="100m")),
        (pod("full-0", on="full"),),
        pod("p", "200m"),
    ),
    ("soft taints", SOFT, (), pod("p")),
    (
        "soft taints, a key is tolerated",
        SOFT,
        (),
        pod("p", **tolerates(key="a", operator="Exists")),
    ),
    (
        "soft taints, of this effect",
        SOFT,
        (),
        pod("p", **tolerates(key="a", value="1", effect="PreferNoSchedule")),
    ),
    (
        "soft taints, of another effect",
        SOFT,
        (),
        pod("p", **tolerates(key="a", value="1", effect="NoSchedule")),
    ),
    ("soft taints, another value", SOFT, (), pod("p", **tolerates(key="a", value="2"))),
    (
        "soft taints, everything is tolerated",
        SOFT,
        (),
        pod("p", **tolerates(operator="Exists")),
    ),
    (
        "hard taints, one effect is tolerated",
        SOFT[4:],
        (),
        pod("p", **tolerates(operator="Exists", effect="PreferNoSchedule")),
    ),
    ("hard taints", SOFT[4:], (), pod("p")),
    *(
        (f"an image of {size} MiB on one of two nodes", *_half_has(f"{APP}:1", size))
        for size in (0, 45, 46, 47, 60, 500, 1977, 1978, 1999, 2000, 2001, 9000)
    ),
    (
        "an image of many sizes, and the first one counts",
        _with_images(f"{APP}:1"),
        (),
        pod("p", images=(f"{APP}:1",)),
    ),
    *(
        (f"{wanted}, where there is {there}", *_half_has(there, 700, wanted))
        for wanted, there in (
            (APP, f"{APP}:latest"),
            (APP, f"{APP}:1"),
            (f"{APP}:2", f"{APP}:1"),
            ("registry.example:5000/app", "registry.example:5000/app:latest"),
            ("registry.example:5000/app:2", "registry.example:5000/app:2"),
            ("nginx:1", "docker.io/library/nginx:1"),
            (f"{APP}@{DIGEST}", f"{APP}@{DIGEST}"),
        )
    ),
    (
        "an image that several have",
        tuple(
            node(f"n{n}", images={f"{APP}:1": 900 * MIB} if n else {}) for n in range(4)
        ),
        (),
        pod("p", images=(f"{APP}:1",)),
    ),
    (
        "two images",
        (
            node("both", images={f"{APP}:1": 400 * MIB, f"{APP}:2": 300 * MIB}),
            node("first", images={f"{APP}:1": 400 * MIB}),
            node("neither"),
        ),
        (),
        pod("p", "", "", images=(f"{APP}:1", f"{APP}:2")),
    ),
    (
        "an init container's image",
        (node("has", images={f"{APP}:1": 700 * MIB}), node("has-not")),
        (),
        pod("p", initContainers=[{"name": "i", "image": f"{APP}:1"}]),
    ),
    (
        "labels that are preferred",
        (
            node("x", disk="ssd"),
            node("y", disk="ssd", zone="a"),
            node("z", zone="a"),
            node("w"),
        ),
        (),
        pod("p", **prefers((10, "disk", "ssd"), (25, "zone", "a"))),
    ),
    (
        "labels that nobody has",
        (node("x"), node("y")),
        (),
        pod("p", **prefers((10, "disk", "ssd"))),
    ),
    (
        "beside others, if possible",
        ZONES,
        ON_ZONES,
        pod("p", **near("podAffinity", "zone", (50, "web"), (20, "db"))),
    ),
    (
        "not beside others, if possible",
        ZONES,
        ON_ZONES,
        pod(
            "p",
            **near(
                "podAntiAffinity", "kubernetes.io/hostname", (50, "web"), (20, "db")
            ),
        ),
    ),
    ("spread over zones", ZONES, ON_ZONES, pod("p", **spread("zone", 1))),
    ("spread over zones, loosely", ZONES, ON_ZONES, pod("p", **spread("zone", 3))),
    (
        "spread over nodes",
        ZONES,
        ON_ZONES,
        pod("p", **spread("kubernetes.io/hostname", 1)),
    ),
    (
        "spread over nodes, strictly",
        ZONES,
        ON_ZONES,
        pod("p", **spread("kubernetes.io/hostname", 1, "DoNotSchedule")),
    ),
    (
        "spread over zones, strictly",
        ZONES,
        ON_ZONES,
        pod("p", **spread("zone", 1, "DoNotSchedule")),
    ),
    (
        "spread strictly, and nowhere",
        (node("a1", zone="a"), node("b1", ("k=:NoSchedule",), zone="b"), node("c1")),
        (pod("a1-0", on="a1"),),
        pod("p", **spread("zone", 1, "DoNotSchedule")),
    ),
    (
        "closed nodes",
        (node("closed"), node("other"), node("third")),
        (),
        pod("p", nodeSelector={"kubernetes.io/hostname": "closed"}),
    ),
)
"""What is asked, the nodes, the pods that are there, and the one that comes."""


def answers(plane: ControlPlane, server: Server) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    admin = server.admin
    path = namespace(admin, SPACE)
    process = plane.scheduler(server, USER, "-v=10", groups=("system:masters",))
    nodes = Nodes(admin, path)
    for number, (what, there, others, wanted) in enumerate(CASES):
        since = len(plane.log(USER))
        nodes.place(*there)
        for each in there:
            where = f"/api/v1/nodes/{each['metadata']['name']}"
            taints = {"spec": {"taints": each["spec"]["taints"] or None}}
            admin("PATCH", where, taints, content_type=MERGE)
        made = [_made(nodes, each) for each in others]
        known = [
            admin("GET", f"/api/v1/nodes/{n['metadata']['name']}").body for n in there
        ]
        until("the scheduler to know them", partial(_knows, plane, since, made, there))
        name = f"p{number}"
        posted = _made(
            nodes, {**wanted, "metadata": {**wanted["metadata"], "name": name}}
        )
        host = nodes.where(name)
        status = admin("GET", f"{path}/pods/{name}").body["status"]
        refusal = [each.get("message", "") for each in status.get("conditions") or ()]
        yield Answer(
            f"scored/{what}",
            WHO,
            "a few nodes and pods, and one pod more: each plugin's score of each node,"
            " and where it goes, or why it goes nowhere",
            {
                "nodes": [_bare(each) for each in known],
                "pods": [_bare(each) for each in made],
                "pod": _bare(posted),
                "host": host,
                "scores": _scores(plane, name),
                "refusal": "" if host else refusal[0],
            },
        )
    plane.stop(process)
    nodes.place()


def _made(nodes: Nodes, body: Object) -> Object:
    reply = nodes.admin("POST", f"{nodes.path}/pods", body)
    if reply.status != 201:
        raise ValueError(f"{body['metadata']['name']}: {reply.message}")
    made: Object = reply.body
    return made


def _knows(
    plane: ControlPlane, since: int, pods: list[Object], nodes: tuple[Object, ...]
) -> bool:
    """Whether its log names each of them, from some place on."""
    log = plane.log(USER)[since:]
    seen = [
        f'"Add event for scheduled pod" pod="{SPACE}/{p["metadata"]["name"]}"'
        for p in pods
    ]
    seen += [f'"Add event for node" node="{n["metadata"]["name"]}"' for n in nodes]
    return all(each in log for each in seen)


def _scores(plane: ControlPlane, pod: str) -> dict[str, dict[str, int]]:
    scores: dict[str, dict[str, int]] = {}
    for name, plugin, where, score in SCORE.findall(plane.log(USER)):
        if name == pod:
            scores.setdefault(plugin, {})[where] = int(score)
    return scores


def _bare(made: Object) -> Object:
    """Without bookkeeping."""
    meta = {
        k: made["metadata"][k]
        for k in ("name", "namespace", "labels", "uid")
        if k in made["metadata"]
    }
    return {**made, "metadata": meta}
