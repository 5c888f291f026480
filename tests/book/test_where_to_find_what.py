"""The list of systems tells the truth: each is there once, its modules exist, every chapter of a stage is led to,
and tells of the system in plain words."""

from __future__ import annotations

import re
from collections import Counter

import yaml

from tests.book.test_the_map import NO_STAGE
from tests.conftest import ROOT

ROW = re.compile(r"^\| (.+?) \| \[[^\]]+\]\(([a-z/-]+)\.md\) \| (.+) \|$", re.M)
PAGE = (ROOT / "book" / "where-to-find-what.md").read_text()
ROWS = ROW.findall(PAGE)
CODE = re.compile(r"^(`{3,}).*?^\1$", re.M | re.S)
SECTION = re.compile(r"^## (.+?)$(.*?)(?=^## |\Z)", re.M | re.S)
GONE = "*(then)*"
TERMS: dict[str, tuple[str, ...]] = {
    "The checks of arguments, flags and images": ("flag", "image", "mistake|check|refuse"),
    "Generators, `--generator` *(then)*": ("generator",),
    "`kubectl create deployment`": ("create deployment",),
    "The discovery client": ("discovery", "client"),
    "`--expose`, and the Service it makes": ("--expose", "Service"),
    "`--record` and the change cause": ("change-cause|change cause",),
    "The RESTMapper: from kinds to resources": ("RESTMapper",),
    "The discovery cache on disk": ("disk|folder", "cache"),
    "OpenAPI documents": ("OpenAPI", "schema"),
    "Field validation by the server": ("fieldValidation|field validation",),
    "kubeconfig: loading and merging": ("kubeconfig", "merge"),
    "Contexts, clusters, users, and flags over them": ("context", "flag"),
    "Client certificates and TLS": ("certificate", "TLS"),
    "Bearer tokens, sent": ("token",),
    "User name and password, sent": ("password",),
    "OIDC tokens and credential plugins": ("OIDC|OpenID|identity provider|cloud", "plugin|program"),
    "The request and its transport": ("request", "transport"),
    "Printers": ("print",),
    "The aggregation layer": ("aggregat", "APIService"),
    "The deadline of a request": ("deadline|timeout",),
    "Audit": ("audit", "stage|level"),
    "Impersonation": ("impersonat",),
    "Max in flight, priority and fairness": ("in flight|in-flight", "priority", "queue"),
    "The union of authenticators": ("authenticator", "first|one after"),
    "Client certificates, checked": ("certificate",),
    "The token file": ("token file|token-auth-file|file of tokens|static token",),
    "Passwords *(then)*": ("password",),
    "OIDC and JWT, checked": ("OIDC", "JWT"),
    "Service account tokens": ("service account",),
    "The anonymous user": ("anonymous",),
    "The user, kept with the request": ("user",),
    "The union of authorizers": ("authorizer",),
    "The webhook authorizer": ("webhook",),
    "The node authorizer": ("node authorizer|Node authorizer|the mode Node|`Node`",),
    "The chain of admission plugins": ("plugin", "mutat", "validat"),
    "InitialResources *(then)*": ("InitialResources",),
    "A list of allowed registries": ("ImagePolicyWebhook|allowed registries|registr",),
    "Webhooks and CEL policies": ("webhook", "CEL"),
    "Routes: the API installer": ("route", "installer"),
    "The create handler": ("create handler|handler", "decode|read"),
    "Key function, storage, hooks": ("key", "hook", "BeginCreate"),
    "etcd itself": ("etcd", "revision"),
    "Initializers *(then)*": ("initializer",),
    "Reflector: list and watch": ("reflector", "list", "watch"),
    "Store and indexers": ("store", "index"),
    "Event handlers": ("handler",),
    "The shared factory": ("factory",),
    "Listers": ("lister",),
    "The work queue": ("queue",),
    "The controller manager": ("controller manager", "lease|leader"),
    "The Deployment controller": ("deployment controller", "ReplicaSet"),
    "The ReplicaSet controller, slow start": ("ReplicaSet controller", "slow start|batch"),
    "Owner references and adoption": ("owner reference|ownerReference", "adopt"),
    "The scheduler's queue": ("queue", "backoff|back off", "unschedulable"),
    "Scheduling gates": ("scheduling gate|schedulingGates",),
    "Predicates *(then)*, filters": ("predicate", "filter"),
    "Does it fit?": ("request", "fit"),
    "Priorities *(then)*, scores": ("priorit", "score"),
    "The policy file *(then)*, profiles": ("policy", "profile"),
    "Schedulers of your own": ("schedulerName", "scheduler of your own", "extender", "profile"),
    "Bindings": ("binding",),
    "Pods from the API": ("watch", "API"),
    "Sources merged, updates on a channel": ("source", "channel|update"),
    "Pod workers and `syncPod`": ("worker", "syncPod|sync"),
    "News of containers (PLEG), relist, events": ("PLEG", "relist", "event"),
    "Start-up metrics": ("pod_start_sli_duration", "startup latency tracker"),
    "Admit handlers": ("admit", "handler|refuse"),
    "`NO_NEW_PRIVS` *(then)*": ("NO_NEW_PRIVS|no_new_privs|noNewPrivs|no new privileges",),
    "QoS and the pods' cgroups": ("QoS|quality of service", "cgroup"),
    "The pod's directories": ("director",),
    "Pull secrets": ("pull secret|imagePullSecrets",),
    "Status, phase, conditions": ("phase", "condition"),
    "Sync handlers, the active deadline": ("deadline",),
    "Dead containers taken away, their logs, and images": ("container", "image", "log"),
    "Init containers and sidecars": ("init container", "sidecar"),
    "Labels and annotations of containers": ("label", "annotation"),
    "Hooks": ("postStart", "preStop"),
    "Probes and readiness gates": ("probe", "readiness gate"),
    "CRI: protobuf over gRPC": ("CRI", "gRPC", "protobuf"),
    "`PullImage`": ("pull",),
    "`CreateContainer`": ("CreateContainer",),
    "Docker and dockershim *(then)*": ("dockershim|docker shim",),
    "rkt *(then)*": ("rkt",),
    "The pause container": ("pause",),
    "Namespaces of Linux": ("namespace",),
    "Cgroups of Linux": ("cgroup",),
    "CNI configuration": ("CNI", "configuration"),
    "CNI plugins as programs": ("plugin", "program"),
    "The bridge plugin and veth pairs": ("bridge plugin", "veth pair"),
    "A pod's `resolv.conf`": ("resolv.conf",),
    "IPAM: host-local": ("host-local",),
    "Each node's piece of the pod network": ("podCIDR|pod CIDR|piece",),
    "Overlays": ("overlay",),
    "Services and their addresses": ("Service", "IPAddress", "given an address"),
    "Endpoints and EndpointSlices": ("Endpoints", "EndpointSlice", "hint"),
    "kube-proxy": ("kube-proxy", "iptables", "conntrack"),
    "Cluster DNS": ("CoreDNS", "NXDOMAIN", "SRV"),
}
"""What a chapter has to say in plain words to tell of a system; `|` stands between words of which one is enough. A system that is
not listed has to be called by its name.
"""


def test_each_system_stands_there_once() -> None:
    assert len(ROWS) == 118
    assert [name for name, count in Counter(name for name, _, _ in ROWS).items() if count > 1] == []


def test_every_module_that_is_named_exists() -> None:
    named = {path for _, _, modules in ROWS for path in re.findall(r"`([^`]+)`", modules)}
    assert len(named) > 116
    assert [path for path in sorted(named) if not (ROOT / "src" / "lifecycle" / path).is_file()] == []


def test_every_chapter_is_led_to() -> None:
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    chapters = {c["file"].removeprefix("book/") for p in parts if p["caption"] not in NO_STAGE for c in p["chapters"]}
    assert chapters == set(re.findall(r"\]\(([a-z/-]+)\.md\)", PAGE))


def plain_words(chapter: str, *, of_the_past: bool = False) -> str:
    """A chapter's headings and prose: no code, no sources, and what changed only if the system is gone."""
    page = CODE.sub("", (ROOT / "book" / f"{chapter}.md").read_text())
    left_out = ("Sources",) if of_the_past else ("Sources", "What changed")
    told = [head + body for head, body in SECTION.findall(page) if not head.startswith(left_out)]
    return page.partition("\n## ")[0].rpartition("\n---\n")[2] + "\n".join(told)


def terms_of(system: str) -> tuple[str, ...]:
    named = re.sub(r"^(The|A|An) ", "", system.replace(GONE, "").replace("`", "").strip())
    return TERMS.get(system, (re.escape(named),))


def missing(system: str, chapter: str) -> list[str]:
    words = plain_words(chapter, of_the_past=GONE in system)
    return [term for term in terms_of(system) if not re.search(term, words, re.I)]


def test_the_chapter_that_is_named_tells_of_the_system() -> None:
    untold = {system: missing(system, chapter) for system, chapter, _ in ROWS}
    assert {system: terms for system, terms in untold.items() if terms} == {}


def test_a_word_in_code_alone_is_not_told() -> None:
    """`num_feasible_nodes_to_find` is quoted in the chapter on scale, and stands in its sources; its prose does not say it."""
    page = (ROOT / "book" / "wrap-up" / "at-scale.md").read_text()
    assert "num_feasible_nodes_to_find" in page
    assert "num_feasible_nodes_to_find" not in plain_words("wrap-up/at-scale")
    assert "startup latency tracker" in plain_words("wrap-up/at-scale")


def test_no_terms_are_kept_for_a_system_that_has_no_row() -> None:
    assert set(TERMS) - {name for name, _, _ in ROWS} == set()
