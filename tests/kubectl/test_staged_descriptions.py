"""`describe` of objects as a cluster rarely has them: what the real kubectl 1.36 says, as it was kept.

`KEEP=anew pytest` asks it again.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.kubectl.staged import Scene, check, status

KEPT = Path(__file__).parent / "staged_answers" / "descriptions.json"
CORE, APPS = "/api/v1/namespaces/default", "/apis/apps/v1/namespaces/default"
THEN = "2026-01-02T03:04:05Z"
LATER = "2026-03-02T03:04:05Z"
FORBIDDEN = (403, status(403, "Forbidden", "no"))


def obj(kind: str, version: str = "v1", name: str = "x", namespace: str = "default", **parts: Any) -> dict[str, Any]:
    about = {
        "name": name,
        "uid": f"u-{name}",
        "creationTimestamp": THEN,
        **({"namespace": namespace} if namespace else {}),
    }
    return {"kind": kind, "apiVersion": version, "metadata": {**about, **parts.pop("about", {})}, **parts}


def several(kind: str, version: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"kind": f"{kind}List", "apiVersion": version, "metadata": {"resourceVersion": "5"}, "items": list(items)}


def event(message: str, **more: Any) -> dict[str, Any]:
    about = {"name": message, "namespace": "default", "uid": message}
    return {
        "metadata": about,
        "type": "Normal",
        "reason": "R",
        "message": message,
        "involvedObject": {"uid": "u-x", "name": "x"},
        **more,
    }


def condition(**more: Any) -> dict[str, Any]:
    return {"type": "Resizing", "status": "True", **more}


EVENTS = several(
    "Event",
    "v1",
    event("once", firstTimestamp=THEN, lastTimestamp=THEN, count=1, source={"component": "s", "host": "h"}),
    event("often", firstTimestamp=THEN, lastTimestamp=LATER, count=3, source={"component": "s"}),
    event(
        "series",
        eventTime="2026-01-02T03:04:05.000000Z",
        series={"count": 7, "lastObservedTime": "2026-03-02T03:04:05.000000Z"},
    ),
    event("reported", eventTime="2026-01-02T03:04:05.000000Z", reportingComponent="rc", source={}),
    event("many\nlines", firstTimestamp=THEN, lastTimestamp=THEN, type="Warning"),
)


def described(kind: str, plural: str, *objs: dict[str, Any], group: str = "", where: str = CORE, **more: Any) -> Scene:
    """One object of each name, and the lines that describe them."""
    answers: dict[str, Any] = {f"GET {where}/{plural}/{each['metadata']['name']}": each for each in objs}
    answers |= {
        "GET /api/v1/namespaces/default/events": EVENTS,
        "GET /api/v1/events": EVENTS,
        f"GET {CORE}/pods": several("Pod", "v1"),
    }
    lines = [f"describe {kind} {each['metadata']['name']}" for each in objs]
    return Scene(answers | more, lines)


def claim(
    name: str, about: dict[str, Any] | None = None, state: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    whole = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return obj("PersistentVolumeClaim", name=name, about=about or {}, spec=whole, status=state or {"phase": "Pending"})


def volume(name: str, **spec: Any) -> dict[str, Any]:
    whole = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadOnlyMany", "ReadWriteOncePod"], **spec}
    return obj(
        "PersistentVolume",
        name=name,
        namespace="",
        spec=whole,
        status={"phase": "Available", "message": "m", "reason": "r"},
    )


def pod(
    name: str = "x", about: dict[str, Any] | None = None, state: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    whole = {"containers": [{"name": "c", "image": "i"}], **spec}
    return obj("Pod", name=name, about=about or {}, spec=whole, status={"phase": "Running", **(state or {})})


def node(name: str = "x", state: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    room = {"cpu": "2", "memory": "4Gi", "pods": "110", "example.com/gpu": "4", "hugepages-2Mi": "0"}
    return obj(
        "Node", name=name, namespace="", spec=spec, status={"capacity": room, "allocatable": room, **(state or {})}
    )


def slices(count: int) -> dict[str, Any]:
    items = [
        {
            "metadata": {"name": f"s{i}"},
            "spec": {"driver": f"d{i % 7}", "pool": {"name": f"p{i}"}, "devices": [{"name": "a"}] * (i % 3)},
        }
        for i in range(count)
    ] + [{"metadata": {"name": "again"}, "spec": {"driver": "d0", "pool": {"name": "p0"}, "devices": [{"name": "b"}]}}]
    return several("ResourceSlice", "resource.k8s.io/v1", *items)


def described_node(**more: Any) -> Scene:
    lease = obj(
        "Lease",
        "coordination.k8s.io/v1",
        namespace="kube-node-lease",
        spec={"holderIdentity": "x", "acquireTime": None, "renewTime": "2026-01-02T03:04:05.000000Z"},
    )
    gpu = pod("gpu", nodeName="x")
    gpu["spec"]["containers"][0]["resources"] = {
        "requests": {"example.com/gpu": "1", "cpu": "100m"},
        "limits": {"example.com/gpu": "1"},
    }
    answers = {
        "GET /api/v1/nodes/x": node(),
        "GET /api/v1/pods": several("Pod", "v1", gpu),
        "GET /api/v1/events": EVENTS,
        "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/x": lease,
        "GET /apis/resource.k8s.io/v1/resourceslices": several("ResourceSlice", "resource.k8s.io/v1"),
    }
    return Scene(answers | more, ["describe node x", "describe node x --show-events=false"])


def service(name: str, *ingress: dict[str, Any], **spec: Any) -> dict[str, Any]:
    whole = {"type": "LoadBalancer", "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}], **spec}
    return obj("Service", name=name, spec=whole, status={"loadBalancer": {"ingress": list(ingress)}})


def autoscaler(name: str, *metrics: dict[str, Any], current: list[Any] | None = None) -> dict[str, Any]:
    spec = {
        "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
        "maxReplicas": 3,
        "metrics": list(metrics),
    }
    return obj(
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        name,
        spec=spec,
        status={"currentMetrics": current, "currentReplicas": 1, "desiredReplicas": 2},
    )


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
CPU_NOW = {
    "type": "Resource",
    "resource": {"name": "cpu", "current": {"averageUtilization": 40, "averageValue": "100m"}},
}
CPU_BARE = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 40}}}


def request(text: str, name: str = "x", **state: Any) -> dict[str, Any]:
    return obj(
        "CertificateSigningRequest",
        "certificates.k8s.io/v1",
        name,
        namespace="",
        spec={"request": base64.b64encode(text.encode()).decode(), "signerName": "a/b"},
        status={**state, "conditions": [{"type": each, "status": "True"} for each in state.get("conditions", ())]},
    )


def quota(name: str, *scopes: str) -> dict[str, Any]:
    hard = {"pods": "4", "requests.cpu": "1500m"}
    status = {"hard": hard, "used": {"pods": "1"}}
    return obj("ResourceQuota", name=name, spec={"hard": hard, "scopes": list(scopes)}, status=status)


SUBJECT = """\
-----BEGIN CERTIFICATE REQUEST-----
MIIBYzCCAQkCAQAwfDELMAkGA1UEBhMCQVExCjAIBgNVBAgMAVAxCjAIBgNVBAcM
AUwxCjAIBgNVBAkMAVMxCjAIBgNVBBEMATExCzAJBgNVBAoMAm8xMQswCQYDVQQK
DAJvMjEKMAgGA1UECwwBdTELMAkGA1UEAwwCY24xCjAIBgNVBAUTATcwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAATMasm/hgKbip9qV6s0F5CrNYh9o6aGFCgv9jkd
u9BWZ1epZ0zMe+CQNESttfVoGCGBCPyk3uKhSje+pvibDNHSoCswKQYJKoZIhvcN
AQkOMRwwGjAYBgNVHREEETAPgg1hLmV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gA
MEUCIQD/hsVHEQGBVF0jhRKKHwLkvtBJI0xJ/L2fYTFneQrgbgIgAlNJsUcWDUvK
WkmgXCyUM2dqthCZboddFuhn7EOyUZI=
-----END CERTIFICATE REQUEST-----
"""
"""A request of somebody whose name has all its parts."""


def stateful(name: str, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    whole = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template, **spec}
    return obj("StatefulSet", "apps/v1", name, spec=whole, status={"replicas": 1})


def template_of(**spec: Any) -> dict[str, Any]:
    return obj(
        "PodTemplate",
        template={"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i", **spec}]}},
    )


def daemons(name: str, **strategy: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return obj(
        "DaemonSet",
        "apps/v1",
        name,
        spec={"selector": {"matchLabels": {"a": "b"}}, "template": template, "updateStrategy": strategy},
        status={},
    )


VOLUMES = "/api/v1"
WITH_POOLS = {"GET /apis/resource.k8s.io/v1/resourceslices": slices(4)}
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
BUDGET = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2, "partition": 1}}
REQUESTS = "/apis/certificates.k8s.io/v1"

SCENES = {
    "claims": described(
        "pvc",
        "persistentvolumeclaims",
        claim("x"),
        claim("beta", {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}, storageClassName="new"),
        claim("going", {"deletionTimestamp": THEN, "finalizers": ["f"]}),
        claim("from", dataSource={"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}),
        claim("copy", dataSource={"kind": "PersistentVolumeClaim", "name": "s"}, volumeMode="Block", volumeName="v"),
        claim(
            "told",
            state={
                "phase": "Bound",
                "capacity": {"storage": "1024Mi"},
                "accessModes": ["ReadWriteMany"],
                "conditions": [
                    condition(reason="R", message="m", lastProbeTime=THEN, lastTransitionTime=LATER),
                    condition(type="X", status="False"),
                ],
            },
            volumeName="v",
        ),
    ),
    "volumes": described(
        "pv",
        "persistentvolumes",
        volume("x", hostPath={"path": "/p", "type": ""}),
        volume("none", nodeAffinity={}),
        volume(
            "required", nodeAffinity={"required": {"nodeSelectorTerms": []}}, local={"path": "/l", "fsType": "ext4"}
        ),
        volume(
            "terms",
            nodeAffinity={
                "required": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "k", "operator": "In", "values": ["a", "b"]},
                                {"key": "e", "operator": "Exists"},
                            ]
                        },
                        {},
                    ]
                }
            },
        ),
        volume("nfs", nfs={"server": "s", "path": "/n", "readOnly": True}),
        volume("csi", csi={"driver": "d", "volumeHandle": "h", "volumeAttributes": {"a": "b"}, "fsType": "x"}),
        volume("claimed", claimRef={"namespace": "n", "name": "c"}, storageClassName="s", volumeMode="Filesystem"),
        where=VOLUMES,
    ),
    "services": described(
        "svc",
        "services",
        service("x"),
        service("ip", {"ip": "1.2.3.4"}),
        service("mode", {"ip": "1.2.3.4", "ipMode": "VIP"}, {"ip": "1.2.3.5", "ipMode": "Proxy"}),
        service("host", {"hostname": "a.b"}, {"ip": "1.2.3.4"}, {}),
        service(
            "more",
            externalIPs=["1.1.1.1", "2.2.2.2"],
            loadBalancerIP="3.3.3.3",
            externalName="e",
            sessionAffinity="ClientIP",
            externalTrafficPolicy="Local",
            healthCheckNodePort=9,
            loadBalancerSourceRanges=["10.0.0.0/8"],
            internalTrafficPolicy="Local",
            trafficDistribution="PreferClose",
        ),
        **{
            "GET /apis/discovery.k8s.io/v1/namespaces/default/endpointslices": several(
                "EndpointSlice", "discovery.k8s.io/v1"
            )
        },
    ),
    "pods": described(
        "pod",
        "pods",
        pod(),
        pod("bare", volumes=[{"name": "v"}]),
        pod("nominated", state={"nominatedNodeName": "n", "reason": "R", "message": "m", "podIPs": [{"ip": "1"}, {}]}),
        pod("going", {"deletionTimestamp": THEN, "deletionGracePeriodSeconds": 30}),
        pod("group", schedulingGroup={"podGroupName": "g"}),
        pod(
            "probed",
            containers=[
                {
                    "name": "c",
                    "image": "i",
                    "livenessProbe": {},
                    "readinessProbe": {"grpc": {"port": 1, "service": "s"}},
                    "startupProbe": {"tcpSocket": {"port": "p", "host": "::1"}},
                }
            ],
        ),
        pod(
            "joined",
            state={
                "ephemeralContainerStatuses": [
                    {
                        "name": "look",
                        "image": "i",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"running": {"startedAt": THEN}},
                        "lastState": {},
                    }
                ]
            },
            ephemeralContainers=[{"name": "look", "image": "i", "targetContainerName": "c"}],
            runtimeClassName="kata",
            priorityClassName="high",
            priority=7,
            serviceAccountName="robot",
        ),
        pod("room", resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}),
    ),
    "templates": described(
        "podtemplate",
        "podtemplates",
        template_of(),
        {**template_of(), "metadata": {"name": "y", "namespace": "default"}},
    ),
    "a bare template": described(
        "rc",
        "replicationcontrollers",
        obj("ReplicationController", spec={"replicas": 1, "selector": {"a": "b"}}, status={"replicas": 1}),
    ),
    "a node": described_node(),
    "a node with pools": described_node(**WITH_POOLS),
    "a node with many pools": described_node(**{"GET /apis/resource.k8s.io/v1/resourceslices": slices(13)}),
    "a node whose pools are nobody's business": described_node(
        **{"GET /apis/resource.k8s.io/v1/resourceslices": FORBIDDEN}
    ),
    "a node without a lease": described_node(
        **{"GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/x": FORBIDDEN}
    ),
    "a node whose pods are nobody's business": described_node(**{"GET /api/v1/pods": FORBIDDEN}),
    "a node whose events are nobody's business": described_node(**{"GET /api/v1/events": FORBIDDEN}),
    "namespaces": described(
        "ns",
        "namespaces",
        obj("Namespace", namespace="", status={"phase": "Active"}),
        obj(
            "Namespace",
            name="going",
            namespace="",
            status={
                "phase": "Terminating",
                "conditions": [condition(lastTransitionTime=THEN, reason="R", message="m"), condition(type="Other")],
            },
        ),
        where=VOLUMES,
        **{
            f"GET /api/v1/namespaces/{name}/{plural}": several(kind, "v1")
            for name in ("x", "going")
            for plural, kind in (("resourcequotas", "ResourceQuota"), ("limitranges", "LimitRange"))
        },
    ),
    "autoscalers": described(
        "hpa",
        "horizontalpodautoscalers",
        autoscaler("x", CPU),
        autoscaler("now", CPU, current=[CPU_NOW]),
        autoscaler("bare", CPU, current=[CPU_BARE]),
        autoscaler("odd", {"type": "Nope"}),
        where="/apis/autoscaling/v2/namespaces/default",
    ),
    "sets": described(
        "sts",
        "statefulsets",
        stateful("x"),
        stateful(
            "claims",
            volumeClaimTemplates=[
                {
                    "metadata": {"name": "c", "labels": {"l": "m"}},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
            ],
        ),
        stateful("rolling", updateStrategy=BUDGET),
        stateful("by hand", updateStrategy={"type": "OnDelete"})
        | {"metadata": {"name": "hand", "namespace": "default", "uid": "h"}},
        where=APPS,
    ),
    "daemons": described("ds", "daemonsets", daemons("x", **ROLLING), daemons("hand", type="OnDelete"), where=APPS),
    "requests": described(
        "csr",
        "certificatesigningrequests",
        request(SUBJECT),
        request(SUBJECT, "approved", conditions=["Approved"]),
        request(SUBJECT, "issued", conditions=["Approved"], certificate="YQ=="),
        request(SUBJECT, "denied", conditions=["Approved", "Denied"]),
        request(SUBJECT, "failed", conditions=["Approved", "Failed"]),
        where=REQUESTS,
    ),
    "quotas": described(
        "quota",
        "resourcequotas",
        quota("x"),
        quota("ending", "Terminating", "BestEffort"),
        quota("staying", "NotTerminating", "NotBestEffort"),
    ),
    "a request of another kind": described(
        "csr",
        "certificatesigningrequests",
        request("-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n"),
        where=REQUESTS,
    ),
    "a request that is no PEM": described("csr", "certificatesigningrequests", request("nothing"), where=REQUESTS),
    "settings": described(
        "cm",
        "configmaps",
        obj("ConfigMap", data={"a": "1", "b": "x\ny"}, binaryData={"c": "AAEC"}),
        obj("ConfigMap", name="text", binaryData={"c": "YWJj"}),
    ),
    "sealed": described(
        "secret",
        "secrets",
        obj("Secret", type="Opaque", data={"a": "YWJj"}),
        obj("Secret", name="t", type="kubernetes.io/service-account-token", data={"token": "YWJj", "ca.crt": "YQ=="}),
    ),
    "ingresses": described(
        "ing",
        "ingresses",
        obj(
            "Ingress",
            "networking.k8s.io/v1",
            spec={
                "rules": [
                    {
                        "host": "h",
                        "http": {
                            "paths": [
                                {
                                    "path": "/",
                                    "pathType": "Prefix",
                                    "backend": {"service": {"name": "s", "port": {"number": 80}}},
                                },
                                {
                                    "path": "/r",
                                    "pathType": "Exact",
                                    "backend": {"resource": {"kind": "K", "name": "n", "apiGroup": "g"}},
                                },
                            ]
                        },
                    },
                    {"host": "empty"},
                ],
                "tls": [{"secretName": "t", "hosts": ["a", "b"]}, {"hosts": ["c"]}],
            },
            status={"loadBalancer": {"ingress": [{"hostname": "l"}, {"ip": "1.2.3.4"}]}},
        ),
        obj(
            "Ingress",
            "networking.k8s.io/v1",
            "default",
            spec={"defaultBackend": {"service": {"name": "s", "port": {"name": "web"}}}, "ingressClassName": "c"},
            status={},
        ),
        obj("Ingress", "networking.k8s.io/v1", "odd", spec={"defaultBackend": {}}, status={}),
        where="/apis/networking.k8s.io/v1/namespaces/default",
    ),
}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, scene in SCENES.items() for line in scene.lines])
def test_the_same_is_said(name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, SCENES[name], line, KEPT, tmp_path, monkeypatch)
