"""What a kubelet tells a container runtime of pods and their containers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.admitted import BUSY, UNSAFE, pod, resources
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.configured import OBJECTS, SPACE, configs_of

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
SETTINGS = {"allowedUnsafeSysctls": UNSAFE}


def env(*pairs: tuple[str, Any]) -> Object:
    """Variables: a text each, or where it comes from."""
    return {
        "env": [
            {"name": name, "value" if isinstance(value, str) else "valueFrom": value}
            for name, value in pairs
        ]
    }


def key_of(kind: str, name: str, key: str, **more: Any) -> Object:
    """`configMap`, `secret`."""
    return {f"{kind}KeyRef": {"name": name, "key": key, **more}}


def field(path: str) -> Object:
    """Of the pod."""
    return {"fieldRef": {"fieldPath": path}}


def amount(name: str, divisor: str = "1") -> Object:
    """Of the container."""
    return {"resourceFieldRef": {"resource": name, "divisor": divisor}}


def secure(**context: Any) -> Object:
    """A container's security context."""
    return {"securityContext": context}


def mounted(*mounts: Object) -> Object:
    """Of the volume `v`."""
    return {"volumeMounts": [{"name": "v", **each} for each in mounts]}


EMPTY = {"volumes": [{"name": "v", "emptyDir": {}}]}
HOOK = {"lifecycle": {"preStop": {"exec": {"command": ["sync"]}}}}
PORTS = [
    {"name": "http", "containerPort": 80},
    {"containerPort": 53, "hostPort": 5353, "protocol": "UDP", "hostIP": "127.0.0.1"},
]
PODS: tuple[Object, ...] = (
    pod("plain"),
    pod("no-service-links", enableServiceLinks=False),
    pod("service-links-by-name", enableServiceLinks=True),
    pod("with-a-token", automountServiceAccountToken=True),
    pod(
        "words", env(("A", "a"), ("B", "$(A)b"), ("C", "$$(A) $(NO) $(D)"), ("D", "d"))
    ),
    pod("its-own-name-wins", env(("WEB_SERVICE_HOST", "mine"), ("A", "1"), ("A", "2"))),
    pod(
        "from-objects",
        env(
            ("A", key_of("configMap", "conf", "motd")),
            ("B", key_of("secret", "words", "user")),
            ("C", key_of("configMap", "conf", "no", optional=True)),
            ("D", key_of("secret", "no", "no", optional=True)),
        ),
    ),
    pod(
        "everything-from-objects",
        {
            "envFrom": [
                {"configMapRef": {"name": "conf"}},
                {"prefix": "P_", "secretRef": {"name": "words"}},
                {"configMapRef": {"name": "no", "optional": True}},
            ],
            **env(("motd", "mine")),
        },
    ),
    pod(
        "of-itself",
        env(
            ("NAME", field("metadata.name")),
            ("SPACE", field("metadata.namespace")),
            ("NODE", field("spec.nodeName")),
            ("ACCOUNT", field("spec.serviceAccountName")),
            ("LABEL", field("metadata.labels['app']")),
            ("NOTE", field("metadata.annotations['none']")),
        ),
    ),
    pod(
        "of-its-size",
        {
            **env(
                ("CPU", amount("limits.cpu")),
                ("MILLI", amount("limits.cpu", "1m")),
                ("MEMORY", amount("limits.memory", "1Mi")),
                ("ASKED", amount("requests.cpu", "1m")),
            ),
            **resources(cpu="150m", limit_cpu="1500m", limit_memory="64Mi"),
        },
    ),
    pod(
        "command-and-args",
        {
            "command": ["sleep", "$(T)"],
            "args": ["$(NO)", "$$(T)"],
            **env(("T", "1000")),
        },
    ),
    pod("where", {"workingDir": "/tmp"}),
    pod("terminal", {"tty": True, "stdin": True, "stdinOnce": True}),
    pod(
        "last-words",
        {
            "terminationMessagePath": "/tmp/end",
            "terminationMessagePolicy": "FallbackToLogsOnError",
        },
    ),
    pod("hook", HOOK),
    pod("grace", terminationGracePeriodSeconds=77),
    pod("ports", {"ports": PORTS}),
    pod("somebody", secure(runAsUser=1000, runAsGroup=2000)),
    pod("not-root", secure(runAsUser=1000, runAsNonRoot=True)),
    pod("no-escalation", secure(allowPrivilegeEscalation=False)),
    pod("read-only", secure(readOnlyRootFilesystem=True)),
    pod(
        "capabilities",
        secure(capabilities={"add": ["NET_ADMIN", "SYS_TIME"], "drop": ["ALL"]}),
    ),
    pod("unmasked", secure(procMount="Default")),
    pod("seccomp", secure(seccompProfile={"type": "RuntimeDefault"})),
    pod(
        "seccomp-of-the-pod",
        secure(seccompProfile={"type": "Unconfined"}),
        securityContext={"seccompProfile": {"type": "RuntimeDefault"}},
    ),
    pod(
        "seccomp-of-a-file",
        secure(seccompProfile={"type": "Localhost", "localhostProfile": "p.json"}),
    ),
    pod("selinux", secure(seLinuxOptions={"level": "s0:c1,c2"})),
    pod(
        "pods-user",
        {},
        secure(runAsUser=3000),
        securityContext={"runAsUser": 1000, "runAsGroup": 2000},
    ),
    pod("pods-groups", securityContext={"supplementalGroups": [7, 5], "fsGroup": 9}),
    pod(
        "sysctls",
        securityContext={"sysctls": [{"name": "net.core.somaxconn", "value": "256"}]},
    ),
    pod("one-process-namespace", shareProcessNamespace=True),
    pod("the-nodes-network", hostNetwork=True),
    pod("the-nodes-processes", hostPID=True, hostIPC=True),
    pod("a-name-of-its-own", hostname="me", subdomain="us"),
    pod("a-name-in-full", hostname="me", subdomain="us", setHostnameAsFQDN=True),
    pod("a-long-name-" + "x" * 60),
    pod("dns-of-the-node", dnsPolicy="Default"),
    pod(
        "dns-of-its-own",
        dnsPolicy="None",
        dnsConfig={
            "nameservers": ["192.0.2.1"],
            "searches": ["a.example"],
            "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
        },
    ),
    pod(
        "dns-and-more",
        dnsConfig={
            "nameservers": ["192.0.2.1"],
            "options": [{"name": "ndots", "value": "2"}],
        },
    ),
    pod("hosts", hostAliases=[{"ip": "192.0.2.1", "hostnames": ["a", "b"]}]),
    pod(
        "mounts",
        mounted(
            {"mountPath": "/a"},
            {"mountPath": "/b", "readOnly": True},
            {"mountPath": "/c", "subPath": "x"},
        ),
        **EMPTY,
    ),
    pod(
        "mounts-that-spread",
        mounted({"mountPath": "/a", "mountPropagation": "HostToContainer"}),
        **EMPTY,
    ),
    pod(
        "sizes",
        resources(cpu="250m", memory="64Mi", limit_cpu="500m", limit_memory="128Mi"),
    ),
    pod("a-little", resources(cpu="1m", limit_cpu="3m")),
    pod("guaranteed", resources(limit_cpu="250m", limit_memory="64Mi")),
    pod("much", resources(memory="1Gi", limit_memory="4Gi")),
    pod("two", resources(limit_cpu="250m", limit_memory="64Mi"), {}),
    pod("whole-pod", {}, **resources(cpu="50m", limit_cpu="100m", limit_memory="64Mi")),
    pod(
        "init",
        {},
        initContainers=[
            {"name": "i", **BUSY, "command": ["true"], **resources(cpu="300m")}
        ],
    ),
    pod(
        "sidecar",
        {},
        initContainers=[
            {"name": "i", **BUSY, "restartPolicy": "Always", **resources(cpu="20m")}
        ],
    ),
    pod("critical", resources(cpu="1m"), priorityClassName="system-node-critical"),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    admin, path = server.admin, namespace(server.admin, SPACE)
    for plural, made in OBJECTS:
        admin("POST", f"{path}/{plural}", made)
    refused = [
        reply.message
        for each in PODS
        if (reply := admin("POST", f"{path}/pods?dryRun=All", each)).status != 201
    ]
    if refused:
        raise ValueError("; ".join(refused))
    with RealNode(server, programs, SETTINGS) as node:
        machine = node.machine()
        for each in PODS:
            made = {**each, "metadata": {**each["metadata"], "labels": {"app": "web"}}}
            name = each["metadata"]["name"]
            status = node.create(path, made)["status"]
            if status["phase"] == "Failed":
                raise ValueError(f"{name}: {status}")
            yield Answer(
                f"configured/{name}",
                WHO,
                "a pod: what the runtime was told of its sandbox and of its containers",
                {
                    "pod": made,
                    "machine": machine,
                    "settings": SETTINGS,
                    "told": configs_of(node.runtime, name),
                },
            )
            admin("DELETE", f"{path}/pods/{name}?gracePeriodSeconds=0")
        node.clear(path)
