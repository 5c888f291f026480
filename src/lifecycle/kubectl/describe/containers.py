"""Containers, of a pod or of a template: what runs, and of a pod's, how it goes.

Upstream: `kubectl/pkg/describe/describe.go` (`describeContainers` and what it calls,
`describeStatus`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import canonical_quantity
from lifecycle.kubectl.describe.environment import describe_environment
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.probes import describe_probe
from lifecycle.kubectl.describe.writer import PrefixWriter


def describe_containers(
    label: str,
    containers: Sequence[Object],
    statuses: Iterable[Object],
    pod: Object | None,
    w: PrefixWriter,
    space: str = "",
) -> None:
    """Each container in turn. `pod`: whose they are; None for a template's, which are
    set in by `space`.
    """
    by_name = {status["name"]: status for status in statuses}
    w.write(0, f"{space}{label}:{'' if containers else ' <none>'}\n")
    for container in containers:
        status = by_name.get(container["name"])
        w.write(1, f"{' ' if space else ''}{container['name']}:\n")
        _basic_info(container, status, w)
        _command(container, w)
        if status is not None:
            _state(status, w)
        describe_resources(container.get("resources"), w, 2)
        _probes(container, w)
        describe_environment(container, pod, w)
        _mounts(container, w)


def _basic_info(container: Object, status: Object | None, w: PrefixWriter) -> None:
    if status is not None:
        w.field(2, "Container ID", status.get("containerID", ""))
    w.field(2, "Image", container.get("image", ""))
    if status is not None:
        w.field(2, "Image ID", status.get("imageID", ""))
    for title, field in (("Port", "containerPort"), ("Host Port", "hostPort")):
        ports = [_port(port, field) for port in container.get("ports") or ()]
        several = "s" if len(ports) > 1 else ""
        w.field(2, title + several, ", ".join(ports) or "<none>")
    profile = (container.get("securityContext") or {}).get("seccompProfile")
    describe_seccomp_profile(profile, w, 2)


def describe_seccomp_profile(
    profile: Object | None, w: PrefixWriter, level: int
) -> None:
    """Which system calls are allowed, if anything is said of it."""
    if profile is None:
        return
    w.field(level, "SeccompProfile", profile["type"])
    if profile["type"] == "Localhost":
        below = level + 1 if level else 0
        w.field(below, "LocalhostProfile", profile["localhostProfile"])


def _port(port: Object, field: str) -> str:
    text = f"{port.get(field, 0)}/{port.get('protocol', '')}"
    return f"{text} ({port['name']})" if port.get("name") else text


def _command(container: Object, w: PrefixWriter) -> None:
    for title, field in (("Command", "command"), ("Args", "args")):
        if container.get(field):
            w.write(2, f"{title}:\n")
        for text in container.get(field) or ():
            for line in text.split("\n"):
                w.write(3, f"{line}\n")


def _state(status: Object, w: PrefixWriter) -> None:
    describe_status("State", status.get("state") or {}, w)
    last = status.get("lastState") or {}
    if last.get("terminated") is not None:
        describe_status("Last State", last, w)
    w.field(2, "Ready", print_bool(status.get("ready")))
    w.field(2, "Restart Count", status.get("restartCount", 0))


def describe_status(name: str, state: Object, w: PrefixWriter) -> None:
    """Running, waiting or terminated, and since when or why."""
    if (running := state.get("running")) is not None:
        w.field(2, name, "Running")
        w.field(3, "Started", rfc1123z(running.get("startedAt")))
    elif (terminated := state.get("terminated")) is not None:
        w.field(2, name, "Terminated")
        for field in ("reason", "message"):
            if terminated.get(field):
                w.field(3, field.capitalize(), terminated[field])
        w.field(3, "Exit Code", terminated.get("exitCode", 0))
        if terminated.get("signal", 0) > 0:
            w.field(3, "Signal", terminated["signal"])
        w.field(3, "Started", rfc1123z(terminated.get("startedAt")))
        w.field(3, "Finished", rfc1123z(terminated.get("finishedAt")))
    else:
        w.field(2, name, "Waiting")
        if reason := (state.get("waiting") or {}).get("reason"):
            w.field(3, "Reason", reason)


def print_bool(value: object) -> str:
    """`True` or `False`."""
    return "True" if value else "False"


def print_bool_ptr(value: object) -> str:
    """The same of what may be left open."""
    return "<unset>" if value is None else print_bool(value)


def describe_resources(resources: Object | None, w: PrefixWriter, level: int) -> None:
    """Limits and requests, sorted by resource."""
    for title, field in (("Limits", "limits"), ("Requests", "requests")):
        amounts = (resources or {}).get(field) or {}
        if amounts:
            w.write(level, f"{title}:\n")
        for name in sorted(amounts):
            w.field(level + 1, name, canonical_quantity(amounts[name]))


def _probes(container: Object, w: PrefixWriter) -> None:
    for name in ("liveness", "readiness", "startup"):
        if (probe := container.get(f"{name}Probe")) is not None:
            w.field(2, name.capitalize(), describe_probe(probe))


def _mounts(container: Object, w: PrefixWriter) -> None:
    mounts = sorted(
        container.get("volumeMounts") or (), key=lambda each: str(each["mountPath"])
    )
    none = "" if mounts else "\t<none>"
    w.write(2, f"Mounts:{none}\n")
    for mount in mounts:
        flags = "ro" if mount.get("readOnly") else "rw"
        if mount.get("subPath"):
            flags += f",path={go_quote(mount['subPath'])}"
        w.write(3, f"{mount['mountPath']} from {mount['name']} ({flags})\n")
    devices = container.get("volumeDevices")
    if devices:
        w.write(2, f"Devices:{none}\n")
        for device in sorted(devices, key=lambda each: str(each["devicePath"])):
            w.write(3, f"{device['devicePath']} from {device['name']}\n")
