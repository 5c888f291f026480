"""Lines as people get them wrong, and as they rarely use them: the real kubectl 1.36 and ours say the same.

A compact part of a larger set of generated lines: every flag of the generators with good and bad values, files of all kinds, and what
becomes of objects that are applied, scaled, changed and deleted in turn. The answers to lines that change nothing were recorded, which
saves starting the real one two hundred times.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lifecycle.agreements.kubectl.printed import OWN, shown, told
from tests.kubectl.beside import Answer, Both, recorded_answers, tidy

RECORDED = Path(__file__).parent / "real_answers.json"
"""Each line's exit code, stdout and stderr from kubectl 1.36. Written anew with `RECORD_KUBECTL=1 pytest …`."""

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: dep, labels: {app: dep}, annotations: {note: hi}}
spec:
  replicas: 0
  selector: {matchLabels: {app: dep}}
  template:
    metadata: {labels: {app: dep}}
    spec:
      containers:
      - {name: a, image: "nginx:1", env: [{name: A, value: "1"}, {name: B, value: "2"}], ports: [{containerPort: 80}]}
      - {name: b, image: busybox, args: [sleep, "5"]}
      volumes: [{name: v, emptyDir: {}}]
"""
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
FILES = {
    "dep.yaml": DEPLOYMENT,
    "dep2.yaml": DEPLOYMENT.replace("nginx:1", "nginx:2").replace(', {name: B, value: "2"}', "").replace(', "5"', ""),
    "list.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1}}\n"
    "- {apiVersion: v1, kind: ServiceAccount, metadata: {name: l2}}\n",
    "partial.yaml": "---\n".join(CONFIG % name for name in ("good", "BAD_NAME", "good2")),
    "words.yaml": CONFIG % "on",
    "long.yaml": DEPLOYMENT.replace("name: dep,", f"name: {'long-' * 14}x,"),
    "nokind.yaml": "apiVersion: v1\nmetadata: {name: x}\n",
    "noname.yaml": "apiVersion: v1\nkind: ConfigMap\n",
    "generated.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: gen-}\n",
    "unknown.yaml": "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: x}\n",
    "fields.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: uf, nope: 1}\ndataa: {a: b}\n",
    "bad.yaml": "apiVersion: v1\nkind: ConfigMap\n metadata: x\n",
    "other.yaml": (CONFIG % "ons").replace("}", ", namespace: elsewhere}"),
    "empty.yaml": "# nothing\n",
    "js.json": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"js"},"data":{"b":"<&>"}}',
    "note.txt": "hello\n",
    "env.list": "A=1\n# c\nB = x\n",
    "good.list": "\N{ZERO WIDTH NO-BREAK SPACE}A=bom\r\nB=crlf\r\n",
    "dir/a.yaml": CONFIG % "in-dir",
    "dir/sub/b.yaml": CONFIG % "below",
    "data/one": "1",
    "data/two.txt": "2",
}

MADE = """
create nope
create deployment x --image='a"b'
create deployment x --image='"a,b",c'
create deployment x --image=nginx --replicas=0x10
create deployment x --image=nginx --replicas=010
create deployment x --image=nginx --replicas=1_000
create deployment x --image=nginx --replicas=2.5
create deployment x --image=nginx --save-config -n foo
create deployment x --image=nginx --validate=bogus
create deployment x --image=nginx -A
create configmap x --from-literal=a='"q"'
create configmap x --from-literal='a b=c'
create configmap x --from-literal=..a=c
create configmap x --from-file=k=HOME/data
create configmap x --from-file=HOME/data
create configmap x --from-file=k=
create configmap x --from-file==HOME/note.txt
create configmap x --from-file=a=b=c
create configmap x --from-env-file=HOME/env.list
create configmap x --from-env-file=HOME/good.list
create configmap x --from-env-file=HOME/data
create configmap x --from-env-file=HOME/good.list --from-literal=a=b
create configmap x --from-literal=z=1 --from-literal=a=2 --append-hash
create configmap '' --from-literal=a=b
create secret generic x --from-literal=a=b --append-hash --save-config
create secret docker-registry x --docker-username=u --docker-password='p<&"' --docker-server=r
create secret docker-registry x --from-file=HOME/js.json
create secret tls x --cert=HOME/note.txt --key=HOME/note.txt
create secret tls x
create secret nope
create service nope
create namespace x --save-config
create quota x --hard==1
create quota x --hard=cpu=1,
create quota x --hard='cpu = 1'
create quota x --hard=pods=1 --scopes=BestEffort,
create pdb x --selector='app!=b' --min-available=1
create pdb x --selector='a b' --min-available=1
create job x --from=cronjob/nope
create job x --from=deploy/web
create job x --from=deploy
create job x --from=a/b/c
create job x --from=deploy/web --image=busybox
create ingress x --rule='foo.com/a=svc:80,tls=sec' --rule='foo.com/b*=svc2:81,tls=sec2'
create ingress x --rule='foo.com/a=svc:80,foo'
create ingress x --rule='foo.com/a=svc:80 '
create ingress x --default-backend=svc:
create ingress x --rule='foo.com/a=svc:80' --annotation=a
create service clusterip x --tcp=+80
create role x --verb=bogus --resource=pods
create role x --verb=get --resource=deployments.extensions
create role x --verb=use --resource=podsecuritypolicies
create role x --verb=get --resource=/log
create role x --verb=impersonate --resource=users,groups
create role x --verb=get --resource=pods --resource-name=a --resource-name=a
create clusterrole x --verb=get --non-resource-url=logs
create clusterrole x --verb=list --non-resource-url=/logs
create clusterrole x --aggregation-rule=a=b,c=d
create clusterrole x --aggregation-rule=a
create clusterrole x --aggregation-rule=a=b --verb=get
create rolebinding x --role=r --user=a --user=b --group=g
create clusterrolebinding x --clusterrole=c --user=a --serviceaccount=n:s
create -f HOME/list.yaml
create -f HOME/partial.yaml
create -f HOME/js.json --save-config
create -f HOME/dir -R
create -f 'HOME/d*.yaml'
create -f HOME/words.yaml
create -f HOME/nokind.yaml
create -f HOME/noname.yaml
create -f HOME/unknown.yaml
create -f HOME/bad.yaml
create -f HOME/note.txt
create -f HOME/empty.yaml
create -f HOME/data
create -f HOME/other.yaml -n foo
create -f HOME/settings.yaml -l app=nope
create -f HOME/settings.yaml --record
run x --image=nginx --port=80 --expose --labels=a=b
run '' --image=nginx
run --image=nginx -- x
run x --image=nginx --env='A B=1'
run x --image=nginx --labels==b
run x --image=nginx --overrides='{'
run x --image=nginx --overrides='[]'
run x --image=nginx --overrides='{"spec":"x"}'
run x --image=nginx --overrides='{"apiVersion":"v2"}'
run x --image=nginx --overrides='[{"op":"remove","path":"/spec/nope"}]' --override-type=json
run x --image=nginx --overrides='{}' --override-type=bogus
run x --image=nginx --pod-running-timeout=x
run x --image=nginx --cascade=x
run x --image=nginx --grace-period=5 --force
expose deploy
expose deploy/web svc/web --port=80
expose deploy web nope --port=80
expose -f HOME/dep.yaml --port=80
expose deploy web --port=80 --selector=a=b
expose deploy web --port=80 --record
""".strip().splitlines()

LOOKED = """
delete pods --all --dry-run=server
delete pods lonely nope --dry-run=server
delete pods lonely -l app=web
delete pods --all -l app=web
delete pods lonely --all
delete pod lonely --now --grace-period=5
delete pod lonely --force --grace-period=5
delete pod lonely --grace-period=0 --force --dry-run=client
delete pod lonely -o yaml --dry-run=client
delete pod lonely --cascade=false --dry-run=server
delete pods -l app=nope
delete --all
delete all
scale deploy web --replicas=2 --dry-run=client -o jsonpath={.spec.replicas}
scale deploy web nope --replicas=2 --dry-run=server
scale deploy --all --replicas=2 --dry-run=client -o name
scale deploy -l app=nope --replicas=2
scale deploy web --replicas=2 --current-replicas=-2
scale deploy web --replicas=2 --resource-version=1x
set image deploy/web nginx=nginx:2 --dry-run=client -o jsonpath={..image}
set image deploy/web nope=x
set image deploy/web deploy/nope nginx=nginx:2 --dry-run=client
set image deploy --all '*=nginx:2' --dry-run=client
set image svc/web a=b
set image -f HOME/dep.yaml a=x --local -o yaml
set image deploy/web nginx=x --local
set nope
label -f HOME/dep.yaml a=b --local -o yaml
apply -f HOME/nokind.yaml
apply -f HOME/noname.yaml
apply -f HOME/generated.yaml
apply -f HOME/empty.yaml
apply -f HOME/settings.yaml --validate=bogus
get pods,svc kubernetes
get pods lonely -l app=web
get pods -l 'a b'
get pods --field-selector nope=x
get pods.v1
get deploy web --subresource=scale -o jsonpath={.spec.replicas}
get deploy --subresource=scale
get svc --server-print=false
get deploy,cm --no-headers
get sa default -o Yaml
get -f HOME/settings.yaml pods
get --raw api
get sa -o jsonpath={}
get pods -o 'jsonpath={.items[1:0]}'
get pods -o 'jsonpath={.items[9:2].metadata.name}'
get pods -o 'jsonpath={.items[*].metadata['\\''name'\\'','\\''kind'\\'']}'
get pods -o 'jsonpath={.items[?(@.kind=="Pod" && @.x)]}'
get pods -o 'jsonpath={.items[?(@.kind=~"x")]}'
get pods -o 'jsonpath={.items[?(@.metadata.name==lonely)]}'
get pods -o 'jsonpath={range .items[*]}{.kind}'
get pods -o 'jsonpath={end}'
get deploy -o 'jsonpath={kind}'
create token default --duration=-1s
create token default --bound-object-name=x
create token nope
create cj '' --image=busybox --schedule=x --dry-run=client -o yaml
create ns x --dry-run -o name
create ns x --dry-run=true -o name
create ns x --dry-run=F --validate=bogus
run '' --image=nginx --annotations=a --dry-run=client
run x --image=nginx --image=redis --record --dry-run=client -o yaml
run x --record
get svc/web -o yaml --output-watch-events
get nope -ojson --show-labels
get deploy/web --field-selector status.phase=Running
get deploy,svc web -l app=web
get a/b/c -l x=y -f HOME/settings.yaml
get svc/web -f HOME/settings.yaml
get nodes,pods -o bad --subresource=status
get svc/web -o name --sort-by=.status.podIP
get storageclasses nope -A
get pods -w -A lonely
label deploy/web a=b=c --list -o bad
label pods --all app=zzz --dry-run=server -o bad
annotate deploy/web app=z --local
annotate deploy,svc web a=b --field-selector metadata.name=x
set image pods nginx --all --dry-run=client
set image deploy/web svc/web nginx= nope=x --dry-run=client
set image deploy nope '*=x' =x
set image nginx=x --all
delete nope x --all --field-selector metadata.name=x
delete -f HOME/nope.yaml --force --all -o yaml
delete svc web -A --dry-run=client
scale pods lonely --replicas=2 --dry-run=client -o jsonpath={.spec.replicas}
api-resources -o bad
api-resources -o yaml --api-group=apps
api-resources -o json --api-group=policy
apply -f HOME/dir/sub -f HOME/nokind.yaml -f HOME/unknown.yaml --dry-run=client
apply -f HOME/settings.yaml --prune
apply -f HOME/list.yaml --dry-run=client -o kyaml
rollout foo bar
rollout history svc/kubernetes
rollout history pods
rollout history -f HOME/nope.yaml -o bad
rollout status deploy -l app=nope
rollout status deploy web --revision=-3
rollout restart svc/web
rollout resume pods
rollout history deployment web
rollout history deploy/web --revision=1
rollout history deploy/web --revision=7
rollout history deploy/web -o name
rollout history pod/lonely
rollout status deployment web
rollout undo deployment web --dry-run=client
expose deployment web --port=80 --name=x --dry-run=client -o yaml
expose deployment web --dry-run=client -o yaml
expose deployment web --port=80,443 --target-port=8080 --name=x --dry-run=client -o json
expose deployment web --port=80 --type=NodePort --protocol=UDP --name=x --dry-run=client -o yaml
expose deployment web --port=80 --cluster-ip=None --session-affinity=ClientIP --name=x -l a=b --dry-run=client -o yaml
expose pod lonely --port=80 --selector=c=d --external-ip=1.2.3.4 --dry-run=client -o json
expose pod lonely --port=80 --dry-run=client -o yaml
expose pod lonely --dry-run=client
expose svc web --port=81 --name=y --dry-run=client -o yaml
expose configmap settings --port=80 --dry-run=client
expose -f HOME/long.yaml --port=80 --dry-run=client -o yaml
apply -f HOME/dep.yaml --force-conflicts
apply -f HOME/dep.yaml --server-side --dry-run=client
apply -f HOME/dep.yaml --force --dry-run=server
apply -f HOME/dep.yaml --server-side --force
apply -f HOME/dep.yaml --subresource=status
apply -f HOME/generated.yaml
apply -f HOME/noname.yaml --server-side
apply -f HOME/dep.yaml x
apply
""".strip().splitlines()


def dry(line: str, i: int) -> str:
    """With a dry run in the client, now as YAML, now as JSON."""
    before, dashes, after = line.partition(" -- ")
    flags = " --dry-run=client -o " + ("yaml" if i % 2 else "json")
    return before + flags + dashes + after


ASKED = {line: dry(line, i) for i, line in enumerate(MADE)} | {line: line for line in LOOKED}


@pytest.fixture(scope="module")
def home(both: Both) -> Path:
    for name, text in FILES.items():
        (both.home / name).parent.mkdir(parents=True, exist_ok=True)
        (both.home / name).write_text(text)
    return both.home


@pytest.fixture(scope="module")
def recorded(both: Both, home: Path) -> dict[str, list[str]]:
    """What the real kubectl says, as recorded; recorded anew if `RECORD_KUBECTL` is set."""
    return recorded_answers(RECORDED, ASKED, both)


@pytest.mark.parametrize("line", ASKED)
def test_the_same_answer(both, home, recorded, line):
    assert told(both.ours(ASKED[line]), home) == recorded[line]


def test_what_was_recorded_is_still_what_the_real_kubectl_says(both, home, recorded):
    """A few of them, to notice when the recording and the binary part."""
    lines = list(ASKED)[::25]
    answers = both.ahead(ASKED[line] for line in lines)
    assert {line: told(answers[ASKED[line]].result(), home) for line in lines} == {
        line: recorded[line] for line in lines
    }


IN_TURN = """
apply -f HOME/settings.yaml
apply -f HOME/settings.yaml -o json
apply -f HOME/list.yaml -o yaml
apply -f HOME/list.yaml -f HOME/js.json
apply -f HOME/dep.yaml
apply -f HOME/dep2.yaml --dry-run=client -o jsonpath={.spec}
apply -f HOME/dep2.yaml
get deploy dep -o jsonpath={.spec}
apply -f HOME/partial.yaml -o name
apply -f HOME/fields.yaml
apply -f HOME/fields.yaml --validate=warn
apply -f HOME/settings.yaml --server-side -o yaml --show-managed-fields
apply -f HOME/dep.yaml --server-side
apply -f HOME/dep.yaml --server-side --field-manager=other
apply -f HOME/partial.yaml --server-side
apply -f HOME/noname.yaml --server-side
apply -f HOME/dep.yaml --record -l app=dep
create configmap plain --from-literal=a=b --save-config
create configmap hashed --from-literal=a=b --append-hash
create -f HOME/partial.yaml
scale deploy dep --replicas=1 --current-replicas=0
scale deploy dep --replicas=0 -o jsonpath={.spec.replicas}
set image deploy/dep a=x b=y nope=z
set image deploy/dep '*='
label cm --all l=m
delete -f HOME/partial.yaml
delete -f HOME/list.yaml --ignore-not-found
delete cm settings nope
run p1 --image=nginx
delete pod p1 --grace-period=0 --force
delete pod p1
create job j1 --image=busybox
delete job j1 --cascade=foreground
delete deploy dep --cascade=orphan
delete rs,cm --all --wait=false -o name
""".strip().splitlines()


def settled(answer: Answer) -> tuple[str, ...]:
    """Without the two namespaces' names, and without what no two objects share."""
    parts = [shown(part) for part in answer]
    for pattern, name in OWN:
        parts = [re.sub(pattern, name, part) for part in parts]
    return tuple(map(tidy, parts))


def test_objects_come_and_go_in_turn(both, home):
    for namespace in ("real-turn", "ours-turn"):
        assert both.ours(f"create namespace {namespace}")[0] == 0
    wrong = both.in_two_namespaces(IN_TURN, settled, "-turn")
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)


def test_a_server_side_dry_run_of_a_deletion_deletes_nothing(both):
    """A server that gets options in the body does not look for `dryRun` in the query."""
    code, out, _ = both.ours("delete deployment web --dry-run=server")
    assert (code, out) == (0, 'deployment.apps "web" deleted from default namespace (server dry run)\n')
    assert both.ours("get deployment web -o jsonpath={.metadata.deletionTimestamp}") == (0, "", "")
