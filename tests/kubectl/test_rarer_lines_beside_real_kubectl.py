"""Rarer flags, refusals and verbs of `printf`: the real kubectl 1.36 and ours say the same, as it was recorded.

What no other test here ran was asked for, line by line, until little was left.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from lifecycle.agreements.kubectl.printed import told
from tests.kubectl.beside import Both, recorded_answers
from tests.kubectl.test_lines_beside_real_kubectl import DEPLOYMENT, FILES
from tests.kubectl.test_templates_beside_real_kubectl import DEPLOYMENT as MADE
from tests.kubectl.test_templates_beside_real_kubectl import quoted

RECORDED = Path(__file__).parent / "real_rarer_answers.json"
"""Each line's exit code, stdout and stderr from kubectl 1.36. Written anew with `RECORD_KUBECTL=1 pytest …`."""


def pem(*kinds: str) -> str:
    return "".join(f"-----BEGIN {kind}-----\nYWJj\n-----END {kind}-----\n" for kind in kinds)


def certificate(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Signed by itself, for a day."""
    name, now = x509.Name([]), datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    dated = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    return dated.sign(key, SHA256()).public_bytes(Encoding.PEM)


EXPRESSIONS = "{matchExpressions: [{key: app, operator: In, values: [dep, x]}]}"
PORTS = "[{containerPort: 53, protocol: UDP}, {containerPort: 53}, {containerPort: 80}]"
MORE_FILES = FILES | {
    "cert.pem": pem("CERTIFICATE"),
    "key.pem": pem("RSA PRIVATE KEY"),
    "other.pem": pem("FOO", "BAR"),
    "params.pem": pem("EC PARAMETERS"),
    "none.pem": "nothing\n",
    "expressions.yaml": DEPLOYMENT.replace("{matchLabels: {app: dep}}", EXPRESSIONS),
    "ports.yaml": DEPLOYMENT.replace("[{containerPort: 80}]", PORTS),
    "digit.list": "1A=x\n",
    "dots.list": "..=x\n",
    "dotted.list": "..a=x\n",
    "space.list": "A B=x\n",
    "bare.list": "PATH_THAT_IS_NOT_SET\n",
    "bare.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {containers: [{name: c, image: x}]}}",
}

GENERATED = """
create service clusterip x --tcp=80:http
create service clusterip x --tcp=80:1
create service clusterip x --tcp=80:0
create service clusterip x --tcp=80:65535
create service clusterip x --tcp=80:65536
create service clusterip x --tcp=80:UPPER
create service clusterip x --tcp=80:a--b
create service clusterip x --tcp=80:-a
create service clusterip x --tcp=80:a-
create service clusterip x --tcp=80:abcdefghijklmno
create service clusterip x --tcp=80:abcdefghijklmnop
create service clusterip x --tcp=80:1-2
create service clusterip x --tcp=80:
create service clusterip x --tcp=x
create service clusterip x --tcp=65536
create service clusterip x
create service clusterip x --clusterip=None
create service clusterip x --clusterip=10.0.0.5 --tcp=80 --tcp=81:8081
create service nodeport x
create service nodeport x --tcp=80 --node-port=30001
create service loadbalancer x --tcp=80:8080
create service loadbalancer x
create service externalname x --external-name=a.b
create service externalname x --external-name=a.b --tcp=80
create service externalname x --external-name=a_b
create service externalname x
create pdb x --min-available=1
create pdb x --selector=a=b
create pdb x --selector=a=b --min-available=1 --max-unavailable=1
create pdb x --selector=a=b --min-available=50%
create pdb x --selector=a=b --max-unavailable=1
create pdb x --selector=a=b --max-unavailable=x
create pdb x --selector=a=b --min-available=-1
create pdb x --selector=a=b --min-available=x%
create pdb x --selector='a in (b,c)' --min-available=1
create pdb x --selector='a notin (b),c=d' --min-available=1
create pdb x --selector='a,!b' --min-available=1
create pdb x --selector='a>1' --min-available=1
create secret tls x --cert=HOME/none.pem --key=HOME/key.pem
create secret tls x --cert=HOME/key.pem --key=HOME/cert.pem
create secret tls x --cert=HOME/other.pem --key=HOME/key.pem
create secret tls x --cert=HOME/cert.pem --key=HOME/none.pem
create secret tls x --cert=HOME/cert.pem --key=HOME/cert.pem
create secret tls x --cert=HOME/cert.pem --key=HOME/params.pem
create secret tls x --cert=HOME/nope.pem --key=HOME/key.pem
create secret tls x --cert=HOME/cert.pem
create secret docker-registry x
create secret docker-registry x --docker-username=u
create secret generic x --from-literal=..a=b
create secret generic x --type=example.com/x --from-file=HOME/note.txt
create job x --image=busybox -- date
create job x
create job x --from=cronjob/x -- date
create cronjob x --image=busybox --schedule='* * * * *' --restart=Never -- a b
create cronjob x --image=busybox
create cronjob x --schedule='* * * * *'
create configmap x --from-file=HOME/nope
create configmap x --from-file=k=HOME/note.txt
create configmap x --from-env-file=HOME/nope
create configmap x --from-env-file=HOME/digit.list
create configmap x --from-env-file=HOME/dots.list
create configmap x --from-env-file=HOME/dotted.list
create configmap x --from-env-file=HOME/space.list
create configmap x --from-env-file=HOME/bare.list
create configmap x --from-literal=a
create configmap x --from-literal==a
create configmap x --from-literal=a=b --from-literal=a=c
create configmap x --from-file=k=HOME/note.txt --from-literal=k=c
create ingress x --class=nginx --rule='foo.com/a=svc:80'
create ingress x --class=nginx
create ingress x --default-backend=svc
create ingress x --default-backend=svc:80 --annotation=a=b=c --annotation=d=
create ingress x --rule='foo.com/a=svc:http' --rule='foo.com/b=svc:81,tls=t' --rule='bar.com/*=svc:80,tls=t'
create ingress x --rule='/a=svc:80,tls'
create ingress x --rule=foo
create priorityclass x --value=10 --global-default --description='a b' --preemption-policy=Never
create priorityclass x --value=x
create priorityclass x --preemption-policy=Maybe
create quota x --hard=cpu=1,pods=2 --scopes=BestEffort,NotTerminating
create quota x --hard=cpu
create quota x --hard=cpu=x
create quota x --scopes=
create role x --verb=get
create role x --resource=pods
create role x --verb=get --resource=pods/log,deployments.apps/scale
create role x --verb=get,list --resource=pods,services --resource-name=a
create clusterrole x --verb=get
create clusterrole x --verb=get --resource=nodes --non-resource-url=/a
create rolebinding x --clusterrole=a --role=b --user=u
create rolebinding x --user=u
create rolebinding x --clusterrole=a --serviceaccount=bad
create rolebinding x --clusterrole=a --serviceaccount=a:b:c
create clusterrolebinding x --user=u
create clusterrolebinding x --clusterrole=c --group=g
create serviceaccount x
create namespace
create namespace x y
create deployment x
create deployment x --image=a --image=b -- sleep 1
create deployment x --image=a -- sleep 1
create deployment x --image=nginx --port=80
create deployment x --image=nginx --port=0
create deployment x --image=nginx --port=-1
create deployment x --image=nginx --replicas=-1
run x --image=
run x --image=nginx --restart=Maybe
run x --image=nginx --restart=OnFailure --command -- a b
run x --image=nginx --image-pull-policy=Sometimes
run x --image=nginx --image-pull-policy=Never --env=A=b --env=B=c=d
run x --image=nginx --rm
run x --image=nginx -t
run x --image=nginx -i
run x --image=nginx --pod-running-timeout=0s
run x --image=nginx --labels=a
run x --image=nginx --labels=a=b,c=d,
run x --image=nginx --port=x
run x --image=nginx --expose
run x --image=nginx --privileged
run x --image=nginx --annotations=a=b --annotations=c=d
expose deploy web --port=80 --external-ip=1.2.3.4 --type=LoadBalancer --load-balancer-ip=1.1.1.1
expose deploy web --port=80 --load-balancer-ip=1.1.1.1
expose deploy web --port=80 --session-affinity=ClientIP --cluster-ip=None
expose deploy web --port=80 --session-affinity=Client
expose deploy web --port=80 --target-port=http --protocol=UDP --name=y --labels=a=b
expose deploy web --port=80 --target-port=8080 --name=y
expose deploy web --port=x
expose deploy web --port=80,81
expose deploy web --port=80,53 --protocol=SCTP
expose deploy web
expose pod lonely --port=80
expose svc web --port=80 --name=w2
expose svc web --name=w2
expose svc kubernetes --name=k --port=80
expose -f HOME/expressions.yaml --port=80
expose -f HOME/ports.yaml --name=p
expose -f HOME/ports.yaml --name=p --port=53
expose configmap nope --port=80
expose sa default --port=80
create clusterrole x --verb=get --non-resource-url='*' --non-resource-url='/a/*'
create secret tls x --cert=HOME/own.crt --key=HOME/none.pem
create secret tls x --cert=HOME/own.crt --key=HOME/others.key
create secret tls x --cert=HOME/own.crt --key=HOME/rsa.key
create clusterrole x --verb=get --non-resource-url='/a*b'
expose -f HOME/bare.yaml --port=80
""".strip().splitlines()

READ = """
create configmap UP
create secret generic UP
create secret docker-registry UP --docker-username=u --docker-password=p
create serviceaccount UP
create namespace UP
create quota UP
create priorityclass UP --value=1
create job UP --image=x
create cronjob UP --image=x --schedule='* * * * *'
create ingress UP --rule=a/b=c:80
create deployment UP --image=x
create service clusterip UP --tcp=80
create service nodeport UP --tcp=80
create service loadbalancer UP --tcp=80
create service externalname UP --external-name=a.b
create role a% --verb=get --resource=pods
create clusterrole a% --verb=get --resource=pods
create rolebinding a% --role=r --user=u
create clusterrolebinding a% --clusterrole=r --user=u
create job x --from=deploy,svc
create token
create token default x
create token default --audience=
create token default --bound-object-kind=Foo
create token default --bound-object-kind=Pod
create token default --bound-object-uid=x
create token default --bound-object-name=x
create token default --duration=1500ms
create token ''
create -f HOME/js.json -k HOME
create
create --raw=/api/v1/namespaces/default/configmaps -f HOME/js.json -o yaml
create --raw=/x -f HOME/js.json -f HOME/dep.yaml
version --output=x
version extra
set image
set image deploy/web --all -l a=b nginx=x
set image deploy/web --all
set image nginx=x
set image deploy/web
set image deploy/web '*=a' nginx=b
set image deploy/web nginx=x --local --dry-run=server
set image deploy/web nginx=
set image deploy/web =x
label deploy --all a=b --resource-version=1
label deploy web --list -o yaml
label deploy --all -l a=b c=d --dry-run=client
label deploy --all --field-selector=a=b c=d --dry-run=client
label deploy web a=b --local --dry-run=server
label deploy web
label deploy a=b
label deploy web a=b a-
label deploy web 'a b=c' --dry-run=client
label deploy web a='b c' --dry-run=client
annotate deploy --all a=b --resource-version=1
annotate deploy web a=b --list -o yaml --dry-run=client
annotate deploy web
scale deploy web
scale deploy web --replicas=-1
scale deploy --all --replicas=1 --resource-version=1
scale deploy,rs --all --replicas=1 --resource-version=1
scale deploy web --replicas=1 --timeout=x
scale
delete deploy web --cascade=maybe
delete --raw=/api -o yaml
delete pods nope
delete pod/lonely svc/nope --dry-run=client
delete pods
delete
rollout status
rollout status deploy
rollout history
rollout history deploy web --revision=-1
rollout history deploy web --revision=99
rollout restart
rollout restart pod lonely
rollout pause deploy nope
rollout undo deploy nope
rollout undo svc web
api-resources --sort-by=x
api-resources x
api-versions x
api-resources --namespaced=false --verbs=list,watch --api-group=rbac.authorization.k8s.io --no-headers
api-resources --api-group=batch -o name
get --raw=/api x
get --raw=/api -o yaml
get --raw=/api -l a=b
get --raw=/nope
get pods svc
get pods -o custom-columns=
get pods -o custom-columns=A
get pods -o custom-columns=A:.kind,B:metadata.name
get pods -o custom-columns=A:{.kind}
get pods -o custom-columns=A:.kind --no-headers
get pods -o custom-columns-file=HOME/nope
get pods -o custom-columns-file=HOME/note.txt
get pods -o custom-columns-file=
get pods -L app --show-labels
get pods --sort-by=.metadata.name --no-headers -o name
get pods --sort-by=x{
get pods --sort-by=.nope
get pods -o 'jsonpath={.items[0:1:0]}'
get pods -o 'jsonpath={.items[-1:].kind}'
get pods -o 'jsonpath={.items[0'
get pods -o 'jsonpath={.items[x]}'
get pods -o 'jsonpath={.items[?(@.kind]}'
get pods -o 'jsonpath={...kind}'
get pods -o 'jsonpath={....kind}'
get pods -o 'jsonpath={"a'
get pods -o 'jsonpath={-1}{+2}{1.5}{1.2.3}'
get pods -o "jsonpath={'a\\"b'}{\\"c'd\\"}"
get pods -o 'jsonpath={.items[?(@.metadata.name>"a")].kind}'
get pods -o 'jsonpath={.items[?(@.metadata.name<"a")].kind}'
get pods -o 'jsonpath={.items[?(@.metadata.name>=1)].kind}'
get pods -o 'jsonpath={.items[?(@.spec>1)].kind}'
get pods -o 'jsonpath={.items[?(@.spec.containers[*].name=="a")].kind}'
get pods -o 'jsonpath={.items..nope}{.kind} {.items[0].kind}'
get deploy web -o 'jsonpath={.spec.replicas} {.spec.paused} {.metadata.labels} {.spec.selector}'
get deploy web -o 'jsonpath={range .spec.template.spec.containers[*]}{@.name}{"\\n"}{end}'
get deploy web -o 'jsonpath={.spec.template.spec.containers[*]["name","image"]}'
get deploy web -o 'jsonpath={.spec.template.spec.containers[?(@.name!="x")].image}'
get deploy web -o 'jsonpath={.spec.template.spec.containers[?(@.name==@.name)].image}'
get deploy web -o 'jsonpath={.spec..name}'
get deploy web -o jsonpath-as-json={.spec.replicas}
get deploy web -o jsonpath-as-json={.nope}
get deploy web -o jsonpath-file=HOME/nope
get deploy web -o jsonpath
explain
explain pods deploy
explain pods.nope
explain nope
explain pods.spec.tolerations
explain deploy --api-version=apps/v9
wait
wait pods lonely
wait pods lonely --for=x
wait pods lonely --for=jsonpath={.a} --timeout=1s
wait pods lonely --for=jsonpath={.status.nope}=x --timeout=-1x
wait pods --all --for=delete --timeout=x
patch deploy web
patch deploy web -p
patch deploy web -p x
patch deploy web -p '{}' --type=x
patch deploy web -p '{}' --dry-run=client
patch deploy nope -p '{}'
patch deploy web -p '[]' --type=json --dry-run=client
patch deploy web -p '{"spec":{"replicas":"x"}}' --dry-run=server
config current-context x
config use-context nope
config delete-context nope
config delete-cluster nope
config delete-user nope
config rename-context nope b
config get-contexts nope
config get-contexts -o x
config get-clusters
config get-users
config unset nope
config view -o x
config set-context
logs
logs lonely --tail=x
logs lonely --since=1h --since-time=2026-01-01T00:00:00Z
logs nope
logs svc/kubernetes
logs ns/default
logs node/nope
logs -l app=x lonely
exec
exec lonely
exec lonely date
drain
drain nope
drain nope --pod-selector='a b'
drain nope -l a=b
cordon nope -l a=b
cordon
cordon nope
uncordon
taint nodes
taint nodes x
taint nodes x a=b
taint nodes x a=b:Foo
taint nodes --all -l a=b c=d:NoSchedule
taint a=b:NoSchedule
taint nodes a=b:NoSchedule
taint nodes x a=b:NoSchedule y
taint nodes x a=b:NoSchedule a:NoSchedule-
taint nodes x a=b:NoSchedule a:NoExecute-
taint pods x a=b:NoSchedule
rollout pause svc web
rollout resume svc web
rollout resume deploy web
run
""".strip().splitlines()

PRINTED = r"""
{{ printf "%*d|%-*d|%0*d" 5 42 5 42 5 42 }}
{{ printf "%*d" "x" 42 }}
{{ printf "%.*f" 2 3.14159 }} {{ printf "%.*f" "x" 3.14 }} {{ printf "%.*d" -1 5 }}
{{ printf "%*d|" -5 42 }}
{{ printf "%*d" 9999999 42 }}
{{ printf "%" }}
{{ printf "100%%" }} {{ printf "%z" 1 }} {{ printf "%[5]d" 1 }} {{ printf "%[x]d" 1 }} {{ printf "%!" 1 }}
{{ printf "%#v %#v" "a" 1 }}
{{ printf "%#v" .spec.selector }}
{{ printf "%d" .metadata.labels }} {{ printf "%t" .spec.replicas }} {{ printf "%d" "a" }} {{ printf "%s" 1 }}
{{ printf "%5t|%-7t|%v|%d" true false true true }}
{{ printf "%#x %#X %#o %O %#b|% d|% d|%+d" 255 255 8 8 5 5 -5 0 }}
{{ printf "%+q %q %#U %U %c" "é😀" "é" 128512 128512 55296 }}
{{ printf "%q %q %c" 39 34 1114112 }}
{{ printf "%x %X|% x|%#x|%.1x" "hi" "hi" "hi" "hi" "hi" }}
{{ printf "%08.3f|%+.2f|% .2f|%-8.1f|%8.1f|%G|%E|%F" 3.14159 2.5 2.5 2.5 2.5 1e30 1.5 1.5 }}
{{ printf "%g %g %v %v %v" 100000.0 1000000.0 123456.0 1234567.0 0.0001 }}
{{ printf "%.3g" 1234567.0 }} {{ printf "%s %d" 1.5 1.5 }}
{{ printf "%v %d %s" nil nil nil }}
{{ printf "%6.2f%%|%-6.2f|%06.2f|%+06d" 12.5 12.5 -12.5 5 }}
{{ printf "%T %T %T %T" nil "a" 1.5 true }}
{{ printf "%5v|%-5v|%05v|%5s|%.1v" "a" "a" "a" true "abc" }}
{{ printf "%s" .spec.template.spec.containers }}
{{ print true false 1.5 nil }}|{{ println }}|{{ print }}|{{ print "a" 1 2 "b" true }}
{{ index .spec.template.spec.containers nil }}
{{ index nil 0 }}
{{ index .nope 0 }}
{{ index .metadata .nope }}
{{ index .metadata "labels" "nope" "x" }}
{{ print | }}
{{ | print }}
{{ range $a, .kind }}{{ end }}
{{ range $a, $b, $c := .metadata }}{{ end }}
{{ with $a, $b := .metadata }}{{ end }}
{{ slice nil }}
{{ slice .metadata.name 0 1 2 }}
{{ slice .metadata.name "x" }}
{{ lt true false }}
{{ lt .spec .spec }}
{{ lt 1.5 2 }}
{{ lt 1.5 2.5 }} {{ gt "b" "a" }} {{ le 2 2 }} {{ ge 1 2 }}
{{ eq true true }} {{ eq 1 1.0 }}
{{ eq nil nil }}
{{ html nil }} {{ html 1 true }} {{ js "\x01é\u2028" }} {{ urlquery 1 "é" }}
{{ html .nope }} {{ len nil }}
{{ not }} {{ not 1 2 }}
{{ len 3 }}
{{ `a
{{ "a
{{ '\x41' }} {{ '\n' }} {{ '\'' }}
{{ '\q' }}
{{ "\q" }}
{{ "\u12" }}
{{ "\400" }}
{{ . | printf "%T" }} {{ printf "%T" .spec.template.spec.containers }}
{{ if or .nope (and .kind (not .nope)) }}yes{{ end }}
{{ with $x := .spec }}{{ range $i, $e := $x.template.spec.containers }}{{ $i }}{{ $e.name }}{{ else }}no{{ end }}{{ end }}
{{ range .spec.template.spec.containers }}{{ if eq .name "nginx" }}{{ continue }}{{ end }}{{ .name }}{{ else }}x{{ end }}
{{ if .kind }}{{ .a.b.c.d }}{{ end }}
{{ with .kind }}{{ .x }}{{ end }}
{{ range .spec.template.spec.containers }}{{ .name.x }}{{ end }}
{{ template "T" .kind }}{{ define "T" }}{{ .x }}{{ end }}
{{ (printf "%s" .kind).x }}
{{ $x := .kind | printf "%s" }}{{ $x.y }}
""".strip("\n").splitlines()


def dry(line: str, i: int) -> str:
    """With a dry run in the client, now as YAML, now as JSON."""
    before, dashes, after = line.partition(" -- ")
    return before + " --dry-run=client -o " + ("yaml" if i % 2 else "json") + dashes + after


ASKED = (
    {line: dry(line, i) for i, line in enumerate(GENERATED)}
    | {line: line for line in READ}
    | {template: f"{MADE} -o 'go-template={quoted(template)}'" for template in PRINTED}
)


@pytest.fixture(scope="module")
def home(both: Both) -> Path:
    for name, text in MORE_FILES.items():
        (both.home / name).parent.mkdir(parents=True, exist_ok=True)
        (both.home / name).write_text(text)
    own, others = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    (both.home / "own.crt").write_bytes(certificate(own))
    for name, key in (("others", others), ("rsa", rsa.generate_private_key(65537, 2048))):
        (both.home / f"{name}.key").write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        )
    return both.home


@pytest.fixture(scope="module")
def recorded(both: Both, home: Path) -> dict[str, list[str]]:
    return recorded_answers(RECORDED, ASKED, both)


@pytest.mark.parametrize("line", ASKED)
def test_the_same_answer(both: Both, home: Path, recorded: dict[str, list[str]], line: str) -> None:
    assert told(both.ours(ASKED[line]), home) == recorded[line]


def test_who_asks_for_the_clients_version_only_may_say_what_he_likes_besides(both: Both) -> None:
    """Upstream's `Complete` returns before it takes the arguments up."""
    assert both.ours("version --client extra") == both.ours("version --client")
    assert both.ours("version --client")[0] == 0
