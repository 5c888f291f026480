"""What a new ReplicaSet is called, what it takes over, and how large it may be at
first.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.fnv import fnv32a
from lifecycle.api.names import safe_encode_string
from lifecycle.api.wire import Object
from lifecycle.controllers.deployment.deployment_util import new_rs_new_replicas
from lifecycle.controllers.deployment.revisions import MAX_REPLICAS
from lifecycle.controllers.deployment.sync import new_replica_set, proportional_sizes
from lifecycle.controllers.go_dump import dump_for_hash
from lifecycle.controllers.pod_template_hash import compute_hash


def a_deployment(
    name: str = "web", image: str = "nginx:1.27", **spec: object
) -> Object:
    """Three replicas of it."""
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    body = {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": template,
        **spec,
    }
    return {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "metadata": {"name": name},
        "spec": body,
    }


def a_named_deployment(**spec: Any) -> Object:
    """The same, as the API server has it."""
    deployment = a_deployment(**spec)
    deployment["metadata"].update(namespace="default", uid="u")
    return deployment


def names_differ() -> bool:
    """The hash of a template, and those after one and 256 collisions: the count goes
    into it as eight more bytes.
    """
    template = a_deployment()["spec"]["template"]
    printed = dump_for_hash("core/v1.PodTemplateSpec", template).encode()
    expected = [
        safe_encode_string(str(fnv32a(printed + more)))
        for more in (b"", b"\1" + bytes(7), b"\0\1" + bytes(6))
    ]
    found = [compute_hash(template, count) for count in (None, 1, 256)]
    return len(set(found)) == 3 and found == expected


def patience() -> list[int | None]:
    """For how long a pod has to be ready, by the ReplicaSet of a Deployment that says
    it and of one that does not.
    """
    made = (
        new_replica_set(a_named_deployment(**more))
        for more in ({"minReadySeconds": 7}, {})
    )
    return [rs["spec"].get("minReadySeconds") for rs in made]


def sizes() -> list[int]:
    """How large the new one may be now, beside one old pod of three: if the old have to
    go first, so that there is nothing to wait for any more, and if they go bit by bit.
    """
    old, new = {"spec": {"replicas": 2}}, {"spec": {"replicas": 1}}
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}
    return [
        new_rs_new_replicas(a_deployment(strategy=strategy), [old, new], new)
        for strategy in ({"type": "Recreate"}, rolling)
    ]


def shares() -> list[list[int]]:
    """How large those that run become in the midst of a roll-out when another size is
    wanted: ten of five, two of five, five of three that are alike, four and three of
    four; and where there are none yet. The newest comes first.
    """

    def sized(name: str, size: int, of: int) -> Object:
        notes = {MAX_REPLICAS: str(of)}
        return {
            "metadata": {
                "name": name,
                "annotations": notes,
                "creationTimestamp": f"2026-01-0{name}T00:00:00Z",
            },
            "spec": {"replicas": size},
        }

    rows = (
        (10, (3, 2)),
        (2, (3, 2)),
        (5, (1, 1, 1)),
        (4, (2, 2)),
        (3, (2, 2)),
        (4, ()),
    )
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
    found = []
    for wanted, there in rows:
        active = [sized(str(n), size, sum(there)) for n, size in enumerate(there, 1)]
        active.reverse()
        deployment = a_deployment(replicas=wanted, strategy=strategy)
        sizes = proportional_sizes(active, deployment)
        found.append(
            [
                size
                for _, size in sorted(
                    sizes, key=lambda each: each[0]["metadata"]["name"]
                )
            ]
        )
    return found
