"""A file for `--config`: what it says, what it leaves out, and what is wrong with it, as the real kube-proxy says it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lifecycle.proxy.iptables.config import ConntrackConfig, ProxierConfig
from lifecycle.proxy.kube_proxy_configuration import KubeProxyConfiguration, parse_configuration
from tests.live.real_programs import kube_bin

HEAD = {"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration"}

WRONG: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({"clusterCIDR": "10.0.0.0"}, ["DetectLocalConfiguration.ClusterCIDRs[0]"]),
    ({"iptables": {"masqueradeBit": 40}}, ["KubeProxyIPTablesConfiguration.MasqueradeBit"]),
    ({"iptables": {"masqueradeBit": -1, "syncPeriod": "1s", "minSyncPeriod": "2s"}},
     ["KubeProxyIPTablesConfiguration.MasqueradeBit", "SyncPeriod"]),
    ({"iptables": {"minSyncPeriod": "-2s"}}, ["MinSyncPeriod"]),
    ({"iptables": {"syncPeriod": "-1s"}}, ["SyncPeriod", "SyncPeriod"]),
    ({"conntrack": {"maxPerCore": -1, "min": -2, "tcpEstablishedTimeout": "-1s", "tcpCloseWaitTimeout": "-1m",
                    "udpTimeout": "-3s", "udpStreamTimeout": "-4s"}},
     [f"KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration.{name}" for name in
      ("MaxPerCore", "Min", "TCPEstablishedTimeout", "TCPCloseWaitTimeout", "UDPTimeout", "UDPStreamTimeout")]),
    ({"healthzBindAddress": "abc", "metricsBindAddress": "127.0.0.1:70000"}, ["HealthzBindAddress", "MetricsBindAddress"]),
    ({"healthzBindAddress": ":0", "metricsBindAddress": "[::1]:x"},
     ["HealthzBindAddress", "HealthzBindAddress", "MetricsBindAddress"]),
    ({"clusterCIDR": "10.0.0.0/8,x"}, ["DetectLocalConfiguration.ClusterCIDRs[1]"]),
    ({"clusterCIDR": "10.0.0.0/8,10.1.0.0/16"}, ["DetectLocalConfiguration.ClusterCIDRs"]),
    ({"nodePortAddresses": ["10.0.0.0/8", "abc"]}, ["NodePortAddresses[1]"]),
)  # fmt: skip


def complaints(said: dict[str, Any]) -> str:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_configuration(json.dumps(HEAD | said))
    return str(refused.value)


def test_a_file_that_says_nothing_has_upstreams_defaults() -> None:
    conntrack = ConntrackConfig(max_per_core=32768)
    expected = KubeProxyConfiguration(ProxierConfig(cluster_cidr="", conntrack=conntrack))
    assert parse_configuration(json.dumps(HEAD)) == expected
    assert (expected.healthz, expected.metrics) == (("0.0.0.0", 10256), ("127.0.0.1", 10249))


def test_everything_that_can_be_said_is_read() -> None:
    said = {
        "clientConnection": {"kubeconfig": "/k"},
        "hostnameOverride": "n",
        "clusterCIDR": "10.9.0.0/16",
        "mode": "iptables",
        "detectLocalMode": "ClusterCIDR",
        "healthzBindAddress": "127.0.0.1:1",
        "metricsBindAddress": "[::1]:2",
        "nodePortAddresses": ["10.0.0.0/8"],
        "iptables": {
            "masqueradeAll": True, "masqueradeBit": 3, "localhostNodePorts": False, "syncPeriod": "1m", "minSyncPeriod": "500ms",
        },
        "conntrack": {
            "maxPerCore": 5, "min": 6, "tcpEstablishedTimeout": "7s", "tcpCloseWaitTimeout": "8s", "tcpBeLiberal": True,
            "udpTimeout": "9s", "udpStreamTimeout": "10s",
        },
        "unheardOf": 1,
    }  # fmt: skip
    proxier = ProxierConfig(
        cluster_cidr="10.9.0.0/16", masquerade_all=True, masquerade_bit=3, localhost_node_ports=False,
        node_port_addresses=("10.0.0.0/8",), min_sync_period=0.5, sync_period=60.0,
        conntrack=ConntrackConfig(5, 6, 7, 8, True, 9, 10),
    )  # fmt: skip
    expected = KubeProxyConfiguration(proxier, ("127.0.0.1", 1), ("::1", 2), "n", "/k")
    assert parse_configuration(json.dumps(HEAD | said)) == expected


@pytest.mark.parametrize(("said", "fields"), WRONG)
def test_everything_that_is_wrong_is_said_at_once(said: dict[str, Any], fields: list[str]) -> None:
    assert re.findall(r"KubeProxyConfiguration\.(\S+): Invalid", complaints(said)) == fields


@pytest.mark.real
@pytest.mark.parametrize("said", [said for said, _ in WRONG])
def test_it_is_said_as_the_real_kube_proxy_says_it(said: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(HEAD | said))
    command = [kube_bin("kube-proxy") / "kube-proxy", "--config", file]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    found = re.search(r'"failed validate: (.*)"$', ended.stderr, re.MULTILINE)
    assert found is not None, ended.stderr
    assert complaints(said) == re.sub(r"^\[(.*)\]$", r"\1", found[1].replace('\\"', '"'))


def test_an_address_alone_has_the_usual_port_and_of_two_networks_the_older_kind_counts() -> None:
    said = {"healthzBindAddress": "127.0.0.1", "metricsBindAddress": "::1", "clusterCIDR": "fd00::/64,10.0.0.1/8"}
    read = parse_configuration(json.dumps(HEAD | said))
    assert (read.healthz, read.metrics) == (("127.0.0.1", 10256), ("::1", 10249))
    assert read.proxier.cluster_cidr == "10.0.0.1/8"


def test_what_is_not_rebuilt_is_refused() -> None:
    assert (
        complaints({"mode": "ipvs"})
        == 'KubeProxyConfiguration.Mode: Invalid value: "ipvs": only iptables is rebuilt here'
    )
    local = 'KubeProxyConfiguration.DetectLocalMode: Invalid value: "NodeCIDR": only ClusterCIDR is rebuilt here'
    assert complaints({"detectLocalMode": "NodeCIDR"}) == local


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[", "yaml: line 1: did not find expected node content"),
        ("a", "no KubeProxyConfiguration of kubeproxy.config.k8s.io/v1alpha1, but None of None"),
        ("kind: Pod", "no KubeProxyConfiguration of kubeproxy.config.k8s.io/v1alpha1, but 'Pod' of None"),
        (json.dumps(HEAD | {"iptables": {"masqueradeBit": "x"}}), "iptables.masqueradeBit: 'x' is no int"),
        (json.dumps(HEAD | {"iptables": {"masqueradeAll": 1}}), "iptables.masqueradeAll: 1 is no bool"),
        (json.dumps(HEAD | {"iptables": {"syncPeriod": "1x"}}),
         'iptables.syncPeriod: time: unknown unit "x" in duration "1x"'),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_told_in_a_line(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_configuration(text)
    assert str(refused.value) == why
