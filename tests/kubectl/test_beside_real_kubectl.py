"""The same lines typed into the real kubectl 1.36 and into ours, against the same server: letter by letter the same answer."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path

import pytest

from lifecycle.agreements.kubectl.printed import shown
from tests.kubectl.beside import Answer, Both, tidy

READ = """
get pods
get po -o wide
get pods --show-labels
get pods -L app,tier
get pods -L app --show-labels -o wide
get pods --no-headers
get pods -A
get pods,svc
get all
get nodes
get node -o wide
get ns
get deploy web
get deployment/web svc/web
get deployments.v1.apps web
get deploy.v9.apps web -o jsonpath={.apiVersion}
get po.v9. lonely -o name
get deploy.v1 web
get deployments.apps
get deploy web -o yaml
get deploy web -o json
get deploy -o yaml
get deploy web -o yaml --show-managed-fields
get pods -o name
get pods -l app=web -o name
get pods -l 'app in (web),tier!=back' -o name
get pods --field-selector status.phase=Running -o name
get pods --field-selector metadata.name=lonely
get pods --chunk-size=1
get pods --sort-by=.metadata.name
get nodes --sort-by=.metadata.creationTimestamp
get pods --sort-by=metadata.name -o name
get pods --sort-by=.nope
get pods,svc --sort-by=.metadata.name
get pods -o jsonpath={.items[*].metadata.name}
get pods -o 'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}'
get pods -o 'jsonpath={.items[?(@.metadata.labels.tier=="back")].metadata.name}'
get pods -o jsonpath={.items[0].metadata.labels}
get pods -o jsonpath={.items[0:2].metadata.name}
get pods -o jsonpath={.items[-1].spec.containers[0].image}
get pods -o jsonpath={.items[9].metadata.name}
get pods -o jsonpath={.items[0
get pods -o jsonpath={.nope}
get pods -o jsonpath-as-json={.items[*].metadata.name}
get deploy web -o jsonpath={.spec.replicas}
get deploy web -o "jsonpath={.metadata.annotations['deployment\\.kubernetes\\.io/revision']}"
get deploy web -o jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}
get pods -o jsonpath-file=HOME/path.txt
get pods -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[*].image,NO:.nope
get pods -o custom-columns=NAME:metadata.name,LABELS:.metadata.labels --no-headers
get pods -o custom-columns=NAME
get pods -o custom-columns-file=HOME/columns.txt
get pods nope
get pods nope lonely nada
get pods nope --ignore-not-found
get nope
get nope.example.com
get deployments.v9.apps
get pods lonely -A
get
get pods -o bad
get pods --nonsense
get pods web lonely/x
get secrets
get cm -n nowhere
get pods -n nowhere
get pods --as=nobody
get pods --as=nobody --as-group=system:masters -o name
get --raw /version
get --raw /nope
get -f HOME/settings.yaml
api-versions
api-resources
api-resources -o wide
api-resources -o name --verbs=list,get --namespaced=false
api-resources --api-group=apps --no-headers
api-resources --categories=all
api-resources --sort-by=kind
api-resources extra
rollout history deployment web
rollout history deploy/web --revision=1
rollout history deploy/web --revision=7
rollout status deployment/web
rollout undo deployment web
rollout history pod/lonely
label svc web --list
label pods lonely
label pods lonely a=b=c
label pods lonely a=b a-
label a=b
label pods nope a=b
annotate pods lonely
create deployment x --image=nginx --dry-run=client -o yaml
create deployment x --image=nginx --dry-run=client -o jsonpath={.spec.replicas}
create deployment x
create nope
run x --image=BAD!!
run x --image=nginx --dry-run=client -o name
scale deploy web
scale deploy nope --replicas=2
set image deploy/web nope=nginx:2
delete pods
delete pod nope
expose deploy web --dry-run=client -o yaml
foo
inspect pods
LIST
rm pod x
a
s
co
stats
get pods --kubeconfig=/nonexistent
config current-context
config get-contexts
config view
""".strip().splitlines()  # fmt: skip


@pytest.fixture(scope="module")
def looked(both: Both) -> Mapping[str, Future[Answer]]:
    """What other files' tests have deleted without waiting for its end is gone before."""
    for line in both.ours(f"get pods -A -o jsonpath='{LEAVING}'")[1].splitlines():
        assert both.ours(f"wait --for=delete --namespace {line}")[0] == 0
    return both.ahead(READ)


LEAVING = r'{range .items[?(@.metadata.deletionTimestamp)]}{.metadata.namespace} pod/{.metadata.name}{"\n"}{end}'
"""Arguments of `wait` for each pod that is on its way out."""


@pytest.mark.parametrize("line", READ)
def test_a_line_that_only_looks(both, looked, line):
    assert tuple(map(shown, both.ours(line))) == tuple(map(shown, looked[line].result()))


WRITE = """
create deployment nginx --image=nginx:1.27 --replicas=2
rollout status deployment nginx
expose deployment nginx --port=80 --record
get svc nginx -o jsonpath={.metadata.annotations}
scale deploy nginx --replicas=3
scale deploy nginx --replicas=2 --record
scale deploy nginx --replicas=2 --current-replicas=7
get deploy nginx -o jsonpath={.metadata.annotations}
set image deployment/nginx nginx=nginx:1.28 --record
rollout status deployment nginx
rollout history deployment nginx
rollout history deployment nginx --revision=2
rollout undo deployment nginx --dry-run=client
rollout undo deployment nginx --dry-run=server
rollout undo deployment nginx --to-revision=1
rollout undo deployment nginx --to-revision=9
rollout pause deployment nginx
rollout pause deployment nginx
rollout restart deployment nginx
rollout undo deployment nginx
rollout resume deployment nginx
rollout resume deployment nginx
rollout restart deployment nginx
rollout restart rs/nope
label deploy nginx tier=front
label deploy nginx tier=front
label deploy nginx tier=back
label deploy nginx tier=back --overwrite
label deploy nginx tier=side more=less --overwrite -o jsonpath={.metadata.labels}
label deploy nginx tier- more=yes --overwrite
label deploy nginx tier-
label deploy nginx x=y --dry-run=server
label deploy nginx x=y --dry-run=client
label deploy nginx bad=-
label deploy,svc nginx --list
annotate deploy nginx note=this
annotate deploy nginx note=that
annotate deploy nginx note=that --overwrite
annotate deploy nginx note-
annotate svc --all note=1
apply -f HOME/settings.yaml
apply -f HOME/settings.yaml
apply -f HOME/settings.yaml --server-side
apply -f HOME/settings.yaml -o name
apply -f HOME/settings.yaml -o jsonpath={.data}
create -f HOME/settings.yaml
create configmap more --from-literal=a=b
create configmap more --from-literal=a=b
create configmap most --from-literal=a=b -o name
create configmap mostly --from-literal=a=b -o jsonpath={.data}
get cm -l app=web
apply -f HOME/sets.yaml
rollout status ds/d
rollout status sts/s
rollout history ds d
rollout undo ds d
rollout undo sts s
set image ds/d sts/s c=nginx:2
rollout status ds/d
rollout status sts/s
rollout history ds,sts
rollout history ds/d --revision=1
rollout history sts/s --revision=3
rollout history sts/s -o jsonpath={.spec.template.spec.containers[0].image}
rollout undo ds d --dry-run=client
rollout undo sts s --dry-run=server
rollout undo ds d
rollout undo sts s --to-revision=1
rollout undo ds d --to-revision=9
rollout status ds,sts
get ds,sts -o jsonpath={.items[*].spec.template.spec.containers[0].image}
rollout restart svc,ds
rollout restart deploy -l app=nope
rollout pause ds d
rollout history svc/nope
delete -f HOME/sets.yaml
run once --image=nginx --restart=Never
run with --image=nginx --port=80 --expose
delete cm more most
delete -f HOME/settings.yaml
delete svc --all
delete pod once with --wait=false
delete deploy nginx
""".strip().splitlines()


def test_lines_that_change_something(both):
    """The same lines in two namespaces; each side sees its own only."""
    wrong = both.in_two_namespaces(WRITE, lambda answer: tuple(tidy(str(part)) for part in answer))
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_discovery_cache_is_the_same_to_the_byte(both):
    caches = []
    for who, ask in (("real", both.real), ("ours", both.ours)):
        cache = both.home / f"cache-{who}"
        assert ask(f"get pods --cache-dir={cache}")[0] == 0
        caches.append(cache)
    real, ours = (files(cache / "discovery") for cache in caches)
    assert ours == real
    assert len(ours) > 20
    assert {name for name in files(caches[0]) if name.startswith("http/")} == {
        name for name in files(caches[1]) if name.startswith("http/")
    }


def test_each_believes_the_cache_of_the_other(both):
    cache = both.home / "shared"
    assert both.real(f"get pods --cache-dir={cache}")[0] == 0
    code, _, err = both.ours(f"get pods --cache-dir={cache} -v=6")
    assert (code, "/api?" in err) == (0, False)
    code, _, err = both.ours(f"api-resources --cache-dir={cache} -v=8")
    assert 'status="200 OK"' in err
    assert both.real(f"get pods --cache-dir={cache} -v=6")[2].count("/apis?") == 0


def said(err: str) -> list[str]:
    """What a trace says of requests: methods, URLs, headers sent, bodies sent, statuses."""
    kept = []
    for part in re.split(r"^[IWE]\d{4} [\d:.]+\s+\d+ \S+\] ", err, flags=re.MULTILINE)[1:]:
        if part.startswith(('"Request"', '"Request Body"')):
            kept.append(re.sub(r"kubectl/v\S+ \(linux/amd64\) \S+", "<agent>", part))
        elif part.startswith('"Response"'):
            kept.append(part.partition(" headers=")[0].partition(" milliseconds=")[0].strip())
    hexes = re.compile("72 65 61 6c|6f 75 72 73")  # the namespace's name, in a hex dump
    return [hexes.sub("<ns>", re.sub(r"\b(real|ours)\b", "<ns>", part)) for part in kept]


TRACED = """
get pods
get pods nope -o yaml
get pods,svc -l app=web
create deployment traced --image=nginx
set image deployment/traced nginx=nginx:1.28
scale deployment traced --replicas=2
expose deployment traced --port=80
label deployment traced a=b
rollout history deployment traced
rollout undo deployment traced
rollout pause deployment traced
rollout resume deployment traced
run traced --image=nginx
delete deployment,service traced --wait=false
get pods --as=nobody
get nope --request-timeout=3s
api-versions
version
""".strip().splitlines()


@pytest.mark.parametrize("level", [6, 8])
def test_the_requests_on_the_wire_are_the_same(both, level):
    wrong = both.in_two_namespaces(TRACED, lambda answer: said(answer[2]), f" -v={level}")
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)


def test_as_a_program(both):
    """`lifecycle kubectl` itself: arguments, kubeconfig from the environment, exit codes."""
    lines = ("get deploy web -o name", "get pods nope")
    program = [sys.executable, "-m", "lifecycle", "kubectl"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([*program, *shlex.split(line)], env=both.environ("ours"), **pipes) for line in lines]
    for line, running in zip(lines, started, strict=True):
        out, err = running.communicate(timeout=60)
        assert (running.returncode, out, err) == both.real(line)


def test_help_is_printed_and_nothing_done(both):
    code, out, err = both.ours("get --help")
    assert (code, err) == (0, "")
    assert "--show-labels" in out


@pytest.mark.parametrize(
    "line", ["get pods -s http://127.0.0.1:1", "create deployment x --image=y -s http://127.0.0.1:1"]
)
def test_nobody_there(both, line):
    real, ours = both.real(line), both.ours(line)
    assert ours[0] == real[0] == 1
    assert ours[2].splitlines()[-1] == real[2].splitlines()[-1]
