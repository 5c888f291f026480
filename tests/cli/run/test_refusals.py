"""What `lifecycle run` cannot do it says in one line, and leaves with another code than 0."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from lifecycle.api.http.wire import MASTERS
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cli import main
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.live.real_programs import identity

WITHOUT = ("scheduler", "controllers", "kubelet", "proxy", "dns")


def refused(*words: str | Path) -> str:
    done = CliRunner().invoke(
        main, ["run", *map(str, words)], prog_name="lifecycle", env={"KUBECONFIG": "", "HOME": "/nowhere"}
    )
    assert done.exit_code not in (0, None)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("lifecycle: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lifecycle.cluster.alone.connection.WAIT", 0.0)


@pytest.fixture(scope="module")
def server() -> Iterator[BackgroundCluster]:
    with BackgroundCluster(ClusterConfig(without=WITHOUT)) as background:
        yield background


@pytest.fixture
def kubeconfig(server: BackgroundCluster, tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(server.kubeconfig))
    return path


def test_no_kubeconfig() -> None:
    assert refused("scheduler") == "lifecycle: no kubeconfig: name one with --kubeconfig or KUBECONFIG\n"


def test_a_kubeconfig_that_is_not_there() -> None:
    assert refused("scheduler", "--kubeconfig", "nope") == "lifecycle: stat nope: no such file or directory\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "error loading config file"),
        ("kind: Pod", 'no kind "Pod" is registered'),
        ("current-context: gone", "context was not found for specified context: gone"),
    ],
)
def test_a_kubeconfig_that_is_none(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config").write_text(text)
    assert said in refused("scheduler", "--kubeconfig", tmp_path / "config")


def test_a_context_that_is_not_in_it(kubeconfig: Path) -> None:
    assert "context was not found for specified context: x" in refused(
        "scheduler", "--kubeconfig", kubeconfig, "--context", "x"
    )


def test_a_server_that_is_away(kubeconfig: Path) -> None:
    config = yaml.safe_load(kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    kubeconfig.write_text(yaml.safe_dump(config))
    assert refused("scheduler", "--kubeconfig", kubeconfig).startswith(
        "lifecycle: https://127.0.0.1:1 does not answer: Cannot connect to host 127.0.0.1:1"
    )


def test_a_server_that_is_somebody_else(server: BackgroundCluster, tmp_path: Path) -> None:
    other = identity(CertificateAuthority(), server.url, tmp_path / "other", "admin", MASTERS, context="other")
    assert "certificate verify failed" in refused("scheduler", "--kubeconfig", other)


def test_a_server_that_does_not_know_us(server: BackgroundCluster, kubeconfig: Path) -> None:
    config = yaml.safe_load(kubeconfig.read_text())
    config["users"][0]["user"] = {"token": "made up"}
    kubeconfig.write_text(yaml.safe_dump(config))
    assert refused("scheduler", "--kubeconfig", kubeconfig) == "lifecycle: Unauthorized\n"


def test_a_port_that_is_taken(kubeconfig: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert port in refused("scheduler", "--kubeconfig", kubeconfig, "--healthz-port", port)


def test_times_with_which_two_could_lead(kubeconfig: Path) -> None:
    options = ("--leader-elect-lease-duration", "10s", "--leader-elect-renew-deadline", "10s")
    said = refused("scheduler", "--kubeconfig", kubeconfig, *options)
    assert said == "lifecycle: leaseDuration must be greater than renewDeadline\n"


def test_a_duration_that_is_none(kubeconfig: Path) -> None:
    said = refused("scheduler", "--kubeconfig", kubeconfig, "--leader-elect-retry-period", "soon")
    assert 'time: invalid duration "soon"' in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "yaml: line 1: did not find expected node content"),
        ("", 'no kind ""'),
        ("[]", 'no kind ""'),
        ("kind: Pod", 'no kind "Pod" is registered for version "kubescheduler.config.k8s.io/v1"'),
        (
            "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, leaderElection: {leaseDuration: x}}",
            'leaderElection.leaseDuration: time: invalid duration "x"',
        ),
    ],
)
def test_a_configuration_that_is_none(kubeconfig: Path, tmp_path: Path, text: str, said: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    line = refused("scheduler", "--kubeconfig", kubeconfig, "--config", config)
    assert line.startswith(f"lifecycle: {config}: ")
    assert said in line


def test_a_configuration_that_is_not_there(kubeconfig: Path) -> None:
    assert (
        refused("scheduler", "--kubeconfig", kubeconfig, "--config", "gone")
        == "lifecycle: gone: No such file or directory\n"
    )


def test_a_word_that_is_no_component() -> None:
    assert "No such command 'etcd'" in refused("etcd")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--controllers", "*,-coffee"), '"-coffee" is not in the list of known controllers'),
        (("--cluster-cidr", "10.0.0.0/33"), "--cluster-cidr: "),
        (("--cluster-cidr", "10.0.0.0/25"), "10.0.0.0/25 has no room for a node's /24"),
        (("--root-ca-file", "gone"), "gone: No such file or directory"),
        (("--service-account-private-key-file", "gone"), "gone: No such file or directory"),
        (("--service-account-private-key-file", __file__), f"{__file__}: "),
    ],
)
def test_controllers_that_cannot_be_started(kubeconfig: Path, options: tuple[str, str], said: str) -> None:
    assert said in refused("controllers", "--kubeconfig", kubeconfig, *options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--hostname-override", "Not_A_Name"), "--hostname-override Not_A_Name: a lowercase RFC 1123 subdomain"),
        (("--node-ip", "here"), "--node-ip: "),
        (("--pod-cidr", "10.0.0.0/33"), "--pod-cidr: "),
        (("--node-labels", "a"), "--node-labels wants key=value, not a"),
        (("--register-with-taints", "a=b:Never"), "--register-with-taints wants key=value:Effect"),
        (("--client-ca-file", "gone"), "gone: No such file or directory"),
        (("--latency", "-1"), "--latency"),
    ],
)
def test_a_kubelet_that_cannot_be_started(kubeconfig: Path, options: tuple[str, str], said: str) -> None:
    assert said in refused("kubelet", "--kubeconfig", kubeconfig, "--port", "0", *options)


def test_a_kubelets_port_that_is_taken(kubeconfig: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert port in refused("kubelet", "--kubeconfig", kubeconfig, "--port", port)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "where shall the rules go? --netns PATH loads them there"),
        (("--netns", "/run/netns/gone"), "--netns: /run/netns/gone is not there"),
        (("--dry-run", "--hostname-override", "gone"), 'nodes "gone" not found'),
    ],
)
def test_a_proxy_that_cannot_be_started(kubeconfig: Path, options: tuple[str, ...], said: str) -> None:
    assert said in refused("proxy", "--kubeconfig", kubeconfig, *options)


def test_dns_that_cannot_be_started(kubeconfig: Path) -> None:
    assert "--cluster-domain a_b: " in refused("dns", "--kubeconfig", kubeconfig, "--cluster-domain", "a_b")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "ddress already in use" in refused("dns", "--kubeconfig", kubeconfig, "--port", port)
