"""What a kubectl sends, and keeps at home, for the lines that are typed. What reached
the API server is read from its audit log.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server, until

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n"
CRD = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAMEs.NAME.example}
spec:
  group: NAME.example
  scope: Namespaced
  names: {plural: NAMEs, singular: NAME, kind: Kind}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
"""


def version_of(kubectl: Path) -> str:
    """`kubectl v1.36.4`."""
    printed = subprocess.run(
        [kubectl, "version", "--client", "-o", "json"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return f"kubectl {json.loads(printed)['clientVersion']['gitVersion']}"


@dataclass(slots=True, frozen=True)
class Typed:
    """What came of a line: exit code, output, and the requests that it made."""

    exit: int
    out: str
    err: str
    requests: list[dict[str, Any]]

    @property
    def uris(self) -> list[str]:
        """What was asked, with the method's verb."""
        return [f"{each['verb']} {each['requestURI']}" for each in self.requests]

    @property
    def writes(self) -> list[dict[str, Any]]:
        """The requests that were not reads."""
        return [each for each in self.requests if each["verb"] not in ("get", "list")]

    @property
    def discovery(self) -> int:
        """How many requests asked what there is."""
        return sum(
            bool(re.match(r"/apis?(\?|$|/[^/?]+(/[^/?]+)?(\?|$))", each["requestURI"]))
            for each in self.requests
        )


class Typist:
    """Somebody with a kubectl and a home directory."""

    def __init__(self, kubectl: Path, server: Server, home: Path, user: str) -> None:
        self.kubectl, self.server, self.home, self.user = kubectl, server, home, user
        written = server.kubeconfig(user, "system:masters").read_text()
        kubeconfig = yaml.safe_load(written)
        self.path = namespace(server.admin, user.replace(".", "-"))
        self.namespace = self.path.rpartition("/")[2]
        kubeconfig["contexts"][0]["context"]["namespace"] = self.namespace
        (home / ".kube").mkdir()
        (home / ".kube" / "config").write_text(json.dumps(kubeconfig))

    def run(self, *words: str, **environ: str) -> Typed:
        """Type a line."""
        seen = len(self.server.requests(self.user))
        done = subprocess.run(
            [self.kubectl, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"], **environ},
        )
        requests = self.server.requests(self.user)[seen:]
        return Typed(done.returncode, done.stdout, done.stderr, requests)

    def file(self, text: str, name: str) -> str:
        """The path of a manifest; NAME stands for a name in it."""
        path = self.home / f"{name}.yaml"
        path.write_text(text.replace("NAME", name))
        return str(path)

    def kept(self) -> list[str]:
        """The files below ~/.kube; the server's port is left out."""
        return sorted(
            re.sub(r"127\.0\.0\.1_\d+", "SERVER", str(path.relative_to(self.home)))
            for path in (self.home / ".kube").rglob("*")
            if path.is_file()
        )


def answers(kubectl: Path, server: Server) -> Iterator[Answer]:
    """All of it."""
    who = version_of(kubectl)
    user = who.replace(" ", "-")
    with tempfile.TemporaryDirectory() as folder:
        typist = Typist(kubectl, server, Path(folder), user)
        yield from _home(typist, who)
        yield from _validation(typist, who)
        yield from _generators(typist, who)
        yield from _cache(typist, who)
    with tempfile.TemporaryDirectory() as folder:
        yield from _kubeconfig(kubectl, Path(folder), who)


def _home(typist: Typist, who: str) -> Iterator[Answer]:
    typist.run("get", "configmaps")
    typist.run("get", "configmaps", f"--server=https://localhost:{typist.server.port}")
    kept = [path for path in typist.kept() if path != ".kube/config"]
    discovery = [path for path in kept if path.startswith(".kube/cache/discovery/")]
    yield Answer(
        "kubectl/home",
        who,
        "kubectl get configmaps in an empty home, from one server under two names:"
        " what is below ~/.kube",
        {
            "a schema folder": any("/schema/" in path for path in kept),
            "folders of discovery": sorted(
                {re.sub(r"_\d+", "_PORT", path.split("/")[3]) for path in discovery}
            ),
            "of apps/v1": sorted(
                {path.rpartition("/")[2] for path in discovery if "/apps/v1/" in path}
            ),
            "names there": sorted({path.rpartition("/")[2] for path in discovery}),
        },
    )


def _validation(typist: Typist, who: str) -> Iterator[Answer]:
    wrong = CONFIG_MAP + "dta: {a: b}\n"
    typed = typist.run("create", "-f", typist.file(wrong, "misspelt"))
    yield Answer(
        "kubectl/misspelt-field",
        who,
        "kubectl create -f with a misspelt field, everything about the server cached",
        {
            "exit": typed.exit,
            "posted": sum(each["verb"] == "create" for each in typed.requests),
            "posted strictly": any(
                "fieldValidation=Strict" in each["requestURI"] for each in typed.writes
            ),
            "schema asked for": any("/openapi/" in uri for uri in typed.uris),
        },
    )
    created = typist.run("create", "-f", typist.file(CONFIG_MAP, "created"))
    applied = typist.run("apply", "-f", typist.file(CONFIG_MAP, "applied"))
    admin = typist.server.admin
    yield Answer(
        "kubectl/create-and-apply",
        who,
        "kubectl create -f and kubectl apply -f of a ConfigMap: the requests about it,"
        " and whether the object keeps what was applied",
        {
            command: {
                "requests": [
                    each["verb"]
                    for each in typed.requests
                    if each.get("objectRef", {}).get("resource") == "configmaps"
                ],
                "a note": "kubectl.kubernetes.io/last-applied-configuration"
                in admin("GET", f"{typist.path}/configmaps/{name}")
                .body["metadata"]
                .get("annotations", {}),
            }
            for command, name, typed in (
                ("create", "created", created),
                ("apply", "applied", applied),
            )
        },
    )
    manifest = typist.file("apiVersion: v1\nmetadata: {name: NAME}\n", "kindless")
    kindless = typist.run("create", "-f", manifest)
    lines = {
        "run": ["run", "kinds", "--image=nginx"],
        "create deployment": ["create", "deployment", "kinds", "--image=nginx"],
        "create -f": ["create", "-f", typist.file(CONFIG_MAP, "kinds")],
    }
    yield Answer(
        "kubectl/kinds",
        who,
        "what some lines make, and a manifest without a kind",
        {
            **{
                name: [
                    each["objectRef"]["resource"] for each in typist.run(*line).writes
                ]
                for name, line in lines.items()
            },
            "without a kind": {
                "exit": kindless.exit,
                "writes": len(kindless.writes),
            },
        },
    )


def _generators(typist: Typist, who: str) -> Iterator[Answer]:
    run = ["--image=nginx"]
    recorded = typist.run("run", "recorded", *run, "--record")
    body = typist.server.admin("GET", f"{typist.path}/pods/recorded").body
    refused = typist.run("create", "deployment", "recorded", *run, "--record")
    yield Answer(
        "kubectl/record",
        who,
        "kubectl run --record: the annotation; kubectl create deployment --record",
        {
            "exit": recorded.exit,
            "annotation": body["metadata"]
            .get("annotations", {})
            .get("kubernetes.io/change-cause", "")
            .replace(typist.kubectl.name, "kubectl"),
            "create deployment": refused.exit,
        },
    )
    yield Answer(
        "kubectl/dry-run",
        who,
        "kubectl run --dry-run=…: the queries of the writes that it sent",
        {
            how: [
                "dryRun=All" if "dryRun=All" in each["requestURI"] else ""
                for each in typist.run(
                    "run", f"dry-{how}", *run, f"--dry-run={how}"
                ).writes
            ]
            for how in ("client", "server", "none")
        },
    )
    for path in sorted((typist.home / ".kube" / "cache").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    deployment = typist.run("create", "deployment", "fresh", *run, "-v=9")
    pod = typist.run("run", "fresh", *run, "-v=9")
    yield Answer(
        "kubectl/compiled-in",
        who,
        "kubectl create deployment, then kubectl run, with nothing cached: whether each"
        " asked what there is, and how its object was encoded",
        {
            name: {
                "asked": typed.discovery > 0,
                "encoding": _encoding(typed.err),
            }
            for name, typed in (("create deployment", deployment), ("run", pod))
        },
    )


def _encoding(trace: str) -> str:
    """The content type of the POST in a trace."""
    post = re.search(r"(-XPOST|verb=\"POST\").*?Content-Type: ([\w./]+)", trace, re.S)
    return post[2] if post else ""


def _cache(typist: Typist, who: str) -> Iterator[Answer]:
    name = "thing" + re.sub(r"\D", "", who)
    typist.run("api-resources")
    typist.run("create", "-f", typist.file(CRD, name))
    path = f"/apis/{name}.example/v1/namespaces/{typist.namespace}/{name}s"
    until("the resource", lambda: typist.server.admin("GET", path).status == 200)
    cached = typist.run("api-resources", "--cached", "-o", "name")
    missed = typist.run("get", f"{name}s.{name}.example")
    yield Answer(
        "kubectl/cache-age",
        who,
        "a new kind, after all was cached: whether kubectl api-resources --cached"
        " names it, and whether kubectl get finds it",
        {
            "cached": f"{name}s.{name}.example" in cached.out,
            "get": missed.exit == 0,
            "asked again": missed.discovery > 0,
        },
    )


def _kubeconfig(kubectl: Path, home: Path, who: str) -> Iterator[Answer]:
    def config(name: str, **more: Any) -> str:
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "a", "cluster": {"server": "https://a"}}],
            "users": [{"name": "a", "user": {"token": name}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "current-context": "a",
            **more,
        }
        path = home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(document))
        return str(path)

    def view(*words: str, **environ: str) -> str:
        done = subprocess.run(
            [kubectl, *words, "config", "view", "--minify", "--raw", "-o", "json"],
            capture_output=True,
            text=True,
            check=False,
            env={"HOME": str(home), **environ},
        )
        if done.returncode:
            return "refused"
        user = (json.loads(done.stdout)["users"] or [{}])[0].get("user", {})
        context = json.loads(done.stdout)["contexts"][0]["context"]
        server = json.loads(done.stdout)["clusters"][0]["cluster"]["server"]
        return " ".join(
            (server, user.get("token", ""), context.get("namespace", "default"))
        )

    flag, variable = config("flag"), config("variable")
    config(".kubeconfig")
    config(".kube/kubeconfig")
    elsewhere = view()
    config(".kube/config")
    upper = config("upper", users=[])
    lower = config("lower", clusters=[], contexts=[])
    contexts = [
        {"name": "one", "context": {"cluster": "a", "user": "b", "namespace": "shop"}},
        {"name": "two", "context": {"cluster": "b", "user": "a"}},
    ]
    both = config(
        "both",
        clusters=[{"name": n, "cluster": {"server": f"https://{n}"}} for n in "ab"],
        users=[{"name": n, "user": {"token": f"token-{n}"}} for n in "ab"],
        contexts=contexts,
    )
    yield Answer(
        "kubeconfig/which-file",
        who,
        "kubeconfigs whose token is their name, by flag, by KUBECONFIG and at home:"
        " server, token and namespace that kubectl config view --minify shows",
        {
            "flag, variable, home": view(f"--kubeconfig={flag}", KUBECONFIG=variable),
            "a flag that leads nowhere": view(
                f"--kubeconfig={home / 'nowhere'}", KUBECONFIG=variable
            ),
            "variable, home": view(KUBECONFIG=variable),
            "home": view(),
            "~/.kubeconfig and ~/.kube/kubeconfig only": elsewhere,
            "two halves in the variable": view(KUBECONFIG=f"{upper}:{lower}"),
        },
    )
    yield Answer(
        "kubeconfig/contexts",
        who,
        "two contexts that cross two clusters and two users: the same for each",
        {
            name: view(f"--kubeconfig={both}", f"--context={name}")
            for name in ("one", "two")
        },
    )
