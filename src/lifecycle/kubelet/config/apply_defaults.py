"""Static pods as the kubelet runs them.

They get the node's name behind their own, a uid made from their contents, and tolerate
everything that would evict them.

Upstream: `pkg/kubelet/config/common.go` (`applyDefaults`, `tryDecodeSinglePod`,
`tryDecodePodList`), v1.36.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable

from lifecycle.api import fast_json
from lifecycle.api.defaults.pods import set_pod_defaults
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.http.wire import Object
from lifecycle.kubelet.types.pod_update import (
    CONFIG_HASH,
    CONFIG_SEEN,
    CONFIG_SOURCE,
    FILE,
)

Send = Callable[[list[Object]], object]


def apply_defaults(
    pod: Object, source: str, origin: str, node_name: str, now: str
) -> Object:
    """A static pod as the kubelet runs it. `origin`: path or URL. The uid is a hash of
    pod, node and origin.
    """
    static_pod = copy.deepcopy(pod)
    static_pod.setdefault("apiVersion", "v1")
    static_pod.setdefault("kind", "Pod")
    meta, spec = (
        static_pod.setdefault("metadata", {}),
        static_pod.setdefault("spec", {}),
    )
    if not meta.get("uid"):
        digest = hashlib.md5(
            fast_json.dumps(pod, option=fast_json.OPT_SORT_KEYS), usedforsecurity=False
        )
        if source == FILE:
            digest.update(f"host:{node_name}file:{origin}".encode())
        else:
            digest.update(f"url:{origin}".encode())
        meta["uid"] = digest.hexdigest()
    meta["name"] = f"{meta.get('name', '')}-{node_name.lower()}"
    meta.setdefault("namespace", "default")
    spec["nodeName"] = node_name
    annotations = meta.setdefault("annotations", {})
    annotations |= {CONFIG_HASH: meta["uid"], CONFIG_SOURCE: source, CONFIG_SEEN: now}
    everything = {"operator": "Exists", "effect": "NoExecute"}
    if everything not in spec.setdefault("tolerations", []):
        spec["tolerations"].append(everything)
    set_pod_defaults(static_pod)
    static_pod["status"] = {"phase": "Pending"}
    return static_pod


def decode_pods(text: bytes, where: str) -> list[Object]:
    """The pods in a manifest, YAML or JSON: one Pod or a list. Raises ValueError."""
    try:
        document, _ = read_yaml(text)
    except ValueError as error:
        raise ValueError(
            f"{where}: couldn't parse as pod({error}), please check config file"
        ) from None
    if not isinstance(document, dict) or document.get("kind") not in ("Pod", "PodList"):
        raise ValueError(
            f"{where}: couldn't parse as pod(Object 'Kind' is missing), please check"
            " config file"
        )
    pods = document.get("items") or [] if document["kind"] == "PodList" else [document]
    for pod in pods:
        if not (pod.get("metadata") or {}).get("name") or not (
            pod.get("spec") or {}
        ).get("containers"):
            raise ValueError(
                f"{where}: invalid pod: metadata.name and spec.containers are required"
            )
    return list(pods)
