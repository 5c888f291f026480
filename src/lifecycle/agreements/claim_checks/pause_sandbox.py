"""Claims about pause and the sandbox: put to recorded nodes, to our OCI specs, and to
real processes that need no privileges.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

from lifecycle.agreements.claim_checks.cri import CONTAINER, POD, first_calls, has_nodes
from lifecycle.agreements.cri.container_runtime import PODS, all_documents, documents
from lifecycle.api.http.wire import Object
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.cri.oci_spec import (
    Spec,
    container_spec,
    namespaces_of,
    resources,
    sandbox_spec,
)
from lifecycle.historical.kubelet.dockershim.docker_sandbox import (
    checkpoint,
    dockershim_run_pod_sandbox,
)
from lifecycle.historical.kubelet.dockershim.naming import (
    make_sandbox_name,
    parse_name,
)
from lifecycle.inspector import Recording

OWN_PID = {"namespace_options": {"pid": "CONTAINER"}}


def pauses(recording: Recording) -> list[Object]:
    """Every recorded sandbox whose pause process ran."""
    sandboxes = [
        document
        for node in recording.nodes()
        for document in documents(recording, node, PODS)
    ]
    return [document for document in sandboxes if document["info"].get("runtimeSpec")]


def created_namespaces(spec: Object) -> set[str]:
    """Kinds of namespaces that a process makes for itself."""
    return {n["type"] for n in spec["linux"]["namespaces"] if not n.get("path")}


def joined(spec: Object, pid: int) -> set[str]:
    """Kinds of namespaces that it joins through process `pid`."""
    return {
        n["type"]
        for n in spec["linux"]["namespaces"]
        if n.get("path", "").startswith(f"/proc/{pid}/")
    }


def our_container(**options: object) -> Spec:
    """An ordinary container whose pause process is number 42."""
    linux = {"security_context": OWN_PID, **options}
    config = replace(CONTAINER, linux=linux)
    return container_spec(config, POD, "c-1", "s-1", 42, {}, "/run/s-1", "/run/s-1/shm")


@check("pause-sandbox-docker-creates-pause-container")
def docker_makes_pause(recording: Recording) -> bool | None:
    """There is a pause process in every sandbox; Docker is in none."""
    if not has_nodes(recording):
        return None
    paused = all(
        document["info"]["runtimeSpec"]["process"]["args"] == ["/pause"]
        for document in pauses(recording)
    )
    docker = any(
        "dockerd" in recording.node(node).run("ps") for node in recording.nodes()
    )
    return paused and docker


@rebuilt("pause-sandbox-docker-creates-pause-container", model=True)
def docker_makes_pause_model() -> bool:
    """dockershim: one container of the image `pause`, named for the pod."""
    calls = dockershim_run_pod_sandbox(POD)
    create = next(call for call in calls if "create" in call.what)
    body = create.details
    named = parse_name(make_sandbox_name(POD))[:2] == ("POD", "web")
    return named and isinstance(body, dict) and "pause" in str(body["Image"])


@check("pause-sandbox-is-first-container-of-pod")
def pause_is_first(recording: Recording) -> bool | None:
    """Each container was created after its sandbox, by the runtime's own times and
    log.
    """
    if not has_nodes(recording):
        return None
    pairs = [
        (d["status"]["createdAt"], p["status"]["createdAt"])
        for _, d, p in all_documents(recording)
    ]
    return (
        bool(pairs)
        and all(container > pause for container, pause in pairs)
        and bool(first_calls(recording))
    )


@rebuilt("pause-sandbox-is-first-container-of-pod")
def pause_is_first_here() -> bool:
    """A container's spec names the pause process's number: it cannot be written before
    there is one.
    """
    return joined(our_container(), 42) == {"ipc", "uts", "network"}


@check("pause-sandbox-acts-as-parent-hosting-net-and-ipc")
def parent(recording: Recording) -> Partly | None:
    """The others join its namespaces. But their parent is a shim, and pause has no
    children.
    """
    if not has_nodes(recording):
        return None
    containers = all_documents(recording)
    hosts = all(
        {"network", "ipc"} <= joined(d["info"]["runtimeSpec"], p["info"]["pid"])
        for _, d, p in containers
    )
    childless = True
    for node in recording.nodes():
        rows = [
            line.split(None, 3) for line in recording.node(node).run("ps").splitlines()
        ]
        processes = [row for row in rows if len(row) == 4 and row[0].isdigit()]
        pausing = {row[0] for row in processes if row[3].strip(" \\_|") == "/pause"}
        childless &= bool(pausing) and not any(row[1] in pausing for row in processes)
    return Partly(hosts, childless)


@rebuilt("pause-sandbox-acts-as-parent-hosting-net-and-ipc")
def parent_here() -> Partly:
    """The same in our specs: namespaces are joined by number; and a process's parent is
    whoever forked it, here this process.
    """
    child = subprocess.Popen(
        [sys.executable, "-c", "import os; print(os.getppid())"], stdout=subprocess.PIPE
    )
    output, _ = child.communicate()
    return Partly(
        {"network", "ipc"} <= joined(our_container(), 42), int(output) == os.getpid()
    )


@check("pause-sandbox-hosts-pid-namespace")
def hosts_pid(recording: Recording) -> bool | None:
    """By default? Containers that join the pause process's PID namespace are those of
    pods that asked for it.
    """
    if not has_nodes(recording):
        return None
    return all(
        "pid" in joined(d["info"]["runtimeSpec"], p["info"]["pid"])
        for _, d, p in all_documents(recording)
    )


@rebuilt("pause-sandbox-hosts-pid-namespace")
def hosts_pid_here() -> bool:
    """Three modes, and the kubelet's default is a namespace per container."""
    shared = {
        n["type"]
        for n in namespaces_of({"namespace_options": {"pid": "POD"}}, 42)
        if n.get("path")
    }
    node = {
        n["type"] for n in namespaces_of({"namespace_options": {"pid": "NODE"}}, 42)
    }
    assert "pid" in shared, "with POD it is shared"
    assert "pid" not in node, "with NODE there is none"
    return "pid" in joined(our_container(), 42)


@check("pause-sandbox-pid-one-reaps-zombies")
def reaps(recording: Recording) -> bool | None:
    """Process 1 for the containers of a pod? Only where they share its PID
    namespace.
    """
    if not has_nodes(recording):
        return None
    own = [
        d
        for _, d, p in all_documents(recording)
        if "pid" in created_namespaces(d["info"]["runtimeSpec"])
    ]
    return not own


ORPHANS = """
import os, sys, time
from lifecycle.cri.sandbox import syscalls
from lifecycle.cri.sandbox.pause import reap
syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
middle = os.fork()
if middle == 0:
    if os.fork() == 0:
        os._exit(0)
    os._exit(0)
def dead():
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
            except OSError:
                continue
            found += fields[0] == "Z" and fields[1] == str(os.getpid())
    return found
while dead() < 2:
    time.sleep(0.001)
print(dead(), reap(), dead())
"""


def zombies() -> list[int]:
    """An orphan's new parent: zombies before, how many `reap` buried, zombies after.
    Empty where there is no Linux.
    """
    if not sys.platform.startswith("linux"):
        return []
    ran = subprocess.run(
        [sys.executable, "-c", ORPHANS],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    return [int(word) for word in ran.stdout.split()]


@rebuilt("pause-sandbox-pid-one-reaps-zombies")
def reaps_here() -> bool:
    """The reaping works (on real processes); but an ordinary container is its own
    process 1, so pause never sees its dead.
    """
    if zombies() not in ([], [2, 2, 0]):
        raise AssertionError("pause does not bury the dead")
    return "pid" not in created_namespaces(our_container())


@check("pause-sandbox-localhost-between-containers")
def localhost(recording: Recording) -> bool | None:
    """All containers of a pod join one and the same network namespace."""
    if not has_nodes(recording):
        return None
    networks: dict[str, set[str]] = {}
    for _, document, _ in all_documents(recording):
        spaces = document["info"]["runtimeSpec"]["linux"]["namespaces"]
        network = next(n["path"] for n in spaces if n["type"] == "network")
        networks.setdefault(document["info"]["sandboxID"], set()).add(network)
    return bool(networks) and all(len(paths) == 1 for paths in networks.values())


@rebuilt("pause-sandbox-localhost-between-containers")
def localhost_here() -> bool:
    """Two containers of ours: the same network namespace, so the same loopback. The
    conformance suite fetches a page across it.
    """
    spaces = [
        {n["type"]: n.get("path", "") for n in our_container()["linux"]["namespaces"]}
        for _ in range(2)
    ]
    return spaces[0]["network"] == spaces[1]["network"] == "/proc/42/ns/net"


@check("pause-sandbox-checkpointed-to-disk-then-started")
def checkpointed(recording: Recording) -> bool | None:
    """Is there a dockershim directory mounted from, or a dockershim process?"""
    if not has_nodes(recording):
        return None
    return any(
        "dockershim" in recording.node(node).run(what)
        for node in recording.nodes()
        for what in ("ps", "mounts")
    )


@rebuilt("pause-sandbox-checkpointed-to-disk-then-started", model=True)
def checkpointed_model() -> bool:
    """dockershim: create, checkpoint, start, in that order; and the checkpoint
    remembers the pod.
    """
    steps = [call.what for call in dockershim_run_pod_sandbox(POD)]
    order = [
        next(i for i, step in enumerate(steps) if word in step)
        for word in ("/create", "write /var", "/start")
    ]
    return order == sorted(order) and b'"web"' in checkpoint(POD)


@check("pause-sandbox-namespaces-dedicate-resources")
def dedicate(recording: Recording) -> bool | None:
    """Containers without a limit have all the same namespaces as those with one: so
    namespaces are not what limits.
    """
    if not has_nodes(recording):
        return None
    limited: set[frozenset[str]] = set()
    free: set[frozenset[str]] = set()
    for _, document, _ in all_documents(recording):
        spec = document["info"]["runtimeSpec"]
        kinds = frozenset(n["type"] for n in spec["linux"]["namespaces"])
        (limited if spec["linux"]["resources"].get("memory") else free).add(kinds)
    return not limited <= free


@rebuilt("pause-sandbox-namespaces-dedicate-resources")
def dedicate_here() -> bool:
    """A limit changes the cgroup's part of our spec and no namespace."""
    plain, limited = (
        our_container(),
        our_container(resources={"memory_limit_in_bytes": 1 << 24}),
    )
    assert plain["linux"]["resources"] != limited["linux"]["resources"], (
        "the cgroup changes"
    )
    return bool(plain["linux"]["namespaces"] != limited["linux"]["namespaces"])


@check("pause-sandbox-docker-combines-namespaces-and-cgroups")
def combines(recording: Recording) -> Partly | None:
    """Every container has both. But Docker is not there, and without limits nothing is
    guaranteed.
    """
    if not has_nodes(recording):
        return None
    specs = [
        document["info"]["runtimeSpec"]["linux"]
        for _, document, _ in all_documents(recording)
    ]
    both = all(spec["namespaces"] and spec["cgroupsPath"] for spec in specs)
    return Partly(both, any(not spec["resources"].get("memory") for spec in specs))


@rebuilt("pause-sandbox-docker-combines-namespaces-and-cgroups")
def combines_here() -> Partly:
    """Ours as well: namespaces and a cgroup; without limits the cgroup limits
    nothing.
    """
    spec = our_container()["linux"]
    pause = sandbox_spec(POD, "s-1", "/run/netns/s-1", "/run/s-1", "/run/s-1/shm")[
        "linux"
    ]
    both = all(part["namespaces"] and part["cgroupsPath"] for part in (spec, pause))
    return Partly(both, not resources({})["memory"])
