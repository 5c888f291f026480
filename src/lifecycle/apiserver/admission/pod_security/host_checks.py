"""What of its node a pod may not touch: namespaces, paths, ports, addresses.

Upstream: `pod-security-admission/policy/check_hostNamespaces.go`,
`check_hostPathVolumes.go`, `check_hostPorts.go`, `check_hostProbesAndHostLifecycle.go`,
`check_windowsHostProcess.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.pod_security.check import (
    Violation,
    bad_setters,
    containers,
    join_quote,
    pluralize,
    security_context,
)


def check_host_namespaces(meta: Object, spec: Object, minor: int) -> Violation | None:
    """The node's network, processes or IPC."""
    used = [
        f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)
    ]
    return ("host namespaces", ", ".join(used)) if used else None


def check_host_path_volumes(meta: Object, spec: Object, minor: int) -> Violation | None:
    """The node's files."""
    bad = [
        v["name"] for v in spec.get("volumes") or () if v.get("hostPath") is not None
    ]
    return ("hostPath volumes", pluralize("volume", bad)) if bad else None


def check_host_ports(meta: Object, spec: Object, minor: int) -> Violation | None:
    """The node's ports."""
    ports = {
        c["name"]: {
            str(p["hostPort"]) for p in c.get("ports") or () if p.get("hostPort")
        }
        for c in containers(spec)
    }
    bad = [name for name, used in ports.items() if used]
    if not bad:
        return None
    numbers = sorted(set().union(*ports.values()))
    word = "hostPort" if len(numbers) == 1 else "hostPorts"
    return (
        "hostPort",
        (
            f"{pluralize('container', bad)} {'uses' if len(bad) == 1 else 'use'} {word}"
            f" {', '.join(numbers)}"
        ),
    )


def check_host_probes(meta: Object, spec: Object, minor: int) -> Violation | None:
    """Since 1.34: the kubelet asks the pod, and nobody else, in its name."""
    if minor < 34:
        return None
    bad, hosts = set(), set()
    for container in containers(spec):
        lifecycle = container.get("lifecycle") or {}
        handlers = [
            container.get(key) or {}
            for key in ("livenessProbe", "readinessProbe", "startupProbe")
        ]
        handlers += [lifecycle.get(key) or {} for key in ("postStart", "preStop")]
        for handler in handlers:
            for action in ("httpGet", "tcpSocket"):
                host = (handler.get(action) or {}).get("host")
                if host:
                    bad.add(container["name"])
                    hosts.add(host)
    if not bad:
        return None
    uses = "uses" if len(bad) == 1 else "use"
    word = "probe or lifecycle host" + ("" if len(hosts) == 1 else "s")
    return (
        "probe or lifecycle host",
        f"{pluralize('container', sorted(bad))} {uses} {word}"
        f" {join_quote(sorted(hosts))}",
    )


def check_windows_host_process(
    meta: Object, spec: Object, minor: int
) -> Violation | None:
    """A Windows container that runs on the node itself."""

    def bad(holder: Object) -> bool:
        return bool(
            (security_context(holder).get("windowsOptions") or {}).get("hostProcess")
        )

    setters = bad_setters(bad(spec), [c["name"] for c in containers(spec) if bad(c)])
    detail = f"{setters} must not set securityContext.windowsOptions.hostProcess=true"
    return ("hostProcess", detail) if setters else None
