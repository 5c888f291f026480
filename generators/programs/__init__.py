"""`recordings/programs-<version>/*.jsonl`: what Kubernetes' own programs answer when
they are asked directly.

Each module asks about one part of the journey and yields `Answer`s. The programs run on
loopback, on free ports, without a node: etcd, an API server for each set of flags that
is asked about, a controller manager, schedulers, a kubelet whose container runtime is
ours, kubectls of two versions, CNI plugins. What they answer is reduced to what the
question is about, with nothing in it that differs from run to run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from generators.programs import (
    addresses,
    admitted,
    aggregated,
    answering,
    api_server,
    audited,
    bounded,
    chosen,
    collected,
    configured,
    controllers,
    cpus,
    credentials,
    decisions,
    entitled,
    evicted,
    flags,
    forwarded,
    identity,
    informed,
    introduced,
    kubeconfigs,
    kubectl,
    leaders,
    mounted,
    names,
    plugins,
    probed,
    proxied,
    pulled,
    queued,
    resized,
    retries,
    rolled,
    sampled,
    scheduling,
    schemas,
    scored,
    telling,
    troubled,
    weighed,
)
from generators.programs.answer import lines
from generators.programs.control_plane import ControlPlane

KUBECTLS = {"1.36.2": "kubectl-1.36", "1.20.2": "kubectl-1.20"}
CNI = Path("/usr/lib/cni")
ASKED_OF_A_NODE = (
    ("admitted", admitted.answers, "pods that come to a node, and their cgroups"),
    ("collected", collected.answers, "images on a full disk"),
    ("configured", configured.answers, "what a runtime is told"),
    ("cpus", cpus.answers, "CPUs"),
    ("evicted", evicted.answers, "a lack of memory"),
    ("mounted", mounted.answers, "volumes"),
    ("probed", probed.answers, "probes"),
    ("pulled", pulled.answers, "pull secrets"),
    ("resized", resized.answers, "pods that are resized"),
    ("troubled", troubled.answers, "a runtime that fails"),
)
"""What a kubelet is asked, by file: it needs root."""


def generate(programs: Path, kubectls: Path) -> Iterator[tuple[str, bytes]]:
    """Files by their path below `recordings`. `programs`: the folder of Kubernetes'
    own; `kubectls`: one with kubectl-1.36 and kubectl-1.20, each of which is left out
    if it is not there, as are the CNI plugins where nobody is root.
    """
    ours, newest = "Kubernetes 1.36.2's own programs", "programs-1.36.2"
    yield f"{newest}/flags.jsonl", lines(flags.answers(programs), "flags", ours)
    with ControlPlane(programs) as plane:
        server = plane.api_server("main")
        yield (
            f"{newest}/rolled.jsonl",
            lines(rolled.answers(plane, server), "roll-outs set up by hand", ours),
        )
        yield (
            f"{newest}/chosen.jsonl",
            lines(chosen.answers(plane, server), "pods that go first", ours),
        )
        about = "deployments, replica sets and owners"
        yield (
            f"{newest}/controllers.jsonl",
            lines(controllers.answers(plane, server), about, ours),
        )
        yield (
            f"{newest}/informed.jsonl",
            lines(informed.answers(plane, server), "how informers ask", ours),
        )
        for name, answers, about in (
            ("names", names.answers(server), "the names of ReplicaSets"),
            ("api-server", api_server.answers(plane, server), "requests"),
            ("identity", identity.answers(plane, server), "who may do what"),
            ("scheduling", scheduling.answers(plane, server), "scheduling"),
            ("scored", scored.answers(plane, server), "what nodes are worth"),
            ("entitled", entitled.answers(server), "who is entitled to what"),
            ("bounded", bounded.answers(server), "values on both sides of a bound"),
            ("weighed", weighed.answers(plane), "how much work a request is"),
            ("introduced", introduced.answers(plane), "who one is said to be"),
            ("answering", answering.answers(plane), "added servers that answer"),
        ):
            yield f"{newest}/{name}.jsonl", lines(answers, about, ours)
        yield (
            f"{newest}/aggregated.jsonl",
            lines(aggregated.answers(plane), "added servers", ours),
        )
        about = "who asks, by an added server"
        yield (
            f"{newest}/forwarded.jsonl",
            lines(forwarded.answers(plane), about, ours),
        )
        yield (
            f"{newest}/audited.jsonl",
            lines(audited.answers(plane), "the audit log", ours),
        )
        yield (
            f"{newest}/sampled.jsonl",
            lines(sampled.answers(plane, server), "many nodes", ours),
        )
        yield (
            f"{newest}/queued.jsonl",
            lines(queued.answers(plane), "few seats", ours),
        )
        for name, asked, about in ASKED_OF_A_NODE if os.geteuid() == 0 else ():
            answers = asked(server, programs)
            yield f"{newest}/{name}.jsonl", lines(answers, about, ours)
        about = "decisions that need no pod"
        yield (
            f"{newest}/decisions.jsonl",
            lines(decisions.answers(server), about, ours),
        )
        about = "who leads"
        yield (
            f"{newest}/leaders.jsonl",
            lines(leaders.answers(plane, server), about, ours),
        )
        for version, name in KUBECTLS.items():
            typed = kubectls / name
            if not typed.exists():
                continue
            folder = f"programs-{version}"
            which = f"{kubectl.version_of(typed)} in front of kube-apiserver 1.36.2"
            yield (
                f"{folder}/kubectl.jsonl",
                lines(kubectl.answers(typed, server), "what is typed", which),
            )
            if folder == newest:
                yield (
                    f"{folder}/telling.jsonl",
                    lines(telling.answers(typed), "what they send and tell", which),
                )
                yield (
                    f"{folder}/kubeconfigs.jsonl",
                    lines(kubeconfigs.answers(typed), "kubeconfig files", which),
                )
                about = "the published schemas"
                yield (
                    f"{folder}/retries.jsonl",
                    lines(retries.answers(typed), "servers that put them off", which),
                )
                yield (
                    f"{folder}/schemas.jsonl",
                    lines(schemas.answers(typed, server), about, which),
                )
            yield (
                f"{folder}/credentials.jsonl",
                lines(credentials.answers(typed), "credentials", which),
            )
    if os.geteuid() == 0:
        with ControlPlane(programs) as plane:
            yield (
                f"{newest}/proxied.jsonl",
                lines(proxied.answers(plane, programs), "Services' rules", ours),
            )
    if CNI.is_dir() and os.geteuid() == 0:
        about = "the bridge and its addresses"
        yield (
            f"{newest}/cni.jsonl",
            lines(plugins.answers(CNI), about, plugins.version_of()),
        )
        who, about = plugins.version_of(), "gateways, and whose turn an address is"
        yield (
            f"{newest}/addresses.jsonl",
            lines(addresses.answers(CNI, who), about, who),
        )
