"""A plain object of each kind, which any server takes, and its mutations.

What the schema cannot say (a selector chooses the template's labels, a role reference names a role) is written down here; kinds that
are not get what their schema requires.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from tests.differential import definitions
from tests.differential.published import Kind, Published, Schema
from tests.differential.values import WRONG, Values

_POD: dict[str, Any] = {"containers": [{"name": "web", "image": "nginx:1.27"}]}
_TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": _POD}
_SELECTOR = {"matchLabels": {"app": "web"}}
_JOB = {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}
_CLASS = {"provisioner": "example.com/disk"}
_RULE = {"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]}
_REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
_HOOK = {
    "name": "hook.example.com",
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "clientConfig": {"url": "https://127.0.0.1:1/hook"},
}

PLAIN: dict[str, dict[str, Any]] = {
    "Pod": {"spec": _POD},
    "PodTemplate": {"template": _TEMPLATE},
    "ReplicationController": {"spec": {"selector": {"app": "web"}, "template": _TEMPLATE}},
    "Deployment": {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    "ReplicaSet": {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    "StatefulSet": {"spec": {"selector": _SELECTOR, "template": _TEMPLATE, "serviceName": "web"}},
    "DaemonSet": {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    "ControllerRevision": {"revision": 1, "data": {"a": 1}},
    "Job": {"spec": _JOB},
    "CronJob": {"spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": _JOB}}},
    "Service": {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}},
    "ConfigMap": {"data": {"a": "b"}},
    "Secret": {"data": {"a": "Yg=="}},
    "Endpoints": {"subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}]},
    "EndpointSlice": {"addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.1"]}], "ports": [{"port": 80}]},
    "PersistentVolumeClaim": {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    },
    "PersistentVolume": {
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/tmp"}}
    },
    "LimitRange": {"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}},
    "ResourceQuota": {"spec": {"hard": {"pods": "9"}}},
    "Ingress": {"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}},
    "IngressClass": {"spec": {"controller": "example.com/ingress"}},
    "NetworkPolicy": {"spec": {"podSelector": {}}},
    "HorizontalPodAutoscaler": {
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3}
    },
    "PodDisruptionBudget": {"spec": {"minAvailable": 1, "selector": _SELECTOR}},
    "Role": _RULE,
    "ClusterRole": _RULE,
    "RoleBinding": {"roleRef": _REF, "subjects": [{"kind": "User", "name": "jane"}]},
    "ClusterRoleBinding": {"roleRef": _REF, "subjects": [{"kind": "User", "name": "jane"}]},
    "StorageClass": _CLASS,
    "VolumeAttributesClass": {"driverName": "example.com", "parameters": {"a": "b"}},
    "CSIDriver": {"spec": {}},
    "CSINode": {"spec": {"drivers": []}},
    "CSIStorageCapacity": {"storageClassName": "fast"},
    "VolumeAttachment": {
        "spec": {"attacher": "example.com", "nodeName": "one", "source": {"persistentVolumeName": "disk"}}
    },
    "PriorityClass": {"value": 10},
    "RuntimeClass": {"handler": "runc"},
    "Lease": {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}},
    "Event": {"involvedObject": {"namespace": "{ns}"}, "reason": "Seen", "message": "m", "type": "Normal"},
    "Node": {},
    "Namespace": {},
    "ServiceAccount": {},
    "ValidatingWebhookConfiguration": {"webhooks": [_HOOK]},
    "MutatingWebhookConfiguration": {"webhooks": [_HOOK]},
    "ServiceCIDR": {"spec": {"cidrs": ["10.112.0.0/16"]}},
    "TokenReview": {"spec": {"token": "x"}},
    "SubjectAccessReview": {"spec": {"user": "jane", "resourceAttributes": {"verb": "get", "resource": "pods"}}},
    "LocalSubjectAccessReview": {
        "spec": {"user": "jane", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "{ns}"}}
    },
    "SelfSubjectAccessReview": {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
    "SelfSubjectRulesReview": {"spec": {"namespace": "default"}},
    **definitions.PLAIN,
}
_NAMES = {"Namespace": "made-{ns}", "APIService": "v1.{ns}.example.com"}


class Objects:
    """Plain and mutated objects."""

    def __init__(self, published: Published, random: Random) -> None:
        self._published = published
        self._random = random
        self._fitting = Values(published, random, wildness=0.0)
        self._values = Values(published, random)

    def plain(self, kind: Kind) -> dict[str, Any]:
        """An object that should be taken."""
        name = _NAMES.get(kind.kind, "one" if kind.namespaced else "{ns}-one")
        head: dict[str, Any] = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
        if kind.kind in PLAIN:
            body = copy.deepcopy(PLAIN[kind.kind])
            if kind.api_version == "events.k8s.io/v1":
                body = {"regarding": {"namespace": "{ns}"}, "reason": "Seen", "action": "see", "type": "Normal"}
            return {**head, **body}
        _, schema = self._published.resolve(self._published.schemas[kind.schema])
        needed = {"spec", *schema.get("required", ())} & schema.get("properties", {}).keys()
        return {
            **head,
            **{key: self._fitting.of(schema["properties"][key], key, 1) for key in sorted(needed - head.keys())},
        }

    def mutated(self, kind: Kind, obj: dict[str, Any]) -> dict[str, Any]:
        """A copy with one to three changes, most of them where the kind's own fields are."""
        changed = copy.deepcopy(obj)
        schema = self._published.schemas[kind.schema]
        for _ in range(self._random.choice((1, 1, 1, 2, 3))):
            self._change(changed, schema)
        return changed

    def _change(self, obj: dict[str, Any], schema: Schema) -> None:
        random = self._random
        places = [place for place in self._places(obj, schema) if place[1] not in ("apiVersion", "kind")]
        if not places:
            return
        container, key, part = random.choice(places)
        how = random.random()
        if how < 0.45 and isinstance(container, dict):
            _, shape = self._published.resolve(part)
            missing = sorted(shape.get("properties", {}).keys() - container.keys() - {"apiVersion", "kind", "status"})
            if missing:
                name = random.choice(missing)
                container[name] = self._values.of(shape["properties"][name], name, 1)
                return
        value = container[key] if isinstance(container, list) else container.get(key)
        if how < 0.6 and isinstance(container, dict) and key:
            container[random.choice((f"{key}x", key.capitalize(), "unknown"))] = container.pop(key, None)
        elif how < 0.7 and isinstance(value, list) and value:
            value.append(copy.deepcopy(random.choice(value)))
        elif how < 0.8 and key != "":
            del container[key]
        elif key != "":
            container[key] = (
                copy.deepcopy(random.choice(WRONG))
                if random.random() < 0.3
                else self._values.of(self._below(part, key), str(key), 1)
            )

    def _below(self, schema: Schema, key: Any) -> Schema:
        _, shape = self._published.resolve(schema)
        if isinstance(key, int):
            return dict(shape.get("items", {}))
        known = shape.get("properties", {}).get(key) or shape.get("additionalProperties")
        return known if isinstance(known, dict) else {"type": "string"}

    def _places(self, value: Any, schema: Schema) -> list[tuple[Any, Any, Schema]]:
        """(container, key, schema of the container) of everything inside."""
        found: list[tuple[Any, Any, Schema]] = []
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            found.append((value, key, schema))
            if isinstance(part, (dict, list)) and part:
                found += self._places(part, self._below(schema, key))
        return found
