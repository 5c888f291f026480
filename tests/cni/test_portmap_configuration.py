"""What a runtime says of a pod's ports, as Go's decoder reads it."""

from __future__ import annotations

import json

import pytest

from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.portmap import parse_config
from lifecycle.cni.plugins.skel import CmdArgs


def parsed(**mapping: object) -> list[dict[str, object]]:
    conf = {"cniVersion": "1.0.0", "name": "x", "type": "portmap", "runtimeConfig": {"portMappings": [mapping]}}
    args = CmdArgs("c", "/proc/self/ns/net", "eth0", "", (), "", json.dumps(conf), conf)
    found: list[dict[str, object]] = parse_config(args)[0]["runtimeConfig"]["portMappings"]
    return found


def test_names_may_be_written_in_other_letters_as_containerd_1_6_does() -> None:
    expected = [{"hostPort": 54323, "containerPort": 8080, "protocol": "tcp", "hostIP": "127.0.0.1"}]
    assert parsed(hostPort=54323, containerPort=8080, protocol="tcp", hostIP="127.0.0.1") == expected
    assert parsed(HostPort=54323, ContainerPort=8080, Protocol="tcp", HostIP="127.0.0.1") == expected


def test_a_port_that_is_not_there_is_refused() -> None:
    with pytest.raises(CNIError, match=r"Invalid container port number: 0$"):
        parsed(HostPort=54323, Protocol="tcp")
