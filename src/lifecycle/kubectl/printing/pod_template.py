"""A pod template in words, as `rollout history --revision` and `rollout undo --dry-run`
show it.

Upstream: `kubectl/pkg/describe/describe.go` (`DescribePodTemplate`,
`describeContainers`, `describeVolumes`), v1.36.2. Left out: volumes other than
emptyDir, hostPath, configMap, secret and persistentVolumeClaim are named only; sources
of environment variables other than fields, config maps and secrets; lifecycle hooks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.api.wire import Object


def describe_pod_template(template: Object) -> str:
    """Several lines, each ended; tabs between names and values."""
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    lines = ["Pod Template:"]
    lines += _map("  ", "Labels", meta.get("labels") or {})
    if meta.get("annotations"):
        lines += _map("  ", "Annotations", meta["annotations"], ": ")
    if spec.get("serviceAccountName"):
        lines.append(f"  Service Account:\t{spec['serviceAccountName']}")
    for field, title in (
        ("initContainers", "Init Containers"),
        ("containers", "Containers"),
    ):
        if spec.get(field):
            lines.append(f"  {title}:")
            for container in spec[field]:
                lines += _container(container)
    lines += _volumes(spec.get("volumes") or ())
    if spec.get("priorityClassName"):
        lines.append(f"  Priority Class Name:\t{spec['priorityClassName']}")
    lines += _map("  ", "Node-Selectors", spec.get("nodeSelector") or {})
    lines += _several(
        "  ",
        "Tolerations",
        sorted(_toleration(each) for each in spec.get("tolerations") or ()),
    )
    return "".join(f"{line}\n" for line in lines)


def _several(indent: str, title: str, values: list[str]) -> list[str]:
    first, *rest = values or ["<none>"]
    return [
        f"{indent}{title}:\t{first}",
        *(f"{indent}\t{value}" if indent != "  " else f"\t{value}" for value in rest),
    ]


def _map(
    indent: str, title: str, values: Mapping[str, str], between: str = "="
) -> list[str]:
    return _several(
        indent, title, [f"{key}{between}{values[key]}" for key in sorted(values)]
    )


def _container(container: Object) -> list[str]:
    ports = container.get("ports") or ()
    port_strings = [f"{p['containerPort']}/{p.get('protocol', 'TCP')}" for p in ports]
    if ports and all(p.get("name") for p in ports):
        port_strings = [f"{text} ({p['name']})" for text, p in zip(port_strings, ports)]
    hosts = [f"{p.get('hostPort', 0)}/{p.get('protocol', 'TCP')}" for p in ports]
    many = "s" if len(ports) > 1 else ""
    lines = [f"   {container['name']}:", f"    Image:\t{container['image']}"]
    lines += [
        f"    Port{many}:\t{', '.join(port_strings) or '<none>'}",
        f"    Host Port{many}:\t{', '.join(hosts) or '<none>'}",
    ]
    for field in ("command", "args"):
        if container.get(field):
            lines.append(f"    {field.capitalize()}:")
            lines += [
                f"      {part}"
                for text in container[field]
                for part in text.split("\n")
            ]
    resources = container.get("resources") or {}
    for field in ("limits", "requests"):
        if resources.get(field):
            lines.append(f"    {field.capitalize()}:")
            lines += [
                f"      {name}:\t{resources[field][name]}"
                for name in sorted(resources[field])
            ]
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(field):
            lines.append(
                f"    {field.removesuffix('Probe').capitalize()}"
                f":\t{_probe(container[field])}"
            )
    environment = [
        f"      {each['name']}:\t{_variable(each)}"
        for each in container.get("env") or ()
    ]
    lines += (
        ["    Environment:", *environment]
        if environment
        else ["    Environment:\t<none>"]
    )
    mounts = sorted(
        container.get("volumeMounts") or (), key=lambda mount: str(mount["mountPath"])
    )
    lines.append("    Mounts:" if mounts else "    Mounts:\t<none>")
    return lines + [
        f"      {each['mountPath']} from {each['name']} ({_flags(each)})"
        for each in mounts
    ]


def _flags(mount: Object) -> str:
    path = f',path="{mount["subPath"]}"' if mount.get("subPath") else ""
    return ("ro" if mount.get("readOnly") else "rw") + path


def _variable(variable: Object) -> str:
    source = variable.get("valueFrom") or {}
    if "fieldRef" in source:
        return (
            f" ({source['fieldRef'].get('apiVersion', 'v1')}"
            f":{source['fieldRef']['fieldPath']})"
        )
    for field, words in (("secretKeyRef", "secret"), ("configMapKeyRef", "config map")):
        if field in source:
            ref = source[field]
            optional = str(bool(ref.get("optional"))).lower()
            return (
                f"<set to the key '{ref['key']}' of {words} '{ref['name']}'>\tOptional:"
                f" {optional}"
            )
    return str(variable.get("value", ""))


def _probe(probe: Object) -> str:
    times = (
        f"delay={probe.get('initialDelaySeconds', 0)}s"
        f" timeout={probe.get('timeoutSeconds', 0)}s"
        f" period={probe.get('periodSeconds', 0)}s"
        f" #success={probe.get('successThreshold', 0)}"
        f" #failure={probe.get('failureThreshold', 0)}"
    )
    if "exec" in probe:
        return f"exec [{' '.join(probe['exec'].get('command') or ())}] {times}"
    if "httpGet" in probe:
        get = probe["httpGet"]
        host = (
            f"{get.get('host', '')}:{get['port']}"
            if get.get("port")
            else get.get("host", "")
        )
        return (
            "http-get"
            f" {get.get('scheme', 'HTTP').lower()}://{host}{get.get('path', '')}"
            f" {times}"
        )
    if "tcpSocket" in probe:
        return (
            "tcp-socket"
            f" {probe['tcpSocket'].get('host', '')}:{probe['tcpSocket']['port']}"
            f" {times}"
        )
    if "grpc" in probe:
        return (
            f"grpc <pod>:{probe['grpc']['port']} {probe['grpc'].get('service') or ''}"
            f" {times}"
        )
    return f"unknown {times}"


def _volumes(volumes: Any) -> list[str]:
    if not volumes:
        return ["  Volumes:\t<none>"]
    lines = ["  Volumes:"]
    for volume in volumes:
        lines.append(f"   {volume['name']}:")
        lines += [f"    {name}:\t{value}" for name, value in _volume(volume)]
    return lines


def _volume(volume: Object) -> list[tuple[str, str]]:
    if (source := volume.get("emptyDir")) is not None:
        return [
            ("Type", "EmptyDir (a temporary directory that shares a pod's lifetime)"),
            ("Medium", source.get("medium", "")),
            ("SizeLimit", source.get("sizeLimit", "<unset>")),
        ]
    if source := volume.get("hostPath"):
        return [
            ("Type", "HostPath (bare host directory volume)"),
            ("Path", source["path"]),
            ("HostPathType", source.get("type", "")),
        ]
    if source := volume.get("configMap"):
        return [
            ("Type", "ConfigMap (a volume populated by a ConfigMap)"),
            ("Name", source.get("name", "")),
            ("Optional", str(bool(source.get("optional"))).lower()),
        ]
    if source := volume.get("secret"):
        return [
            ("Type", "Secret (a volume populated by a Secret)"),
            ("SecretName", source.get("secretName", "")),
            ("Optional", str(bool(source.get("optional"))).lower()),
        ]
    if source := volume.get("persistentVolumeClaim"):
        return [
            (
                "Type",
                (
                    "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in"
                    " the same namespace)"
                ),
            ),
            ("ClaimName", source["claimName"]),
            ("ReadOnly", str(bool(source.get("readOnly"))).lower()),
        ]
    return [("Type", "<unknown>")]


def _toleration(each: Object) -> str:
    text = each.get("key", "")
    if each.get("value"):
        text += f"={each['value']}"
    if each.get("effect"):
        text += f":{each['effect']}"
    if each.get("operator") == "Exists" and not each.get("value"):
        text += " op=Exists" if each.get("key") or each.get("effect") else "op=Exists"
    if each.get("tolerationSeconds") is not None:
        text += f" for {each['tolerationSeconds']}s"
    return text
