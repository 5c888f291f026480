"""Claims about the cluster's DNS: which records there are, and whether anything is
added anywhere.
"""

from __future__ import annotations

from typing import Any, cast

from lifecycle.agreements.dns_answers import DigAnswer, parse_dig
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.client.indexer import Indexer
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.dns.answering import Answerer
from lifecycle.dns.kubernetes_plugin import KubernetesPlugin
from lifecycle.dns.server import ClusterDNS
from lifecycle.dns.service_index import ServiceIndex
from lifecycle.inspector import InspectorError, Recording

WEB, ONE = "web.svc.svc.cluster.local", "one.svc.svc.cluster.local"


def dug(recording: Recording) -> dict[tuple[str, str], DigAnswer]:
    """The recorded answers by name and type; empty if nobody asked."""
    try:
        return {
            (answer.name, answer.type): answer
            for answer in parse_dig(recording.dns("svc"))
        }
    except InspectorError:
        return {}


def recorded_services(recording: Recording) -> dict[str, Object]:
    """The Services of the recorded scenario by name."""
    return {
        item["metadata"]["name"]: item
        for exchange in recording.exchanges("services")
        if exchange.method == "GET" and exchange.path.endswith("/svc/services")
        for item in exchange.response["items"]
    }


@check("dns-a-record-for-service")
def a_record(recording: Recording) -> bool | None:
    """Every Service with a cluster IP was asked for, and is that address."""
    answers = dug(recording)
    services = {
        name: obj["spec"]["clusterIP"]
        for name, obj in recorded_services(recording).items()
        if obj["spec"].get("clusterIP", "None") != "None"
    }
    if not answers:
        return None
    resolved = {
        name: answers[f"{name}.svc.svc.cluster.local", "A"].sections["answer"]
        for name in services
    }
    return all(
        [line.split()[-1] for line in resolved[name]] == [ip]
        for name, ip in services.items()
    )


@rebuilt("dns-a-record-for-service")
def our_a_record() -> bool:
    """The same of ours, and from the address the way back. Of its own short name the
    server knows the address, and nothing that points anywhere.
    """
    alias = {"metadata": {"name": "x", "namespace": "default"}}
    outside = {**alias, "spec": {"type": "ExternalName", "externalName": "example.com"}}
    server = _answerer(_service(), outside)
    elsewhere = server.answer("x.default.svc.cluster.local", "CNAME").answer
    assert [(each.type, each.data) for each in elsewhere] == [("CNAME", "example.com.")]
    answers = (
        server.answer("n.default.svc.cluster.local", "A").answer,
        server.answer("7.7.96.10.in-addr.arpa", "PTR").answer,
    )
    return [[(record.type, record.data) for record in each] for each in answers] == [
        [("A", "10.96.7.7")],
        [("PTR", "n.default.svc.cluster.local.")],
    ] and [
        server.answer(name, kind).rcode
        for name, kind in (
            ("ns.dns.cluster.local", "PTR"),
            ("svc.cluster.local", "A"),
            ("pod.cluster.local", "A"),
            ("cluster.local", "A"),
            ("elsewhere.cluster.local", "A"),
        )
    ] == ["NXDOMAIN", "NOERROR", "NOERROR", "NOERROR", "NXDOMAIN"]


@check("dns-srv-record-for-service")
def srv_record(recording: Recording) -> Partly | None:
    """The named port has a record of its own. The unnamed one has none: what the bare
    name answers names no port's name.
    """
    answers = dug(recording)
    if not answers:
        return None
    named = answers[f"_http._tcp.{WEB}", "SRV"]
    bare = answers[ONE, "SRV"].sections["answer"]
    unnamed = recorded_services(recording)["one"]["spec"]["ports"]
    return Partly(
        named.status == "NOERROR" and len(named.sections["answer"]) == 1,
        all("name" not in port for port in unnamed)
        and not any(line.startswith("_") for line in bare),
    )


@rebuilt("dns-srv-record-for-service")
def our_srv_record() -> Partly:
    """With a name and without, asked in the same words."""
    question = "_http._tcp.n.default.svc.cluster.local"
    named = _answerer(_service(name="http")).answer(question, "SRV")
    unnamed = _answerer(_service()).answer(question, "SRV")
    return Partly(len(named.answer) == 1, unnamed.rcode == "NXDOMAIN")


@check("dns-server-adds-records")
def adds_records(recording: Recording) -> Partly | None:
    """The names answer although CoreDNS has no zone that anything could be added to: of
    all its plugins only one knows names.
    """
    answers = dug(recording)
    maps = [
        item
        for exchange in recording.exchanges("objects")
        if exchange.method == "GET" and exchange.path.endswith("/configmaps")
        for item in exchange.response["items"]
        if item["metadata"]["name"] == "coredns"
    ]
    if not answers or not maps:
        return None
    plugins = {
        line.split()[0]
        for line in maps[0]["data"]["Corefile"].splitlines()
        if line.strip("{} ")
    }
    holds_zones = plugins & {"file", "auto", "secondary", "etcd", "hosts"}
    return Partly(
        answers[WEB, "A"].status == "NOERROR",
        "kubernetes" in plugins and not holds_zones,
    )


@rebuilt("dns-server-adds-records")
def ours_adds_records() -> Partly:
    """The same server, before, while and after a Service is in the cache it reads; it
    is told nothing. Before it has read everything once, it does not know yet.
    """
    client = Client(cast(Any, None), "dns")
    unread = ClusterDNS(client, SharedInformerFactory(client), clock=Clock())
    early = unread.answer("n.default.svc.cluster.local", "A")
    assert (early.rcode, early.authoritative) == ("SERVFAIL", False)
    services = Indexer()
    namespaces = Indexer()
    namespaces.set("default", {"metadata": {"name": "default"}})
    server = Answerer(KubernetesPlugin(ServiceIndex(services, Indexer(), namespaces)))

    def status() -> str:
        return server.answer("n.default.svc.cluster.local", "A").rcode

    seen = [status()]
    services.set("default/n", _service())
    seen.append(status())
    services.remove("default/n")
    seen.append(status())
    return Partly(seen[1] == "NOERROR", seen == ["NXDOMAIN", "NOERROR", "NXDOMAIN"])


def _service(**port: str) -> Object:
    return {
        "metadata": {"name": "n", "namespace": "default"},
        "spec": {
            "clusterIP": "10.96.7.7",
            "ports": [{"port": 80, "protocol": "TCP", **port}],
        },
    }


def _answerer(*services: Object) -> Answerer:
    return Answerer(KubernetesPlugin(ServiceIndex.of(services, [], ["default"])))
