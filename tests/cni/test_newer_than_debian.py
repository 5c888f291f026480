"""What version 1.9 of the plugins does and Debian's 1.1 does not know: STATUS, ports without a pod's interface, gateways in VLANs."""

from __future__ import annotations

import errno
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cni.errors import CNIError
from lifecycle.cni.netlink.link import Link
from lifecycle.cni.plugins import bridge, portmap, skel
from lifecycle.cni.plugins.chain_names import format_comment
from lifecycle.cni.plugins.iptables import IPTables
from lifecycle.cni.plugins.skel import CmdArgs
from tests.cni.conftest import Host
from tests.cni.test_bridge_steps import BRIDGE, PORT, Kernel, said_against

BASE = {"cniVersion": "1.1.0", "name": "net"}


@pytest.mark.parametrize("plugin", ["bridge", "ptp", "host-local", "static", "loopback", "portmap"])
def test_a_plugin_is_as_ready_as_its_ipam(host: Host, plugin: str) -> None:
    ready = {**BASE, "ipam": {"type": "host-local"}}
    assert host.plugin(plugin, "STATUS", ready) == (0, None)
    asked = plugin in ("bridge", "ptp")
    code, said = host.plugin(plugin, "STATUS", {**BASE, "ipam": {"type": "none-such"}})
    assert (code, (said or {}).get("msg", "")[:30]) == ((1, 'failed to find plugin "none-su') if asked else (0, ""))
    assert host.plugin(plugin, "GC", ready) == (0, None)
    for command in ("STATUS", "GC"):
        code, said = host.plugin(plugin, command, {**ready, "cniVersion": "1.0.0"})
        assert (code, said) == (1, {"code": 1, "msg": f"config version does not allow {command}"})
        code, said = host.plugin(plugin, command, {**ready, "cniVersion": "x"})
        words = 'failed to convert major version part "x": strconv.Atoi: parsing "x": invalid syntax'
        assert (code, said) == (1, {"code": 6, "msg": words})
        code, said = host.plugin(plugin, command, {**ready, "cniVersion": "1.2.0"})
        assert (code, said) == (1, {"code": 1, "msg": f"plugin version does not allow {command}"})


def test_a_bridge_without_ipam_has_nothing_to_ask(host: Host) -> None:
    assert host.plugin("bridge", "STATUS", BASE) == (0, None)


def test_a_pod_s_interface_may_be_left_switched_off_but_then_has_no_address(host: Host) -> None:
    pod, conf = host.pod(), {**BASE, "type": "bridge", "disableContainerInterface": True}
    code, said = host.plugin("bridge", "ADD", {**conf, "ipam": {"type": "static"}}, netns=pod.path)
    assert (code, said["msg"]) == (1, "cannot use IPAM when DisableContainerInterface flag is set")
    assert [link["ifname"] for link in host.ip("link")] == ["lo"], "no bridge either"
    assert host.plugin("bridge", "ADD", conf, netns=pod.path)[0] == 0
    (link,) = host.ip("link show dev eth0", pod)
    assert "UP" not in link["flags"]


def test_a_plugin_must_not_work_on_its_own_namespace_unless_it_is_told_to(host: Host) -> None:
    own, conf = host.namespace.path, {**BASE, "type": "loopback"}
    wrong = {"code": 8, "msg": "plugin's netns and netns from CNI_NETNS should not be the same"}
    for command in ("ADD", "DEL"):
        for override, refused in (("", True), ("yes", True), ("true", False), ("TRUE", False), ("1", False)):
            code, said = host.plugin("loopback", command, conf, netns=own, netns_override=override)
            assert (code, said if refused else None) == ((1, wrong) if refused else (0, None)), (command, override)
    assert host.plugin("loopback", "DEL", conf, netns="/none") == (0, None)


def test_masquerading_that_is_gone_altogether_is_taken_away(host: Host, tmp_path: Any) -> None:
    ipam = {"type": "host-local", "ranges": [[{"subnet": "10.201.0.0/24"}]], "dataDir": str(tmp_path)}
    conf, pod = {**BASE, "type": "ptp", "ipMasq": True, "ipam": ipam}, host.pod()
    host.plugin("ptp", "ADD", conf, netns=pod.path)
    host.sh("iptables -t nat -F")
    host.sh("iptables -t nat -X")
    assert host.plugin("ptp", "DEL", conf, netns=pod.path) == (0, None)
    _, result = host.plugin("ptp", "ADD", conf, netns=pod.path)
    chain = next(rule.split()[1] for rule in host.sh("iptables -t nat -S").splitlines() if rule.startswith("-N CNI-"))
    address = result["ips"][0]["address"]
    host.sh("iptables -t nat -F POSTROUTING")
    old = ["-s", address, "-j", chain, "-m", "comment", "--comment", format_comment("net", "cnitool-1")]
    host.namespace.run(lambda: IPTables().append_unique("nat", "POSTROUTING", old))
    assert f"-j {chain}" in host.sh("iptables -t nat -S POSTROUTING"), "as versions before 0.7 wrote it"
    assert host.plugin("ptp", "DEL", conf, netns=pod.path) == (0, None)
    assert "CNI-" not in host.sh("iptables -t nat -S")


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ({"backend": "iptables"}, ""),
        ({"backend": None}, ""),
        ({"backend": "nftables"}, 'unrecognized backend "nftables"'),
        ({"backend": ""}, 'unrecognized backend ""'),
    ],
)
def test_ports_are_forwarded_by_iptables(conf: dict[str, Any], said: str) -> None:
    args = CmdArgs("c", "/x", "eth0", "", (), "", "", {**BASE, **conf})
    if said:
        assert said_against(portmap.parse_config, args) == said
    else:
        assert portmap.parse_config(args)[1] == []


@pytest.mark.parametrize("plugin", ["bridge", "ptp"])
def test_masquerading_is_done_by_iptables_and_by_nobody_unknown(host: Host, tmp_path: Path, plugin: str) -> None:
    ipam = {"type": "host-local", "ranges": [[{"subnet": "10.201.0.0/24"}]], "dataDir": str(tmp_path)}
    conf, pod = {**BASE, "type": plugin, "ipMasq": True, "ipam": ipam}, host.pod()
    for backend, said in (
        (
            5,
            "failed to load netconf: json: cannot unmarshal number into Go struct field NetConf.ipMasqBackend of type string",
        ),
        ("pigeons", 'unknown ipmasq backend "pigeons"'),
        ("iptables", ""),
    ):
        code, answer = host.plugin(plugin, "ADD", {**conf, "ipMasqBackend": backend}, netns=pod.path)
        assert (code, answer.get("msg", "")) == (int(bool(said)), said)
        assert any(file.name.startswith("10.") for file in (tmp_path / "net").glob("*")) == (not said), "given back"
        assert ("-j MASQUERADE" in host.sh("iptables -t nat -S")) == (not said)
        assert host.plugin(plugin, "DEL", conf, netns=pod.path) == (0, None)


VLAN = {"bridge": "cni0", "vlan": 5, "vlans": [7], "hairpinMode": True, "portIsolation": True}


class Growing(Kernel):
    """A pair that is asked for is there afterwards."""

    def veth_add(self, name: str, peer: str, **named: Any) -> None:
        self.asked.append(("veth_add", name, f"mtu={named['mtu']}"))
        self.links |= {name: Link(20, name, 0, "02:00:00:00:00:20"), peer: Link(21, peer, 0)}


@pytest.fixture
def no_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's is not asked for: nothing is done in it."""
    monkeypatch.setattr(bridge, "current_netns", lambda: os.open(os.devnull, os.O_RDONLY))


def test_a_gateway_in_a_vlan_is_a_port_of_its_own(no_namespace: None) -> None:
    kernel = Growing(Link(7, "cni0", 0, kind="bridge", mtu=1400))
    result: dict[str, Any] = {"interfaces": [{"name": "cni0"}]}
    for _ in range(2):
        link = bridge._gateway_link(kernel, kernel.link("cni0"), VLAN, result)  # type: ignore[arg-type]
        assert (link.index, link.name) == (20, "cni0.5")
    assert result["interfaces"] == [{"name": "cni0"}, {"name": "cni0.5", "mac": "02:00:00:00:00:20"}]
    assert kernel.asked == [
        ("veth_add", "cni0.5", "mtu=1400"),
        ("link_set", "21", "up=True"),
        ("link_set", "21", "master=7"),
        ("bridge_port_set", "21", "hairpin=False"),
        ("bridge_port_set", "21", "isolated=False"),
        ("bridge_vlan", "21", "1", "delete=True"),
        ("bridge_vlan", "21", "5", "native=True"),
        ("link_set", "20", "up=True"),
    ]
    bare: dict[str, Any] = {"interfaces": []}
    assert bridge._gateway_link(kernel, BRIDGE, {"bridge": "cni0"}, bare) is BRIDGE  # type: ignore[arg-type]
    assert bare["interfaces"] == []


def test_why_there_is_no_gateway_in_a_vlan(no_namespace: None) -> None:
    kernel = Growing(BRIDGE, refuses={"bridge_vlan native": errno.EPERM})
    said = said_against(bridge._gateway_link, kernel, BRIDGE, VLAN, {"interfaces": []})
    port = next(name for name in kernel.links if name.startswith("veth"))
    assert said == (
        f'faild to create vlan gateway "cni0.5": failed to setup vlan tag on interface "{port}": operation not permitted'
    )


def test_an_address_that_does_not_go_is_an_error() -> None:
    kernel = Kernel(BRIDGE, PORT, refuses={"addr_del": errno.EPERM}, addresses=("10.2.0.1/24",))
    said = said_against(bridge.ensure_addr, kernel, BRIDGE, bridge.parse_cidr("10.1.0.1/24"), True)
    assert said == 'could not remove IP address from "cni0": operation not permitted'


def test_a_plugin_without_a_command_says_what_it_is_and_one_that_the_machine_fails_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert skel.plugin_main("bridge", {}, {}) == 0
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[-1]) == (
        "",
        "CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0",
    )

    def fails(args: CmdArgs) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(BASE)))
    env = {"CNI_COMMAND": "ADD", "CNI_CONTAINERID": "c", "CNI_NETNS": "/x", "CNI_IFNAME": "eth0", "CNI_PATH": "/bin"}
    printed = io.StringIO()
    assert skel.plugin_main("bridge", {"ADD": fails}, env, printed) == 1
    assert json.loads(printed.getvalue()) == {"code": 999, "msg": "no space left on device"}
    with pytest.raises(CNIError, match=r"^required env variables \[CNI_COMMAND\] missing$"):
        skel.cmd_args_from_env({}, str)


@pytest.mark.parametrize(
    ("without", "said", "taken_away"),
    [
        ((), "", ["4 CNI-DN-", "4 CNI-SN-", "6 CNI-DN-", "6 CNI-SN-"]),
        ((6,), "", ["4 CNI-DN-", "4 CNI-SN-"]),
        ((4,), "", ["6 CNI-DN-", "6 CNI-SN-"]),
        ((4, 6), "neither iptables nor ip6tables is usable, (iptables) no version 4, (ip6tables) no version 6", []),
    ],
)
def test_ports_are_given_back_wherever_rules_can_be_written(
    monkeypatch: pytest.MonkeyPatch, without: tuple[int, ...], said: str, taken_away: list[str]
) -> None:
    asked: list[str] = []

    class Tables:
        """In the place of `IPTables`, on a machine that lacks the rules of some version."""

        def __init__(self, version: int) -> None:
            self.version = version

        def run(self, table: str, *words: str) -> None:
            assert (table, words) == ("nat", ("-S", "OUTPUT"))
            if self.version in without:
                raise CNIError(f"no version {self.version}")

        def chain_exists(self, table: str, chain: str) -> bool:
            asked.append(f"{self.version} {chain[:7]}")
            return False

    monkeypatch.setattr(portmap, "IPTables", Tables)
    ports = {"portMappings": [{"hostPort": 80, "containerPort": 80, "protocol": "tcp"}]}
    args = CmdArgs("c", "/x", "eth0", "", (), "", "", {**BASE, "runtimeConfig": ports})
    if said:
        assert said_against(portmap.cmd_del, args) == said
    else:
        portmap.cmd_del(args)
    assert asked == taken_away
