"""Addresses and networks in every field that has some, in odd spellings, and families of addresses that do not go together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.differential.case import Case, Step
from tests.differential.scenes import MERGE

Object = dict[str, Any]

IPS = [
    "10.1.2.3", "fd00::3", "::ffff:10.1.2.3", "010.1.2.3", "x", "", "FD00::3", "::0ffff:1.2.3.4", "00000001::", "127.0.0.1",
    "0.0.0.0", "169.254.1.1", "224.0.0.1", "fe80::1", "::1", "255.255.255.255", "10.96.0.7", "None", "10.96.0.0", "10.96.255.255",
]  # fmt: skip
NETS = [
    "10.1.0.0/16", "10.1.2.3/16", "fd00::/64", "fd00::1/64", "010.0.0.0/8", "10.0.0.0/08", "10.0.0.0/00000008", "x", "", "10.0.0.0",
    "::ffff:10.0.0.0/104", "FD00::/64", "0.0.0.0/0", "::/0", "10.0.0.0/33", "10.1.0.0/16 ", "1.2.3.4/32",
]  # fmt: skip
FAMILIES = [
    [], ["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"], ["IPv4", "IPv4"], ["X"], ["IPv4", "X"], ["IPv4", "IPv6", "IPv4"], [""],
]  # fmt: skip
POLICIES = ("", "SingleStack", "PreferDualStack", "RequireDualStack", "X")
WITH_FAMILIES: tuple[Object, ...] = (
    {},
    {"clusterIP": "None"},
    {"clusterIP": "10.96.0.8"},
    {"clusterIPs": ["10.96.0.8", "fd00::8"]},
    {"type": "ExternalName", "externalName": "a.b"},
    {"clusterIP": "None", "selector": {"a": "b"}},
)
INGRESSES: tuple[Object, ...] = (
    {"ipMode": "X"},
    {"ipMode": "VIP"},
    {"ip": "1.2.3.4", "ipMode": "X"},
    {"hostname": "a b"},
    {"hostname": "1.2.3.4"},
    {"hostname": "a", "ipMode": "VIP"},
    {"ports": [{"port": 1, "protocol": "TCP"}]},
    {"ip": "1.2.3.4", "ports": [{"port": 0, "protocol": "X", "error": "a b"}]},
)
RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
CORE, NETWORKING = "/api/v1", "/apis/networking.k8s.io/v1"
SERVICES = f"{CORE}/namespaces/{{ns}}/services"
AT_ONCE = 100


def _service(**spec: Any) -> Object:
    return {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], **spec}}


def _tried(collection: str, name: str, **fields: Any) -> Step:
    """A dry run of a new object."""
    return Step("POST", f"{collection}?dryRun=All", {"metadata": {"name": name}, **fields})


def _services() -> Iterator[Step]:
    for ip in IPS:
        for spec in (
            {"clusterIP": ip},
            {"clusterIPs": [ip]},
            {"externalIPs": [ip]},
            {"type": "LoadBalancer", "loadBalancerIP": ip},
            {"clusterIP": ip, "clusterIPs": ["10.96.0.7"]},
            {"clusterIP": "10.96.0.7", "clusterIPs": [ip]},
            {"clusterIPs": ["10.96.0.7", ip], "ipFamilyPolicy": "PreferDualStack"},
            {"clusterIPs": [ip, "fd00::9"], "ipFamilyPolicy": "RequireDualStack"},
            {"type": "ExternalName", "externalName": "a.b", "clusterIP": ip},
            {"type": "NodePort", "clusterIP": ip},
        ):
            yield Step("POST", f"{SERVICES}?dryRun=All", _service(**spec))
    for families, policy, spec in product(FAMILIES, POLICIES, WITH_FAMILIES):
        asked = dict(spec)
        if families:
            asked["ipFamilies"] = families
        if policy:
            asked["ipFamilyPolicy"] = policy
        yield Step("POST", f"{SERVICES}?dryRun=All", _service(**asked))
    for net in NETS:
        balancer = _service(type="LoadBalancer")
        ranged = _service(type="LoadBalancer", loadBalancerSourceRanges=[net])
        annotated = {**balancer, "metadata": {"name": "s", "annotations": {RANGES: net}}}
        yield Step("POST", f"{SERVICES}?dryRun=All", ranged)
        yield Step("POST", f"{SERVICES}?dryRun=All", annotated)


def _networks() -> Iterator[Step]:
    for net in NETS:
        for spec in (
            {"podCIDR": net},
            {"podCIDRs": [net]},
            {"podCIDRs": ["10.9.0.0/16", net]},
            {"podCIDR": net, "podCIDRs": ["10.9.0.0/16"]},
        ):
            yield _tried(f"{CORE}/nodes", "n", spec=spec)
        spec = {
            "podSelector": {},
            "ingress": [{"from": [{"ipBlock": {"cidr": net}}]}],
            "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": [net]}}]}],
        }
        yield _tried(f"{NETWORKING}/namespaces/{{ns}}/networkpolicies", "n", spec=spec)
        for nets in ([net], ["10.9.0.0/16", net]):
            yield _tried(f"{NETWORKING}/servicecidrs", "n", spec={"cidrs": nets})


def _addresses() -> Iterator[Step]:
    slices = "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices"
    parent = {"group": "", "resource": "services", "name": "x", "namespace": "{ns}"}
    for ip in IPS:
        subset = {"addresses": [{"ip": ip}], "notReadyAddresses": [{"ip": ip}], "ports": [{"port": 1}]}
        yield _tried(f"{CORE}/namespaces/{{ns}}/endpoints", "e", subsets=[subset])
        for kind in ("IPv4", "IPv6", "FQDN"):
            yield _tried(slices, "e", addressType=kind, endpoints=[{"addresses": [ip]}], ports=[])
        yield _tried(f"{NETWORKING}/ipaddresses", ip or "a", spec={"parentRef": parent})
        container = {"name": "c", "image": "i"}
        outside = {"hostAliases": [{"ip": ip, "hostnames": ["a"]}], "dnsConfig": {"nameservers": [ip]}}
        probe = {"httpGet": {"port": 1, "host": ip}}
        probed = {**container, "ports": [{"containerPort": 1, "hostIP": ip}], "livenessProbe": probe}
        yield _tried(f"{CORE}/namespaces/{{ns}}/pods", "p", spec={"containers": [container], **outside})
        yield _tried(f"{CORE}/namespaces/{{ns}}/pods", "p", spec={"containers": [probed]})


def _changed() -> Iterator[Step]:
    def change(path: str, part: str, fields: Object) -> Step:
        return Step("PATCH", f"{path}?dryRun=All", {part: fields}, MERGE)

    def announced(path: str, ingress: Object) -> Step:
        return change(f"{path}/status", "status", {"loadBalancer": {"ingress": [ingress]}})

    service = f"{SERVICES}/s"
    yield Step("POST", SERVICES, _service(type="LoadBalancer"))
    for ip in IPS:
        yield announced(service, {"ip": ip})
        yield announced(service, {"ip": ip, "ipMode": "Proxy"})
        for spec in (
            {"clusterIP": ip},
            {"clusterIPs": [ip]},
            {"clusterIPs": ["10.96.77.7", ip], "ipFamilyPolicy": "PreferDualStack"},
            {"clusterIP": ip, "clusterIPs": None},
        ):
            yield change(service, "spec", spec)
    for families, policy in product(
        [None, ["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"]],
        (None, "", "SingleStack", "PreferDualStack", "RequireDualStack"),
    ):
        yield change(service, "spec", {"ipFamilies": families, "ipFamilyPolicy": policy})
    for ingress in INGRESSES:
        yield announced(service, ingress)
    ingresses = f"{NETWORKING}/namespaces/{{ns}}/ingresses"
    backend = {"service": {"name": "s", "port": {"number": 1}}}
    yield Step("POST", ingresses, {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}})
    for ip in IPS:
        yield announced(f"{ingresses}/i", {"ip": ip})


def cases() -> Iterator[Case]:
    """Dry runs of new objects, and of changes of stored ones."""
    asked = [*_services(), *_networks(), *_addresses()]
    for start in range(0, len(asked), AT_ONCE):
        yield Case(tuple(asked[start : start + AT_ONCE]), name=f"addresses {start}")
    yield Case(tuple(_changed()), name="addresses that change")
