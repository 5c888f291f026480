"""Addresses and networks in every field that has some, in odd spellings, and families of addresses that do not go together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.differential.case import Case, Step
from tests.differential.scenes import MERGE

Object = dict[str, Any]

IPS = [
    "10.1.2.3",
    "fd00::3",
    "::ffff:10.1.2.3",
    "010.1.2.3",
    "x",
    "",
    "FD00::3",
    "::0ffff:1.2.3.4",
    "00000001::",
    "127.0.0.1",
    "0.0.0.0",
    "169.254.1.1",
    "224.0.0.1",
    "fe80::1",
    "::1",
    "255.255.255.255",
    "10.96.0.7",
    "None",
    "10.96.0.0",
    "10.96.255.255",
]
NETS = [
    "10.1.0.0/16",
    "10.1.2.3/16",
    "fd00::/64",
    "fd00::1/64",
    "010.0.0.0/8",
    "10.0.0.0/08",
    "10.0.0.0/00000008",
    "x",
    "",
    "10.0.0.0",
    "::ffff:10.0.0.0/104",
    "FD00::/64",
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/33",
    "10.1.0.0/16 ",
    "1.2.3.4/32",
]
N = "/api/v1/namespaces/{ns}"


def _service(**spec: Any) -> Object:
    return {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], **spec}}


def _new() -> Iterator[Step]:
    services = N + "/services?dryRun=All"
    for a in IPS:
        yield Step("POST", services, _service(clusterIP=a))
        yield Step("POST", services, _service(clusterIPs=[a]))
        yield Step("POST", services, _service(externalIPs=[a]))
        yield Step("POST", services, _service(type="LoadBalancer", loadBalancerIP=a))
        yield Step("POST", services, _service(clusterIP=a, clusterIPs=["10.96.0.7"]))
        yield Step("POST", services, _service(clusterIP="10.96.0.7", clusterIPs=[a]))
        yield Step("POST", services, _service(clusterIPs=["10.96.0.7", a], ipFamilyPolicy="PreferDualStack"))
        yield Step("POST", services, _service(clusterIPs=[a, "fd00::9"], ipFamilyPolicy="RequireDualStack"))
        yield Step("POST", services, _service(type="ExternalName", externalName="a.b", clusterIP=a))
        yield Step("POST", services, _service(type="NodePort", clusterIP=a))
    families = [
        [],
        ["IPv4"],
        ["IPv6"],
        ["IPv4", "IPv6"],
        ["IPv6", "IPv4"],
        ["IPv4", "IPv4"],
        ["X"],
        ["IPv4", "X"],
        ["IPv4", "IPv6", "IPv4"],
        [""],
    ]
    for f, p, c in product(
        families,
        ("", "SingleStack", "PreferDualStack", "RequireDualStack", "X"),
        (
            {},
            {"clusterIP": "None"},
            {"clusterIP": "10.96.0.8"},
            {"clusterIPs": ["10.96.0.8", "fd00::8"]},
            {"type": "ExternalName", "externalName": "a.b"},
            {"clusterIP": "None", "selector": {"a": "b"}},
        ),
    ):
        s = dict(c)
        if f:
            s["ipFamilies"] = f
        if p:
            s["ipFamilyPolicy"] = p
        yield Step("POST", services, _service(**s))
    for a in NETS:
        yield Step("POST", services, _service(type="LoadBalancer", loadBalancerSourceRanges=[a]))
        yield Step(
            "POST",
            services,
            {
                **_service(type="LoadBalancer"),
                "metadata": {"name": "s", "annotations": {"service.beta.kubernetes.io/load-balancer-source-ranges": a}},
            },
        )
    for a in NETS:
        yield Step("POST", "/api/v1/nodes?dryRun=All", {"metadata": {"name": "n"}, "spec": {"podCIDR": a}})
        yield Step("POST", "/api/v1/nodes?dryRun=All", {"metadata": {"name": "n"}, "spec": {"podCIDRs": [a]}})
        yield Step(
            "POST", "/api/v1/nodes?dryRun=All", {"metadata": {"name": "n"}, "spec": {"podCIDRs": ["10.9.0.0/16", a]}}
        )
        yield Step(
            "POST",
            "/api/v1/nodes?dryRun=All",
            {"metadata": {"name": "n"}, "spec": {"podCIDR": a, "podCIDRs": ["10.9.0.0/16"]}},
        )
        yield Step(
            "POST",
            "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies?dryRun=All",
            {
                "metadata": {"name": "n"},
                "spec": {
                    "podSelector": {},
                    "ingress": [{"from": [{"ipBlock": {"cidr": a}}]}],
                    "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": [a]}}]}],
                },
            },
        )
        yield Step(
            "POST",
            "/apis/networking.k8s.io/v1/servicecidrs?dryRun=All",
            {"metadata": {"name": "n"}, "spec": {"cidrs": [a]}},
        )
        yield Step(
            "POST",
            "/apis/networking.k8s.io/v1/servicecidrs?dryRun=All",
            {"metadata": {"name": "n"}, "spec": {"cidrs": ["10.9.0.0/16", a]}},
        )
    for a in IPS:
        yield Step(
            "POST",
            N + "/endpoints?dryRun=All",
            {
                "metadata": {"name": "e"},
                "subsets": [{"addresses": [{"ip": a}], "notReadyAddresses": [{"ip": a}], "ports": [{"port": 1}]}],
            },
        )
        for t in ("IPv4", "IPv6", "FQDN"):
            yield Step(
                "POST",
                "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices?dryRun=All",
                {"metadata": {"name": "e"}, "addressType": t, "endpoints": [{"addresses": [a]}], "ports": []},
            )
        yield Step(
            "POST",
            "/apis/networking.k8s.io/v1/ipaddresses?dryRun=All",
            {
                "metadata": {"name": a or "a"},
                "spec": {"parentRef": {"group": "", "resource": "services", "name": "x", "namespace": "{ns}"}},
            },
        )
        yield Step(
            "POST",
            N + "/pods?dryRun=All",
            {
                "metadata": {"name": "p"},
                "spec": {
                    "containers": [{"name": "c", "image": "i"}],
                    "hostAliases": [{"ip": a, "hostnames": ["a"]}],
                    "dnsConfig": {"nameservers": [a]},
                },
            },
        )
        yield Step(
            "POST",
            N + "/pods?dryRun=All",
            {
                "metadata": {"name": "p"},
                "spec": {
                    "containers": [
                        {
                            "name": "c",
                            "image": "i",
                            "ports": [{"containerPort": 1, "hostIP": a}],
                            "livenessProbe": {"httpGet": {"port": 1, "host": a}},
                        }
                    ]
                },
            },
        )


def _changed() -> Iterator[Step]:
    yield Step("POST", N + "/services", _service(type="LoadBalancer"))
    for a in IPS:
        yield Step(
            "PATCH", N + "/services/s/status?dryRun=All", {"status": {"loadBalancer": {"ingress": [{"ip": a}]}}}, MERGE
        )
        yield Step(
            "PATCH",
            N + "/services/s/status?dryRun=All",
            {"status": {"loadBalancer": {"ingress": [{"ip": a, "ipMode": "Proxy"}]}}},
            MERGE,
        )
        yield Step("PATCH", N + "/services/s?dryRun=All", {"spec": {"clusterIP": a}}, MERGE)
        yield Step("PATCH", N + "/services/s?dryRun=All", {"spec": {"clusterIPs": [a]}}, MERGE)
        yield Step(
            "PATCH",
            N + "/services/s?dryRun=All",
            {"spec": {"clusterIPs": ["10.96.77.7", a], "ipFamilyPolicy": "PreferDualStack"}},
            MERGE,
        )
        yield Step("PATCH", N + "/services/s?dryRun=All", {"spec": {"clusterIP": a, "clusterIPs": None}}, MERGE)
    for f, p in product(
        [None, ["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"]],
        (None, "", "SingleStack", "PreferDualStack", "RequireDualStack"),
    ):
        yield Step("PATCH", N + "/services/s?dryRun=All", {"spec": {"ipFamilies": f, "ipFamilyPolicy": p}}, MERGE)
    for m in (
        {"ipMode": "X"},
        {"ipMode": "VIP"},
        {"ip": "1.2.3.4", "ipMode": "X"},
        {"hostname": "a b"},
        {"hostname": "1.2.3.4"},
        {"hostname": "a", "ipMode": "VIP"},
        {"ports": [{"port": 1, "protocol": "TCP"}]},
        {"ip": "1.2.3.4", "ports": [{"port": 0, "protocol": "X", "error": "a b"}]},
    ):
        yield Step("PATCH", N + "/services/s/status?dryRun=All", {"status": {"loadBalancer": {"ingress": [m]}}}, MERGE)
    yield Step(
        "POST",
        "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
        {"metadata": {"name": "i"}, "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 1}}}}},
    )
    for a in IPS:
        yield Step(
            "PATCH",
            "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses/i/status?dryRun=All",
            {"status": {"loadBalancer": {"ingress": [{"ip": a}]}}},
            MERGE,
        )


def cases() -> Iterator[Case]:
    """Dry runs of new objects, and of changes of stored ones."""
    asked = list(_new())
    for a in range(0, len(asked), 100):
        yield Case(tuple(asked[a : a + 100]), name=f"addresses {a}")
    yield Case(tuple(_changed()), name="addresses that change")
