# ruff: noqa: E501 -- lines of objects, and of commands
"""Templates, expressions, columns and formats over values of every kind: what the real kubectl 1.36 prints, as it was kept.

`KEEP=anew pytest` asks it again.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.kubectl.staged import Scene, check

KEPT = Path(__file__).parent / "staged_answers" / "printing.json"
CORE = "/api/v1/namespaces/default"


def widget(name: str, **parts: Any) -> dict[str, Any]:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"}, **parts}


ODD = widget(
    "x",
    n=3,
    f=1.5,
    big=1e21,
    yes=True,
    no=False,
    none=None,
    empty={},
    list=["a", "b", "c"],
    lists=[["a"], ["b", "c"], []],
    numbers=[1, 2.5, -3],
    maps=[{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": None}, {}],
    map={"b": 1, "a": {"c": [1, None]}},
    text="one\ntwo\n",
)
TEMPLATES = """
{{.metadata.name | printf "%s" | printf "%q"}}
{{.metadata.name.x}}
{{(.metadata).name.x}}
{{(index .list 0).x}}
{{.n.x}}
{{$x := .n}}{{$x.y}}
{{range $i, $e := .list}}{{$e.x}}{{end}}
{{range .list}}{{.x}}{{else}}none{{end}}
{{with .none}}a{{else}}b{{end}}
{{with .n}}{{.x}}{{else}}b{{end}}
{{if .yes}}{{.n.x}}{{else}}b{{end}}
{{if (index .list 9)}}a{{end}}
{{index .list 9}}
{{index .list -1}}
{{index .list "a"}}
{{index .list nil}}
{{index .map 1}}
{{index .map "zz"}}
{{index .none 1}}
{{index nil 1}}
{{index .n 1}}
{{index .lists 1 0}}
{{index .lists 1 5}}
{{len .n}}
{{len .none}}
{{len nil}}
{{slice .list 1}}
{{slice .list 1 2}}
{{slice .list 2 1}}
{{slice .list 9}}
{{slice .metadata.name 0 1}}
{{slice .n 1}}
{{nil}}
{{nil.x}}
{{.x.y}}
{{.none.y}}
{{.none}}
{{.zz}}
{{"a".b}}
{{(1).b}}
{{true.b}}
{{1.b}}
{{3 | 4}}
{{3 4}}
{{"a" 1}}
{{nil | printf "%v"}}
{{.n | nil}}
{{$}}
{{$.n}}
{{$x = 1}}
{{$x := 1}}{{$x = 2}}{{$x}}
{{range $x := .list}}{{$x}}{{end}}
{{range $i, $x, $y := .list}}{{end}}
{{range .n}}{{.}}{{end}}
{{range 3}}{{.}}{{end}}
{{range $i := 3}}{{$i}}{{end}}
{{range .f}}{{.}}{{end}}
{{range .text}}{{.}}{{end}}
{{range .map}}{{.}}{{end}}
{{range $k, $v := .map}}{{$k}}={{$v}};{{end}}
{{range .none}}a{{else}}b{{end}}
{{range .zz}}a{{else}}b{{end}}
{{range .list}}{{break}}{{end}}
{{range .list}}{{continue}}{{end}}
{{break}}
{{continue}}
{{if .yes}}{{break}}{{end}}
{{end}}
{{else}}
{{if}}{{end}}
{{if .yes}}
{{if .yes}}a{{else if .no}}b{{else}}c{{end}}
{{if .no}}a{{else with .n}}{{.}}{{end}}
{{with .no}}a{{else with .n}}{{.}}{{end}}
{{with $x := .n}}{{$x}}{{end}}
{{define "t"}}{{.n.x}}{{end}}{{template "t" .}}
{{define "t"}}{{.}}{{end}}{{template "t" .n}}
{{define "t"}}{{.}}{{end}}{{template "t"}}
{{template "nope"}}
{{block "b" .n}}{{.}}{{end}}
{{define "t"}}{{end}}{{define "t"}}a{{end}}{{template "t"}}
{{/* c */}}a
{{- /* c */ -}} a
{{/* c }}
{{/* c */ x}}
{{- .n -}} a
a {{- .n}}
{{.n
{{"a
{{`a
{{'a'}}
{{'ab'}}
{{'
{{'\\x41'}}
{{"\\x41\\u0042\\101"}}
{{"\\q"}}
{{1e3}}
{{0x10}}
{{0b11}}
{{0o17}}
{{1_000}}
{{9999999999999999999}}
{{1.}}
{{.5}}
{{-1}}
{{+1}}
{{1x}}
{{()}}
{{(}}
{{)}}
{{.n)}}
{{|}}
{{.n |}}
{{| .n}}
{{.n,}}
{{.n @}}
{{#}}
{{nope .n}}
{{.n .f}}
{{.list.a}}
{{.metadata.name "a"}}
{{eq .n 3}}
{{eq .n 3.0}}
{{eq .n "3"}}
{{eq .list .list}}
{{eq .none nil}}
{{eq 1}}
{{eq 1 2 3 1}}
{{ne 1 2}}
{{lt 1 2}}
{{lt "a" "b"}}
{{lt .yes .no}}
{{lt .n .f}}
{{le 1 1}}{{gt 2 1}}{{ge 1 2}}
{{and .yes .n}}
{{and .no .n.x}}
{{or .no .n}}
{{or .no .none}}
{{not .yes}}{{not .none}}{{not 0}}
{{and}}
{{print .n .f .text}}
{{print "a" 1 2 "b"}}
{{println .n}}
{{html "<a href='x'>&"}}
{{js "'<a>\\n="}}
{{urlquery "a b&c"}}
{{html .none}}
{{printf "%d %v %s %q %x %t" .n .n .text .text .n .yes}}
{{printf "%5d|%-5s|%05.1f|%+d" 3 "a" 1.25 4}}
{{printf "%v %v %v" .map .list .none}}
{{printf "%#v" .map}}
{{printf "%#v %#v %#v" .none .yes .n}}
{{printf "%T %T %T %T %T" .map .list .none .n .f}}
{{printf "%d" "a"}}
{{printf "%s" 1}}
{{printf "%d %d" 1}}
{{printf "%d" 1 2}}
{{printf "%z" 1}}
{{printf "%"}}
{{printf "%!"}}
{{printf "%%"}}
{{printf "%[2]d %[1]d" 1 2}}
{{printf "%[5]d" 1}}
{{printf "%*d" 5 1}}
{{printf "%.*f" 2 1.239}}
{{printf "%e %g %G %E" 1.5 1e21 1e-7 2.0}}
{{printf "%c %U %#U" 65 65 65}}
{{printf "%b %o %O %X" 5 8 8 255}}
{{printf "%x %X" "hi" "hi"}}
{{printf "% x" "hi"}}
{{printf "%p" 1}}
{{printf "%6.2f|%-8.3f|" .f .f}}
{{printf "%t" "a"}}
{{printf "%s" nil}}
{{printf "%v" nil}}
{{printf "%s" .none}}
{{printf "%d" .none}}
{{printf "%.0f" .f}}
{{printf "%.f" .f}}
{{printf "%s" .list}}
{{printf "%q" .list}}
{{printf "%d" .numbers}}
{{printf "%5t" .yes}}
{{printf "%+v" .map}}
{{printf "%v" .big}}
{{printf "%d" .big}}
{{printf 1}}
{{printf}}
{{call .n}}
{{exists . "metadata" "name"}}
{{exists . "nope"}}
{{base64decode "YWJj"}}
{{base64decode "!"}}
{{base64decode .n}}
{{base64decode nil}}
{{. | len | printf "%d"}}
{{.metadata | len}}
{{(.map).a.c}}
{{.map.a.c | len}}
{{.text}}
{{template "a" . | len}}
{{with}}{{end}}
{{define}}{{end}}
{{define "a" }}
{{template}}
{{block "a"}}{{end}}
{{range}}{{end}}
{{$a, $b := .list}}
{{$x := }}
{{$1}}
{{$x}}
{{.1}}
{{..}}
{{.n.}}
{{. n}}
{{.metadata. name}}
{{true}}{{false}}{{true | not}}
{{else if}}
{{if .yes}}{{else}}{{else}}{{end}}
{{if .yes}}{{else if .no}}{{end}}{{end}}
""".strip("\n").splitlines()

PATHS = """
{.list}
{.list[0]}
{.list[-1]}
{.list[9]}
{.list[0:2]}
{.list[::2]}
{.list[2:0]}
{.list[0,2]}
{.list[*]}
{.list[a]}
{.list[
{.list['a']}
{.map['b']}
{.map['b','a']}
{.map["b"]}
{..c}
{...}
{..c[0]}
{.maps[?(@.v>1)].k}
{.maps[?(@.v>=1)].k}
{.maps[?(@.v==2)].k}
{.maps[?(@.v!=2)].k}
{.maps[?(@.v<2)].k}
{.maps[?(@.v<=2)].k}
{.maps[?(@.k=="a")].v}
{.maps[?(@.k)].v}
{.maps[?(@.nope)].v}
{.maps[?(@.k>1)].v}
{.maps[?(@.k==true)].v}
{.maps[?(@.v==1.0)].k}
{.maps[?(@.k=="a"]
{.maps[?(@.k=="a")
{.maps[?@.k]}
{.maps[?()]}
{.maps[?(1==1)].k}
{.numbers[?(@>1)]}
{.numbers[?(@>"a")]}
{.lists[?(@[0]=="a")]}
{.lists[?(@[*]=="b")]}
{.lists[*][0]}
{.lists[*][*]}
{.list[?(@=="a")]}
{.map[?(@==1)]}
{.n[?(@==3)]}
{.n.x}
{.n[0]}
{.none}
{.none.x}
{.none[0]}
{.none[*]}
{.zz}
{.text}
{.text[0]}
{.text[*]}
{.yes}{.no}{.f}{.big}
{.empty}
{.lists}
{.maps}
{.numbers}
{range .list[*]}{@}-{end}
{range .list}{@}-{end}
{range .list[*]}{@}
{range}{end}
{end}
{range .maps[*]}{.k}={.v}{"\\n"}{end}
{"a"}{'b'}
{"a\\tb"}
{'a\\'b'}
{"a
{'a
{1}
{-1}
{1.5}
{1x}
{true}
{nope}
{@}
{$}
{$.n}
{@.n}
{.}
{}
{ .n }
{.n}{.f
.n}
{{.n}}
{.n|.f}
{.n+1}
{.metadata['name', 'namespace']}
{.metadata.name}{"\\t"}{.n}
{.list[0:1:0]}
{.list[0:2:-1]}
{.list[-2:]}
{.list[1.5]}
{.list[1:2:3:4]}
{.list[]}
{.list[0][0]}
{.map.a.c[1]}
{*}
{.metadata.*}
{[0]}
{['n']}
{.a b}
{.a\\.b}
{.kind}{.items}
""".strip("\n").splitlines()

COLUMNS = [
    "custom-columns=",
    "custom-columns=A",
    "custom-columns=A:",
    "custom-columns=A:.n",
    "custom-columns=A:n",
    "custom-columns=A:{n}",
    "custom-columns=A:{.n}",
    "custom-columns=A:{.n",
    "custom-columns=A:.n,B:.list,C:.map,D:.none,E:.zz,F:.text",
    "custom-columns=A:.list[*]",
    "custom-columns=A:.list[9]",
    "custom-columns=A:.maps[*].k",
    "custom-columns=A:.maps[?(@.v==1)].k",
    "custom-columns=A:.f,B:.big,C:.yes,D:.numbers",
    "custom-columns=:.n",
    "custom-columns=A:.n.x",
    "custom-columns=A:..c",
    "custom-columns=A:.lists",
    "custom-columns-file=HOME/columns.txt",
    "custom-columns-file=HOME/one.txt",
    "custom-columns-file=HOME/short.txt",
    "custom-columns-file=HOME/empty.txt",
    "custom-columns-file=HOME/nope.txt",
    "custom-columns-file=",
]
COLUMN_FILES = {
    "columns.txt": "NAME N\nmetadata.name .n\n",
    "one.txt": "NAME\n",
    "short.txt": "NAME N\nmetadata.name\n",
    "empty.txt": "",
}
KEYS = (
    "plain", "a-b", "a.b", "a/b", "-a", "a-", "a b", "", "on", "yes", "No", "n", "Y", "true", "False", "null", "~", "1", "0x1", "0o7", "0b1", "1e3",
    "1_000", "1.5", ".5", "1:30", "12:30:45", ".inf", "-.Inf", ".nan", "2001-12-14", "2001-13-14", "2001-12-14t21:59:43.10-05:00", "2001-2-3",
    "t", "f", "T", "é", "a\tb", "a\nb", 'a"b', "a\\b", "#a", "a:b", "a: b", "{a", "[a", "*a", "&a", "!a", "|", ">", "%a", "@a", "`a", "<<", "=",
)  # fmt: skip
LETTERS = (
    "\x07",
    "\x1b",
    "\x7f",
    "\u00a0",
    "\u00ad",
    "\u200b",
    "\ufeff",
    "\U0001f600",
    "\U000e0001",
    "\ue000",
    "\r",
    "\r\n",
    "\t",
)
TEXTS = {
    "letters": [f"a{letter}b" for letter in LETTERS if letter not in ("\x07", "\x1b", "\x7f")],
    "lines": ["a\nb", "a\n", "\na", "\n", "a\n\nb", " a\n b", "a \nb ", "a\tb\n\tc", "a\\b\nc", 'a"\nb', "a\nb\n"],
    "lists": [
        [],
        [[]],
        [[1]],
        [{}],
        [{"a": 1}, {"b": []}],
        [1, "a"],
        [[1], 2],
        [{"a": {"b": {}}}],
        [None],
        [True, False],
        [1.5, -2],
    ],
}
SORTED = {
    "kind": "ConfigMapList",
    "apiVersion": "v1",
    "metadata": {"resourceVersion": "1"},
    "items": [
        widget("c", n=2, f=1.5, s="10Mi", l=["b"], none=None, mixed=1, yes=True, m={"a": 1}, t="2026-01-02T03:04:05Z"),
        widget("a", n=1, f=2, s="1Gi", l=["a"], mixed="a", yes=False, m={"a": 0}, t="2025-01-02T03:04:05Z"),
        widget("b", n=1, f=-1, s="9", l=[], none=None, mixed=None, yes=True, m={}),
    ],
}
VERSIONS = {
    name: {"major": "1", "minor": name.split(".")[1], "gitVersion": name, "gitCommit": "c", "platform": "p"}
    for name in ("v1.36.0", "v1.35.9", "v1.34.1", "v1.37.0", "v1.38.0", "v1.33.0-rc.1+x", "v2.36.0")
}
ONE = {f"GET {CORE}/configmaps/x": ODD}
TABLED = [
    "name",
    "yaml",
    "json",
    "kyaml",
    "wide",
    "go-template",
    "go-template=",
    "jsonpath",
    "jsonpath=",
    "jsonpath-as-json={.list}",
    "jsonpath-as-json={.list[*]}",
    "jsonpath-file=HOME/nope",
    "go-template-file=HOME/nope",
    "templatefile=HOME/nope",
    "template={{.n}}",
    "nope",
]

SCENES = {
    "templates": Scene(ONE, [f"get cm x -o {shlex.quote(f'go-template={text}')}" for text in TEMPLATES]),
    "paths": Scene(ONE, [f"get cm x -o {shlex.quote(f'jsonpath={text}')}" for text in PATHS]),
    "columns": Scene(ONE, [f"get cm x -o {shlex.quote(text)}" for text in COLUMNS], files=COLUMN_FILES),
    "formats": Scene(ONE, [f"get cm x -o {shlex.quote(text)}" for text in TABLED]),
    "missing keys": Scene(ONE, [f"get cm x --allow-missing-template-keys={v} -o {shlex.quote(t)}" for v in ("true", "false") for t in ("go-template={{.zz.y}}", "go-template={{.zz}}", "jsonpath={.zz}", "jsonpath={.list[9]}")]),
    "keys": Scene({f"GET {CORE}/configmaps/x": widget("x", keys=dict.fromkeys(KEYS, 1))}, ["get cm x -o kyaml", "get cm x -o yaml", "get cm x -o json"]),
    "texts": Scene({f"GET {CORE}/configmaps/x": widget("x", **TEXTS)}, ["get cm x -o kyaml", "get cm x -o yaml", "get cm x -o json"]),
    "sorted": Scene(
        {f"GET {CORE}/configmaps": SORTED},
        [f"get cm -o name --sort-by={shlex.quote(f)}" for f in (".metadata.name", "{.n}", ".f", ".s", ".l", ".none", ".mixed", ".yes", ".m", ".m.a", ".t", ".zz", "metadata", "{.n", "..n", ".n.x")],
    ),
    "versions": Scene({}, ["version --client", "version -o nope", "version x", "version --client x"]),
} | {
    f"version {name}": Scene({"GET /version": told}, ["version"]) for name, told in VERSIONS.items()
} | {
    f"letter {ord(letter[0]):x}": Scene({f"GET {CORE}/configmaps/x": widget("x", **{"text": f"a{letter}b", f"key{letter}": 1})}, ["get cm x -o kyaml", "get cm x -o yaml"]) for letter in LETTERS[:-2]
}  # fmt: skip


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, scene in SCENES.items() for line in scene.lines])
def test_the_same_is_printed(name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, SCENES[name], line, KEPT, tmp_path, monkeypatch)
