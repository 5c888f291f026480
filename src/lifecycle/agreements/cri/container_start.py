"""Container start held against the recorded nodes: what the runtime was asked to make,
and in which order things happened.

`crictl inspect` shows, for every container that ran when the nodes were looked at, the
`ContainerConfig` as the kubelet had sent it. The pods are recorded beside it, so our
kubelet can be asked for the same config. And the *kubelet* scenario's events and pod
statuses say in which order containers were pulled, created and started; ours are put
beside them.

Not compared: environment and mounts, which have a stage of their own (pod sync), and
the runtime's id of an image.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from lifecycle.agreements.kubelet.pod_status import NAMESPACE, Played, play, recorded
from lifecycle.api.http.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import Comparison, compare
from lifecycle.inspector import Recording
from lifecycle.kubelet.kuberuntime.container_config import generate_container_config
from lifecycle.kubelet.kuberuntime.container_resources import linux_container_resources

INSPECTED = "nodes-inspect-containers"
STARTING = ("Pulling", "Pulled", "Created", "Started")
MEMORY = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
ENUMS = {
    "namespace": {0: "POD", 1: "CONTAINER", 2: "NODE"},
    "seccomp": {0: "RuntimeDefault", 1: "Unconfined", 2: "Localhost"},
}


def inspected(recording: Recording, node: str) -> list[Object]:
    """What `crictl inspect` printed for each running container of a node."""
    text, documents, decoder = (
        recording.node(node).run(INSPECTED),
        [],
        json.JSONDecoder(),
    )
    position = text.find("{")
    while position >= 0:
        document, end = decoder.raw_decode(text, position)
        documents.append(document)
        position = text.find("{", end)
    return documents


def known_pods(recording: Recording) -> dict[str, Object]:
    """Every pod that the recording has, by uid, in its newest version."""
    pods: dict[str, Object] = {}
    for scenario in recording.scenarios():
        for exchange in recording.exchanges(scenario):
            response = exchange.response if isinstance(exchange.response, dict) else {}
            for obj in response.get("items") or [response]:
                if (
                    isinstance(obj, dict)
                    and exchange.path.partition("?")[0].endswith("/pods")
                    and obj.get("spec")
                ):
                    pods[obj["metadata"].get("uid", "")] = obj
    return pods


def our_config(
    pod: Object, container: Object, attempt: int, memory: int, document: Object
) -> Object:
    """Our config in the form in which crictl prints it: numbers for enums, zero values
    left out.

    From the recorded `document` comes what the kubelet is told by others: the
    environment, and the image's user.
    """
    envs = [
        (env["key"], env.get("value", ""))
        for env in document["info"]["config"].get("envs", ())
    ]
    uid = int(document["status"].get("user", {}).get("linux", {}).get("uid", 0))
    resources = linux_container_resources(pod, container, memory)
    config = generate_container_config(
        pod,
        container,
        attempt,
        envs=envs,
        resources=resources,
        image_uid=uid,
        userns={"mode": "NODE"},
    )
    context = dict(config.security_context)
    numbers = {"POD": 0, "CONTAINER": 1, "NODE": 2}
    options = {
        key: numbers[value]
        for key, value in context["namespace_options"].items()
        if key != "userns_options" and numbers[value]
    }
    mode = context["namespace_options"]["userns_options"]["mode"]
    context["namespace_options"] = {
        **options,
        "userns_options": {"mode": numbers[mode]},
    }
    kinds = {name: number for number, name in ENUMS["seccomp"].items()}
    context["seccomp"] = {"profile_type": kinds[context["seccomp"]["profile_type"]]}
    printed: Object = {
        "annotations": dict(config.annotations),
        "command": list(config.command),
        "args": list(config.args),
        "labels": dict(config.labels),
        "linux": {"resources": dict(config.resources), "security_context": context},
        "log_path": config.log_path,
        "metadata": {
            "attempt": config.metadata.attempt,
            "name": config.metadata.name,
        },
        "user_specified_image": config.user_specified_image,
    }
    if not attempt:
        del printed["metadata"]["attempt"]
    return {key: value for key, value in printed.items() if value}


def their_config(document: Object) -> Object:
    """The recorded config, without what has a stage of its own."""
    config = json.loads(json.dumps(document["info"]["config"]))
    config["user_specified_image"] = config.pop("image")["user_specified_image"]
    for key in ("envs", "mounts"):
        config.pop(key, None)
    return dict(config)


def order_of_events(played: Played, uid_names: dict[str, str]) -> dict[str, list[str]]:
    """For each container the reasons of its starting, in the order in which they were
    first told.
    """
    first: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for event in sorted(
        played.events,
        key=lambda e: (
            e["firstTimestamp"] or "",
            int(e["metadata"]["resourceVersion"]),
        ),
    ):
        name = event["involvedObject"]["name"]
        where = event["involvedObject"].get("fieldPath", "")
        if event["reason"] in STARTING and name in uid_names:
            first[f"{name} {where}"].setdefault(
                event["reason"],
                (event["firstTimestamp"], event["metadata"]["resourceVersion"]),
            )
    return {key: list(reasons) for key, reasons in first.items()}


def order_of_starts(pod: Object) -> list[list[str]]:
    """Containers in the order of their (last) starts; those that started in the same
    second together.
    """
    starts: dict[str, list[str]] = defaultdict(list)
    for key in ("initContainerStatuses", "containerStatuses"):
        for status in pod["status"].get(key) or ():
            [(kind, details)] = status["state"].items()
            if kind != "waiting":
                starts[details["startedAt"]].append(status["name"])
    return [sorted(names) for _, names in sorted(starts.items())]


def flattened(groups: list[list[str]], spec: Object) -> dict[str, bool]:
    """For each init container: whether everything declared after it started no earlier.
    Seconds are all that statuses tell.
    """
    place = {name: i for i, names in enumerate(groups) for name in names}
    order = [c["name"] for c in spec.get("initContainers") or ()]
    after = [c["name"] for c in spec["containers"]]
    return {
        name: all(
            place[name] <= place[later]
            for later in [*order[i + 1 :], *after]
            if later in place
        )
        for i, name in enumerate(order)
        if name in place
    }


def container_start_agreement(recording: Recording) -> AgreementTable:
    """Configs, and the order of starts."""
    table = AgreementTable(
        "Container start",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            "What a kubelet asks of its runtime for each running container, and in"
            f" which order it tells of it: {table.fields_equal:,} of {table.total:,}"
            " fields that were recorded come out of ours, too."
        ),
        telling="init containers before the others",
    )
    pods = known_pods(recording)
    for node in recording.nodes():
        comparison, count = Comparison(), 0
        memory = node_memory(recording, node)
        for document in inspected(recording, node):
            config = their_config(document)
            labels = config["labels"]
            pod = pods.get(labels["io.kubernetes.pod.uid"])
            if pod is None:
                continue
            containers = [
                *pod["spec"]["containers"],
                *(pod["spec"].get("initContainers") or ()),
            ]
            container = next(
                c
                for c in containers
                if c["name"] == labels["io.kubernetes.container.name"]
            )
            count += 1
            ours = our_config(
                pod, container, config["metadata"].get("attempt", 0), memory, document
            )
            comparison += compare(
                ours, config, path=f"/{pod['metadata']['name']}/{container['name']}"
            )
        table.add(
            "kubelet",
            f"ContainerConfig of what runs on {node}",
            f"{count} configs",
            f"{count} configs",
            comparison,
        )
    add_order(table, play(recording.path), recorded(recording))
    return table


def node_memory(recording: Recording, node: str) -> int:
    """The node's memory in bytes, as the API shows it."""
    for scenario in recording.scenarios():
        for exchange in recording.exchanges(scenario):
            if exchange.path.partition("?")[0] == "/api/v1/nodes" and isinstance(
                exchange.response, dict
            ):
                for obj in exchange.response.get("items") or ():
                    if (
                        isinstance(obj, dict)
                        and obj["metadata"]["name"] == node
                        and "capacity" in obj.get("status", {})
                    ):
                        text = obj["status"]["capacity"]["memory"]
                        return (
                            int(text[:-2]) * MEMORY[text[-2:]]
                            if text[-2:] in MEMORY
                            else int(text)
                        )
    return 1 << 34


def add_order(table: AgreementTable, ours: Played, theirs: Played) -> None:
    """Events and starts, in order."""
    names: dict[str, Any] = {name: name for name in theirs.pods}
    mine, other = order_of_events(ours, names), order_of_events(theirs, names)
    comparison = Comparison()
    for key in sorted(mine.keys() | other.keys()):
        comparison += compare(mine.get(key), other.get(key), path=f"/{key}")
    table.add(
        "kubelet",
        "Pulling, Pulled, Created, Started, in order",
        f"{len(mine)} containers",
        f"{len(other)} containers",
        comparison,
    )
    starts, count = Comparison(), 0
    for name in names:
        spec = theirs.pods[name]["spec"]
        if spec.get("initContainers"):
            count += 1
            starts += compare(
                flattened(order_of_starts(ours.pods[name]), spec),
                flattened(order_of_starts(theirs.pods[name]), spec),
                path=f"/{name}",
            )
    table.add(
        "kubelet",
        "init containers before the others",
        f"{count} pods",
        f"{count} pods",
        starts,
    )


__all__ = [
    "NAMESPACE",
    "container_start_agreement",
    "inspected",
    "known_pods",
    "our_config",
    "their_config",
]
