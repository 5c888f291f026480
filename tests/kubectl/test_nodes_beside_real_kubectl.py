"""`cordon`, `uncordon`, `taint` and `drain`: the real kubectl 1.36 and ours say the same and do the same.

Each of the two has a node of its own, which no kubelet serves, and pods that are bound to it: what one of them does to it, the other does
not see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.kubectl.beside import Answer, Both

NODES = """apiVersion: v1
kind: Node
metadata: {name: WHO-node, labels: {of: WHO}}
status: {capacity: {pods: "9", cpu: "9", memory: 9Gi}, allocatable: {pods: "9", cpu: "9", memory: 9Gi}}
---
apiVersion: v1
kind: Node
metadata: {name: WHO-other, labels: {of: WHO}}
status: {capacity: {pods: "9", cpu: "9", memory: 9Gi}, allocatable: {pods: "9", cpu: "9", memory: 9Gi}}
"""
POD = """---
apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: WHO-pods, labels: {app: NAME}, annotations: ANNOTATIONS}
spec: {nodeName: WHO-node, tolerations: [{operator: Exists}], containers: [{name: c, image: "nginx:1"}], volumes: VOLUMES}
"""
SETS = """---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: everywhere, namespace: WHO-pods}
spec:
  selector: {matchLabels: {a: d}}
  template:
    metadata: {labels: {a: d}}
    spec: {nodeSelector: {of: WHO}, tolerations: [{operator: Exists}], containers: [{name: c, image: "nginx:1"}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: kept, namespace: WHO-pods}
spec: {minAvailable: 1, selector: {matchLabels: {app: kept}}}
"""


def pod(name: str, volumes: str = "[]", annotations: str = "{}") -> str:
    return POD.replace("NAME", name).replace("VOLUMES", volumes).replace("ANNOTATIONS", annotations)


OBJECTS = (
    NODES
    + SETS
    + pod("alone")
    + pod("scratch", "[{name: v, emptyDir: {}}]")
    + pod("mirror", annotations='{kubernetes.io/config.mirror: "1"}')
    + pod("kept")
)

MARKED = """
cordon
cordon nope
cordon WHO-node nope
cordon pod/lonely
cordon WHO-node pod/lonely
cordon a/b/c
cordon ''
cordon WHO-node -o yaml
cordon WHO-node -l of=WHO
cordon -l 'a b'
cordon -l of=nobody
cordon WHO-node --dry-run=client
cordon WHO-node --dry-run=server
cordon WHO-node --dry-run=bogus
cordon node/WHO-node
cordon WHO-node WHO-node
cordon -l of=WHO
uncordon
uncordon WHO-node --dry-run=server
uncordon WHO-node
uncordon WHO-node
uncordon -l of=WHO
""".strip().splitlines()

TAINTED = """
taint
taint nodes WHO-node
taint nodes a=b:NoSchedule
taint pods lonely a=b:NoSchedule
taint nope x a=b:NoSchedule
taint WHO-node a=b:NoSchedule
taint nodes/WHO-node a=b:NoSchedule
taint nodes WHO-node a=b
taint nodes WHO-node a=
taint nodes WHO-node a=b:Bogus
taint nodes WHO-node a=b:c:d
taint nodes WHO-node a=b=c:NoSchedule
taint nodes WHO-node 'a=b c:NoSchedule'
taint nodes WHO-node .a=b:NoSchedule
taint nodes WHO-node a=b:NoSchedule a=c:NoSchedule
taint nodes WHO-node a=b:NoSchedule a-
taint nodes WHO-node a=b:NoSchedule b=c:NoExecute a- b:NoExecute-
taint nodes WHO-node a=b:NoSchedule x
taint nodes WHO-node a=b:NoSchedule a:NoExecute-
taint nodes WHO-node a=b:NoSchedule --dry-run=client
taint nodes WHO-node a=b:NoSchedule --dry-run=server
taint nodes WHO-node a=b:NoSchedule --validate=bogus
taint nodes WHO-node a=b:NoSchedule -o bad
taint nodes WHO-node a=b:NoSchedule
taint nodes WHO-node a=b:NoSchedule
taint nodes WHO-node a=c:NoSchedule
taint nodes WHO-node a=c:NoSchedule --overwrite
taint nodes WHO-node b=c:NoSchedule a-
taint nodes WHO-node c:NoExecute
taint nodes WHO-node c:PreferNoSchedule
taint nodes WHO-node nope-
taint nodes WHO-node nope:NoSchedule- never-
taint nodes WHO-node WHO-other nope b-
taint nodes -l of=WHO d:NoSchedule
taint nodes -l of=WHO d- -o name
taint nodes -l of=nobody d:NoSchedule
taint nodes -l of=WHO --all d:NoSchedule
taint nodes WHO-node WHO-other e=f:PreferNoSchedule --dry-run=client -o jsonpath={.metadata.name}
get node WHO-node -o 'jsonpath={.spec.taints[?(@.key=="c")].effect}'
""".strip().splitlines()

DRAINED = """
drain
drain nope
drain WHO-node -l of=WHO
drain WHO-node --pod-selector='a b'
drain WHO-node --ignore-errors
drain WHO-node --timeout=x
drain WHO-node
drain WHO-node --ignore-daemonsets
drain WHO-node --force --delete-emptydir-data
drain WHO-node --force --delete-emptydir-data --ignore-daemonsets --dry-run=client
drain WHO-node --force --ignore-daemonsets
drain WHO-node --force --pod-selector=app=alone --dry-run=client
drain WHO-node --force --pod-selector=app=alone --dry-run=server
drain WHO-node WHO-other --pod-selector=app=scratch
drain WHO-node WHO-other
drain -l of=nobody
drain -l of=WHO --pod-selector=app=nobody
drain WHO-node --force --pod-selector=app=alone --grace-period=0
drain WHO-node --force --pod-selector=app=scratch --grace-period=0 --delete-emptydir-data
drain WHO-node --force --pod-selector=app=kept --grace-period=0 --disable-eviction --dry-run=client
drain WHO-node --force --pod-selector=app=kept --grace-period=0 --disable-eviction
drain WHO-node --force --ignore-daemonsets --chunk-size=1 --grace-period=0
get pods -n WHO-pods -o name
get node WHO-node -o jsonpath={.spec.unschedulable}
""".strip().splitlines()


def settled(answer: Answer, who: str) -> tuple[object, ...]:
    """Without whose it is, and the random end of the daemon's name; what upstream keeps in maps or does at the same time is sorted."""
    code, out, err = (
        re.sub(r"everywhere-\w{5}", "everywhere-<random>", str(part).replace(who, "WHO")) for part in answer
    )
    if "drain" in out + err or "evict" in out + err:
        return code, sorted(out.splitlines()), sorted(re.split(r"[\n\[\];,] *|(?<=Warning:) ", err))
    return code, out, err


@pytest.fixture(scope="module")
def nodes(both: Both) -> Iterator[Both]:
    yield from with_nodes(both)


def with_nodes(both: Both) -> Iterator[Both]:
    for who in ("real", "ours"):
        assert both.ours(f"create namespace {who}-pods")[0] == 0
        path = both.home / f"{who}-nodes.yaml"
        path.write_text(OBJECTS.replace("WHO", who))
        code, _, err = both.ours(f"create -f {path}")
        assert (code, err) == (0, "")
        assert both.real(f"wait pod -l a=d -n {who}-pods --for=condition=PodScheduled")[0] == 0
    yield both
    for who in ("real", "ours"):
        both.ours(f"delete node {who}-node {who}-other")
        both.ours(f"delete pods --all -n {who}-pods --force --grace-period=0")  # their nodes are of paper
        both.ours(f"delete namespace {who}-pods")  # and wait: a second try makes it anew


@pytest.mark.parametrize("lines", [MARKED, TAINTED, DRAINED], ids=["marked", "tainted", "drained"])
def test_the_two_say_the_same_in_turn(nodes: Both, lines: list[str]) -> None:
    wrong = []
    with ThreadPoolExecutor(1) as pool:
        for line in lines:
            asked = pool.submit(nodes.real, line.replace("WHO", "real"))
            ours = settled(nodes.ours(line.replace("WHO", "ours")), "ours")
            real = settled(asked.result(), "real")
            if real != ours:
                wrong.append((line, real, ours))
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)
