"""What the flags of components that run alone may say, and what is said against it."""

from __future__ import annotations

import json
import os
import shutil
import ssl
from base64 import urlsafe_b64decode
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cluster.alone.controllers import ManagerOptions
from lifecycle.cluster.alone.dns import DNSOptions
from lifecycle.cluster.alone.kubelet import NodeOptions, parse_labels, parse_taints, serving_context
from lifecycle.cluster.alone.proxy import PROGRAMS, ProxyOptions
from lifecycle.cluster.alone.scheduler import read_configuration
from lifecycle.controllers.manager import CONTROLLERS
from lifecycle.scheduler.config import ConfigurationError


def said_against(options: Any) -> str:
    try:
        options.check()
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (ManagerOptions(), ""),
        (ManagerOptions(controllers=("deployment-controller", "-job-controller", "*")), ""),
        (ManagerOptions(controllers=("*", "deployments")), '"deployments" is not in the list of known controllers'),
        (ManagerOptions(controllers=("-deployments",)), '"-deployments" is not in the list of known controllers'),
        (ManagerOptions(cluster_cidr="10.0.0.0/24"), ""),
        (ManagerOptions(cluster_cidr="10.0.0.0/25"), "--cluster-cidr: 10.0.0.0/25 has no room for a node's /24"),
        (ManagerOptions(cluster_cidr="10.0.0.1/16"), "--cluster-cidr: 10.0.0.1/16 has host bits set"),
        (DNSOptions(), ""),
        (DNSOptions(cluster_domain="a.b"), ""),
        (NodeOptions("n"), ""),
        (NodeOptions("n", pod_cidr="10.0.0.0/24"), ""),
        (NodeOptions("n", node_ip="::1"), "--node-ip: Expected 4 octets in '::1'"),
        (NodeOptions("n", pod_cidr="10.0.0.1/24"), "--pod-cidr: 10.0.0.1/24 has host bits set"),
    ],
)
def test_options_are_looked_at_before_anything_begins(options: Any, said: str) -> None:
    assert said_against(options) == said


def test_a_name_that_is_none_is_named() -> None:
    assert said_against(DNSOptions(cluster_domain="A_B")).startswith(
        "--cluster-domain A_B: a lowercase RFC 1123 subdomain"
    )
    assert said_against(NodeOptions("A_B")).startswith("--hostname-override A_B: a lowercase RFC 1123 subdomain")


def test_what_holds_if_nobody_says_anything() -> None:
    options = ManagerOptions()
    assert (options.controllers, options.cluster_cidr, options.allocate_node_cidrs) == (("*",), "10.244.0.0/16", True)
    assert options.use_service_account_credentials
    assert (options.root_ca_file, options.service_account_private_key_file) == (None, None)
    dns = DNSOptions()
    assert (dns.port, dns.cluster_domain, dns.ttl) == (53, "cluster.local", 30)
    node = NodeOptions("n")
    assert (node.node_ip, node.port, node.pod_cidr, node.latency) == ("127.0.0.1", 10250, "", 0.0)
    assert (dict(node.node_labels), node.register_with_taints, node.client_ca_file) == ({}, (), None)


def test_only_what_is_asked_for_runs() -> None:
    everything = ManagerOptions().enabled
    assert "node-ipam-controller" in everything
    assert ManagerOptions(allocate_node_cidrs=False).enabled == [
        name for name in everything if name != "node-ipam-controller"
    ]
    assert ManagerOptions(controllers=("deployment-controller", "node-ipam-controller")).enabled == [
        name for name in CONTROLLERS if name in ("deployment-controller", "node-ipam-controller")
    ]
    assert set(everything) - set(ManagerOptions(controllers=("*", "-job-controller")).enabled) == {"job-controller"}


def test_pods_trust_the_file_that_is_named_or_whom_the_kubeconfig_trusts(tmp_path: Path) -> None:
    connection: Any = SimpleNamespace(config=SimpleNamespace(ca=b"of the kubeconfig"))
    (tmp_path / "ca").write_text("of the file")
    assert ManagerOptions().root_ca(connection) == "of the kubeconfig"
    assert ManagerOptions(root_ca_file=tmp_path / "ca").root_ca(connection) == "of the file"
    with pytest.raises(FileNotFoundError):
        ManagerOptions(root_ca_file=tmp_path / "none").root_ca(connection)


def test_tokens_are_signed_for_the_account_of_a_secret_if_there_is_a_key(tmp_path: Path) -> None:
    assert ManagerOptions().issue() is None
    path = tmp_path / "key"
    key = rsa.generate_private_key(65537, 2048)
    formats = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(key.private_bytes(*formats))
    issue = ManagerOptions(service_account_private_key_file=path).issue()
    assert issue is not None
    metadata = {"name": "robot", "namespace": "shop", "uid": "u1"}
    token = issue({"metadata": metadata}, {"metadata": {"name": "secret", "namespace": "shop"}})
    body = token.split(".")[1]
    assert json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))["sub"] == "system:serviceaccount:shop:robot"
    path.write_text("no key")
    with pytest.raises(ValueError, match=f"^{path}: "):
        ManagerOptions(service_account_private_key_file=path).issue()


@pytest.mark.parametrize(
    ("text", "labels"),
    [("", {}), ("a=1", {"a": "1"}), ("a=1,b=,", {"a": "1", "b": ""}), ("a=b=c", {"a": "b=c"})],
)
def test_labels_are_pairs(text: str, labels: dict[str, str]) -> None:
    assert parse_labels(text) == labels


@pytest.mark.parametrize("pair", ["a", "=1"])
def test_what_is_no_label_is_named(pair: str) -> None:
    with pytest.raises(ValueError, match=f"^--node-labels wants key=value, not {pair}$"):
        parse_labels(f"b=2,{pair}")


@pytest.mark.parametrize(
    ("text", "taints"),
    [
        ("", []),
        ("a=1:NoSchedule", [{"key": "a", "value": "1", "effect": "NoSchedule"}]),
        ("a:NoExecute,", [{"key": "a", "effect": "NoExecute"}]),
        ("a=:PreferNoSchedule", [{"key": "a", "effect": "PreferNoSchedule"}]),
        ("a:NoExecute,b=2:NoSchedule", [{"key": "a", "effect": "NoExecute"}, {"key": "b", "value": "2", "effect": "NoSchedule"}]),
    ],
)  # fmt: skip
def test_taints_have_an_effect_and_perhaps_a_value(text: str, taints: list[Any]) -> None:
    assert list(parse_taints(text)) == taints


@pytest.mark.parametrize("taint", ["a", "a=1", "a=1:Never", "=1:NoSchedule", "a:b:NoSchedule"])
def test_what_is_no_taint_is_named(taint: str) -> None:
    with pytest.raises(ValueError, match="--register") as refused:
        parse_taints(taint)
    assert str(refused.value) == (
        "--register-with-taints wants key=value:Effect (NoSchedule, PreferNoSchedule, NoExecute), not " + taint
    )


def test_a_kubelet_asks_clients_for_certificates_of_an_authority_if_it_has_one() -> None:
    trusting = serving_context("n", "127.0.0.1", CertificateAuthority().ca_pem)
    assert (trusting.verify_mode, trusting.minimum_version) == (ssl.CERT_OPTIONAL, ssl.TLSVersion.TLSv1_2)
    assert len(trusting.get_ca_certs()) == 1
    assert serving_context("n", "127.0.0.1", b"").verify_mode == ssl.CERT_NONE
    with pytest.raises(ssl.SSLError):
        serving_context("n", "127.0.0.1", b"no authority")


HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.mark.parametrize(
    ("text", "election", "kubeconfig"),
    [
        ("", {}, ""),
        ("leaderElection: null\nclientConnection: null\n", {}, ""),
        ("clientConnection: {kubeconfig: /etc/k}\n", {}, "/etc/k"),
        ("leaderElection: {leaderElect: false}\n", {"leader_elect": False}, ""),
        ("leaderElection: {leaderElect: true, resourceName: mine, resourceNamespace: shop}\n",
         {"leader_elect": True, "resource_name": "mine", "resource_namespace": "shop"}, ""),
        ("leaderElection: {leaseDuration: 1m, renewDeadline: 40s, retryPeriod: 500ms, resourceName: ''}\n",
         {"lease_duration": 60.0, "renew_deadline": 40.0, "retry_period": 0.5}, ""),
    ],
)  # fmt: skip
def test_a_schedulers_file_speaks_of_the_election_and_the_connection_too(
    text: str, election: dict[str, Any], kubeconfig: str
) -> None:
    configuration, said, path = read_configuration(HEAD + text)
    assert (said, path) == (election, kubeconfig)
    assert [profile.scheduler_name for profile in configuration.profiles] == ["default-scheduler"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "yaml: line 1: did not find expected node content"),
        (
            HEAD + "leaderElection: {leaseDuration: soon}\n",
            'leaderElection.leaseDuration: time: invalid duration "soon"',
        ),
        (HEAD + "leaderElection: {retryPeriod: 5}\n", 'leaderElection.retryPeriod: time: missing unit in duration "5"'),
    ],
)
def test_a_file_that_cannot_be_used_says_where(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(text)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("options", "there", "uid", "said"),
    [
        ({"dry_run": True}, (), 1000, ""),
        ({}, PROGRAMS, 0,
         "where shall the rules go? --netns PATH loads them there (/proc/self/ns/net is this machine's own), --dry-run prints them"),
        ({"netns": "/no/such"}, PROGRAMS, 0, "--netns: /no/such is not there"),
        ({"netns": "/"}, ("iptables",), 0, "iptables-save is missing: apt-get install iptables"),
        ({"netns": "/"}, PROGRAMS, 1000, "loading rules needs root: use sudo, or --dry-run"),
        ({"netns": "/"}, PROGRAMS, 0, ""),
    ],
)  # fmt: skip
def test_rules_go_where_they_can_go(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], there: tuple[str, ...], uid: int, said: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert said_against(ProxyOptions("n", **options)) == said
