"""`logs`: the real kubectl 1.36 and ours print the same, of the same containers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.kubectl.beside import Answer, Both

OBJECTS = """apiVersion: v1
kind: Pod
metadata: {name: talks, namespace: talk, labels: {app: talks}}
spec:
  restartPolicy: Never
  initContainers: [{name: first, image: busybox, command: [sh, -c, "echo prepared"]}]
  containers:
  - {name: one, image: busybox, command: [sh, -c, "echo eins; echo zwei; echo drei"]}
  - {name: two, image: busybox, command: [sh, -c, "printf unended"]}
---
apiVersion: v1
kind: Pod
metadata: {name: chosen, namespace: talk, labels: {app: chosen}, annotations: {kubectl.kubernetes.io/default-container: b}}
spec:
  restartPolicy: Never
  containers:
  - {name: a, image: busybox, command: [sh, -c, "echo a"]}
  - {name: b, image: busybox, command: [sh, -c, "echo b"]}
---
apiVersion: v1
kind: Pod
metadata: {name: wrong, namespace: talk, annotations: {kubectl.kubernetes.io/default-container: nope}}
spec: {restartPolicy: Never, containers: [{name: a, image: busybox, command: [sh, -c, "echo a"]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: nowhere, namespace: talk}
spec: {nodeSelector: {no: "where"}, containers: [{name: a, image: busybox}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: many, namespace: talk}
spec:
  replicas: 3
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec:
      containers:
      - name: c
        image: busybox
        command: [sh, -c, "i=0; while [ $i -lt 12 ]; do i=$((i+1)); echo line $i; done; sleep 9999"]
---
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: talk}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox, command: [echo, done]}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: bare, namespace: talk}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: front, namespace: talk}
spec: {ports: [{port: 80}], selector: {app: chosen}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: none, namespace: talk}
spec:
  replicas: 0
  selector: {matchLabels: {app: none}}
  template: {metadata: {labels: {app: none}}, spec: {containers: [{name: c, image: busybox}]}}
"""

LINES = [
    line + " -n talk"
    for line in """
logs
logs nope
logs deploy/nope
logs nope/x
logs a/b/c
logs ''
logs talks one two
logs talks -l app=talks
logs talks
logs talks one
logs talks two
logs talks -c first
logs talks -c nope
logs talks one -c two
logs talks --all-containers
logs talks --all-containers -c one
logs talks --all-containers --prefix
logs pod/talks -c one --prefix --tail=1
logs talks -c one --tail=0
logs talks -c one --tail=-2
logs talks -c one --tail=x
logs talks -c one --limit-bytes=7
logs talks -c one --limit-bytes=-1
logs talks -c one --since=1h
logs talks -c one --since=-1h
logs talks -c one --since=300ms
logs talks -c one --since=x
logs talks -c one --since-time=2020-01-01T00:00:00Z
logs talks -c one --since-time=2999-01-01T00:00:00+02:00
logs talks -c one --since-time=yesterday
logs talks -c one --since-time=2020-01-01
logs talks -c one --since-time=2020-13-01T00:00:00Z
logs talks -c one --since-time=2020-01-01T00:00:00Z --since=1h
logs talks -c one --timestamps
logs talks -c one -p
logs talks -c one -f
logs talks -f --all-containers --ignore-errors --max-log-requests=2
logs talks -c one --pod-running-timeout=0
logs talks -c one --insecure-skip-tls-verify-backend
logs chosen
logs chosen -c a
logs wrong
logs nowhere
logs nowhere -c x
logs deploy/many --tail=1
logs deploy/many --all-pods --tail=1
logs rs -l app=many
logs -l app=many
logs -l app=many --tail=1 --prefix
logs -l app=many --tail=-1
logs -l app=nope
logs -l 'a b'
logs -l app=many -f --max-log-requests=2
logs -l app=many -p
logs -l app=many -p --ignore-errors
logs job/work
logs svc/front
logs svc/bare
logs cm/kube-root-ca.crt
logs rs/none --pod-running-timeout=100ms
logs deploy many
""".strip().splitlines()
]


def settled(answer: Answer, who: str = "") -> tuple[object, ...]:
    """Without times and the random ends of names. What is one of several, or several in upstream's random order, is sorted.

    A container whose last word has no line break is followed at once by whichever comes next.
    """
    code, out, err = answer
    out = out.replace("unended", "unended\n").replace("unended\n\n", "unended\n")
    names = r"\b(many-\w+-|work-)\w{5}\b"
    out, err = (re.sub(names, r"\1<random>", text) for text in (out, err))
    out = re.sub(r"(?m)^(\[.*?\] )?\d{4}-\d\d-\d\dT[\d:.]+Z ", r"\1<time> ", out)
    return code, sorted(out.splitlines()), re.sub(r"many-\w+-", "many-", err)


@pytest.fixture(scope="module")
def pods(both: Both) -> Iterator[Both]:
    yield from with_pods(both)


def with_pods(both: Both) -> Iterator[Both]:
    (both.home / "talk.yaml").write_text(OBJECTS)
    assert both.ours("create namespace talk")[0] == 0
    assert both.ours(f"create -f {both.home}/talk.yaml")[0] == 0
    done = "pod/talks pod/chosen pod/wrong --for=jsonpath={.status.phase}=Succeeded"
    for what in (done, "job/work --for=condition=Complete", "deploy/many --for=condition=Available"):
        code, _, err = both.real(f"wait -n talk {what}")
        assert (code, err) == (0, "")
    yield both
    both.ours("delete deploy,pods --all -n talk --grace-period=0 --force")
    both.ours("delete namespace talk --wait=false")


def test_the_same_lines_are_printed(pods: Both) -> None:
    answers = pods.ahead(LINES)
    asked = [(line, settled(answers[line].result()), settled(pods.ours(line))) for line in LINES]
    wrong = [each for each in asked if each[1] != each[2]]
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)
