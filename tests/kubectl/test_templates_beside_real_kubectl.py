"""Go templates, KYAML and the strict forms of both template languages: letter by letter what the real kubectl 1.36 prints, errors and all.

Most lines print an object that is made from flags, so that every run sees the same one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.agreements.kubectl.printed import told
from tests.kubectl.beside import Both, recorded_answers

RECORDED = Path(__file__).parent / "real_template_answers.json"
"""Each template's exit code, stdout and stderr from kubectl 1.36. Written anew with `RECORD_KUBECTL=1 pytest …`."""

DEPLOYMENT = "create deployment web --image=nginx --image=redis --replicas=3 --dry-run=client"
SECRET = "create secret generic s1 --from-literal=a=hello --from-literal=b=wörld --dry-run=client"

ON_A_DEPLOYMENT = r"""
{{.metadata.name}}{{"\n"}}
{{range .spec.template.spec.containers}}{{.name}}={{.image}};{{end}}
{{range $i, $c := .spec.template.spec.containers}}{{if $i}}, {{end}}{{$i}}={{$c.image}}{{end}}
{{range .spec.template.spec.containers}}{{if eq .name "redis"}}yes{{else if eq .name "x"}}no{{else}}other{{end}} {{end}}
{{with .metadata.labels}}{{.app}}{{end}}{{with .nope}}x{{else}}none{{end}}{{with .nope}}x{{else with .kind}}{{.}}{{end}}
{{.metadata.name | printf "%-10s|"}}{{len .spec.template.spec.containers}}
{{index .metadata.labels "app"}} {{index .spec.template.spec.containers 0 "image"}} {{(index .spec.template.spec.containers 1).name}}
{{index .spec.template.spec.containers 5}}
{{index .spec.template.spec.containers 2}}
{{index .spec.template.spec.containers "x"}}
{{index .spec.replicas 0}}
{{index .nope 0}}
{{index .spec.nope "x"}} {{index .metadata.labels "nope"}}
{{index .metadata.labels 3}}
{{index .metadata.name 0}} {{printf "%c" (index .metadata.name 0)}}
{{slice .metadata.name 1}} {{slice .metadata.name 0 2}} {{slice .metadata.name 2 1}}
{{slice .spec 1}}
{{len .metadata.name}} {{len .spec}} {{len .nope}}
{{len .spec.replicas}}
{{eq .spec.replicas 3}} {{gt .spec.replicas 2}} {{lt .spec.replicas 2}}
{{le .spec.replicas 3}} {{ge .spec.replicas 4}} {{ne .spec.replicas 4}}
{{eq .spec.replicas "3"}}
{{eq .spec.replicas 3.0}}
{{eq .nope "3"}} {{eq .nope .nada}} {{ne .nope 1}} {{eq .metadata.name "a" "b" "web"}}
{{eq .spec .spec}}
{{eq .spec .spec.template.spec.containers}}
{{lt .nope 1}}
{{lt .metadata.name "x"}} {{lt .spec.replicas "x"}}
{{eq}}
{{eq 1}}
{{lt 1}}
{{not .spec}} {{and .spec.replicas .metadata.name}} {{or .nope .metadata.name}} {{or .nope .nada}} {{and}}
{{and .nope .metadata.name.foo}} {{or .metadata.name .metadata.name.foo}}
{{$x := .metadata.name}}{{$x}} {{$x = "y"}}{{$x}} {{$.kind}}
{{$x := 1}}{{range .spec.template.spec.containers}}{{$x = .name}}{{end}}{{$x}}
{{range $k, $v := .metadata.labels}}{{$k}}={{$v}};{{end}}{{range .nope}}x{{else}}empty{{end}}
{{range .metadata.name}}x{{end}}
{{range .spec.replicas}}{{.}}x{{end}}{{range $i := 3}}{{$i}}{{end}}
{{range $i, $j := 3}}{{$i}}{{end}}
{{range .spec.template.spec.containers}}{{break}}{{end}}ok{{range .metadata.labels}}{{continue}}no{{end}}
{{break}}
{{define "T"}}[{{.}}]{{end}}{{template "T" .metadata.name}}{{template "T"}}
{{template "nope"}}
{{block "b" .kind}}<{{.}}>{{end}}
{{- .kind -}}   x  {{- /* comment */ -}}  y {{ .metadata.name -}}
{{/* a */}}x{{/* a}}
{{ .kind
{{ .kind }
{{ nofunc .kind }}
{{ $nope }}
{{ if }}x{{end}}
{{ if .kind }}x
{{ end }}
{{ else }}
{{}}
{{ .kind | 3 }}
{{ "a" "b" }}
{{ .kind "b" }}
{{ 3 | .kind }}
{{ .kind.x }}
{{ (.kind).x }}
{{ (index .metadata.labels "app").x }}
{{ $x := .kind }}{{ $x.foo }}
{{ nil }}
{{ true.x }}
{{ print 1 2 "a" "b" 3 nil .nope }} {{println 1 "x"}}
{{ printf "%d %v %s %q %T %T %T %5.2f" 1 .spec.replicas .metadata.name .kind .spec.replicas 1 .spec 3.14159 }}
{{ printf "%v %s %v" .nope .nope nil }} {{printf "%s"}} {{printf "x" 1}} {{printf "%[2]d %[1]d" 1 2}}
{{ printf "%5d|%-5d|%05d|%+d|%x|%X|%o|%b|%c|%U|%t|%s|%.3d|%q" 42 42 -42 42 255 255 8 5 65 65 true 5 5 65 }}
{{ printf "%10s|%-10s|%.2s|%x|%#q|%d" "hé" "hé" "héllo" "hi" "a" "hi" }}
{{ printf "%e %g %6.1f %v %v" 3.14159 1e30 2.55 1000000.0 0.00001 }}
{{ printf 3 }}
{{ printf .spec }}
{{ printf }}
{{ .spec.template.spec }}
{{ printf "%v|%+v|%#v|%s" .metadata.labels .metadata.labels .metadata.labels .spec.selector }}
{{ .metadata.labels | len | printf "%03d" }}
{{ html "<a href=\"x\">&" }} {{js "it's <b> = \"q\" &"}} {{urlquery "a b&c=d/é~"}}
{{ "a\tb\n\"q\" \u00e9 \x41 \101" }}`{{`raw\n`}}
{{ "abc }}
{{ 'a' }} {{ 'ab' }}
{{ 0x10 }} {{ 1_000 }} {{ 1e3 }} {{ 1.5 }} {{ 010 }} {{ 0b11 }} {{ -5 }} {{ +5 }} {{ 1.0 }}
{{ 99999999999999999999 }}
{{ 1.2.3 }}
{{ 5x }}
{{ .a-b }}
{{ (.kind }}
{{ .kind) }}
{{ @ }}
{{ .kind @ }}
{{ : }}
{{ if .x }}a{{ else if .kind }}b{{ else }}c{{ end }}{{ if .x }}a{{ else if .y }}b{{ else }}c{{ end }}
{{ with $x := .kind }}{{$x}}{{end}}{{$x}}
{{ range $a, $b, $c := .x }}{{end}}
{{ $a, $b := .x }}
{{ .kind | printf "%s-%s" "x" }} {{ (len .kind) | eq 10 }}
{{ call .kind }}
{{ call .nope }}
{{define "a"}}x{{end}}{{define "a"}}y{{end}}{{template "a"}}
{{ .nope.a.b.c }} {{ .metadata.labels.nope }}
""".strip().splitlines()

ON_A_SECRET = r"""
{{.data.a | base64decode}} {{.data.b | base64decode}}
{{range $k,$v := .data}}{{printf "%s: " $k}}{{$v | base64decode}}{{"\n"}}{{end}}
{{.metadata.name | base64decode}}
{{.nope | base64decode}}
{{.data | base64decode}}
{{"aGVsbG8" | base64decode}}
{{"aGVsbG8==" | base64decode}}
{{"aGV*" | base64decode}}
{{"a===" | base64decode}}
{{exists . "data" "a"}} {{exists . "data" "z"}} {{exists . "x"}} {{exists .data.a 0}} {{exists .data.a 99}} {{exists .nope}}
""".strip().splitlines()

LINES = r"""
MADE -o go-template={{.nope.a}} --allow-missing-template-keys=false
MADE -o go-template={{.metadata.nope}} --allow-missing-template-keys=false
MADE -o jsonpath={.nope} --allow-missing-template-keys=false
MADE -o jsonpath={.spec.template.spec.containers[?(@.nope)].image} --allow-missing-template-keys=false
MADE --template={{.kind}}
MADE --template={{.kind}} -o json
MADE --template={.kind} -o jsonpath
MADE --template={.kind} -o jsonpath={.x}
MADE --template={{.kind}} -o go-template={{.x}}
MADE --template=/nope -o templatefile
MADE -o template
MADE -o templatefile=
MADE -o go-template=
MADE -o go-template-file=/nope
MADE -o kyaml
MADE -o YAML
MADE -o NAME
MADE -o Wide
create configmap keys --from-env-file=HOME/keys.env --from-literal=2026-01-01=x --from-literal=a-=x --dry-run=client -o kyaml
create configmap texts --from-file=HOME/text.txt --from-literal=e= --from-literal=q='a"b\\' --dry-run=client -o kyaml
run x --image=nginx --dry-run=client --port=80 --expose -o kyaml
run x --image=nginx --dry-run=client --port=80 --expose -o go-template='{{.kind}} {{.nope.x.y}} '
run x --image=nginx --dry-run=client -o go-template --template={{.spec}}
get deploy web --template=A:.kind -o custom-columns
get deploy web -o Wide
get deploy web -o Name
get deploy,svc web -o go-template='{{range .items}}{{.kind}}{{"\n"}}{{end}}'
get pods lonely nope -o jsonpath={.nope} --allow-missing-template-keys=false
label deploy web a=b --dry-run=client -o go-template={{.metadata.labels.a}}
config view -o go-template='{{range .contexts}}{{.name}}{{end}}'
config view --template={{.kind}}
""".strip().splitlines()

KEYS = "null=x\nNo=x\ny=x\na_b=x\ninf=x\nnan=x\n_12=x\nx12=y\n"
TEXT = "\tfirst\n\n  second é\nthird"


def quoted(template: str) -> str:
    return template.replace("'", "'\\''")


ASKED = (
    {template: f"{DEPLOYMENT} -o 'go-template={quoted(template)}'" for template in ON_A_DEPLOYMENT}
    | {template: f"{SECRET} -o 'go-template={quoted(template)}'" for template in ON_A_SECRET}
    | {line: line.replace("MADE", "create deployment web --image=nginx --dry-run=client") for line in LINES}
)


@pytest.fixture(scope="module")
def recorded(both: Both) -> dict[str, list[str]]:
    (both.home / "text.txt").write_text(TEXT)
    (both.home / "keys.env").write_text(KEYS)
    return recorded_answers(RECORDED, ASKED, both)


@pytest.mark.parametrize("line", ASKED)
def test_the_same_text_or_the_same_complaint(both, recorded, line):
    assert told(both.ours(ASKED[line]), both.home) == recorded[line]


def test_what_was_recorded_is_still_what_the_real_kubectl_says(both, recorded):
    """A few of them, to notice when the recording and the binary part."""
    lines = list(ASKED)[::20]
    answers = both.ahead(ASKED[line] for line in lines)
    assert {line: told(answers[ASKED[line]].result(), both.home) for line in lines} == {
        line: recorded[line] for line in lines
    }
