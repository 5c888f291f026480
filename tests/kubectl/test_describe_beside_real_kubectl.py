"""`describe`, asked of the real kubectl 1.36 and of ours at the same second: byte by byte the same text, ages and all.

The cluster is the same for both, and it moves: an answer may be another one a moment later. So ours is asked on clocks that
stand where the real one's may have stood, and both again if something happened in between.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import time
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from lifecycle.kubectl.describe import moments
from tests.kubectl.beside import Answer, Both
from tests.kubectl.tape import DESCRIBED, Tape
from tests.kubectl.test_beside_real_kubectl import said

MANIFESTS = Path(__file__).parent / "described"
NAMESPACE = "journey"
PODS = "everything volumes too-big no-image not-ready no-config done failed crashing leaving as-a-whole eventful"

LINES = [
    *(f"describe pod {name}" for name in PODS.split()),
    *(f"describe {line}" for line in """
pods -n bounded
rc,ds,sts
pods -A -l app=old
pods -l app=rolled
pod everything --show-events=false
pod crash
pod l --show-events
po/done cm/settings svc/web
deploy rolled
deploy stuck
deploy recreated
deploy
rs
rs -l app=rolled --show-events
rc old
ds everywhere
sts keeping
job counted
job hopeless
cj nightly
cj paused
hpa scaling
pdb careful
pdb everybody
priorityclass high
priorityclass system-node-critical
svc web
svc headless
svc unready
svc balanced
svc outside
svc kubernetes -n default
svc -A
endpoints by-hand
endpointslice slice-by-hand
endpointslices
ingressclass front
ingress way-in
ingress all-the-same
netpol walls
netpol closed
servicecidr kubernetes
ipaddresses
cm settings
cm nothing
cm
secret hidden
secret a-token
sa pulling
sa default
ns bounded
ns default
quota -n bounded
limits -n bounded
quota first -n bounded
pvc
pvc data-keeping-0
pv volume
pv
sc
sc fast
sc plain
volumeattributesclass gold
csinode driven
csinodes
clusterrole mixed
clusterrole system:node
clusterrole system:controller:d
clusterrolebinding mixed
role reader -n bounded
rolebinding reader -n bounded
role -A
rolebindings -A
csr
csr asked
thing odd
things
crd things.example.com
controllerrevisions
event as-a-whole
lease -n kube-node-lease
apiservices
flowschemas
nodes
node lifecycle-worker
node lifecycle-control-plane
pod nope
pod nope nada
pod nope nada everything
pods,svc nope
pod,svc web
pods,deploy rolled
svc,pods web
nope
nope x
nope.example.com x
pod/nope
pod/nope svc/web
svc/web pod/nope
svc/web pod/nope pod/nada
pod everything extra/x
pod everything -A
pod everything -l app=web
pods -l nothing=here
nodes -l nothing=here
pods -l 'bad selector='
pods -n nowhere
pod x -n nowhere
pods -A -l nothing=here
-l app=web

-f HOME/none.yaml
-f HOME/settings.yaml
-f HOME/settings.yaml pods
-f described/things.yaml
pods --nonsense
pods --chunk-size=1 -l app=rolled
pods --chunk-size=x
secrets --as=nobody
secret hidden --as=nobody
pod everything --as=nobody
node lifecycle-worker --as=looker
deploy recreated --as=looker
rs recreated-5d6dd85544 --as=looker
ds everywhere --as=looker
svc web --as=looker
pvc data-keeping-0 --as=looker
ns bounded --as=looker
cm settings --as=looker
ingress way-in --as=looker
pod,svc,ds everywhere --as=looker
""".strip("\n").splitlines()),
]  # fmt: skip


def whole(line: str) -> str:
    """The line, in the journey's namespace if it names no other."""
    words = line.replace("described/", f"{MANIFESTS}/")
    return words if "-n " in line else f"{words} -n {NAMESPACE}"


class PinnedClock:
    """A clock that stands."""

    def __init__(self, now: float) -> None:
        self._now = now

    def now(self) -> float:
        return self._now


def same(both: Both, line: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Answer, Answer]:
    """What both say to a line at one moment; the nearest miss if they never agree."""
    real = ours = (0, "", "")
    for _ in range(2):
        begun = time.time()
        real = both.real(line)
        took = time.time() - begun
        for step in range(int(took / 0.1) + 2):
            monkeypatch.setattr(moments, "Clock", lambda now=begun + took - 0.1 * step: PinnedClock(now))
            ours = both.ours(line)
            if ours == real:
                return real, ours
    return real, ours


def signing_request() -> str:
    """A CertificateSigningRequest with everything in it that a description shows."""
    names = [
        (NameOID.COMMON_NAME, "jane"),
        (NameOID.ORGANIZATION_NAME, "a"),
        (NameOID.ORGANIZATION_NAME, "b"),
        (NameOID.COUNTRY_NAME, "DE"),
    ]
    subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in names])
    others = x509.SubjectAlternativeName(
        [
            x509.DNSName("a.example.com"),
            x509.DNSName("b.example.com"),
            x509.RFC822Name("a@example.com"),
            x509.IPAddress(ip_address("192.0.2.1")),
            x509.UniformResourceIdentifier("spiffe://a/b"),
        ]
    )
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject).add_extension(others, critical=False)
    signed = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    spec = {
        "signerName": "kubernetes.io/kube-apiserver-client",
        "expirationSeconds": 86400,
        "usages": ["client auth"],
        "request": base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode(),
    }
    kind = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    return json.dumps({**kind, "metadata": {"name": "asked", "labels": {"a": "b"}}, "spec": spec})


def many_events(pod: str, uid: str) -> str:
    """Events of few different seconds: which of them comes first is Go's sorting's business."""
    items = []
    for number in range(90):
        moment = f"2020-01-01T00:00:{number * 7 % 11:02}Z"
        about = {"kind": "Pod", "name": pod, "namespace": NAMESPACE, "uid": uid}
        times = {"firstTimestamp": moment, "lastTimestamp": moment, "count": 1 + number % 2}
        meta = {"name": f"{pod}.{number:04}"}
        said_so = {"type": "Normal", "reason": f"R{number}", "message": " m\tn ", "source": {"component": "x"}}
        kind = {"apiVersion": "v1", "kind": "Event"}
        items.append({**kind, "metadata": meta, "involvedObject": about, **times, **said_so})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


WAITED_FOR = """
pod/everything {.status.containerStatuses[1].started}=true
pod/no-image {.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff
pod/not-ready {.status.phase}=Running
pod/no-config {.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError
pod/done {.status.phase}=Succeeded
pod/failed {.status.phase}=Failed
pod/crashing {.status.containerStatuses[0].lastState.terminated.reason}=Error
pod/leaving {.status.phase}=Running
pod/as-a-whole {.status.phase}=Running
job/counted {.status.succeeded}=3
job/hopeless {.status.failed}=1
deploy/stuck {.status.unavailableReplicas}=2
sts/keeping {.status.replicas}=1
""".strip().splitlines()


@pytest.fixture(scope="module")
def journey(both: Both) -> Both:
    """Everything that is described: made, and come to be what it will be."""

    def run(line: str, *, real: bool = False) -> None:
        code, _, err = (both.real if real else both.ours)(f"{line} -n {NAMESPACE}")
        assert code == 0, (line, err)

    (both.home / "csr.json").write_text(signing_request())
    assert both.ours(f"create -f {MANIFESTS / 'cluster.yaml'} -f {both.home / 'csr.json'}")[0] == 0
    run(f"create namespace {NAMESPACE}")
    for name in ("pods", "network", "workloads"):
        run(f"create -f {MANIFESTS / name}.yaml")
    run("rollout status deployment rolled")
    run("set image deployment rolled web=nginx:1.27")
    run("rollout status deployment rolled")
    run(f"create -f {MANIFESTS / 'things.yaml'}")
    for line in WAITED_FOR:
        run(f"wait --timeout=60s --for=jsonpath={line.split()[1]} {line.split()[0]}", real=True)
    run("delete pod leaving --wait=false")
    return both


@pytest.mark.parametrize("line", LINES)
def test_both_say_the_same(journey: Both, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, ours = same(journey, whole(line), monkeypatch)
    assert ours == real
    while os.environ.get("RECORD_KUBECTL") and not kept(journey, line, real):  # something happened in between
        real, _ = same(journey, whole(line), monkeypatch)


def kept(both: Both, line: str, real: Answer) -> bool:
    """Whether the server said the same once more, and the real one's answer is on the tape with it. The clock stands."""
    said, recorder = both.ours_on_tape(whole(line))
    if said == real:
        tape = Tape(DESCRIBED)
        argv = shlex.split(whole(line).replace(str(MANIFESTS), "HOME/described"))
        spoken = [part.replace(str(both.home), "HOME") for part in map(str, real)]
        tape.add(line, argv, moments.Clock().now(), spoken, recorder)
        tape.write()
    return said == real


SEEN = {
    "pod no-image": ["ImagePullBackOff", "BackOff", "Failed to pull image", " (x"],
    "pod crashing": ["Last State:", "Restart Count:", "Back-off restarting", " (x"],
    "pod too-big": ["FailedScheduling", "Insufficient cpu", "Node:             <none>"],
    "pod leaving": ["Terminating (lasts ", "Termination Grace Period:"],
    "pod not-ready": ["Unhealthy", "Readiness probe failed"],
    "pod everything": ["Init Containers:", "spec.containers{main}: Container started", "Init Containers:"],
    "deploy rolled": ["5 updated", "OldReplicaSets:  rolled-", "ScalingReplicaSet", "from 0 to "],
    "node lifecycle-worker": ["Allocated resources:", "journey", "KubeletReady", "(0%)"],
    "svc web": [":80,", " + 2 more...", "TargetPort:               http/TCP"],
    "svc unready": ["Endpoints:  "],
    "hpa scaling": ["<unknown> / 50%", "FailedGetResourceMetric"],
}
"""What a description is to show, lest everything be the same because there is nothing in it."""


@pytest.mark.parametrize("line", SEEN)
def test_there_is_something_to_say(journey: Both, line: str) -> None:
    code, out, _ = journey.ours(whole(f"describe {line}"))
    assert code == 0
    assert [words for words in SEEN[line] if words not in out] == [], out


TRACED = """
describe pod as-a-whole
describe pods -l app=rolled
describe deploy recreated
describe svc web
describe node lifecycle-worker
describe ns bounded
describe cm settings
describe thing odd
describe pod nope
describe pvc
""".strip().splitlines()


@pytest.mark.parametrize("line", TRACED)
def test_both_ask_the_server_the_same(journey: Both, line: str) -> None:
    """Which fields an event selector names first is chance with the real one."""
    real, ours = (said(ask(f"{whole(line)} -v=8")[2]) for ask in (journey.real, journey.ours))
    assert [in_order(each) for each in ours] == [in_order(each) for each in real]


def in_order(request: str) -> str:
    """A request with the terms of its field selector sorted."""
    return re.sub(r"(?<=fieldSelector=)[^&\" ]+", lambda terms: ",".join(sorted(terms[0].split("%2C"))), request)
