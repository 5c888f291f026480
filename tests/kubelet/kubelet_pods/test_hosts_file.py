"""The hosts file that containers see, and what a pod calls itself."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from lifecycle.kubelet.kubelet_pods.hosts_file import (
    ensure_hosts_file,
    host_aliases,
    host_name_and_domain,
    managed_hosts_file,
    node_hosts_file,
)

LOCAL = (
    "127.0.0.1\tlocalhost\n"
    "::1\tlocalhost ip6-localhost ip6-loopback\n"
    "fe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\n"
    "fe00::1\tip6-allnodes\n"
    "fe00::2\tip6-allrouters\n"
)
ALIASES = [{"ip": "10.0.0.9", "hostnames": ["db", "cache"]}, {"ip": "10.0.0.8"}]
ADDED = "\n# Entries added by HostAliases.\n10.0.0.9\tdb\tcache\n10.0.0.8\t\n"


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


def test_aliases_have_a_heading_if_there_are_any() -> None:
    assert host_aliases(ALIASES) == ADDED
    assert host_aliases([]) == ""


@pytest.mark.parametrize(
    ("domain", "names"), [("", "web"), ("db.shop.svc.cluster.local", "web.db.shop.svc.cluster.local\tweb")]
)
def test_a_pod_knows_its_own_name_at_each_of_its_addresses(domain: str, names: str) -> None:
    assert managed_hosts_file(["10.1.0.1", "fd00::1"], "web", domain, ALIASES) == (
        f"# Kubernetes-managed hosts file.\n{LOCAL}10.1.0.1\t{names}\nfd00::1\t{names}\n{ADDED}"
    )


def test_on_the_nodes_network_it_is_the_nodes_own_file_with_the_aliases_after_it() -> None:
    assert node_hosts_file("127.0.0.1 n\n", ALIASES) == (
        f"# Kubernetes-managed hosts file (host network).\n127.0.0.1 n\n{ADDED}"
    )


@pytest.mark.parametrize(
    ("spec", "called"),
    [
        ({}, ("web", "")),
        ({"hostname": "db-0"}, ("db-0", "")),
        ({"hostname": "db-0", "subdomain": "db"}, ("db-0", "db.shop.svc.example.org")),
        ({"subdomain": "db"}, ("web", "db.shop.svc.example.org")),
        ({"hostnameOverride": "own.name", "hostname": "db-0", "subdomain": "db"}, ("own.name", "")),
        ({"hostname": "a" * 63 + "bc"}, ("a" * 63, "")),
        ({"hostname": "a" * 60 + "-.-bc"}, ("a" * 60, "")),
    ],
)
def test_what_a_pod_calls_itself(spec: Any, called: tuple[str, str]) -> None:
    assert host_name_and_domain(pod(**spec), "example.org") == called


def test_the_usual_domain_is_cluster_local(tmp_path: Path) -> None:
    assert host_name_and_domain(pod(subdomain="db"))[1] == "db.shop.svc.cluster.local"
    ensure_hosts_file(tmp_path / "hosts", pod(subdomain="db"), ["10.1.0.1"])
    assert (tmp_path / "hosts").read_text().endswith("10.1.0.1\tweb.db.shop.svc.cluster.local\tweb\n")


def test_the_file_is_written_anew_and_everybody_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("what a container has written\n" * 99)
    path.chmod(0o600)
    ensure_hosts_file(path, pod(hostAliases=ALIASES, subdomain="db"), ["10.1.0.1"], cluster_domain="a.b")
    names = "web.db.shop.svc.a.b\tweb"
    assert path.read_text() == f"# Kubernetes-managed hosts file.\n{LOCAL}10.1.0.1\t{names}\n{ADDED}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("node_file", ["127.0.0.1 n\n", "", None])
def test_the_nodes_file_is_read_unless_it_is_given(tmp_path: Path, node_file: str | None) -> None:
    ensure_hosts_file(tmp_path / "hosts", pod(hostNetwork=True), ["10.1.0.1"], node_file=node_file)
    own = Path("/etc/hosts").read_text() if node_file is None else node_file
    assert (tmp_path / "hosts").read_text() == f"# Kubernetes-managed hosts file (host network).\n{own}"
