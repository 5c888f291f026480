"""Which pods a kubelet takes, and what the kernel is told of them: pods that name their
node themselves, and the cgroups of those that stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.connection import Connection
from generators.programs.control_plane import Server, until
from generators.programs.node import NODE, RealNode

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
FILES = {
    "cpu": ("cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_period_us"),
    "memory": ("memory.limit_in_bytes",),
    "pids": ("pids.max",),
}
"""What is read of a group, by hierarchy."""
UNSAFE = ["net.core.*", "kernel.msgmax"]
SETTINGS: tuple[tuple[str, Object], ...] = (
    ("as it is", {"allowedUnsafeSysctls": UNSAFE}),
    ("with 1,024 processes for each pod", {"podPidsLimit": 1024}),
)
FEW: Object = {"maxPods": 5}
TAINTED: Object = {
    "registerWithTaints": [
        {"key": "out", "value": "order", "effect": "NoExecute"},
        {"key": "for", "value": "others", "effect": "NoSchedule"},
    ]
}


BUSY: Object = {"image": "busybox:1.36", "command": ["sleep", "1000"]}


def resources(**amounts: str) -> Object:
    """`cpu="1", limit_cpu="2"`: requests, and limits."""
    limits = {k[6:]: v for k, v in amounts.items() if k.startswith("limit_")}
    requests = {k: v for k, v in amounts.items() if not k.startswith("limit_")}
    kinds = {"requests": requests, "limits": limits}
    return {"resources": {kind: some for kind, some in kinds.items() if some}}


def pod(name: str, *containers: Object, **spec: Any) -> Object:
    """A pod that names its node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "nodeName": NODE,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {"name": f"c{number}", **BUSY, **each}
                for number, each in enumerate(containers or ({},))
            ],
            **spec,
        },
    }


def _sysctl(name: str, value: str) -> Object:
    return {"securityContext": {"sysctls": [{"name": name, "value": value}]}}


def _affinity(operator: str, *values: str) -> Object:
    expression = {"key": "kubernetes.io/os", "operator": operator}
    term = {"matchExpressions": [{**expression, "values": list(values)}]}
    wanted = {"nodeSelectorTerms": [term]}
    kind = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"nodeAffinity": {kind: wanted}}}


PORT = {"ports": [{"containerPort": 80, "hostPort": 8090}]}
HUGE = {"memory": "1Mi", "hugepages-2Mi": "2Mi"}
GPU = {"example.com/gpu": "1"}
ADMITTED: tuple[Object, ...] = (
    pod("asks-for-nothing"),
    pod("too-much-cpu", resources(cpu="900")),
    pod("too-much-memory", resources(memory="9Ti")),
    pod("too-much-disk", resources(**{"ephemeral-storage": "900Ti"})),
    pod(
        "too-much-of-three",
        resources(cpu="900", memory="9Ti", **{"ephemeral-storage": "900Ti"}),
    ),
    pod("huge-pages", {"resources": {"limits": HUGE}}),
    pod("a-device-nobody-has", {"resources": {"limits": GPU}}),
    pod("another-label", nodeSelector={"disk": "ssd"}),
    pod("the-right-label", nodeSelector={"kubernetes.io/os": "linux"}),
    pod("affinity-fits", **_affinity("In", "linux", "plan9")),
    pod("affinity-does-not", **_affinity("NotIn", "linux")),
    pod("both-wrong", resources(cpu="900"), nodeSelector={"disk": "ssd"}),
    pod("port-first", PORT),
    pod("port-again", PORT),
    pod("harmless-sysctl", **_sysctl("net.ipv4.tcp_syncookies", "1")),
    pod("allowed-sysctl", **_sysctl("net.core.somaxconn", "256")),
    pod("forbidden-sysctl", **_sysctl("kernel.shm_rmid_forced2", "1")),
    pod("forbidden-sysctl-net", **_sysctl("net.ipv4.tcp_mem", "1 2 3")),
    pod("for-windows", os={"name": "windows"}),
    pod(
        "for-windows-by-label",
        nodeSelector={"kubernetes.io/os": "windows"},
    ),
    pod(
        "an-init-container-asks-more",
        resources(cpu="100m"),
        initContainers=[{"name": "i", "image": "busybox:1.36", **resources(cpu="800")}],
    ),
    pod("half-a-machine", resources(cpu="900m")),
    pod("the-other-half", resources(cpu="900m")),
    pod("no-half-left", resources(cpu="900m")),
    pod("labelled-for-windows"),
    pod("labelled-for-linux"),
    pod("groups-only-as-told", securityContext={"supplementalGroupsPolicy": "Strict"}),
)
"""In the order in which they come: some take what later ones would want."""
for each in ADMITTED:
    of, _, system = each["metadata"]["name"].partition("-for-")
    if of == "labelled":
        each["metadata"]["labels"] = {"kubernetes.io/os": system}


def fills(allocatable: dict[str, str]) -> tuple[Object, ...]:
    """Pods that take exactly what there is, each followed by one that wants the least
    there can be of the same; then as many as may come, and more.
    """
    least = {"cpu": "1m", "memory": "1", "ephemeral-storage": "1"}
    made = []
    for name, little in least.items():
        made.append(pod(f"all-{name}", resources(**{name: allocatable[name]})))
        made.append(pod(f"and-more-{name}", resources(**{name: little})))
    return (
        *made,
        pod("soon-over", {"command": ["true"]}, restartPolicy="Never"),
        pod("fourth"),
        pod("fifth"),
        pod("one-too-many"),
        pod("one-too-many-and-too-large", resources(cpu="1m")),
    )


def tolerates(name: str, **toleration: Any) -> Object:
    """A pod with one toleration."""
    return pod(name, tolerations=[toleration])


TOLERANT: tuple[Object, ...] = (
    pod("tolerates-nothing"),
    tolerates("tolerates-it", key="out", value="order", effect="NoExecute"),
    tolerates("tolerates-another-value", key="out", value="paint"),
    tolerates("tolerates-only-the-other", key="for", operator="Exists"),
    tolerates(
        "tolerates-it-elsewhere", key="out", operator="Exists", effect="NoSchedule"
    ),
    tolerates("tolerates-any-effect", key="out", operator="Exists"),
    tolerates("tolerates-everything", operator="Exists"),
)
"""For a node whose taints are `TAINTED`."""

LIMITS = {"limit_cpu": "500m", "limit_memory": "64Mi"}
BOXES: tuple[Object, ...] = (
    pod("best-effort"),
    pod("burstable", resources(cpu="250m", memory="64Mi", limit_memory="128Mi")),
    pod("guaranteed", resources(**LIMITS)),
    pod("a-thousandth", resources(cpu="1m")),
    pod("least-quota", resources(cpu="1m", limit_cpu="5m", memory="8Mi")),
    pod("many-cpus-at-most", resources(cpu="10m", limit_cpu="16")),
    pod("memory-only", resources(memory="16Mi", limit_memory="32Mi")),
    pod("one-without-a-limit", resources(**LIMITS), resources(cpu="10m")),
    pod("two-with-limits", resources(cpu="10m", limit_cpu="200m"), resources(**LIMITS)),
    pod(
        "init-larger",
        resources(cpu="10m", memory="8Mi", limit_memory="16Mi"),
        initContainers=[
            {
                "name": "i",
                "image": "busybox:1.36",
                "command": ["true"],
                **resources(cpu="100m", memory="64Mi", limit_memory="64Mi"),
            }
        ],
    ),
    pod(
        "sidecar-counts",
        resources(cpu="10m", limit_cpu="20m"),
        initContainers=[
            {
                "name": "i",
                **BUSY,
                "restartPolicy": "Always",
                **resources(cpu="30m", limit_cpu="60m"),
            }
        ],
    ),
    pod(
        "for-the-whole-pod",
        resources(cpu="10m"),
        {},
        **resources(cpu="50m", limit_cpu="100m", memory="16Mi", limit_memory="64Mi"),
    ),
    pod("on-the-nodes-network", resources(cpu="20m"), hostNetwork=True),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    for number, (how, settings) in enumerate(SETTINGS):
        with RealNode(server, programs, settings) as node:
            if not number:
                yield from _admitted(server.admin, node, settings, ADMITTED)
            yield from _boxes(server.admin, node, how, settings, number)
    with RealNode(server, programs, FEW) as node:
        few = fills(node.machine()["allocatable"])
        yield from _admitted(server.admin, node, FEW, few)
    with RealNode(server, programs, TAINTED) as node:
        yield from _admitted(server.admin, node, TAINTED, TOLERANT)


def _admitted(
    admin: Connection, node: RealNode, settings: Object, pods: tuple[Object, ...]
) -> Iterator[Answer]:
    path = namespace(admin, "admitted")
    machine = node.machine()
    for each in pods:
        name = each["metadata"]["name"]
        status = node.create(path, each)["status"]
        if each["spec"].get("restartPolicy") == "Never":
            status = _once_over(node, f"{path}/pods/{name}")
        yield Answer(
            f"admitted/{name}",
            WHO,
            "a pod names its node itself, after all those before it: what the kubelet"
            " says of it",
            {
                "pod": each,
                "settings": settings,
                "machine": machine,
                "status": {
                    key: status[key]
                    for key in ("phase", "reason", "message")
                    if key in status
                },
            },
        )
    node.clear(path)


def _once_over(node: RealNode, where: str) -> Object:
    def over() -> Object:
        status: Object = node.admin("GET", where).body["status"]
        return status if status["phase"] == "Succeeded" else {}

    status: Object = until("its end", over)
    return status


def _boxes(
    admin: Connection, node: RealNode, how: str, settings: Object, number: int
) -> Iterator[Answer]:
    path = namespace(admin, f"boxes-{number}")
    uids = {}
    for each in BOXES:
        meta = node.create(path, each)["metadata"]
        uids[meta["uid"]] = meta["name"]
    until("the classes", lambda: _shares(node) > 2)
    yield Answer(
        f"cgroups/{how}",
        WHO,
        "pods of many shapes: each group with its values, as the kernel has them"
        " (cgroup v1, driver cgroupfs); in place of a uid its pod's name",
        {
            "pods": list(BOXES),
            "settings": settings,
            "machine": node.machine(),
            "groups": _groups(node, uids),
        },
    )
    node.clear(path)


def _shares(node: RealNode) -> int:
    file = Path("/sys/fs/cgroup/cpu", node.group, "kubepods/burstable/cpu.shares")
    return int(file.read_text())


def _groups(node: RealNode, uids: dict[str, str]) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    for hierarchy, files in FILES.items():
        root = Path("/sys/fs/cgroup", hierarchy, node.group)
        for folder in sorted(each for each in root.rglob("*") if each.is_dir()):
            name = str(folder.relative_to(root))
            for uid, of in uids.items():
                name = name.replace(uid, of)
            group = groups.setdefault(name, {})
            group |= {file: (folder / file).read_text().strip() for file in files}
    return groups
