"""From the command line to a component: each option arrives where it belongs, and nothing else does."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.cli import main
from lifecycle.cli.run import options as common
from lifecycle.cli.server_options import names
from lifecycle.cluster.alone.connection import Target
from lifecycle.cluster.alone.controllers import ManagerOptions
from lifecycle.cluster.alone.dns import DNSOptions
from lifecycle.cluster.alone.kubelet import NodeOptions, parse_labels, parse_taints
from lifecycle.cluster.alone.leading import LeaderElectionConfiguration
from lifecycle.cluster.alone.proxy import ProxyOptions
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.kube_proxy_configuration import KubeProxyConfiguration, parse_configuration

PLAIN = Target("", "", "", ())


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run `lifecycle run …`; answers what was served: name, what the component was made of, and the rest."""

    def run(word: str, lone: str, *arguments: str) -> Any:
        kept: list[Any] = []
        module = sys.modules[f"lifecycle.cli.run.{word}"]
        monkeypatch.setattr(module, "serve", lambda *args, **named: kept.append((args, named)))
        monkeypatch.setattr(f"lifecycle.cluster.alone.{word}.{lone}", lambda *args: args)
        monkeypatch.setattr("socket.gethostname", lambda: "HOST")
        checked: list[Any] = []
        for options in (DNSOptions, NodeOptions, ProxyOptions, ManagerOptions):
            monkeypatch.setattr(options, "check", lambda self: checked.append(self))
        result = CliRunner().invoke(main, ["run", word, *arguments])
        if not kept:
            return result
        assert result.exit_code == 0, result.output
        (name, make, target), rest = kept[0]
        connection, _, *made = make("connection")
        assert connection == "connection"
        assert checked == [each for each in made if hasattr(type(each), "check")], "looked at before anything begins"
        return name, made, target, rest

    return run


def traffic_of(cluster_cidr: str) -> KubeProxyConfiguration:
    return KubeProxyConfiguration(ProxierConfig(cluster_cidr=cluster_cidr))


QUIET = {"healthz_port": 0, "verbosity": 0}


def test_dns(served: Any) -> None:
    name, made, target, rest = served("dns", "LoneDNS")
    assert (name, made, target, rest) == ("coredns", [DNSOptions(53, "cluster.local", 30), common.tell], PLAIN, QUIET)
    given = ("--port", "1053", "--cluster-domain", "c.x", "--ttl", "5", "--kubeconfig", "k", "--context", "c", "--as", "u",
             "--as-group", "g", "--as-group", "h", "--healthz-port", "7", "-vv")  # fmt: skip
    _, made, target, rest = served("dns", "LoneDNS", *given)
    assert made[0] == DNSOptions(1053, "c.x", 5)
    assert (target, rest) == (Target("k", "c", "u", ("g", "h")), {"healthz_port": 7, "verbosity": 2})


def test_kubelet(served: Any) -> None:
    name, made, target, rest = served("kubelet", "LoneKubelet")
    assert (name, target, rest) == ("kubelet", PLAIN, QUIET)
    assert made == [NodeOptions("host", "127.0.0.1", 10250, "", parse_labels(""), parse_taints(""), None, 0.0)]
    given = ("--hostname-override", "n", "--node-ip", "127.0.0.2", "--port", "1", "--pod-cidr", "10.0.0.0/24", "--node-labels",
             "a=b", "--register-with-taints", "k=v:NoSchedule", "--client-ca-file", __file__, "--latency", "2")  # fmt: skip
    _, made, _, _ = served("kubelet", "LoneKubelet", *given)
    taints = parse_taints("k=v:NoSchedule")
    assert made == [NodeOptions("n", "127.0.0.2", 1, "10.0.0.0/24", parse_labels("a=b"), taints, Path(__file__), 2.0)]
    _, made, _, _ = served("kubelet", "LoneKubelet", "--latency", "recorded")
    assert made[0].latency == "recorded"


@pytest.mark.parametrize(("dry", "where"), [((), False), (("--dry-run",), True)])
def test_proxy(served: Any, capsys: pytest.CaptureFixture[str], dry: tuple[str, ...], where: bool) -> None:
    name, made, target, rest = served("proxy", "LoneProxy", *dry)
    assert (name, target, rest) == ("kube-proxy", PLAIN, {"ready_on_stderr": where, **QUIET})
    assert made[0] == ProxyOptions("host", traffic_of("10.244.0.0/16"), "", where)
    made[1]("*nat\n")
    assert capsys.readouterr().out == "*nat\n"
    given = ("--hostname-override", "n", "--cluster-cidr", "10.0.0.0/8", "--netns", "/proc/self/ns/net", *dry)
    _, made, _, _ = served("proxy", "LoneProxy", *given)
    assert made[0] == ProxyOptions("n", traffic_of("10.0.0.0/8"), "/proc/self/ns/net", where)


def test_proxy_of_a_file(served: Any, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    said = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": "/k"},
        "hostnameOverride": "m",
        "clusterCIDR": "10.9.0.0/16",
    }
    file.write_text(json.dumps(said))
    _, made, target, _ = served("proxy", "LoneProxy", "--config", str(file), "--dry-run")
    assert made[0] == ProxyOptions("m", parse_configuration(file.read_text()), "", True)
    assert made[0].configuration.proxier.cluster_cidr == "10.9.0.0/16"
    assert target == Target("/k", "", "", ())
    typed = ("--hostname-override", "n", "--cluster-cidr", "10.8.0.0/16", "--kubeconfig", "/j")
    _, made, target, _ = served("proxy", "LoneProxy", "--config", str(file), "--dry-run", *typed)
    assert (made[0].hostname_override, made[0].configuration.proxier.cluster_cidr) == ("n", "10.8.0.0/16")
    assert target == Target("/j", "", "", ())
    file.write_text(json.dumps(said | {"mode": "ipvs"}))
    refused = served("proxy", "LoneProxy", "--config", str(file), "--dry-run")
    why = 'KubeProxyConfiguration.Mode: Invalid value: "ipvs": only iptables is rebuilt here'
    assert (refused.exit_code, refused.output) == (1, f"lifecycle: {file}: {why}\n")
    refused = served("proxy", "LoneProxy", "--config", str(tmp_path / "none"), "--dry-run")
    assert (refused.exit_code, refused.output) == (1, f"lifecycle: {tmp_path / 'none'}: No such file or directory\n")


ELECTION = LeaderElectionConfiguration(
    leader_elect=True, lease_duration=15.0, renew_deadline=10.0, retry_period=2.0, resource_name="",
    resource_namespace="kube-system",
)  # fmt: skip
ELECTED = ("--leader-elect=false", "--leader-elect-lease-duration", "1m", "--leader-elect-renew-deadline", "30s",
           "--leader-elect-retry-period", "500ms", "--leader-elect-resource-name", "r",
           "--leader-elect-resource-namespace", "n")  # fmt: skip
OTHERS = LeaderElectionConfiguration(
    leader_elect=False, lease_duration=60.0, renew_deadline=30.0, retry_period=0.5, resource_name="r",
    resource_namespace="n",
)  # fmt: skip


def test_controllers(served: Any) -> None:
    name, made, target, rest = served("controllers", "LoneControllers")
    assert (name, target, rest) == ("kube-controller-manager", PLAIN, {"election": ELECTION, **QUIET})
    assert made == [ManagerOptions(("*",), "10.244.0.0/16", True, True, None, None)]
    given = ("--controllers", "deployment,,job", "--cluster-cidr", "10.0.0.0/8", "--allocate-node-cidrs=false",
             "--use-service-account-credentials=false", "--root-ca-file", "/r", "--service-account-private-key-file",
             "/k", *ELECTED)  # fmt: skip
    result = served("controllers", "LoneControllers", *given)
    _, made, _, rest = result
    assert made == [ManagerOptions(("deployment", "job"), "10.0.0.0/8", False, False, Path("/r"), Path("/k"))]
    assert rest["election"] == OTHERS


def test_scheduler(served: Any, tmp_path: Path) -> None:
    name, made, target, rest = served("scheduler", "LoneScheduler")
    assert (name, made, target, rest) == ("kube-scheduler", [None], PLAIN, {"election": ELECTION, **QUIET})
    file = tmp_path / "config"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "clientConnection: {kubeconfig: from-file}\nleaderElection: {leaseDuration: 40s, renewDeadline: 20s}\n"
    )
    _, made, target, rest = served(
        "scheduler", "LoneScheduler", "--config", str(file), "--leader-elect-renew-deadline", "9s"
    )
    assert made[0] is not None
    assert target == Target("from-file", "", "", ())
    elected = rest["election"]
    assert (elected.lease_duration, elected.renew_deadline, elected.retry_period) == (40.0, 9.0, 2.0)
    _, _, target, _ = served("scheduler", "LoneScheduler", "--config", str(file), "--kubeconfig", "typed")
    assert target.kubeconfig == "typed"
    file.write_text("kind: Other\n")
    result = served("scheduler", "LoneScheduler", "--config", str(file))
    assert (result.exit_code, result.stderr.startswith(f"lifecycle: {file}: ")) == (1, True)


@pytest.fixture
def clustered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The configuration, the kubeconfig and the context that a command would start a cluster with."""

    def run(*arguments: str) -> Any:
        kept: list[Any] = []
        for module in ("lifecycle.cli.up", "lifecycle.cli.run.apiserver"):
            monkeypatch.setattr(sys.modules[module], "run_cluster", lambda *args: kept.append(args))
        result = CliRunner().invoke(main, list(arguments))
        assert result.exit_code == 0, result.output
        return kept[0]

    return run


@pytest.mark.parametrize("word", [("up",), ("run", "apiserver")])
def test_server_options_reach_the_cluster(clustered: Any, tmp_path: Path, word: tuple[str, ...]) -> None:
    config, kubeconfig, context = clustered(*word)
    assert (kubeconfig, context) == (Path("lifecycle.kubeconfig"), "lifecycle")
    assert (config.store, config.cert_dir, config.port, config.token, config.seed) == ("memory", None, 0, "", None)
    assert config.admission == AdmissionOptions()
    assert (config.cors_allowed_origins, config.encryption.provider_config, config.encryption.automatic_reload) == (
        (),
        None,
        False,
    )
    audit = config.audit
    assert (audit.policy_file, audit.log_path, audit.webhook_config_file, audit.log_format) == (
        None,
        None,
        None,
        "json",
    )
    rotation = audit.rotation
    assert (rotation.max_size, rotation.max_backups, rotation.max_age, rotation.compress) == (100, 100, 366, False)
    assert config.authentication.token_auth_file is None
    policy, tokens, hook = tmp_path / "policy", tmp_path / "tokens", tmp_path / "hook"
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n")
    tokens.write_text("t,u,1\n")
    hook.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
        "contexts: [{name: c, context: {cluster: c}}]\n"
    )
    given = (
        "--store", f"sqlite:{tmp_path / 'db'}", "--cert-dir", str(tmp_path), "--secure-port", "7", "--kubeconfig", "k",
        "--token", "t", "--context", "c", "--seed", "3", "--enable-admission-plugins", "AlwaysPullImages,",
        "--disable-admission-plugins", "LimitRanger", "--audit-log-path", str(tmp_path / "log"), "--audit-log-maxsize",
        "1", "--audit-log-maxbackup", "2", "--audit-log-maxage", "3", "--audit-log-compress", "--audit-log-format", "legacy",
        "--audit-policy-file", str(policy), "--audit-webhook-config-file", str(hook), "--token-auth-file", str(tokens),
        "--cors-allowed-origins", "^a$,^b$",
    )  # fmt: skip
    config, kubeconfig, context = clustered(*word, *given)
    assert (kubeconfig, context) == (Path("k"), "c")
    assert (config.store, config.cert_dir, config.port, config.token, config.seed) == (
        f"sqlite:{tmp_path / 'db'}", tmp_path, 7, "t", 3
    )  # fmt: skip
    assert (tuple(config.admission.enable), tuple(config.admission.disable)) == (
        ("AlwaysPullImages",),
        ("LimitRanger",),
    )
    audit = config.audit
    assert (audit.policy_file, audit.log_path, audit.webhook_config_file) == (policy, tmp_path / "log", hook)
    rotation = audit.rotation
    assert (rotation.max_size, rotation.max_backups, rotation.max_age, rotation.compress) == (1, 2, 3, True)
    assert (audit.log_format, config.authentication.token_auth_file) == ("legacy", tokens)
    assert config.cors_allowed_origins == ("^a$", "^b$")


@pytest.mark.parametrize("word", [("up",), ("run", "apiserver")])
def test_who_is_asking_and_who_may(clustered: Any, word: tuple[str, ...], tmp_path: Path) -> None:
    config, _, _ = clustered(*word)
    assert config.authentication == AuthenticationOptions()
    assert config.authorization == AuthorizationOptions()
    hook, config_file = tmp_path / "hook", tmp_path / "config"
    config_file.write_text("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: []\n")
    config, _, _ = clustered(
        *word, "--anonymous-auth=false", "--authentication-config", str(config_file),
        "--authentication-token-webhook-config-file", str(hook), "--authentication-token-webhook-version", "v1",
        "--authentication-token-webhook-cache-ttl", "1m",
        "--authorization-mode", "ABAC,Webhook", "--authorization-policy-file", str(tmp_path / "policy"),
        "--authorization-webhook-config-file", str(hook), "--authorization-webhook-version", "v1",
        "--authorization-webhook-cache-authorized-ttl", "7s", "--authorization-webhook-cache-unauthorized-ttl", "8s",
    )  # fmt: skip
    document = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": []}
    assert config.authentication == AuthenticationOptions(
        webhook_config_file=hook, webhook_version="v1", webhook_cache_ttl=60.0, configuration=document, anonymous=False
    )
    assert config.authorization == AuthorizationOptions(
        ("ABAC", "Webhook"), tmp_path / "policy", hook, "v1", webhook_authorized_ttl=7.0, webhook_unauthorized_ttl=8.0
    )
    config, _, _ = clustered(*word, "--authorization-config", str(config_file))
    assert config.authorization == AuthorizationOptions(config=config_file)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--authorization-mode", "RBAC,Guess"), 'authorization-mode "Guess" is not a valid mode'),
        (("--authorization-mode", "ABAC"), "authorization-mode ABAC's authorization policy file not passed"),
        (("--authentication-config", "gone"), "gone: No such file or directory"),
    ],
)
def test_flags_that_do_not_go_together_are_refused_in_a_line(words: tuple[str, ...], why: str) -> None:
    for command in (["up", "--nodes", "1"], ["run", "apiserver"]):
        result = CliRunner().invoke(main, [*command, *words])
        assert (result.exit_code, result.stderr) == (1, f"lifecycle: {why}\n")


def test_a_server_alone_has_nothing_around_it_and_may_name_its_etcd(clustered: Any) -> None:
    config, _, _ = clustered("run", "apiserver", "--etcd-servers", "http://127.0.0.1:2379", "--store", "memory")
    assert (config.store, sorted(config.without)) == (
        "etcd:http://127.0.0.1:2379", ["controllers", "dns", "kubelet", "proxy", "scheduler"]
    )  # fmt: skip


def test_a_whole_cluster(clustered: Any) -> None:
    config, _, _ = clustered("up")
    told = (
        config.nodes,
        config.like,
        config.runtime,
        config.overlay,
        config.latency,
        config.kube_version,
        config.without,
    )
    assert told == (3, None, "hollow", "vxlan", 0.0, "", ())
    given = ("--nodes", "5", "--latency", "recorded", "--kube-version", "v1.20.2", "--without", "dns,proxy")
    config, _, _ = clustered("up", *given)
    told = (config.nodes, config.latency, config.kube_version, config.without)
    assert told == (5, "recorded", "v1.20.2", ("dns", "proxy"))
    assert names("") == ()
    assert names("a,,b") == ("a", "b")


# -- how they begin and end --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verbosity", "level"), [(0, "WARNING"), (1, "INFO"), (2, "DEBUG"), (9, "DEBUG")])
@pytest.mark.parametrize("on_stderr", [False, True])
def test_a_component_runs_until_it_ends(monkeypatch, capsys, verbosity: int, level: str, on_stderr: bool) -> None:
    told: list[Any] = []

    class Process:
        def __init__(self, *args: Any, **named: Any) -> None:
            told.append((args, named))

        async def run(self, ready: Any) -> None:
            ready("http://127.0.0.1:1")
            ready("http://127.0.0.1:2")

    monkeypatch.setattr("lifecycle.cluster.alone.process.ComponentProcess", Process)
    monkeypatch.setattr(logging, "basicConfig", lambda **how: told.append(how))
    monkeypatch.setattr(common.os, "environ", {"A": "B"})
    common.serve(
        "name", "make", PLAIN, healthz_port=7, verbosity=verbosity, election=ELECTION, ready_on_stderr=on_stderr  # type: ignore[arg-type]
    )  # fmt: skip
    line = "%(levelname).1s%(asctime)s.%(msecs)03d %(name)s] %(message)s"
    assert told == [
        {"level": level, "format": line, "datefmt": "%m%d %H:%M:%S"},
        (("name", "make", PLAIN, {"A": "B"}, 7, ELECTION), {"told": common.tell}),
    ]
    shown = capsys.readouterr()
    assert (shown.err if on_stderr else shown.out) == "ready http://127.0.0.1:1\n"
    assert (shown.out if on_stderr else shown.err) == ""


@pytest.mark.parametrize(("ready", "code"), [(True, 0), (False, 143)])
def test_a_signal_ends_it_and_before_it_was_ready_that_is_no_success(monkeypatch, ready: bool, code: int) -> None:
    ended: list[str] = []

    class Process:
        def __init__(self, *args: Any, **named: Any) -> None:
            pass

        async def run(self, tell: Any) -> None:
            if ready:
                tell("here")
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                ended.append("taken back")

    def signalled() -> Any:
        waiting = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.01, waiting.set_result, 15)
        return waiting

    monkeypatch.setattr("lifecycle.cluster.alone.process.ComponentProcess", Process)
    monkeypatch.setattr(common, "first_signal", signalled)

    @click.command()
    def word() -> None:
        common.serve("n", lambda _: None, PLAIN, healthz_port=0, verbosity=0)  # type: ignore[arg-type, return-value]

    result = CliRunner().invoke(word)
    assert (result.exit_code, ended) == (code, ["taken back"])
    assert result.stdout == ("ready here\n" if ready else "")
    assert result.stderr == ("" if ready else "lifecycle: ended by a signal before it was ready\n")


def test_what_a_component_raises_is_said(monkeypatch) -> None:
    async def broken(_: Any) -> None:
        raise OSError("the port is taken")

    monkeypatch.setattr(
        "lifecycle.cluster.alone.process.ComponentProcess", lambda *_, **__: SimpleNamespace(run=broken)
    )
    with pytest.raises(click.ClickException) as refused:
        common.serve("n", lambda _: None, PLAIN, healthz_port=0, verbosity=0)  # type: ignore[arg-type, return-value]
    assert refused.value.message == "the port is taken"


def test_durations_are_gos() -> None:
    duration = common.Duration()
    assert (duration.convert("1m30s", None, None), duration.convert(2.5, None, None)) == (90.0, 2.5)
    with pytest.raises(click.BadParameter):
        duration.convert("soon", None, None)
    assert duration.name == "duration"


def test_what_an_operator_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    common.tell("a line")
    assert capsys.readouterr() == ("", "a line\n")
