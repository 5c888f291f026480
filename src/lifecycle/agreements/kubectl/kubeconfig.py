"""kubeconfigs held against the real kubectl and the official Python client: the same
files, the same questions.

No cluster is needed for this: `kubectl config` only reads files. A few hundred small
sets of files are made by a seeded generator – contexts that point nowhere, names that
come twice, files that are missing, entries that say everything or nothing – and each
set is shown to all three.

The Python client's loader is asked only what it knows: it has no flags, and it wants a
context and a user to be there.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from lifecycle.api.go.yaml import to_yaml
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.kubectl.commands.config import run_config
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig import client_config, load, loading_precedence

SEED = 1936
QUESTIONS = (
    ("view", "--minify", "-o", "json", "--raw"),
    ("view", "-o", "json", "--raw"),
    ("view",),
    ("get-contexts",),
    ("get-contexts", "-o", "name"),
    ("current-context",),
    ("get-clusters",),
    ("get-users",),
    ("view", "--minify", "--context", "dev", "-o", "json"),
)
CHANGES = (
    ("use-context", "dev"),
    ("set-context", "prod", "--namespace=shop"),
    ("set-cluster", "west", "--server=https://new:6443"),
    ("set-credentials", "jane", "--token=fresh"),
    ("rename-context", "dev", "lab"),
    ("delete-context", "prod"),
)
UNORDERED = ("get-clusters",)
"""What kubectl prints in the order of a Go map, which is a different one each time:
compared as a set of lines.
"""

Answer = tuple[int, str, str]


@dataclass(slots=True)
class Files:
    """One set: documents by file name in the order of `KUBECONFIG` (None: named there,
    but missing).
    """

    documents: dict[str, Any] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict, init=False, compare=False)

    def write(self, folder: Path) -> dict[str, str]:
        """Write them; the environment in which they are the kubeconfig. Every command
        is given the same texts anew.
        """
        self._texts = self._texts or {
            name: to_yaml(document)
            for name, document in self.documents.items()
            if document is not None
        }
        for name, text in self._texts.items():
            (folder / name).write_text(text)
        paths = os.pathsep.join(str(folder / name) for name in self.documents)
        return {
            "HOME": str(folder / "home"),
            "KUBECONFIG": paths,
            "PATH": os.environ.get("PATH", ""),
        }


def generated(count: int, seed: int = SEED) -> Iterator[Files]:
    """`count` sets, always the same for a seed."""
    dice = random.Random(seed)
    for _ in range(count):
        files = Files()
        for number in range(dice.choice((1, 2, 2, 3))):
            files.documents[f"file{number}"] = (
                None if number and dice.random() < 0.2 else _document(dice)
            )
        yield files


def _document(dice: random.Random) -> dict[str, Any]:
    def some(*names: str) -> list[str]:
        return dice.sample(names, dice.choice((0, 1, 2, 3, 3, 3)))

    document: dict[str, Any] = {"apiVersion": "v1", "kind": "Config"}
    document["clusters"] = [
        {"name": name, "cluster": _cluster(dice, name)}
        for name in some("west", "east", "local")
    ]
    document["users"] = [
        {"name": name, "user": _user(dice, name)}
        for name in some("jane", "joe", "robot")
    ]
    document["contexts"] = [
        {"name": name, "context": _context(dice)}
        for name in some("dev", "prod", "test")
    ]
    if dice.random() < 0.7:
        document["current-context"] = dice.choice(
            ("dev", "dev", "prod", "test", "gone")
        )
    if dice.random() < 0.2:
        document["preferences"] = {"colors": dice.random() < 0.5}
    if dice.random() < 0.4:
        document["extensions"] = [
            {"name": name, "extension": {"number": dice.randint(0, 9)}}
            for name in some("lab", "wizard", "shop")
        ]
    return document


def _cluster(dice: random.Random, name: str) -> dict[str, Any]:
    cluster: dict[str, Any] = {"server": f"https://{name}{dice.randint(0, 9)}:6443"}
    if dice.random() < 0.3:
        cluster["certificate-authority-data"] = "Q0E="
    if dice.random() < 0.2:
        cluster["insecure-skip-tls-verify"] = True
    if dice.random() < 0.2:
        cluster["tls-server-name"] = "api.internal"
    if dice.random() < 0.2:
        cluster["extensions"] = [
            {"name": "minikube.sigs.k8s.io", "extension": {"provider": name}}
        ]
    return cluster


def _user(dice: random.Random, name: str) -> dict[str, Any]:
    kind = dice.choice(("token", "password", "certificate", "exec", "nothing"))
    if kind == "token":
        user: dict[str, Any] = {"token": f"token-of-{name}"}
    elif kind == "password":
        user = {"username": name, "password": "hush"}
    elif kind == "certificate":
        user = {"client-certificate-data": "Q1JU", "client-key-data": "S0VZ"}
    elif kind == "exec":
        plugin: dict[str, Any] = {
            "apiVersion": (
                f"client.authentication.k8s.io/{dice.choice(('v1', 'v1beta1'))}"
            ),
            "command": "login",
        }
        if dice.random() < 0.5:
            plugin |= {
                "args": ["--as", name],
                "env": [{"name": "HOME", "value": "/x"}],
                "interactiveMode": "Never",
            }
        user = {"exec": plugin}
    else:
        user = {}
    if dice.random() < 0.2:
        user |= {
            "as": "boss",
            "as-groups": ["staff", "board"],
            "as-user-extra": {"reason": ["audit"]},
        }
    return user


def _context(dice: random.Random) -> dict[str, Any]:
    context = {
        "cluster": dice.choice(("west", "west", "east", "local", "gone")),
        "user": dice.choice(("jane", "jane", "joe", "robot", "gone")),
    }
    if dice.random() < 0.4:
        context["namespace"] = dice.choice(("shop", "kube-system"))
    return context


def ours(arguments: tuple[str, ...], environ: dict[str, str]) -> Answer:
    """What our `kubectl config` says: exit code, stdout, stderr."""
    out, err = StringIO(), StringIO()
    code = run_config(arguments, out=out, err=err, environ=environ)
    return code, out.getvalue(), err.getvalue()


def real(binary: Path) -> Callable[[tuple[str, ...], dict[str, str]], Answer]:
    """A way to ask a real kubectl."""

    def ask(arguments: tuple[str, ...], environ: dict[str, str]) -> Answer:
        done = subprocess.run(
            [binary, "config", *arguments],
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return ask


def kubeconfig_agreement(
    theirs: Callable[[tuple[str, ...], dict[str, str]], Answer],
    *,
    count: int = 20,
    seed: int = SEED,
    mine: Callable[[tuple[str, ...], dict[str, str]], Answer] = ours,
    name: str = "kubectl v1.36",
) -> AgreementTable:
    """One row per question, over `count` sets of files; after a change, the files
    themselves are compared. `mine`: judge another reader.
    """
    sets = list(generated(count, seed))
    table = AgreementTable(
        "kubeconfig",
        "lifecycle",
        name,
        lambda table: (
            f"{len(sets)} sets of kubeconfig files, whole and broken, given to {name}"
            f" and to ours with {len(table.computed)} commands each:"
            f" {table.outcome('commands')}, output, refusals and changed files"
            " included."
        ),
    )
    for question in (*QUESTIONS, *CHANGES):
        add_answers(
            table,
            question,
            [
                (answer_of(files, question, mine), answer_of(files, question, theirs))
                for files in sets
            ],
        )
    return table


def answer_of(
    files: Files,
    question: tuple[str, ...],
    ask: Callable[[tuple[str, ...], dict[str, str]], Answer],
) -> dict[str, Any]:
    """What comes of a command, in a folder of its own; of a change, the files, too."""
    if question in CHANGES:
        return _after(files, question, ask)
    with tempfile.TemporaryDirectory() as folder:
        answer = _answer(ask(question, files.write(Path(folder))), folder)
    return _as_a_set(answer) if question[0] in UNORDERED else answer


def add_answers(
    table: AgreementTable, question: tuple[str, ...], answers: list[tuple[Any, Any]]
) -> None:
    """A row for a command: our answers beside the others, set by set."""
    refused = [sum(1 for pair in answers if pair[side]["code"]) for side in (0, 1)]
    comparison = compare([pair[0] for pair in answers], [pair[1] for pair in answers])
    texts = [f"{len(answers) - count} answered, {count} refused" for count in refused]
    table.add(
        "kubeconfig", f"config {' '.join(question)}", texts[0], texts[1], comparison
    )


def _as_a_set(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "out": sorted(answer["out"].splitlines())}


def _answer(answer: Answer, folder: str) -> dict[str, Any]:
    code, out, err = answer
    output: Any = json.loads(out) if out.startswith("{") else out
    return {"code": code, "out": output, "err": err.replace(folder, "FOLDER")}


def _after(
    files: Files,
    change: tuple[str, ...],
    ask: Callable[[tuple[str, ...], dict[str, str]], Answer],
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        answer = _answer(ask(change, files.write(Path(folder))), folder)
        answer["out"] = answer["out"].replace(folder, "FOLDER")
        kept = {
            name: (Path(folder) / name).read_text()
            for name in files.documents
            if (Path(folder) / name).exists()
        }
    return {
        **answer,
        "files": {name: read_yaml(text.encode())[0] for name, text in kept.items()},
    }


def official_client_agreement(*, count: int = 40, seed: int = SEED) -> AgreementTable:
    """What the official Python client's loader makes of the same files, where both can
    use the current context.

    Which context that is, ours says: of several files that name one, the Python client
    takes the last one's word, kubectl the first one's.
    """
    table = AgreementTable(
        "kubeconfig",
        "lifecycle",
        "kubernetes, the Python client",
        lambda table: (
            f"{len(pairs)} contexts that the official Python client can use, read by"
            " it and by ours: server, credentials and verification are"
            f" {'the same' if table.equal else 'not always the same'}."
        ),
    )
    pairs = []
    for files in generated(count, seed):
        with tempfile.TemporaryDirectory() as folder:
            environ = files.write(Path(folder))
            merged = load(loading_precedence("", environ))
            theirs = _official(environ["KUBECONFIG"], merged["current-context"])
            if theirs is not None:
                pairs.append((_mine(merged), theirs))
    comparison = compare([mine for mine, _ in pairs], [theirs for _, theirs in pairs])
    text = f"{len(pairs)} usable contexts"
    table.add("kubeconfig", f"{count} sets of files", text, text, comparison)
    return table


def _mine(merged: dict[str, Any]) -> dict[str, Any]:
    try:
        config = client_config(merged, environ={})
    except CommandError as error:
        return {"error": str(error)}
    token = f"Bearer {config.token}" if config.token else ""
    return {
        "host": config.server,
        "token": token,
        "verify": not config.insecure,
        "server name": config.server_name,
    }


def _official(paths: str, context: str) -> dict[str, Any] | None:
    """The same of the official client; None where its loader gives up."""
    from kubernetes.client import Configuration
    from kubernetes.config import kube_config

    try:
        merger = kube_config.KubeConfigMerger(paths)
        loader = kube_config.KubeConfigLoader(
            merger.config, config_base_path=None, active_context=context
        )
        user = (loader._user.value if loader._user is not None else None) or {}
        if "exec" in user or user.get(
            "username"
        ):  # it would start the program, or send the password as an API key
            return None
        configuration = Configuration()
        loader.load_and_set(configuration)
    except (kube_config.ConfigException, TypeError, AttributeError):
        return None
    return {
        "host": configuration.host,
        "token": configuration.api_key.get("BearerToken", ""),
        "verify": configuration.verify_ssl,
        "server name": configuration.tls_server_name or "",
    }


def find_kubectl(start: Path | None = None) -> Path | None:
    """The kubectl 1.36 that the project fetched (`.tools/kubectl-1.36`), looked for
    from a folder upwards; None if there is none.
    """
    for folder in (here := start or Path.cwd(), *here.parents):
        if (folder / ".tools" / "kubectl-1.36").exists():
            return folder / ".tools" / "kubectl-1.36"
    return None
