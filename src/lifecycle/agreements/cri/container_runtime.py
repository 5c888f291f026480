"""The container runtime held against the recorded nodes: what containerd made of each
CRI config, and what ours makes of it.

`crictl inspectp` and `inspect` print, for every pod and container, the CRI config that
the kubelet had sent *and* the OCI spec that containerd made of it. So each recorded
config goes through our wire format and our translation, and the spec that comes out is
put beside theirs: namespaces and the paths by which they are joined, cgroup, mounts and
their order, capabilities, masked paths, environment, user.

Taken from the record, as input: ids, the pause process's number, the sandbox's
directories, and what an image says (its entry point, and the group that its own user
list names). Of a seccomp filter it is compared whether there is one and what it does
with a call that it does not list. Not compared: its list, which has its own test
(`tests/cri/test_seccomp.py`: three calls of it came with a later kernel), and kind's
own hooks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.cri import translate
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.messages import fields_of, message_class, new
from lifecycle.cri.oci_spec import container_spec, sandbox_spec
from lifecycle.inspector import Recording
from lifecycle.inspector.errors import InspectorError

PODS, CONTAINERS = "nodes-inspect-pods", "nodes-inspect-containers"
STAGE = "container runtime"


def documents(recording: Recording, node: str, command: str) -> Iterator[Object]:
    """What `crictl inspectp` or `inspect` printed, one document per pod or container.
    Nothing for recordings without nodes.
    """
    try:
        text = recording.node(node).run(command)
    except InspectorError:
        return
    decoder, position = json.JSONDecoder(), text.find("{")
    while position >= 0:
        document, end = decoder.raw_decode(text, position)
        yield document
        position = text.find("{", end)


def over_the_wire(message: str, fields: Object) -> Object:
    """The config as a runtime receives it: serialised, sent and read again."""
    return fields_of(
        message_class(message).FromString(new(message, fields).SerializeToString())
    )


def without_numbers(message: str, fields: Object) -> Object:
    """`crictl` prints enums by number; the same by name."""
    return fields_of(new(message, fields))


def source_of(spec: Object, destination: str) -> str:
    """Where a mount comes from."""
    return next(
        str(mount["source"])
        for mount in spec["mounts"]
        if mount["destination"] == destination
    )


def oom_floor(recording: Recording, node: str) -> int:
    """The least `oom_score_adj` that the node's containerd gives: its own, which is 0
    in kind, where it is told to keep to that.
    """
    info = json.loads(recording.node(node).run("crictl-info"))
    return 0 if info["config"].get("restrictOOMScoreAdj") else -1000


def comparable(spec: Object) -> Object:
    """Without what is not compared."""
    rest = {key: value for key, value in spec.items() if key != "hooks"}
    linux = dict(spec["linux"])
    if "seccomp" in linux:
        linux["seccomp"] = {"defaultAction": linux["seccomp"]["defaultAction"]}
    return {**rest, "linux": linux}


def our_sandbox_spec(document: Object, floor: int) -> Object:
    """Ours, of the recorded config."""
    info, theirs = document["info"], document["info"]["runtimeSpec"]
    config = translate.read_sandbox_config(
        over_the_wire("PodSandboxConfig", info["config"])
    )
    network = [
        n.get("path", "")
        for n in theirs["linux"]["namespaces"]
        if n["type"] == "network"
    ]
    directory = source_of(theirs, "/etc/resolv.conf").rpartition("/")[0]
    netns, shm = "".join(network), source_of(theirs, "/dev/shm")
    return sandbox_spec(
        config, document["status"]["id"], netns, directory, shm, info["image"], floor
    )


def our_container_spec(
    document: Object, sandbox: PodSandboxConfig, pause: int, node: str, floor: int
) -> Object:
    """Ours, of the recorded configs of a container and its sandbox. `pause`: the pause
    process's number.
    """
    info, theirs = document["info"], document["info"]["runtimeSpec"]
    config = translate.read_container_config(
        over_the_wire("ContainerConfig", info["config"])
    )
    given = theirs["process"]["args"]
    image = (
        {} if config.command else {"Entrypoint": given[: len(given) - len(config.args)]}
    )
    user = None
    if not config.security_context.get("run_as_group"):
        uid = (config.security_context.get("run_as_user") or {}).get("value", 0)
        gid = theirs["process"]["user"]["gid"]
        user = {"uid": uid, "gid": gid, "additionalGids": [gid]}
    directory = source_of(theirs, "/etc/resolv.conf").rpartition("/")[0]
    return container_spec(
        config,
        sandbox,
        document["status"]["id"],
        info["sandboxID"],
        pause,
        image,
        directory,
        source_of(theirs, "/dev/shm"),
        node,
        oom_floor=floor,
        user=user,
    )


def _namespaces(spec: Object) -> str:
    kinds = (
        "joins " + n["type"] if "/proc/" in n.get("path", "") else n["type"]
        for n in spec["linux"]["namespaces"]
    )
    return ", ".join(kinds)


def container_runtime_agreement(recording: Recording) -> AgreementTable:
    """Every recorded sandbox and container. Empty for a recording without nodes."""
    table = AgreementTable(
        "What a runtime makes of a pod",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"containerd turned {len(table.computed)} requests of kubelets into"
            " containers; from the same requests ours makes the same low-level"
            " specifications – namespaces, mounts, capabilities, masked paths:"
            f" {table.outcome('documents')}."
        ),
    )
    for node in recording.nodes():
        floor: int | None = None
        sandboxes: dict[str, tuple[PodSandboxConfig, int]] = {}
        for document in documents(recording, node, PODS):
            floor = oom_floor(recording, node) if floor is None else floor
            info, status = document["info"], document["status"]
            recorded = without_numbers("PodSandboxConfig", info["config"])
            sandboxes[status["id"]] = (
                translate.read_sandbox_config(recorded),
                info.get("pid", 0),
            )
            name = f"{recorded['metadata']['namespace']}/{recorded['metadata']['name']}"
            if info.get("runtimeSpec"):
                ours = comparable(our_sandbox_spec(document, floor))
                theirs = comparable(info["runtimeSpec"])
                table.add(
                    STAGE,
                    f"pause of {name}",
                    _namespaces(ours),
                    _namespaces(theirs),
                    compare(ours, theirs),
                )
            sent = translate.sandbox_config(translate.read_sandbox_config(recorded))
            again = over_the_wire("PodSandboxConfig", sent)
            table.add(
                STAGE,
                f"config of {name}",
                "as sent",
                "as sent",
                compare(again, recorded),
            )
        for document in documents(recording, node, CONTAINERS):
            info = document["info"]
            sandbox, pause = sandboxes[info["sandboxID"]]
            ours = comparable(
                our_container_spec(document, sandbox, pause, node, floor or 0)
            )
            theirs = comparable(info["runtimeSpec"])
            name = (
                f"{sandbox.metadata.namespace}/{sandbox.metadata.name}:"
                f" {info['config']['metadata']['name']}"
            )
            table.add(
                STAGE,
                f"container {name}",
                _namespaces(ours),
                _namespaces(theirs),
                compare(ours, theirs),
            )
    return table


def all_documents(recording: Recording) -> list[tuple[str, Object, Object]]:
    """Every running container: its node, its document, and that of its sandbox."""
    containers: list[tuple[str, Object, Object]] = []
    for node in recording.nodes():
        pods: dict[str, Any] = {
            d["status"]["id"]: d for d in documents(recording, node, PODS)
        }
        containers += [
            (node, d, pods[d["info"]["sandboxID"]])
            for d in documents(recording, node, CONTAINERS)
        ]
    return containers
