"""What kubectl says about a kubeconfig that cannot be used, and what flags do to one that can."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from lifecycle.kubectl.commands.config import run_config
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig import (
    ClientConfig,
    ConfigurationError,
    DirectClientConfig,
    client_config,
    in_cluster,
    load,
    make,
    view,
)
from lifecycle.kubectl.kubeconfig.client_config import Overrides
from lifecycle.kubectl.kubeconfig.validation import cluster_errors, user_errors


def config(**user: Any) -> dict[str, Any]:
    made = make("a", "https://a:6443")
    made["users"][0]["user"] = user
    return made


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"token": "t", "username": "u"}, "more than one authentication method found for a; found [token basicAuth], only one is allowed"),
        ({"client-certificate-data": "Q0E="},
         "client-key-data or client-key must be specified for a to use the clientCert authentication method."),
        ({"client-certificate": "/nope", "client-key-data": "Q0E="},
         "unable to read client-cert /nope for a due to open /nope: no such file or directory"),
        ({"as-groups": ["g"]}, "requesting uid, groups or user-extra for a without impersonating a user"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "x"}},
         "interactiveMode must be specified for a to use exec authentication plugin"),
        ({"exec": {"interactiveMode": "Sometimes", "apiVersion": "v1", "command": "x"}}, 'invalid interactiveMode for a: "Sometimes"'),
    ],
)  # fmt: skip
def test_a_user_that_cannot_be_used(user: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as wrong:
        client_config(config(**user))
    assert wrong.value.errors == [message]


def test_older_plugins_have_a_default_mode() -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "x"}
    assert user_errors("a", {"exec": plugin}) == []
    found = client_config(config(exec=plugin)).exec
    assert found is not None
    assert found["interactiveMode"] == "IfAvailable"


def test_a_cluster_that_cannot_be_used() -> None:
    assert cluster_errors("a", {}) == ["cluster has no server defined"]
    assert cluster_errors("", {"x": 1}) == ["default cluster has no server defined"]
    assert cluster_errors("a", {"certificate-authority": "/nope"}) == [
        'no server found for cluster "a"',
        "unable to read certificate-authority /nope for a due to open /nope: no such file or directory",
    ]


def test_several_errors_are_a_list() -> None:
    with pytest.raises(ConfigurationError) as wrong:
        client_config({**config(token="t", username="u", **{"as-uid": "1"}), "current-context": "a"})
    assert str(wrong.value).startswith("Error in configuration: \n* more than one")
    with pytest.raises(
        ConfigurationError, match=r"Error in configuration: context was not found for specified context: gone$"
    ):
        client_config({**config(), "current-context": "gone"})


def test_flags_change_single_fields() -> None:
    made = make("a", "https://a:6443", ca=b"CA", client_certificate=b"C", client_key=b"K")
    made["clusters"][0]["cluster"]["tls-server-name"] = "old"
    assert client_config(made, server="https://b").server_name == ""
    assert client_config(made, server_name="new").server_name == "new"
    skipping = client_config(made, insecure=True)
    assert (skipping.ca, skipping.insecure) == (b"", True)
    asked = client_config(made, impersonate="jane", impersonate_groups=("g",), impersonate_uid="7")
    assert (asked.impersonate, asked.impersonate_groups, asked.impersonate_uid) == ("jane", ("g",), "7")


def test_over_plain_http_no_credentials_are_kept() -> None:
    made = make("a", "http://a:8080", token="secret", ca=b"CA", client_certificate=b"C", client_key=b"K")
    assert client_config(made) == ClientConfig("http://a:8080")


def test_the_namespace_needs_a_usable_configuration_unless_it_is_given() -> None:
    gone = {**config(), "current-context": "gone"}
    assert DirectClientConfig(gone, Overrides(namespace="ns")).namespace() == "ns"
    with pytest.raises(ConfigurationError):
        DirectClientConfig(gone).namespace()
    assert DirectClientConfig(config()).namespace() == "default"


def test_inside_a_pod(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t\n")
    (tmp_path / "ca.crt").write_bytes(b"CA")
    (tmp_path / "namespace").write_text("shop")
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    found = in_cluster(environ, folder=tmp_path)
    assert (found.server, found.token, found.ca, found.namespace) == ("https://[fd00::1]:443", "t", b"CA", "shop")
    assert found.token_file == str(tmp_path / "token"), "it is renewed, so it has to be read again"
    assert in_cluster({**environ, "POD_NAMESPACE": "own"}, folder=tmp_path).namespace == "own"
    with pytest.raises(
        CommandError,
        match=r"unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined$",
    ):
        in_cluster({}, folder=tmp_path)


def test_a_name_may_come_once_in_a_file(tmp_path: Path) -> None:
    made = make("a", "https://a")
    made["users"] *= 2
    (tmp_path / "config").write_text(yaml.safe_dump(made))
    with pytest.raises(CommandError, match='duplicate name "a" in list'):
        load([tmp_path / "config"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kind: Config\n  a: b: c\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("kind: Config\nclusters: [\n", "yaml: line 2: did not find expected node content"),
    ],
)
def test_a_file_that_is_no_yaml_is_refused_in_the_words_of_kubectl(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(CommandError) as refused:
        load([path])
    assert str(refused.value) == f'error loading config file "{path}": {why}'


def test_flattening_moves_files_inside(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"CA")
    made = make("a", "https://a")
    made["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
    (tmp_path / "config").write_text(yaml.safe_dump(made))
    flat = view(load([tmp_path / "config"]), flatten=True)
    assert flat["clusters"][0]["cluster"]["certificate-authority-data"] == base64.b64encode(b"CA").decode()


def test_each_change_goes_to_the_file_its_entry_is_in(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_text(yaml.safe_dump({**make("a", "https://a"), "current-context": ""}))
    second.write_text(yaml.safe_dump(make("b", "https://b")))
    environ = {"KUBECONFIG": f"{first}:{tmp_path / 'missing'}:{second}"}

    def run(*arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        return run_config(arguments, out=out, err=err, environ=environ), out.getvalue(), err.getvalue()

    assert run("set-credentials", "b", "--token=new") == (0, 'User "b" set.\n', "")
    assert yaml.safe_load(second.read_text())["users"][0]["user"] == {"token": "new"}
    assert run("use-context", "a") == (0, 'Switched to context "a".\n', "")
    assert yaml.safe_load(first.read_text())["current-context"] == "a"
    assert run("set-context", "c", "--cluster=b", "--user=b") == (0, 'Context "c" created.\n', "")
    assert [each["name"] for each in yaml.safe_load(first.read_text())["contexts"]] == ["a", "c"]
    assert run("use-context", "zz") == (1, "", 'error: no context exists with the name: "zz"\n')
    code, out, _ = run("get-contexts")
    assert (code, out.splitlines()[1].split()) == (0, ["*", "a", "a", "a"])
    assert not (tmp_path / "missing").exists()
