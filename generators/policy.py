"""`apiserver/bootstrap/policy.json`: the objects that every fresh cluster has.

From a recording of a fresh cluster: the lists of scenario *objects* and *authz*. Taken
are the roles and bindings that carry the label of RBAC's defaults, the flow schemas and
priority levels that the server itself keeps up to date, and the system's two priority
classes; written without what the server fills in (uid, times, managed fields, status),
and without the rules that a controller has gathered for roles that aggregate others.

The recorded cluster ran a build with a controller of its vendor, so that controller's
role and binding are left out. `bootstrappolicy` in Kubernetes' sources says the same as
Go code that calls itself; it is not read here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from generators.exchanges import read_lists
from generators.first_line import provenance
from lifecycle.api import fast_json

KINDS = (
    "PriorityClass", "PriorityLevelConfiguration", "FlowSchema", "ClusterRole",
    "ClusterRoleBinding", "Role", "RoleBinding",
)  # fmt: skip
"""In this order they can be written one after the other."""

VENDOR = "system:controller:service-ca-cert-publisher"
FILLED_IN = ("uid", "resourceVersion", "generation", "creationTimestamp",
             "managedFields")  # fmt: skip

Object = dict[str, Any]


def generate(recording: Path) -> bytes:
    """The policy: JSON, one object a line. Raises FileNotFoundError for a folder that
    is no recording.
    """
    objects: dict[str, list[Object]] = {kind: [] for kind in KINDS}
    for scenario in ("objects", "authz"):
        for answer in read_lists(recording, scenario):
            kind = answer["kind"].removesuffix("List")
            if kind in objects:
                objects[kind] = [
                    _as_written(answer["apiVersion"], kind, item)
                    for item in answer["items"]
                    if _is_bootstrapped(kind, item["metadata"])
                ]
    lines = b",\n".join(fast_json.dumps(obj) for kind in KINDS for obj in objects[kind])
    what = "The objects that every fresh cluster has"
    source = f"recordings/{recording.name} (objects, authz)"
    head = fast_json.dumps(provenance(what, source, "policy"))
    return b'{"source":' + head + b',"objects":[\n' + lines + b"\n]}\n"


def _is_bootstrapped(kind: str, metadata: Object) -> bool:
    if kind == "PriorityClass":
        return bool(metadata["name"].startswith("system-"))
    if kind in ("FlowSchema", "PriorityLevelConfiguration"):
        return "apf.kubernetes.io/autoupdate-spec" in metadata.get("annotations", {})
    label = metadata.get("labels", {}).get("kubernetes.io/bootstrapping")
    return label == "rbac-defaults" and metadata["name"] != VENDOR


def _as_written(api_version: str, kind: str, item: Object) -> Object:
    metadata = {k: v for k, v in item["metadata"].items() if k not in FILLED_IN}
    rest = {k: v for k, v in item.items() if k not in ("metadata", "status")}
    if item.get("aggregationRule"):
        rest["rules"] = None  # the aggregation controller's
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
