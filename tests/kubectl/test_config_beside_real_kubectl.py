"""`kubectl config`: the same words as the real kubectl 1.36, and the same file afterwards."""

from __future__ import annotations

import io
import shlex
import subprocess
from pathlib import Path

import pytest

from lifecycle.kubectl.commands.config import run_config
from tests.conftest import find_kubectl, unavailable

KUBECONFIG = """apiVersion: v1
kind: Config
current-context: a
preferences: {}
clusters:
- {name: a, cluster: {server: "https://a:1", certificate-authority-data: YWJj}}
- {name: b, cluster: {server: "https://b:1", insecure-skip-tls-verify: true}}
- {name: c.d, cluster: {server: "https://cd:1", tls-server-name: q}}
contexts:
- {name: a, context: {cluster: a, user: a, namespace: ns}}
- {name: b, context: {cluster: b, user: b}}
- {name: c.d, context: {cluster: c.d, user: u}}
users:
- {name: a, user: {token: tok}}
- {name: b, user: {username: u, password: p}}
- name: u
  user:
    exec: {command: c, apiVersion: client.authentication.k8s.io/v1, args: [q], env: [{name: A, value: z}], interactiveMode: Never}
"""

LINES = """
view --minify --flatten
view --context=b --minify -o json
view --raw -o kyaml
view -o jsonpath={.users[*].name}
view -o bad
view -o name
view --merge=false
view --minify --context=nope
view x
get-contexts
get-contexts b nope zz
get-contexts -o name b
get-contexts -o wide
get-contexts --no-headers
current-context
set current-context b
set contexts.a.namespace other
set contexts.new.cluster x
set contexts.a.user other
set clusters.a.proxy-url http://p
set clusters.a.tls-server-name x
set clusters.a.disable-compression true
set clusters.a.certificate-authority x
set users.u.username x
set users.u.password x
set users.u.tokenFile x
set users.u.act-as x
set users.u.act-as-uid x
set users.a.client-certificate x
set users.a.client-key x
set clusters.c.d.server https://z
set clusters.b.insecure-skip-tls-verify false
set clusters.b.insecure-skip-tls-verify maybe
set clusters.a.certificate-authority-data x
set users.a.client-key-data YWJj
set users.a.client-key-data abc --set-raw-bytes
set users.u.token t
set users.u.exec.command x
set foo.bar x
set foo ''
set '' x
unset current-context
unset contexts.a.namespace
unset contexts.b
unset contexts.zz
unset contexts.zz.user
unset contexts.a.user
unset clusters.a.server
unset users.u.token
unset users
unset foo
set-context new --cluster=a --user=u -n m
set-context --current --namespace=n
set-context a --current
set-context ''
set-context a --bogus
set-cluster a --server=https://x
set-cluster b --certificate-authority=HOME/ca.crt
set-cluster b --certificate-authority=HOME/ca.crt --embed-certs
set-cluster b --certificate-authority=HOME/nope --embed-certs
set-cluster new --insecure-skip-tls-verify --proxy-url=http://p
set-cluster new --insecure-skip-tls-verify --certificate-authority=x
set-credentials a --username=u --password=p
set-credentials a --token=t --username=u
set-credentials b --token=t
set-credentials new --client-certificate=HOME/ca.crt --client-key=HOME/ca.crt --embed-certs
set-credentials new --embed-certs
set-credentials u --exec-env=A- --exec-env=B=c --exec-arg=x,y
set-credentials u --exec-command=d
set-credentials new --exec-command=d --exec-interactive-mode=x
set-credentials new --exec-command=d --exec-provide-cluster-info
set-credentials new --auth-provider=oidc --auth-provider-arg=k=v --auth-provider-arg=l-
rename-context a z
rename-context a b
rename-context nope z
rename-context a ''
use-context b
use nope
use ''
delete-context a
delete-context nope
delete-cluster b
delete-user u
delete-user
foo bar
""".strip().splitlines()

MISUSED = ["use-context", "set-cluster", "set a", "unset", "rename-context a", "delete-cluster a b", "set-context a b"]
"""The real kubectl prints its help first, which is not ours; what it says after that is the same."""


def asked(line: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    folder.mkdir()
    (folder / "config").write_text(KUBECONFIG)
    (folder / "ca.crt").write_text("a certificate")
    return shlex.split(line.replace("HOME", str(folder))), {"KUBECONFIG": str(folder / "config"), "HOME": str(folder)}


def real(line: str, folder: Path) -> list[str]:
    binary = find_kubectl("1.36")
    if binary is None:
        unavailable("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    argv, environ = asked(line, folder)
    done = subprocess.run([str(binary), "config", *argv], env=environ, capture_output=True, text=True, timeout=60)
    parts = [
        str(done.returncode),
        done.stdout,
        done.stderr.replace(binary.name, "kubectl"),
        (folder / "config").read_text(),
    ]
    return [part.replace(str(folder), "HOME") for part in parts]


def ours(line: str, folder: Path) -> list[str]:
    argv, environ = asked(line, folder)
    out, err = io.StringIO(), io.StringIO()
    code = run_config(argv, out=out, err=err, environ=environ)
    parts = [str(code), out.getvalue(), err.getvalue(), (folder / "config").read_text()]
    return [part.replace(str(folder), "HOME") for part in parts]


@pytest.mark.parametrize("line", LINES)
def test_the_same_words_and_the_same_file(line, tmp_path):
    assert ours(line, tmp_path / "ours") == real(line, tmp_path / "real")


@pytest.mark.parametrize("line", MISUSED)
def test_misused_it_shows_help_and_changes_nothing(line, tmp_path):
    code, out, err, file = ours(line, tmp_path / "ours")
    expected = real(line, tmp_path / "real")
    assert out.endswith("(applies to all commands).\n")
    assert [code, err, file] == [expected[0], expected[2], expected[3]]
