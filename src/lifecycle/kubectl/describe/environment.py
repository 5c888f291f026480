"""A container's environment: what is set, and from where.

Of the fields of a pod only its name and namespace are filled in: those are the two that
kubectl knows to look up.

Upstream: `kubectl/pkg/describe/describe.go` (`describeContainerEnvVars`,
`describeContainerEnvFrom`, `EnvValueRetriever`),
`kubectl/pkg/util/resource/resource.go` (`ExtractContainerResourceValue`),
`apimachinery/pkg/runtime/converter.go` (`DefaultMetaV1FieldSelectorConversion`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.kubectl.describe.writer import PrefixWriter


def describe_environment(
    container: Object, pod: Object | None, w: PrefixWriter
) -> None:
    """`Environment Variables from` and `Environment`. `pod`: whose container it is;
    None for a template's.
    """
    if container.get("envFrom"):
        w.write(2, "Environment Variables from:\n")
        for each in container["envFrom"]:
            _env_from(each, w)
    variables = container.get("env") or ()
    w.write(2, "Environment:\n" if variables else "Environment:\t<none>\n")
    for variable in variables:
        if variable.get("valueFrom") is not None:
            _from_source(variable, container, pod, w)
            continue
        first, *rest = variable.get("value", "").split("\n")
        w.field(3, variable["name"], first)
        for line in rest:
            w.write(3, f"\t{line}\n")


def _optional(source: Object) -> str:
    return f"Optional: {str(bool(source.get('optional'))).lower()}"


def _env_from(each: Object, w: PrefixWriter) -> None:
    kind, source = "", each.get("configMapRef")
    if source is not None:
        kind = "ConfigMap"
    elif (source := each.get("secretRef")) is not None:
        kind = "Secret"
    source = source or {}
    prefix = f" with prefix '{each['prefix']}'" if each.get("prefix") else ""
    w.row(3, source.get("name", ""), f"{kind}{prefix}", _optional(source))


def _from_source(
    variable: Object, container: Object, pod: Object | None, w: PrefixWriter
) -> None:
    name, source = variable["name"], variable["valueFrom"]
    if (ref := source.get("fieldRef")) is not None:
        value = field_value(pod, ref["fieldPath"]) if pod is not None else ""
        w.field(3, name, f"{value} ({ref.get('apiVersion', '')}:{ref['fieldPath']})")
    elif (ref := source.get("resourceFieldRef")) is not None:
        value = container_resource_value(ref, container)
        if value == "0" and ref["resource"] in ("limits.cpu", "limits.memory"):
            value = "node allocatable"
        w.field(3, name, f"{value} ({ref['resource']})")
    elif (ref := source.get("secretKeyRef")) is not None:
        where = f"<set to the key '{ref['key']}' in secret '{ref.get('name', '')}'>"
        w.row(3, f"{name}:", where, _optional(ref))
    elif (ref := source.get("configMapKeyRef")) is not None:
        where = f"<set to the key '{ref['key']}' of config map '{ref.get('name', '')}'>"
        w.row(3, f"{name}:", where, _optional(ref))


def field_value(pod: Object, path: str) -> str:
    """The value of one of a pod's fields, if it is one of the two that can be had."""
    if path in ("metadata.name", "metadata.namespace"):
        return str(pod["metadata"].get(path.removeprefix("metadata."), ""))
    return ""


def container_resource_value(ref: Object, container: Object) -> str:
    """What a container requests, or may use at most, in units of the reference's
    divisor, rounded up; empty for a resource that has no such number.
    """
    kind, _, name = ref["resource"].partition(".")
    known = name in ("cpu", "memory", "ephemeral-storage")
    if kind not in ("limits", "requests") or not (
        known or name.startswith("hugepages-")
    ):
        return ""
    amounts = (container.get("resources") or {}).get(kind) or {}
    amount = parse_quantity(amounts.get(name, "0"))
    divisor = parse_quantity(ref.get("divisor") or "0")
    if divisor.is_zero:
        divisor = parse_quantity("1")
    if name == "cpu":
        return str(-(-amount.milli() // divisor.milli()))
    return str(-(-amount.value() // divisor.value()))
