"""What a cluster can be made of, and what is said of what cannot be one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lifecycle
from lifecycle.cluster.cluster_config import COMPONENTS, ClusterConfig
from lifecycle.cluster.nodes import NodeShape
from lifecycle.cluster.stores import KINDS, authority_folder, check_address


async def program(process: Any) -> int:
    return 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nodes": 1},
        {"without": COMPONENTS},
        *({"runtime": runtime} for runtime in ("hollow", "sandbox", "containerd")),
        {"runtime": "containerd:/run/c.sock", "nodes": 1},
        {"overlay": "host-gw"},
        {"programs": {"image": program}},
        {"like": "kind", "node_shapes": [NodeShape("n", "10.0.0.1")]},
        {"kube_version": "v1.20.2"},
        {"store": "sqlite:a.db"},
        {"store": "etcd:https://host:2379"},
    ],
)
def test_what_can_be_is_not_spoken_against(options: dict[str, Any]) -> None:
    ClusterConfig(**options).check()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nodes": 0}, "--nodes must be at least 1, not 0"),
        ({"without": ("dns", "kubelets", "etcd")}, "--without knows scheduler, controllers, kubelet, proxy, dns; not kubelets, etcd"),
        *(
            ({"runtime": runtime, "nodes": 1}, f"--runtime knows hollow, sandbox, containerd, containerd:SOCKET; not {runtime}")
            for runtime in ("docker", "", "containerd:", "sandbox:/run/c.sock")
        ),
        ({"runtime": "containerd:/run/c.sock", "nodes": 2},
         "--runtime containerd:/run/c.sock is one machine: use --nodes 1, or --runtime containerd"),
        ({"runtime": "sandbox", "programs": {"image": program}},
         "programs are for hollow nodes; with --runtime sandbox the images' own run"),
        ({"overlay": "ipip"}, "--overlay knows vxlan, host-gw; not ipip"),
        *(
            ({"runtime": "sandbox", **more}, "--like describes nodes that are not here: it needs --runtime hollow, not sandbox")
            for more in ({"like": "kind"}, {"node_shapes": [NodeShape("n", "10.0.0.1")]})
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        ClusterConfig(**options).check()
    assert str(refused.value) == said


def test_what_is_usual() -> None:
    config = ClusterConfig()
    assert (config.nodes, config.store, config.port, config.runtime, config.overlay) == (
        3,
        "memory",
        0,
        "hollow",
        "vxlan",
    )
    assert (config.https, config.ready_timeout, config.latency, config.token) == (True, 60.0, 0.0, "")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("memory", ""),
        ("sqlite:a.db", ""),
        ("etcd:http://127.0.0.1:2379", ""),
        ("floppy", "--store knows {kinds}; not floppy"),
        ("memory:", "--store knows {kinds}; not memory:"),
        ("sqlite:", "--store sqlite: wants the path of a file, as in sqlite:cluster.db"),
        ("sqlite", "--store sqlite: wants the path of a file, as in sqlite:cluster.db"),
        *(
            (f"etcd:{place}", f"--store etcd: wants a URL, as in etcd:http://127.0.0.1:2379; not {place}")
            for place in ("", "127.0.0.1:2379", "ftp://host", "http://")
        ),
    ],
)
def test_an_address_names_a_store(address: str, said: str) -> None:

    try:
        check_address(address)
        answer = ""
    except ValueError as error:
        answer = str(error)
    assert answer == said.format(kinds=KINDS)


@pytest.mark.parametrize(
    ("address", "folder"),
    [("sqlite:/var/a.db", Path("/var/a.db.pki")), ("memory", None), ("etcd:http://127.0.0.1:2379", None)],
)
def test_only_a_file_has_a_folder_for_keys_beside_it(address: str, folder: Path | None) -> None:
    assert authority_folder(address) == folder


def test_each_option_of_up_arrives_where_it_belongs() -> None:
    options: dict[str, Any] = {
        "nodes": 2, "store": "sqlite:a.db", "cert_dir": "/pki", "port": 6443, "runtime": "sandbox", "overlay": "host-gw",
        "token": "t", "without": ["dns"], "seed": 5, "like": "kind", "https": False, "ready_timeout": 1.0, "latency": 0.5,
        "authentication": object(), "authorization": object(), "admission": object(), "audit": object(), "encryption": object(),
        "cors_allowed_origins": ["a"], "node_shapes": [NodeShape("n", "10.0.0.1")], "programs": {"image": program},
        "kube_version": "v1.20.2",
    }  # fmt: skip
    config = lifecycle.up(**options).config
    changed = {"cert_dir": Path("/pki"), "without": ("dns",), "cors_allowed_origins": ("a",)}
    for name, value in (options | changed).items():
        assert getattr(config, name) == value, name
