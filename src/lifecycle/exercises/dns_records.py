"""Cluster DNS: which records does a name have?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lifecycle.agreements.dns_answers import DigAnswer, as_dug, parse_dig
from lifecycle.agreements.proxy.iptables_rules import recorded_objects
from lifecycle.api.http.wire import Object
from lifecycle.dns.answering import Answerer
from lifecycle.dns.kubernetes_plugin import KubernetesPlugin
from lifecycle.dns.service_index import ServiceIndex
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
records(name, type, cluster) -> list of str

name:    the question, fully qualified: "web.shop.svc.cluster.local.". type: "A",
        "AAAA", "SRV", "PTR", "CNAME", "TXT" …
cluster: {"services": [...], "endpointSlices": [...], "namespaces": [names]}, objects
        as the API shows them.
Returns the records of the answer section, in any order, each as dig prints it with
single spaces and without the time to live: "web.shop.svc.cluster.local. IN A
10.96.0.7". An empty list where there are none."""

STARTER = '''\
def records(name, type, cluster):
    """The answer section: what the cluster's DNS says of a name."""
    found = []
    for service in cluster["services"]:
        meta = service["metadata"]
        if (
            name == f"{meta['name']}.{meta['namespace']}.svc.cluster.local."
            and type == "A"
        ):
            found += [
                f"{name} IN A {ip}" for ip in service["spec"].get("clusterIPs", [])
            ]
    return found
'''

OURSELVES = ("cluster.local.", "in-addr.arpa.", "ip6.arpa.")


def cases() -> Iterator[Case]:
    """The recorded questions about names of the cluster, and some about a small one."""
    recording = open_recording()
    services, slices = recorded_objects(recording, "services")
    namespaces = {obj["metadata"]["namespace"] for obj in (*services, *slices)}
    for exchange in recording.exchanges("objects"):
        if exchange.method == "GET" and exchange.path == "/api/v1/namespaces":
            namespaces |= {
                item["metadata"]["name"] for item in exchange.response["items"]
            }
    cluster = {
        "services": services,
        "endpointSlices": slices,
        "namespaces": sorted(namespaces),
    }
    for query in parse_dig(recording.dns("svc")):
        name = f"{query.name.rstrip('.')}."
        if (
            name.endswith(OURSELVES) and query.type != "SOA"
        ):  # whose serial number is the time of day
            ask = _ask(name, query.type, cluster)
            yield Case(
                query.type,
                name,
                _expected(query),
                ask,
                cluster,
                {"name": name, "type": query.type},
            )
    answers = ours()
    for name, question in SMALL_QUESTIONS:
        expected = sorted(answers(name, question, SMALL))
        question_inputs = {"name": name, "type": question, "cluster": SMALL}
        yield Case(
            "a small cluster",
            f"{question} {name}",
            expected,
            _ask(name, question, SMALL),
            SMALL,
            question_inputs,
        )


def _service(name: str, ips: list[str], *ports: Object) -> Object:
    spec = {
        "type": "ClusterIP",
        "clusterIP": ips[0],
        "clusterIPs": ips,
        "ports": list(ports),
    }
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def _slice(name: str, family: str, endpoints: list[Object], *ports: Object) -> Object:
    labels = {"kubernetes.io/service-name": name}
    meta = {"name": f"{name}-{family.lower()}", "namespace": "shop", "labels": labels}
    return {
        "metadata": meta,
        "addressType": family,
        "endpoints": endpoints,
        "ports": list(ports),
    }


HTTP: Object = {"name": "http", "protocol": "TCP", "port": 80}
TALK: Object = {"name": "talk", "protocol": "UDP", "port": 53}
READY: Object = {"ready": True}
SQL: Object = {"name": "sql", "protocol": "TCP", "port": 5432}
SMALL: Object = {
    "namespaces": ["default", "shop"],
    "services": [
        _service("both", ["10.96.0.7", "fd00:10:96::7"], HTTP),
        _service("web", ["10.96.0.8"], HTTP, TALK),
        _service("db", ["None"], SQL),
        _service("six", ["None"], SQL),
        _service("lonely", ["None"], HTTP),
    ],
    "endpointSlices": [
        _slice(
            "web",
            "IPv4",
            [{"addresses": ["10.244.1.2"], "conditions": READY}],
            HTTP,
            TALK,
        ),
        _slice(
            "db",
            "IPv4",
            [
                {"addresses": ["10.244.1.3"], "conditions": READY, "hostname": "db-0"},
                {
                    "addresses": ["10.244.1.4"],
                    "conditions": {"ready": False},
                    "hostname": "db-1",
                },
                {"addresses": ["10.244.1.5"], "conditions": READY},
            ],
            SQL,
        ),
        _slice(
            "six",
            "IPv6",
            [
                {
                    "addresses": ["fd00:10:244::3"],
                    "conditions": READY,
                    "hostname": "six-0",
                }
            ],
            SQL,
        ),
        _slice(
            "lonely",
            "IPv4",
            [{"addresses": ["10.244.1.6"], "conditions": {"ready": False}}],
            HTTP,
        ),
    ],
}
"""Two families, UDP, host names and a pod that is not ready: the recorded questions are
of one family, and of TCP.
"""
_BELOW = "shop.svc.cluster.local."
SMALL_QUESTIONS = [
    *(
        (f"{name}.{_BELOW}", kind)
        for name in ("both", "web", "db", "six", "lonely", "nobody")
        for kind in ("A", "AAAA")
    ),
    *((f"{name}.{_BELOW}", "SRV") for name in ("web", "db", "six", "lonely", "nobody")),
    *(
        (f"{name}.db.{_BELOW}", "A")
        for name in ("db-0", "db-1", "10-244-1-5", "10-244-1-3")
    ),
    *((f"six-0.six.{_BELOW}", kind) for kind in ("A", "AAAA")),
    *(
        (f"{port}.web.{_BELOW}", "SRV")
        for port in ("_http._tcp", "_talk._udp", "_talk._tcp", "_http._udp")
    ),
    (f"_sql._tcp.db.{_BELOW}", "SRV"),
    ("10-244-1-2.shop.pod.cluster.local.", "A"),
    ("10-244-1-2.nowhere.pod.cluster.local.", "A"),
    ("both.nowhere.svc.cluster.local.", "A"),
    ("7.0.96.10.in-addr.arpa.", "PTR"),
    ("3.1.244.10.in-addr.arpa.", "PTR"),
    ("4.1.244.10.in-addr.arpa.", "PTR"),
]


def _expected(query: DigAnswer) -> list[str]:
    return sorted(_without_ttl(record) for record in query.sections["answer"])


def _without_ttl(record: str) -> str:
    name, _ttl, *rest = record.split()
    return " ".join((name, *rest))


def _ask(name: str, question: str, cluster: Object) -> Callable[[Attempt], list[str]]:
    return lambda records: sorted(records(name, question, cluster))


@dataclass(slots=True)
class _Ours:
    """The book's DNS, made once for each cluster it is handed."""

    answerers: dict[int, Answerer]

    def __call__(self, name: str, question: str, cluster: Object) -> list[str]:
        if id(cluster) not in self.answerers:
            index = ServiceIndex.of(
                cluster["services"], cluster["endpointSlices"], cluster["namespaces"]
            )
            self.answerers[id(cluster)] = Answerer(KubernetesPlugin(index))
        return [
            _without_ttl(as_dug(record))
            for record in self.answerers[id(cluster)].answer(name, question).answer
        ]


def ours() -> Attempt:
    """The book's."""
    return _Ours({})


EXERCISE = Exercise(
    "dns-records",
    "Cluster DNS",
    CONTRACT,
    STARTER,
    "dig against the recorded CoreDNS",
    cases,
    ours,
    ("dns",),
)
