"""What a page tells its readers to type does what the page says: every command of *See it on your own cluster* is typed,
by real kubectl, in a terminal, into an embedded cluster that looks like a fresh kind cluster with the book's Deployment.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kubernetes import client as official

import lifecycle
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.kubeconfig_file import write_kubeconfig
from tests.conftest import ROOT, find_kubectl, unavailable

pytestmark = pytest.mark.real

SECTION = re.compile(r"^## (?:See it on|On) your own cluster\n(.*?)(?=^## |\Z)", re.M | re.S)
PAGES = {
    page.stem: text
    for page in sorted((ROOT / "book").glob("**/*.md"))
    if "\n## The story" in (text := page.read_text(encoding="utf-8")) or SECTION.search(text)
}
SHOWN_FILE = re.compile(r"^```yaml\n# (\S+\.yaml)\n(.*?)^```", re.M | re.S)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.M | re.S)

ON_A_NODE = re.compile(
    r"\bsudo |\bcrictl |\bsystemd-cgls |^cat /sys/|\bjournalctl |https://localhost:10259/|\betcdctl |^e |^pki="
    r"|^kind |kube-system logs -l component|grep kubelet_pleg_relist|stats/summary|status\.volumesAttached"
)
"""Asks a node, its runtime or what runs on it besides pods: there is no machine behind an embedded cluster's nodes."""

INSIDE = re.compile(r"kubectl exec \S+ -- (grep|cat|ls|mount|sh -c 'echo)|kubectl run -it ")
"""Looks into a real container; a hollow one runs no programs and says so."""

ITS_OWN_FILE = re.compile(r"\baudit\.log\b|\.venv/bin/lifecycle ")
"""Reads what the reader's own server wrote, or is a command of the book itself, which has tests of its own."""

ANSWERS_WITH = {
    ("aggregation", "kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods"): "could not find the requested resource",
    ("auditing", "kubectl create deployment nginx --image=nginx --as jane"): 'User "jane" cannot create',
    (
        "authorization",
        "kubectl auth can-i create pods  --as system:serviceaccount:kube-system:deployment-controller",
    ): "no",
    (
        "binding",
        """kubectl patch pod PODNAME -p '{"spec":{"nodeName":"other"}}'""",
    ): "pod updates may not change fields",
    ("initializers-then-and-now", "kubectl explain deployment.metadata.initializers"): "does not exist",
    ("container-startup", "kubectl logs lost"): "is waiting to start",
    (
        "resource-handling",
        "kubectl create deployment fresh --image=nginx --replicas=-3",
    ): "must be greater than or equal",
    (
        "resource-handling",
        "kubectl get --raw /apis/apps/v1/namespaces/default/nonsense",
    ): "could not find the requested",
    ("the-handler-chain", "kubectl get --raw '/api/v1/pods?timeout=soon'"): "invalid duration",
    ("the-handler-chain", "kubectl get pods --as jane"): 'User "jane" cannot list',
    ("the-request-on-the-wire", "kubectl get pods --as=nobody"): 'User "nobody" cannot list',
    ("the-watch-cache", "kubectl get --raw '/api/v1/pods?resourceVersion=99999999999'"): "Too large resource version",
    ("validation-and-generators", "kubectl create deployment Bad_Name --image=nginx --dry-run=server"): "is invalid",
}
"""Refused, and the page says so: what the refusal has to contain."""

SAYS_NOTHING = {
    ("admission", "kubectl get mutatingwebhookconfigurations -o yaml | grep reinvocationPolicy"),
    ("aggregation", "kubectl get apiservices | grep False"),
    ("field-ownership", "kubectl create deployment mine --image=nginx --dry-run=client -o yaml >mine.yaml"),
    ("hooks-and-the-end-of-a-container", "kubectl exec deploy/nginx -- sh -c 'kill 1'"),
}
"""Looks for what a fresh cluster does not have, or writes a file: silence is right."""

CONFLICT = ("field-ownership", "kubectl apply --server-side -f mine.yaml")
"""Typed twice: it works, and after somebody else scaled it does not."""

CREATE = "kubectl create deployment nginx --image=nginx --replicas=3"
"""Stands before the first command of each page that does not begin with it."""

PATIENCE = 30.0
"""Seconds until a command that says nothing is given up."""


def commands_of(page: str) -> list[str]:
    """What stands behind a `$`, without the remark at its end, continued lines in one."""
    section = SECTION.search(PAGES[page])
    joined = re.sub(r"(\\|(?<=\|))\n\s+", " ", "".join(CONSOLE.findall(section[1]))) if section else ""
    return [re.sub(r"\s{2,}#.*", "", line[2:]).strip() for line in joined.splitlines() if line.startswith("$ ")]


def can_be_typed(command: str) -> bool:
    return not (ON_A_NODE.search(command) or INSIDE.search(command) or ITS_OWN_FILE.search(command))


Terminal = Callable[[str], tuple[int | None, str]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[BackgroundCluster]:
    with lifecycle.up(nodes=3, like="kind") as running:
        yield running


@pytest.fixture
def terminal(cluster: BackgroundCluster, tmp_path: Path, page: str) -> Iterator[Terminal]:
    """Types a command into a shell on a terminal; a command that goes on and on is interrupted when it has said something.

    Returns its exit code (None: interrupted) and what stood on the screen.
    """
    kubectl = find_kubectl("1.36")
    if shutil.which("jq") is None:
        unavailable("jq is not installed")
    if kubectl is None:
        unavailable("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    assert kubectl is not None
    assert cluster.cluster is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kubectl").symlink_to(kubectl)
    namespace = f"page-{page}"[:63].rstrip("-")
    config = cluster.cluster.kubeconfig()
    config["contexts"][0]["context"]["namespace"] = namespace
    write_kubeconfig(config, tmp_path / "config")
    environment = os.environ | {
        "HOME": str(tmp_path),
        "KUBECONFIG": str(tmp_path / "config"),
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
    }

    def type_in(command: str) -> tuple[int | None, str]:
        ours, theirs = pty.openpty()
        goes_on = re.search(r"\s-w\b|watch=1", command)
        shell = subprocess.Popen(
            ["bash", "-c", command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=tmp_path,
            env=environment,
            start_new_session=True,
        )
        os.close(theirs)
        screen, end = b"", time.monotonic() + PATIENCE
        try:
            while time.monotonic() < end:
                if select.select([ours], [], [], 1.0)[0]:
                    try:
                        screen += os.read(ours, 65536)
                    except OSError:  # the last one who could write has gone
                        return shell.wait(), screen.decode(errors="replace")
                    if goes_on and screen.strip():
                        return None, screen.decode(errors="replace")
            raise AssertionError(f"$ {command}\nsays nothing for {PATIENCE:.0f} s and does not end: {screen.decode()}")
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGTERM)
                shell.wait()
            os.close(ours)

    before = [
        CREATE,
        "kubectl rollout status deployment/nginx",
        "kubectl expose deployment nginx --port=80",
    ]
    its_own = commands_of(page)
    if its_own[0].startswith(CREATE):
        before = []
    elif "kubectl expose deployment nginx --port=80" in its_own:
        before.pop()
    core = official.CoreV1Api(cluster.api_client)
    core.create_namespace({"metadata": {"name": namespace}})
    for line in before:
        code, screen = type_in(line)
        assert code == 0, screen
    for name, text in SHOWN_FILE.findall(PAGES[page]):
        (tmp_path / name).write_text(text)
    yield type_in
    core.delete_namespace(namespace)


def in_full(command: str, terminal: Terminal) -> str:
    """With a pod's and a node's name where the page leaves them to the reader."""
    for word, question in (
        (r"\bPOD(NAME)?\b", "kubectl get pods -l app=nginx -o jsonpath='{.items[0].metadata.name}'"),
        (r"\bNODE(NAME)?\b", "kubectl get pods -l app=nginx -o jsonpath='{.items[0].spec.nodeName}'"),
    ):
        if re.search(word, command):
            command = re.sub(word, terminal(question)[1].strip(), command)
    return command


@pytest.mark.parametrize("page", [page for page in PAGES if any(map(can_be_typed, commands_of(page)))])
def test_what_a_page_tells_to_type_works(page: str, terminal: Terminal) -> None:
    wrong, typed = [], []
    for command in filter(can_be_typed, commands_of(page)):
        code, screen = terminal(in_full(command, terminal))
        refusal = ANSWERS_WITH.get((page, command))
        if (page, command) == CONFLICT and command in typed:
            refusal = "conflict with"
        if refusal is not None:
            right = refusal in screen and code != 0
        elif (page, command) in SAYS_NOTHING:
            right = not screen.strip()
        else:
            right = code in (0, None) and bool(screen.strip())
        typed.append(command)
        if not right:
            wrong.append(f"$ {command}\n{screen[-400:]}[{code}]")
    assert not wrong, "\n\n".join(wrong)


def test_what_is_known_of_commands_is_about_commands_that_stand_there() -> None:
    there = {(page, command) for page in PAGES for command in commands_of(page)}
    assert {*ANSWERS_WITH, *SAYS_NOTHING, CONFLICT} - there == set()


def test_every_chapter_says_what_to_type() -> None:
    assert [page for page, text in PAGES.items() if not SECTION.search(text)] == []
