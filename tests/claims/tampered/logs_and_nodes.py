"""Nodes and logs that are otherwise than recorded."""

from __future__ import annotations

import re
from itertools import count

from tests.claims.tampered.tamper import Tamper, text

DOCKERSHIM = "io.kubernetes.container.logpath"


def _own_networks(before: str) -> str:
    """Each container has a network of its own."""
    numbers = count(1)
    return re.sub(r'"/proc/\d+/ns/net"', lambda _: f'"/proc/{next(numbers)}/ns/net"', before)


def _joins_pid(before: str) -> str:
    alone = r'\{\s*"type": "pid"\s*\},(\s*\{\s*"path": "/proc/(\d+)/ns/ipc")'
    return re.sub(alone, r'{"path": "/proc/\2/ns/pid", "type": "pid"},\1', before)


def _limited_have_a_namespace(before: str) -> str:
    limited = r'("type": "network"\s*\})(?=\s*\],(?:(?!"memory").)*"memory": \{\s*")'
    return re.sub(limited, r'\1, {"type": "memory"}', before, flags=re.S)


TAMPERS = (
    Tamper(
        "every container has a network of its own",
        "node/*/nodes-inspect-containers.txt",
        _own_networks,
        ("pause-sandbox-localhost-between-containers",),
    ),
    Tamper(
        "every container joins the sandbox's processes",
        "node/*/nodes-inspect-containers.txt",
        _joins_pid,
        ("pause-sandbox-hosts-pid-namespace",),
    ),
    Tamper(
        "what has a limit has a namespace for it",
        "node/*/nodes-inspect-containers.txt",
        _limited_have_a_namespace,
        ("pause-sandbox-namespaces-dedicate-resources",),
    ),
    Tamper(
        "kubelets are told of CNI",
        "node/*/ps.txt",
        text("/usr/bin/kubelet ", "/usr/bin/kubelet --network-plugin=cni --cni-conf-dir=/x "),
        ("cni-kubelet-delegates-to-plugin", "cni-conf-dir-flag"),
    ),
    Tamper(
        "a node without a kubelet",
        "node/lifecycle-worker2/ps.txt",
        text("/usr/bin/kubelet", "/usr/bin/x"),
        ("kubelet-sync-agent-on-every-node",),
    ),
    Tamper(
        "dockerd runs",
        "node/*/ps.txt",
        text("/usr/local/bin/containerd$", "/usr/bin/dockerd"),
        ("pause-sandbox-docker-creates-pause-container", "cri-docker-or-crio-are-cri"),
    ),
    Tamper(
        "dockershim keeps something",
        "node/*/mounts.txt",
        text(r"\Z", "dockershim\n"),
        ("pause-sandbox-checkpointed-to-disk-then-started",),
    ),
    Tamper(
        "groups are asked for",
        "node/*/kubelet-config.txt",
        text(r"\Z", "cgroupsPerQOS: true\n"),
        ("cgroups-pod-cgroups-when-flag-given",),
    ),
    Tamper(
        "files are not looked at",
        "node/*/kubelet-config.txt",
        text("fileCheckFrequency", "f"),
        ("kubelet-sync-poll-interval-configurable",),
    ),
    Tamper(
        "a gate is open",
        "node/*/kubelet-config.txt",
        text(r"\Z", "featureGates: {CPUManager: true}\n"),
        ("cpu-manager-is-alpha-since-1-8",),
    ),
    Tamper(
        "no socket is named",
        "node/*/kubelet-config.txt",
        text("containerRuntimeEndpoint", "x"),
        ("cri-decouples-runtimes",),
    ),
    Tamper(
        "another limit is written",
        "node/*/cgroup-values.txt",
        text("memory.limit_in_bytes 67108864", "memory.limit_in_bytes 1"),
        ("cgroups-resource-parameters-applied",),
    ),
    # -- CNI ------------------------------------------------------------------------------------------------------------
    Tamper(
        "another version",
        "node/*/cni-results.txt",
        text('"cniVersion":"0.3.1"', '"cniVersion":"0.1"'),
        ("cni-json-config-on-stdin",),
    ),
    Tamper(
        "another directory",
        "node/*/crictl-info.txt",
        text("/etc/cni/net.d", "/etc/cni/conf.d"),
        ("cni-default-conf-dir",),
    ),
    Tamper(
        "another network",
        "node/*/crictl-info.txt",
        text('"Name": "kindnet"', '"Name": "other"'),
        ("cni-first-file-is-used",),
    ),
    Tamper(
        "another interface",
        "node/*/cni-results.txt",
        text('"name":"eth0"', '"name":"eth9"'),
        ("cni-plugin-list-runs-in-order",),
    ),
    Tamper(
        "pods have other addresses",
        "node/*/netns.txt",
        text(r"\b10\.244\.", "10.99."),
        ("cni-veth-into-pod-namespace",),
    ),
    Tamper(
        "a plugin is not told the pod's uid",
        "node/*/cni-results.txt",
        text("K8S_POD_UID", "K8S_POD_ID"),
        ("cni-add-parameters",),
    ),
    Tamper(
        "a plugin asks for DNS",
        "node/*/cni-conf.txt",
        text('"portMappings": *true', '"portMappings":true,"dns":true'),
        ("cni-dns-server-passed-to-plugin",),
    ),
    Tamper(
        "another DNS server",
        "node/*/pod-files.txt",
        text("nameserver 10.96.0.10", "nameserver 192.0.2.1"),
        ("cni-resolv-conf-points-at-cluster-dns",),
    ),
    Tamper(
        "no gateway",
        "node/*/cni-results.txt",
        text('"gateway":"10[^"]*"', '"gateway":""'),
        ("ipam-returns-address-gateway-routes",),
    ),
    Tamper(
        "addresses of another network",
        "node/*/cni-results.txt",
        text(r'"address":"10\.244\.', '"address":"10.99.'),
        ("ipam-host-local-allocates-from-ranges", "ipam-unique-ip-from-global-pod-subnet"),
    ),
    Tamper(
        "another Service's rules",
        "node/*/iptables-save.exposed.txt",
        text("journey/nginx", "journey/x"),
        ("kube-proxy-writes-iptables-rules",),
    ),
    # -- containers -----------------------------------------------------------------------------------------------------
    Tamper(
        "a config says nothing of logs",
        "node/*/nodes-inspect-containers.txt",
        text('"log_path"', '"logs"'),
        ("container-start-containerconfig-from-podspec",),
    ),
    Tamper(
        "no OCI spec",
        "node/*/nodes-inspect-containers.txt",
        text('"ociVersion"', '"dockerVersion"'),
        ("container-start-docker-translates-to-daemon-api",),
    ),
    Tamper(
        "dockershim's labels",
        "node/*/nodes-inspect-containers.txt",
        text('"io.kubernetes.container.name"', f'"{DOCKERSHIM}"'),
        ("container-start-metadata-labels-added",),
    ),
    Tamper(
        "the runtime is told of hooks",
        "node/*/nodes-inspect-containers.txt",
        text('"runtimeType"', '"postStart": 1, "runtimeType"'),
        ("lifecycle-hooks-runtime-interprets-hooks",),
    ),
    Tamper(
        "something else starts processes",
        "node/*/nodes-inspect-containers.txt",
        text(r"io\.containerd\.runc\.v2", "io.containerd.other.v1"),
        ("kubelet-sync-turns-pods-into-containers", "cri-docker-or-crio-are-cri"),
    ),
    Tamper(
        "pods have no uid",
        "node/*/nodes-inspect-pods.txt",
        text('"uid": "[^"]+"', '"uid": ""'),
        ("cri-used-since-1-5", "cri-sandbox-is-the-pod-and-may-be-a-vm"),
    ),
    Tamper(
        "namespaces are the host's",
        "node/*/nodes-inspect-containers.txt",
        text(r'"/proc/\d+/ns/net"', '"/proc/1/ns/net"'),
        ("pause-sandbox-acts-as-parent-hosting-net-and-ipc",),
    ),
    Tamper(
        "one container has a network of its own",
        "node/*/nodes-inspect-containers.txt",
        text(r'"/proc/\d+/ns/net"', '"/proc/1/ns/net"', 1),
        ("pause-sandbox-acts-as-parent-hosting-net-and-ipc",),
    ),
    Tamper(
        "no container has its own processes",
        "node/*/nodes-inspect-containers.txt",
        text('"type": "pid"', '"type": "cgroup"'),
        ("pause-sandbox-pid-one-reaps-zombies",),
    ),
    Tamper(
        "containers without groups",
        "node/*/nodes-inspect-containers.txt",
        text('"cgroupsPath": "[^"]*"', '"cgroupsPath": ""'),
        ("pause-sandbox-docker-combines-namespaces-and-cgroups",),
    ),
    # -- logs -----------------------------------------------------------------------------------------------------------
    Tamper(
        "resources are updated",
        "node/*/containerd-log.txt",
        text(r"\Z", "UpdateContainerResources\n"),
        ("cpu-manager-uses-updatecontainerresources",),
    ),
    Tamper(
        "no sandbox is made",
        "node/*/containerd-log.txt",
        text("returns sandbox id", "returns id"),
        ("cri-runpodsandbox-comes-first", "pause-sandbox-is-first-container-of-pod", "cri-used-since-1-5"),
    ),
    Tamper(
        "no hook is asked",
        "node/*/kubelet-log.txt",
        text("PostStartHook", "PreStopHook"),
        ("lifecycle-hooks-http-hook",),
    ),
    Tamper(
        "nothing is removed",
        "node/*/kubelet-log.txt",
        text("RemoveContainer", "KeepContainer"),
        ("kubelet-sync-also-volumes-logs-and-gc",),
    ),
    Tamper(
        "nothing is measured",
        "node/*/kubelet-log.txt",
        text("Observed pod startup", "Observed"),
        ("kubelet-sync-startup-metrics-on-create",),
    ),
    Tamper(
        "the kubelet attaches",
        "node/*/kubelet-log.txt",
        text("VerifyControllerAttachedVolume", "AttachVolume"),
        ("volumes-manager-attaches-volumes",),
    ),
    Tamper(
        "pods lie elsewhere",
        "node/*/kubelet-pods-tree.txt",
        text("/var/lib/kubelet/pods", "/var/run/kubelet/pods"),
        ("volumes-pod-directory-path",),
    ),
    Tamper("no volumes", "node/*/kubelet-pods-tree.txt", text("/volumes$", "/vols"), ("volumes-volumes-subdirectory",)),
    Tamper(
        "no plugins", "node/*/kubelet-pods-tree.txt", text("/plugins$", "/plugs"), ("volumes-plugins-subdirectory",)
    ),
    Tamper(
        "predicates are asked",
        "logs/kube-scheduler.v10.log",
        text(r"\A", "GeneralPredicates\n"),
        ("scheduler-default-predicates-filter-nodes",),
    ),
    Tamper(
        "no event tells of a pod",
        "logs/kube-scheduler.v10.log",
        text("Add event for unscheduled pod", "Event"),
        ("scheduler-runs-in-control-plane-as-controller",),
    ),
    Tamper(
        "one node has no points",
        "logs/kube-scheduler.v10.log",
        text(r'(plugin="NodeResourcesFit" node="lifecycle-worker" score=)\d+', r"\g<1>0"),
        ("scheduler-scores-use-usage-metrics", "scheduler-highest-rank-wins"),
    ),
    Tamper(
        "what fits nowhere is scored",
        "logs/kube-scheduler.v10.log",
        text('pod="sched/plain" plugin', 'pod="sched/too-big" plugin'),
        ("scheduler-scores-before-checking-fit",),
    ),
    Tamper(
        "a config is no message of CRI",
        "node/*/nodes-inspect-pods.txt",
        text('"log_directory"', '"no_such_field"'),
        ("cri-protobuf-over-grpc",),
    ),
    Tamper(
        "priorities score",
        "logs/kube-scheduler.v10.log",
        text('plugin="NodeResourcesFit"', 'plugin="LeastRequestedPriority"'),
        ("scheduler-scores-after-filtering",),
    ),
)
