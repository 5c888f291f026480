"""kube-proxy's rules for Services of every shape, held against a real kube-proxy, line
by line.

The real one ran in a network namespace that stood for a node. One Service after the
other was made, with endpoints here, there and nowhere, ready, going and gone; after
each, `iptables-save` was kept. Ours is given the same Service and endpoints.
"""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.proxy.iptables_rules import (
    Generate,
    compare_saved,
    generate_rules,
)
from lifecycle.api.http.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.proxy.iptables.owners import KUBE_PROXY, saved_lines

NODE, ADDRESS, ZONE = "lifecycle-worker", "172.19.0.3", "a"
OURSELVES: Object = {
    "metadata": {"name": NODE, "labels": {"topology.kubernetes.io/zone": ZONE}},
    "status": {"addresses": [{"type": "InternalIP", "address": ADDRESS}]},
}


def odd_services_agreement(
    programs: ProgramAnswers | None = None, generate: Generate = generate_rules
) -> AgreementTable:
    """A row for each Service. `programs`: what the real one wrote; None: as recorded.
    `generate`: judge this one instead of ours.
    """
    cases = asked(programs, "shapes")
    table = AgreementTable(
        "Rules for Services of every shape",
        "lifecycle",
        f"{cases[0].program}, in a network namespace",
        lambda table: (
            f"{len(cases)} Services, one after the other, on a node with a real"
            " kube-proxy: what `iptables-save` prints then, and what ours writes:"
            f" {table.outcome('sets of rules')}."
        ),
        telling="balanced, and asked for its health",
    )
    for each in cases:
        case = each.answer
        slices = [case["slice"]] if case["slice"] else []
        ours = generate([case["service"]], slices, OURSELVES)
        theirs = "\n".join(case["saved"])
        here, there = (_count(side) for side in (ours, theirs))
        what = each.question.partition("/")[2]
        table.add("shapes", what, here, there, compare_saved(ours, theirs))
    return table


def _count(saved: str) -> str:
    return f"{sum(line.owner == KUBE_PROXY for line in saved_lines(saved))} lines"


def bare(service: Object) -> Object:
    """A Service without what differs from run to run."""
    meta = {key: service["metadata"][key] for key in ("name", "namespace")}
    return {**service, "metadata": meta}
