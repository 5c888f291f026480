"""The same of pods, what they mount and what they ask for: which fields of a pod go together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

Object = dict[str, Any]
Changes = Iterator[dict[str, Any]]

ONE = "spec.containers.0"


def _each(path: str, *values: Any) -> Changes:
    yield from ({path: value} for value in values)


def environments() -> Changes:
    """Where a variable's value comes from."""
    name, secret = {"fieldRef": {"fieldPath": "metadata.name"}}, {"secretKeyRef": {"name": "s", "key": "k"}}
    for source in ({}, name, {**name, **secret}, {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v2"}}):
        yield {f"{ONE}.env": [{"name": "A", "valueFrom": source}]}
    yield {f"{ONE}.env": [{"name": "A", "value": "v", "valueFrom": name}]}
    for path in (
        "metadata.labels", "metadata.name['x']", "metadata.labels['a b']", "metadata.annotations['A/b']", "spec.x", "status.podIP", "",
        "metadata.labels['']", "metadata.annotations['a b']", "metadata.x['a']",
    ):  # fmt: skip
        yield {f"{ONE}.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": path}}}]}
    for resource, divisors in (
        ("limits.cpu", ("1", "1m", "2")), ("requests.memory", ("1Mi", "1k", "3")), ("limits.ephemeral-storage", ("1Gi", "2")),
        ("requests.hugepages-2Mi", ("1Mi", "5")), ("limits.x", ("1",)), ("", ("1",)),
    ):  # fmt: skip
        for divisor in divisors:
            yield {
                f"{ONE}.env": [
                    {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": resource, "divisor": divisor}}}
                ]
            }
    for path in ("../a", "/a", "..a", "a/../b", "a", "a:b", ""):
        reference = {"volumeName": "v", "path": path, "key": "k"}
        yield {
            f"{ONE}.env": [{"name": "A", "valueFrom": {"fileKeyRef": reference}}],
            "spec.volumes": [{"name": "v", "emptyDir": {}}],
        }
    maps, secrets = {"configMapRef": {"name": "m"}}, {"secretRef": {"name": "s"}}
    yield from _each(
        f"{ONE}.envFrom", [{}], [{**maps, **secrets}], [{**maps, "prefix": "1="}], [{"configMapRef": {"name": "A b"}}]
    )
    yield {f"{ONE}.env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}


def containers() -> Changes:
    """Ports, probes, hooks, restarts."""
    yield {"spec.hostNetwork": True, f"{ONE}.ports": [{"containerPort": 80, "hostPort": 81}]}
    yield {"spec.hostNetwork": True, f"{ONE}.ports": [{"containerPort": 80}]}
    yield {f"{ONE}.ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]}
    yield {f"{ONE}.ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]}
    yield {f"{ONE}.ports": [{"containerPort": 80}, {"containerPort": 80}]}
    policies = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    for restart in ("Never", "OnFailure"):
        yield {"spec.restartPolicy": restart, f"{ONE}.resizePolicy": policies}
    yield from _each(f"{ONE}.resizePolicy", policies * 2, [{"resourceName": "x", "restartPolicy": "X"}])
    get, shell, grpc = {"httpGet": {"port": 80}}, {"exec": {"command": ["a"]}}, {"grpc": {"port": 0}}
    for probe in (
        {}, {**get, **shell}, grpc, {"exec": {}}, {"httpGet": {"port": "A b", "path": "", "scheme": "X"}}, {"tcpSocket": {"port": 0}},
        {**get, "successThreshold": 2}, {**get, "terminationGracePeriodSeconds": 0}, {**get, "periodSeconds": -1},
    ):  # fmt: skip
        yield from ({f"{ONE}.{kind}": probe} for kind in ("livenessProbe", "readinessProbe", "startupProbe"))
    for hook in (
        {},
        {**get, **shell},
        {"exec": {}},
        {"sleep": {"seconds": -1}},
        {"sleep": {"seconds": 31}},
        {"tcpSocket": {"port": 1}},
    ):
        yield {f"{ONE}.lifecycle": {"preStop": hook}}
    yield {f"{ONE}.lifecycle": {"stopSignal": "SIGTERM"}}
    yield {f"{ONE}.lifecycle": {"stopSignal": "SIGX"}, "spec.os": {"name": "linux"}}
    first = {"name": "first", "image": "i"}
    for more in (
        {"readinessProbe": get}, {"lifecycle": {"preStop": shell}}, {"restartPolicy": "Always", "readinessProbe": get},
        {"restartPolicy": "X"},
        {"restartPolicy": "Never"}, {"restartPolicy": "Always", "lifecycle": {"preStop": shell}}, {"name": "c"},
    ):  # fmt: skip
        yield {"spec.initContainers": [{**first, **more}]}
    codes = {"operator": "In", "values": [42]}
    for rule, policy in (
        ({"action": "Restart", "exitCodes": codes}, "Never"), ({"action": "Restart", "exitCodes": codes}, None), ({"action": "X"}, "Never"),
        ({"action": "Restart", "exitCodes": {**codes, "values": []}}, "Never"),
        ({"action": "Restart", "exitCodes": {**codes, "operator": "X"}}, "Never"),
    ):  # fmt: skip
        yield {f"{ONE}.restartPolicyRules": [rule], **({f"{ONE}.restartPolicy": policy} if policy else {})}
    yield {"spec.ephemeralContainers": [{"name": "e", "image": "i"}]}
    yield from _each("spec.activeDeadlineSeconds", 0, 1, 2**31)


def security() -> Changes:
    """What a container may, on either system."""
    context, pods = f"{ONE}.securityContext", "spec.securityContext"
    yield {context: {"allowPrivilegeEscalation": False, "privileged": True}}
    for capability in ("CAP_SYS_ADMIN", "SYS_ADMIN", "NET_ADMIN"):
        yield {context: {"allowPrivilegeEscalation": False, "capabilities": {"add": [capability]}}}
    yield {"spec.shareProcessNamespace": True, "spec.hostPID": True}
    for host in ("hostNetwork", "hostIPC", "hostPID"):
        yield {"spec.hostUsers": False, f"spec.{host}": True}
    for where, key in product((context, pods), ("appArmorProfile", "seccompProfile")):
        for profile in (
            {}, {"type": "Localhost"}, {"type": "RuntimeDefault", "localhostProfile": "a"}, {"type": "X"},
            {"type": "Localhost", "localhostProfile": " a"},
            {"type": "Localhost", "localhostProfile": "../a"}, {"type": "Localhost", "localhostProfile": "a" * 4096},
            {"type": "Unconfined"},
        ):  # fmt: skip
            yield {f"{where}.{key}": profile}
    yield {f"{context}.procMount": "Unmasked"}
    yield {f"{context}.procMount": "Unmasked", "spec.hostUsers": False}
    yield from _each(
        f"{pods}.sysctls",
        [{"name": "a b", "value": "1"}],
        [{"name": "a.b", "value": ""}],
        [{"name": "a.b", "value": "1"}] * 2,
    )
    yield from _each(f"{pods}.supplementalGroupsPolicy", "X", "Strict")
    yield {
        "metadata.annotations": {"container.apparmor.security.beta.kubernetes.io/c": "localhost/a"},
        f"{context}.appArmorProfile": {"type": "Unconfined"},
    }
    yield {"metadata.annotations": {"container.apparmor.security.beta.kubernetes.io/nobody": "runtime/default"}}
    windows = f"{context}.windowsOptions"
    for name in (
        "", "a\x01", "u" * 105, "d" * 257 + "\\u", "-d\\u", "d.e\\u", "d\\", "..", "d\\..", "a:b", "d\\a*b", "d\\u", "a\\b\\c", "d_e\\u",
        "x" * 16 + "\\u",
    ):  # fmt: skip
        yield {f"{windows}.runAsUserName": name}
    yield {f"{windows}.gmsaCredentialSpec": "x" * 65_537}
    yield from _each(f"{windows}.gmsaCredentialSpecName", "A b", "a.b")
    for pod, one, network in product((None, True, False), (None, True, False), (None, True)):
        options = {f"{pods}.windowsOptions": {"hostProcess": pod}} if pod is not None else {}
        options |= {windows: {"hostProcess": one}} if one is not None else {}
        yield {**options, **({"spec.hostNetwork": True} if network else {}), "spec.os": {"name": "windows"}}
    linux_only: list[dict[str, Any]] = [
        {"spec.hostPID": True}, {"spec.hostIPC": True}, {"spec.hostUsers": False}, {"spec.shareProcessNamespace": True},
        *({f"{pods}.{key}": value} for key, value in (
            ("seLinuxOptions", {"level": "a"}), ("seccompProfile", {"type": "Unconfined"}), ("fsGroup", 1),
            ("sysctls", [{"name": "a.b", "value": "1"}]),
            ("fsGroupChangePolicy", "Always"), ("runAsUser", 1), ("runAsGroup", 1), ("supplementalGroups", [1]),
            ("appArmorProfile", {"type": "Unconfined"}),
            ("seLinuxChangePolicy", "Recursive"),
        )),
        *({f"{context}.{key}": value} for key, value in (
            ("seLinuxOptions", {"level": "a"}), ("seccompProfile", {"type": "Unconfined"}), ("capabilities", {"add": ["X"]}),
            ("privileged", True),
            ("readOnlyRootFilesystem", True), ("allowPrivilegeEscalation", True), ("procMount", "Default"), ("runAsUser", 1),
            ("runAsGroup", 1),
        )),
    ]  # fmt: skip
    yield from ({"spec.os": {"name": "windows"}, **change} for change in linux_only)
    yield {"spec.os": {"name": "linux"}, windows: {"runAsUserName": "u"}}
    yield {"spec.os": {"name": "linux"}, f"{pods}.windowsOptions": {"runAsUserName": "u"}}
    yield from _each("spec.os", {}, {"name": "X"})


def placement() -> Changes:
    """Where it may go, and what it tolerates."""
    affinity = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    for key, operator, values in (
        ("metadata.name", "In", ["a"]), ("metadata.name", "In", ["a", "b"]), ("metadata.name", "NotIn", []),
        ("metadata.name", "Exists", []),
        ("metadata.uid", "In", ["a"]), ("metadata.name", "In", ["A b"]),
    ):  # fmt: skip
        yield {
            affinity: {"nodeSelectorTerms": [{"matchFields": [{"key": key, "operator": operator, "values": values}]}]}
        }
    for operator, values in (
        ("In", []),
        ("Exists", ["a"]),
        ("Gt", ["1", "2"]),
        ("Gt", ["x"]),
        ("X", ["a"]),
        ("In", ["a b"]),
    ):
        yield {
            affinity: {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": operator, "values": values}]}]
            }
        }
    yield {affinity: {"nodeSelectorTerms": []}}
    spread: Object = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
    labels = {"labelSelector": {"matchLabels": {"a": "b"}}}
    for more in (
        {"maxSkew": 0}, {"topologyKey": ""}, {"whenUnsatisfiable": "X"}, {"minDomains": 0},
        {"minDomains": 1, "whenUnsatisfiable": "ScheduleAnyway"},
        {"matchLabelKeys": ["a"]}, {**labels, "matchLabelKeys": ["a"]}, {**labels, "matchLabelKeys": ["b"]},
        {**labels, "matchLabelKeys": ["A b", "b", "b"]},
        {"nodeAffinityPolicy": "X", "nodeTaintsPolicy": "X"},
    ):  # fmt: skip
        yield {"spec.topologySpreadConstraints": [{**spread, **more}]}
    yield {"spec.topologySpreadConstraints": [spread, spread]}
    pods = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    for more in (
        {"topologyKey": ""}, {**labels, "matchLabelKeys": ["a"]}, {"matchLabelKeys": ["a"]},
        {**labels, "matchLabelKeys": ["b"], "mismatchLabelKeys": ["b"]},
        {**labels, "mismatchLabelKeys": ["a"]}, {"namespaces": ["A b"]}, {"namespaceSelector": {"matchLabels": {"a b": ""}}},
    ):  # fmt: skip
        yield {pods: [{"topologyKey": "z", **more}]}
    for toleration in (
        {"operator": "Exists", "value": "v"}, {"key": "a", "operator": "Exists", "value": "v"}, {"operator": "Equal"},
        {"key": "a", "effect": "X"},
        {"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}, {"key": "a", "effect": "NoExecute", "tolerationSeconds": 1},
        {"key": "a", "operator": "X"},
        {"key": "a", "value": "a b"}, {"key": "A b"}, {"key": "a", "operator": "Lt", "value": "x"},
    ):  # fmt: skip
        yield {"spec.tolerations": [toleration]}
    yield {"spec.schedulingGates": [{"name": "a"}], "spec.nodeName": "n"}
    yield {"spec.schedulingGates": [{"name": "a"}, {"name": "a"}, {"name": "A b"}]}
    yield from _each("spec.readinessGates", [{"conditionType": "A b"}], [{"conditionType": "a"}] * 2)
    for key in (
        "beta.kubernetes.io/arch", "beta.kubernetes.io/os", "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "beta.kubernetes.io/instance-type", "node-role.kubernetes.io/master",
    ):  # fmt: skip
        yield {"spec.nodeSelector": {key: "a"}}
        yield {affinity: {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "Exists"}]}]}}
    for annotation in (
        "scheduler.alpha.kubernetes.io/critical-pod", "security.alpha.kubernetes.io/sysctls", "security.alpha.kubernetes.io/unsafe-sysctls",
        "scheduler.alpha.kubernetes.io/tolerations", "seccomp.security.alpha.kubernetes.io/pod",
        "container.seccomp.security.alpha.kubernetes.io/c",
        "pod.alpha.kubernetes.io/init-containers", "pod.beta.kubernetes.io/init-containers", "controller.kubernetes.io/pod-deletion-cost",
        "kubernetes.io/config.mirror",
    ):  # fmt: skip
        yield {"metadata.annotations": {annotation: "x"}}
    old = {f"pod.{stage}.kubernetes.io/init-container-statuses": "x" for stage in ("alpha", "beta")}
    yield {"metadata.annotations": {**old, "a": "b"}}


def amounts() -> Changes:
    """Requests and limits, of a container and of the whole pod."""
    for requests, limits in (
        ({"cpu": "2"}, {"cpu": "1"}), ({"cpu": "1"}, {"cpu": "1"}), ({"cpu": "-1"}, {}), ({"memory": "1500m"}, {}), ({"x": "1"}, {}),
        ({"example.com/x": "1"}, {}), ({"example.com/x": "1"}, {"example.com/x": "2"}), ({}, {"example.com/x": "1500m"}),
        ({"kubernetes.io/x": "1"}, {}),
        ({"hugepages-2Mi": "2Mi"}, {}), ({}, {"hugepages-2Mi": "2Mi"}), ({}, {"hugepages-2Mi": "2Mi", "cpu": "1"}),
        ({}, {"hugepages-2Mi": "3Mi", "cpu": "1"}),
        ({"hugepages-2Mi": "2Mi"}, {"hugepages-2Mi": "4Mi", "cpu": "1"}), ({}, {"hugepages-x": "1", "cpu": "1"}),
        ({"requests.example.com/x": "1"}, {}),
        ({"ephemeral-storage": "100m"}, {}), ({"pods": "1"}, {}), ({"storage": "1"}, {}), ({}, {"memory": "1"}),
    ):  # fmt: skip
        yield {f"{ONE}.resources": {"requests": requests, "limits": limits}}
    for requests, limits, ones in (
        ({"cpu": "1"}, {}, {"requests": {"cpu": "2"}}), ({"cpu": "2"}, {"cpu": "1"}, {}), ({}, {"cpu": "1"}, {"limits": {"cpu": "2"}}),
        ({"example.com/x": "1"}, {}, {}), ({"cpu": "1"}, {"cpu": "1"}, {"requests": {"cpu": "1"}}), ({}, {"memory": "1500m"}, {}),
        ({"hugepages-2Mi": "2Mi"}, {}, {}), ({"storage": "1"}, {}, {}),
    ):  # fmt: skip
        whole = {"spec.resources": {"requests": requests, "limits": limits}, f"{ONE}.resources": ones}
        yield from (whole, {**whole, "spec.os": {"name": "windows"}})
    yield {f"{ONE}.resources.claims": [{"name": "a"}]}
    yield {
        f"{ONE}.resources.claims": [{"name": "a"}, {"name": "a"}],
        "spec.resourceClaims": [{"name": "a", "resourceClaimName": "c"}],
    }
    for claim in ({}, {"resourceClaimName": "c", "resourceClaimTemplateName": "t"}, {"resourceClaimName": "A b"}):
        yield {"spec.resourceClaims": [{"name": "a", **claim}]}


def names() -> Changes:
    """How it is called, and whom it asks for names."""
    yield {"spec.dnsPolicy": "None"}
    yield {"spec.dnsPolicy": "None", "spec.dnsConfig": {"searches": ["a"]}}
    yield {"spec.dnsPolicy": "X"}
    for config in (
        {"nameservers": ["10.0.0.1"] * 4}, {"nameservers": ["x"]}, {"searches": ["a"] * 33}, {"searches": ["a" * 60] * 32},
        {"searches": ["a b", "."]},
        {"searches": [".".join(["a" * 60] * 4)] * 9}, {"options": [{"value": "x"}]}, {"searches": [""]}, {"searches": ["_a.b"]},
    ):  # fmt: skip
        yield {"spec.dnsConfig": config}
    for alias in ({"ip": "x", "hostnames": ["a"]}, {"ip": "10.0.0.1"}, {"ip": "10.0.0.1", "hostnames": ["A b"]}):
        yield {"spec.hostAliases": [alias]}
        yield {"spec.hostAliases": [alias], "spec.hostNetwork": True}
    yield {"spec.hostname": "A b", "spec.subdomain": "a.b"}
    yield {"spec.hostnameOverride": "a.b", "spec.hostNetwork": True}
    yield {"spec.hostnameOverride": "a.b", "spec.setHostnameAsFQDN": True}
    yield from _each("spec.hostnameOverride", "A b", "a" * 65, "a.b", "")
    yield from _each("metadata.name", "a.b", "a" * 64, "A", "a" * 254)
    yield from _each("spec.imagePullSecrets", [{}], [{"name": ""}], [{"name": "s"}])
    yield from _each(f"{ONE}.image", " i", "i ", "")
    yield from _each(f"{ONE}.imagePullPolicy", "X", "")
    yield from _each(f"{ONE}.terminationMessagePolicy", "X", "")


def volumes() -> Changes:
    """What each kind of volume wants, and how it is mounted."""
    for volume in (
        {}, {"emptyDir": {}, "hostPath": {"path": "/"}}, {"emptyDir": {"sizeLimit": "-1"}}, {"emptyDir": {"medium": "X"}},
        {"hostPath": {"path": "/a/../b"}},
        {"hostPath": {"path": "a", "type": "X"}}, {"hostPath": {"path": ""}}, {"nfs": {"server": "", "path": "a"}},
        {"gitRepo": {"repository": "", "directory": "../a"}},
        {"gitRepo": {"repository": "a", "directory": "/a"}}, {"secret": {}}, {"secret": {"secretName": "s", "defaultMode": 0o1000}},
        {"secret": {"secretName": "s", "items": [{"key": "", "path": ""}]}},
        {"secret": {"secretName": "s", "items": [{"key": "k", "path": "../a", "mode": -1}]}},
        {"configMap": {"name": "m", "items": [{"key": "k", "path": "/a"}]}},
        {"configMap": {"name": "m", "items": [{"key": "k", "path": "..a"}]}},
        {"persistentVolumeClaim": {"claimName": ""}}, {"persistentVolumeClaim": {"claimName": "x-e"}, "name": "y"},
        {"iscsi": {"targetPortal": "a", "iqn": "iqn.2020-01.a:b", "lun": 256}},
        {"iscsi": {"targetPortal": "", "iqn": "x", "lun": 0, "chapAuthSession": True}},
        {"iscsi": {"targetPortal": "p" * 64, "iqn": "iqn.2020-01.a:b", "lun": 0, "initiatorName": "iqn.2020-01.a:c"}},
        {"iscsi": {"targetPortal": "p", "iqn": "iqn.2020-1.a", "lun": 0, "initiatorName": "eui.x"}},
        {"iscsi": {"targetPortal": "p", "iqn": "naa.0", "lun": 0}},
        {"fc": {}}, {"fc": {"targetWWNs": ["a"], "wwids": ["b"]}}, {"fc": {"targetWWNs": ["a"]}},
        {"fc": {"targetWWNs": ["a"], "lun": 256}}, {"fc": {"wwids": ["b"]}},
        {"flocker": {}}, {"flocker": {"datasetName": "a", "datasetUUID": "b"}}, {"flocker": {"datasetName": "a/b"}},
        {"glusterfs": {"endpoints": "", "path": ""}},
        {"rbd": {"monitors": [], "image": ""}}, {"cephfs": {"monitors": []}}, {"cinder": {"volumeID": ""}},
        {"quobyte": {"registry": "a", "volume": ""}},
        {"quobyte": {"registry": "a:1,b", "volume": "v", "tenant": "t" * 65}},
        {"quobyte": {"registry": "a:1", "volume": "v", "tenant": "a b"}},
        {"azureFile": {"secretName": "", "shareName": ""}}, {"azureDisk": {"diskName": "a", "diskURI": "x", "kind": "Managed"}},
        {"vsphereVolume": {"volumePath": ""}},
        {"azureDisk": {"diskName": "a", "diskURI": "https://a.blob.core.windows.net/b", "kind": "Managed"}},
        {"photonPersistentDisk": {"pdID": ""}},
        {"azureDisk": {"diskName": "a", "diskURI": "/subscriptions/a", "kind": "Shared", "cachingMode": "X"}},
        {"portworxVolume": {"volumeID": ""}},
        {"scaleIO": {"gateway": "", "system": "", "volumeName": "", "secretRef": {"name": ""}}}, {"storageos": {"volumeName": "A b"}},
        {"flexVolume": {"driver": ""}},
        {"awsElasticBlockStore": {"volumeID": "", "partition": 256}}, {"gcePersistentDisk": {"pdName": "", "partition": -1}},
        {"csi": {"driver": ""}},
        {"csi": {"driver": "A_b", "nodePublishSecretRef": {"name": ""}}}, {"image": {"reference": "", "pullPolicy": "X"}},
        {"ephemeral": {}},
        {"ephemeral": {"volumeClaimTemplate": {"metadata": {"name": "n"}, "spec": {"accessModes": []}}}},
        {"downwardAPI": {"items": [{"path": "a"}]}},
        {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "spec.nodeName"}}]}},
        {"downwardAPI": {"items": [{
            "path": "a", "fieldRef": {"fieldPath": "metadata.name"}, "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"},
        }]}},
        {"downwardAPI": {"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]}},
    ):  # fmt: skip
        yield {"spec.volumes": [{"name": "v", **volume}]}
    yield {"spec.volumes": [{"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}},
    }}}}, {"name": "v", "persistentVolumeClaim": {"claimName": "x-e"}}]}  # fmt: skip
    token, secret = {"serviceAccountToken": {"path": "t", "expirationSeconds": 600}}, {"secret": {"name": "s"}}
    bundle = {"path": "b", "name": "n"}
    for sources in (
        [], [{}], [{**token, **secret}], [{"serviceAccountToken": {"path": "", "expirationSeconds": 599}}],
        [{"serviceAccountToken": {"path": "../t"}}],
        [{"serviceAccountToken": {"path": "t", "expirationSeconds": 2**32 + 1}}], [token, token],
        [token, {"clusterTrustBundle": {**bundle, "path": "t"}}],
        [{"clusterTrustBundle": bundle}], [{"clusterTrustBundle": {**bundle, "signerName": "a/b"}}],
        [{"clusterTrustBundle": {"path": "b"}}],
        [{"clusterTrustBundle": {"path": "b", "signerName": "x"}}], [{"clusterTrustBundle": {**bundle, "labelSelector": {}}}],
        [{"secret": {"name": "s", "items": [{"key": "k", "path": "a"}]}},
        {"configMap": {"name": "m", "items": [{"key": "k", "path": "a"}]}}],
        [{"secret": {"name": "s", "items": [{"key": "k", "path": "a"}, {"key": "l", "path": "a"}]}}], [{"secret": {"name": ""}}],
        [{"podCertificate": {"signerName": "x", "keyType": "X"}}], [{"podCertificate": {"signerName": "a.b/c", "keyType": "ED25519"}}],
        [{"podCertificate": {"signerName": "a.b/c", "keyType": "ED25519", "credentialBundlePath": "a", "keyPath": "a",
        "maxExpirationSeconds": 5}}],
    ):  # fmt: skip
        yield {"spec.volumes": [{"name": "v", "projected": {"sources": sources}}]}
    empty, block = {"name": "v", "emptyDir": {}}, {"name": "b", "persistentVolumeClaim": {"claimName": "c"}}
    for mounts, devices in (
        ([{"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}], []),
        ([{"name": "v", "mountPath": "/a", "mountPropagation": "X"}], []),
        ([{"name": "v", "mountPath": "/a", "subPath": "b", "subPathExpr": "c"}], []),
        ([{"name": "v", "mountPath": "/a", "subPath": "/b"}], []),
        ([{"name": "v", "mountPath": "/a", "subPathExpr": "../b"}], []), ([{"name": "v", "mountPath": ""}], []),
        ([{"name": "x", "mountPath": "/a"}], []),
        ([{"name": "v", "mountPath": "/a"}] * 2, []), ([], [{"name": "v", "devicePath": "/a"}]),
        ([], [{"name": "b", "devicePath": "/a/../b"}]),
        ([], [{"name": "b", "devicePath": ""}]), ([{"name": "b", "mountPath": "/a"}], [{"name": "b", "devicePath": "/b"}]),
        ([{"name": "v", "mountPath": "/a"}], [{"name": "b", "devicePath": "/a"}]), ([], [{"name": "b", "devicePath": "/a"}] * 2),
        ([], [{"name": "x", "devicePath": "/a"}]),
        ([{"name": "v", "mountPath": "/a", "recursiveReadOnly": "Enabled"}], []),
        ([{"name": "v", "mountPath": "/a", "readOnly": True, "recursiveReadOnly": "X"}], []),
        ([{"name": "v", "mountPath": "/a", "readOnly": True, "recursiveReadOnly": "Enabled", "mountPropagation": "HostToContainer"}], []),
    ):  # fmt: skip
        yield {"spec.volumes": [empty, block], f"{ONE}.volumeMounts": mounts, f"{ONE}.volumeDevices": devices}
    yield {"spec.volumes": [empty, empty]}


def quotas() -> Changes:
    """Which scopes go together, and what they count."""
    for scopes, hard in (
        (["Terminating", "NotTerminating"], {"pods": "1"}), (["BestEffort", "NotBestEffort"], {"pods": "1"}), (["X"], {"pods": "1"}),
        (["BestEffort"], {"pods": "1"}), (["BestEffort"], {"cpu": "1"}), (["NotBestEffort"], {"requests.cpu": "1"}),
        (["Terminating"], {"configmaps": "1"}),
        (["Terminating", "Terminating"], {"pods": "1"}), (["VolumeAttributesClass"], {"requests.storage": "1"}),
        (["CrossNamespacePodAffinity"], {"pods": "1"}),
    ):  # fmt: skip
        yield {"spec": {"scopes": scopes, "hard": hard}}
    for scope, operator, values in (
        ("PriorityClass", "In", ["a"]), ("PriorityClass", "In", []), ("PriorityClass", "Exists", ["a"]),
        ("PriorityClass", "DoesNotExist", []),
        ("Terminating", "In", ["a"]), ("Terminating", "Exists", []), ("BestEffort", "NotIn", []), ("X", "Exists", []),
        ("PriorityClass", "X", []),
        ("CrossNamespacePodAffinity", "In", ["a"]), ("NotBestEffort", "DoesNotExist", []),
    ):  # fmt: skip
        selector = {"matchExpressions": [{"scopeName": scope, "operator": operator, "values": values}]}
        yield {"spec": {"scopeSelector": selector, "hard": {"pods": "1"}}}
    for key, value in (
        ("pods", "1500m"), ("cpu", "-1"), ("x", "1"), ("count/x", "1"), ("count/x.example.com", "1"), ("requests.example.com/x", "1"),
        ("example.com/x", "1"),
        ("limits.example.com/x", "1"), ("memory", "100m"), ("a.storageclass.storage.k8s.io/requests.storage", "1"), ("A b", "1"),
        ("hugepages-2Mi", "3"),
    ):  # fmt: skip
        yield {"spec": {"hard": {key: value}}}


def services() -> Changes:
    """Kinds of services, and the fields that only some have."""
    for session in (
        {"clientIP": {}},
        {"clientIP": {"timeoutSeconds": 0}},
        {"clientIP": {"timeoutSeconds": 86_400}},
        {"clientIP": {"timeoutSeconds": 86_401}},
        {},
    ):
        yield from (
            {"spec.sessionAffinity": affinity, "spec.sessionAffinityConfig": session}
            for affinity in ("None", "ClientIP")
        )
    yield {"spec.sessionAffinity": "X"}
    for kind in ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "X"):
        for change in (
            {}, {"externalTrafficPolicy": "Local"}, {"externalTrafficPolicy": "X"}, {"loadBalancerClass": "a.b/c"},
            {"loadBalancerSourceRanges": ["10.0.0.0/8"]},
            {"allocateLoadBalancerNodePorts": False}, {"internalTrafficPolicy": "X"}, {"externalName": "a.b"}, {"externalName": "A b"},
            {"clusterIP": "None"},
            {"healthCheckNodePort": 31_000, "externalTrafficPolicy": "Cluster"}, {"externalIPs": ["127.0.0.1"]}, {"ports": []},
            {"loadBalancerIP": "x"},
        ):  # fmt: skip
            yield {"spec.type": kind, **{f"spec.{key}": value for key, value in change.items()}}
    for ports in (
        [{"port": 1}, {"port": 2}], [{"name": "a", "port": 1}, {"name": "a", "port": 2}], [{"name": "a", "port": 1},
        {"name": "b", "port": 1}],
        [{"port": 0}], [{"port": 1, "protocol": "X"}], [{"port": 1, "targetPort": "A b"}], [{"port": 1, "targetPort": 0}],
        [{"port": 1, "appProtocol": "A b"}],
        [{"name": "a", "port": 1, "protocol": "UDP"}, {"name": "b", "port": 1}], [{"name": "A", "port": 1}],
    ):  # fmt: skip
        yield {"spec.ports": ports}
    same = [{"name": "a", "port": 1, "nodePort": 30_001}, {"name": "b", "port": 2, "nodePort": 30_001}]
    yield from ({"spec.type": "NodePort", "spec.ports": ports} for ports in (
        same, [same[0], {**same[1], "protocol": "UDP"}], [{"port": 1, "nodePort": 1}], [{"port": 1, "nodePort": 65_536}],
    ))  # fmt: skip
    yield {"spec.ports": [same[0]]}
    yield from _each("spec.trafficDistribution", "PreferClose", "PreferSameZone", "PreferSameNode", "X", "")
    for annotation in (
        "service.kubernetes.io/topology-aware-hints",
        "service.kubernetes.io/topology-mode",
        "service.alpha.kubernetes.io/tolerate-unready-endpoints",
    ):
        yield {"metadata.annotations": {annotation: "Auto"}}
        yield {"metadata.annotations": {annotation: "Auto"}, "spec.trafficDistribution": "PreferSameZone"}
    yield {"spec.clusterIP": "None", "spec.externalIPs": ["192.0.2.1"]}
    yield {"spec.clusterIP": "None", "spec.loadBalancerIP": "192.0.2.1"}
    yield {"spec.clusterIP": "None", "spec.sessionAffinity": "ClientIP"}
    yield {"spec.externalIPs": ["192.0.2.1", "x", "0.0.0.0", "169.254.0.1", "fe80::1", "224.0.0.1"]}


def accounts() -> Changes:
    """Service accounts: what is out of date."""
    yield from _each("secrets", [{"name": "s"}], [])
    yield {"metadata.annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
    yield {"metadata.annotations": {"kubernetes.io/enforce-mountable-secrets": "x"}}


def _pem(kind: str) -> str:
    return f"-----BEGIN {kind}-----\nYQ==\n-----END {kind}-----\n"


def secrets() -> Changes:
    """What a secret of each type has to have."""
    certificate, key = _pem("CERTIFICATE"), _pem("RSA PRIVATE KEY")
    for cert, private in product(
        ("", "x", certificate, key, _pem("X"), key + certificate), ("", "x", key, certificate, _pem("X"))
    ):
        yield {"type": "kubernetes.io/tls", "stringData": {"tls.crt": cert, "tls.key": private}}
    yield {"type": "kubernetes.io/tls", "stringData": {"tls.crt": certificate}}
    for text in ("", "x", "{}", '{"auths": 5}', '{"auths": {}}', "[]", "null"):
        yield {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": text}}
        yield {"type": "kubernetes.io/dockercfg", "stringData": {".dockercfg": text}}
    for kind in ("dockerconfigjson", "dockercfg", "basic-auth", "ssh-auth", "service-account-token"):
        yield {"type": f"kubernetes.io/{kind}", "stringData": {"username": ""}}
        yield {"type": f"kubernetes.io/{kind}"}
    yield {"stringData": {"a b": "", "..": ""}}
    yield {
        "type": "kubernetes.io/service-account-token",
        "metadata.annotations": {"kubernetes.io/service-account.name": ""},
    }


POD: Object = {"metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
KINDS: tuple[tuple[str, str, Object, Any], ...] = (
    *((f"pods: {each.__name__}", "v1/namespaces/{ns}/pods", POD, each)
      for each in (environments, containers, security, placement, amounts, names, volumes)),
    ("resourcequotas", "v1/namespaces/{ns}/resourcequotas", {"spec": {"hard": {"pods": "1"}}}, quotas),
    ("services", "v1/namespaces/{ns}/services", {"spec": {"ports": [{"port": 1}], "selector": {"a": "b"}}}, services),
    ("serviceaccounts", "v1/namespaces/{ns}/serviceaccounts", {}, accounts),
    ("secrets", "v1/namespaces/{ns}/secrets", {}, secrets),
)  # fmt: skip
"""How it is called, where to, an object that is good, and what may be wrong with it."""
