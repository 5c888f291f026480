"""A container's environment: its own variables, whole ConfigMaps and Secrets, and where
the namespace's services are.

First `envFrom`, in order, a later one winning. Then `env`, in order, each one's
`$(NAME)` replaced by what is known so far (`$$(NAME)` stays `$(NAME)`; what is unknown
stays as it is). Last, for names that nobody set, the services: only the API server's
own if the pod does not want links.

Upstream: `pkg/kubelet/kubelet_pods.go` (`makeEnvironmentVariables`,
`getServiceEnvVarMap`), `pkg/kubelet/envvars` (`FromServices`), v1.36. Left out:
`fileKeyRef`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping

from lifecycle.api.go.key_order import sorted_keys
from lifecycle.api.go.net import join_host_port
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import beside
from lifecycle.kubelet.container.downward import (
    DownwardError,
    allocatable_within,
    field_value,
    resource_value,
)
from lifecycle.kubelet.container.expansion import ARG_MAX, Expansion, ExpansionError
from lifecycle.kubelet.container.runtime_helper import (
    ContainerEnvironmentError,
    GetObject,
    RecordEvent,
)

MASTER_SERVICE_NAMESPACE, MASTER_SERVICES = "default", ("kubernetes",)
VARIABLE, SERVICE = 32, 512
"""What one costs, as bytes of JSON that are to be read."""

MOST_VARIABLES = ARG_MAX // 11
"""No program can be started with more: the shortest takes a letter, a sign, a zero and
a pointer of the two megabytes (`container.expansion`).
"""

ENV_VAR_NAME = re.compile(r"^[ -<>-~]+$")
"""Any printable ASCII but `=`, since 1.30 (1.34 for all)."""


def _variable_name(text: str) -> str:
    return text.upper().replace("-", "_")


def from_services(services: Iterable[Object]) -> dict[str, str]:
    """The variables that tell of services, in the words that Docker's links once used.
    Headless ones are left out.
    """
    variables: dict[str, str] = {}
    for service in services:
        spec = service["spec"]
        address = spec.get("clusterIP")
        if not address or address == "None" or not spec.get("ports"):
            continue
        prefix = _variable_name(service["metadata"]["name"])
        variables[f"{prefix}_SERVICE_HOST"] = address
        variables[f"{prefix}_SERVICE_PORT"] = str(spec["ports"][0]["port"])
        for port in spec["ports"]:
            if port.get("name"):
                variables[f"{prefix}_SERVICE_PORT_{_variable_name(port['name'])}"] = (
                    str(port["port"])
                )
        for i, port in enumerate(spec["ports"]):
            protocol = port.get("protocol") or "TCP"
            link = f"{protocol.lower()}://{join_host_port(address, port['port'])}"
            if i == 0:
                variables[f"{prefix}_PORT"] = link
            base = f"{prefix}_PORT_{port['port']}_{protocol.upper()}"
            variables |= {
                base: link,
                f"{base}_PROTO": protocol.lower(),
                f"{base}_PORT": str(port["port"]),
                f"{base}_ADDR": address,
            }
    return variables


def service_environment(
    services: Iterable[Object], namespace: str, enable_service_links: bool
) -> dict[str, str]:
    """Of all services those that a pod of a namespace hears of; its own namespace's
    `kubernetes` wins over the default one's, unless it has no address.
    """
    chosen: dict[str, Object] = {}
    for service in services:
        if service["spec"].get("clusterIP") in (None, "", "None"):
            continue
        meta = service["metadata"]
        if (
            meta["namespace"] == MASTER_SERVICE_NAMESPACE
            and meta["name"] in MASTER_SERVICES
        ):
            chosen.setdefault(meta["name"], service)
        elif meta["namespace"] == namespace and enable_service_links:
            chosen[meta["name"]] = service
    return from_services(chosen.values())


async def make_environment_variables(
    pod: Object,
    container: Object,
    get: GetObject,
    *,
    services: Iterable[Object] = (),
    status: Object | None = None,
    allocatable: Mapping[str, str] | None = None,
    event: RecordEvent = lambda kind, reason, message: None,
) -> dict[str, str]:
    """The variables by name. `status` knows the pod's addresses. Raises
    ContainerEnvironmentError.
    """
    namespace = pod["metadata"]["namespace"]
    links = pod["spec"].get("enableServiceLinks", True)
    heard_of = list(services)
    service_env = await beside(
        SERVICE * len(heard_of), service_environment, heard_of, namespace, links
    )
    known: dict[str, str] = {}
    pauses = Pauses()
    for source in container.get("envFrom") or ():
        await pauses.pause()
        known.update(await _from_source(source, namespace, get, event))
        if len(known) > MOST_VARIABLES:
            raise ContainerEnvironmentError(
                f"argument list too long: more than {MOST_VARIABLES} variables"
            )
    result: dict[str, str] = {}
    usable = allocatable_within(pod, allocatable or {})
    expansion = Expansion()
    for variable in container.get("env") or ():
        await pauses.pause()
        name = variable["name"]
        if text := variable.get("value"):
            value: str | None = await _expanded(
                expansion,
                text,
                lambda n: known[n] if n in known else service_env.get(n),
            )
        elif variable.get("valueFrom"):
            value = await _value_from(
                variable["valueFrom"],
                pod,
                container,
                get,
                status or {},
                usable,
            )
            if value is None:
                continue
        else:
            value = ""
        known[name] = result[name] = str(value)
    return await beside(
        VARIABLE * (len(known) + len(service_env)), _all, result, known, service_env
    )


def _all(*environments: Mapping[str, str]) -> dict[str, str]:
    """The first as it is, then by name what others say besides."""
    result = dict(environments[0])
    for names in environments[1:]:
        for name in sorted_keys(names):
            result.setdefault(name, names[name])
    return result


async def _expanded(
    expansion: Expansion, text: str, known: Callable[[str], str | None]
) -> str:
    try:
        return await beside(len(text), expansion.expand, text, known)
    except ExpansionError as error:
        raise ContainerEnvironmentError(str(error)) from None


async def _from_source(
    source: Object, namespace: str, get: GetObject, event: RecordEvent
) -> dict[str, str]:
    for field, plural, kind in (
        ("configMapRef", "configmaps", "configMap"),
        ("secretRef", "secrets", "secret"),
    ):
        reference = source.get(field)
        if not reference:
            continue
        try:
            obj = await get(plural, reference.get("name", ""), namespace)
        except LookupError as error:
            if reference.get("optional"):
                return {}
            raise ContainerEnvironmentError(str(error.args[0])) from None
        prefix = source.get("prefix") or ""
        size = VARIABLE * len(obj.get("data") or ())
        good, bad = await beside(size, _named, obj, plural, prefix)
        if bad:
            event(
                "Warning",
                "InvalidEnvironmentVariableNames",
                f"Keys [{', '.join(bad)}] from the EnvFrom {kind}"
                f" {namespace}/{reference.get('name', '')} were skipped since they are"
                " considered invalid environment variable names.",
            )
        return good
    return {}


def _named(obj: Object, plural: str, prefix: str) -> tuple[dict[str, str], list[str]]:
    """The variables, and, by name, which could be none."""
    variables = {prefix + key: value for key, value in texts(obj, plural).items()}
    bad = sorted(name for name in variables if not ENV_VAR_NAME.match(name))
    for name in bad:
        del variables[name]
    return variables, bad


def texts(obj: Object, plural: str) -> dict[str, str]:
    """The `data` of a ConfigMap or, decoded, of a Secret."""
    data = obj.get("data") or {}
    if plural == "configmaps":
        return dict(data)
    return {
        key: base64.b64decode(value).decode(errors="replace")
        for key, value in data.items()
    }


async def _value_from(
    source: Object,
    pod: Object,
    container: Object,
    get: GetObject,
    status: Object,
    allocatable: Mapping[str, str],
) -> str | None:
    """The value, or None: an optional one that is not there. Raises
    ContainerEnvironmentError.
    """
    namespace = pod["metadata"]["namespace"]
    try:
        if source.get("fieldRef"):
            return field_value(pod, source["fieldRef"]["fieldPath"], status)
        if source.get("resourceFieldRef"):
            return resource_value(
                pod, source["resourceFieldRef"], container, allocatable
            )
    except DownwardError as error:
        raise ContainerEnvironmentError(str(error)) from None
    for field, plural, kind in (
        ("configMapKeyRef", "configmaps", "ConfigMap"),
        ("secretKeyRef", "secrets", "Secret"),
    ):
        reference = source.get(field)
        if not reference:
            continue
        name, key, optional = (
            reference.get("name", ""),
            reference["key"],
            bool(reference.get("optional")),
        )
        try:
            data = texts(await get(plural, name, namespace), plural)
        except LookupError as error:
            if optional:
                return None
            raise ContainerEnvironmentError(str(error.args[0])) from None
        if key not in data:
            if optional:
                return None
            raise ContainerEnvironmentError(
                f"couldn't find key {key} in {kind} {namespace}/{name}"
            )
        return data[key]
    return ""
