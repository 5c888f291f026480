"""Claims about the bridge plugin and the two ends of its veth pairs, put to the plugin
on paper and to recorded results.
"""

from __future__ import annotations

import json

from lifecycle.agreements.claim_checks.cni import (
    ARTICLES,
    KIND,
    decided,
    kubelet_attaches_pods,
    node_texts,
    pods_results,
)
from lifecycle.agreements.cni.pod_networking import (
    expected_in_pod,
    namespaces,
)
from lifecycle.cni import config
from lifecycle.cni.errors import CNIError
from lifecycle.cni.invoke import Args
from lifecycle.cni.paper_netlink import (
    PaperNetlink,
    attach_on_paper,
    attach_ptp_on_paper,
)
from lifecycle.cni.plugins.skel import dispatch
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording


@check("cni-veth-into-pod-namespace")
def veth(recording: Recording) -> bool | None:
    """Of each result the first interface is on the host, the second in the sandbox; and
    `ip addr` in there shows it.
    """
    results = list(pods_results(recording))
    if not results:
        return None
    seen = {
        name: lines
        for text in node_texts(recording, "netns")
        for name, lines in namespaces(text).items()
    }
    ends = all(
        not r["result"]["interfaces"][0].get("sandbox")
        and r["result"]["interfaces"][1]["sandbox"] == r["netns"]
        for r in results
    )
    inside = [
        set(expected_in_pod(r)) <= set(seen.get(r["netns"].rpartition("/")[2], ()))
        for r in results
    ]
    return ends and all(inside)


@rebuilt("cni-veth-into-pod-namespace")
def our_veth() -> bool:
    """Two ends that know each other, in two namespaces."""
    host = PaperNetlink()
    pod, result = attach_on_paper(host, ARTICLES, decided())
    near, far = pod.link("eth0"), host.link(result["interfaces"][1]["name"])
    return (
        near.kind == far.kind == "veth"
        and near.parent == far.index
        and far.parent == near.index
    )


@rebuilt("cni-host-end-joins-linux-bridge")
def host_end_joins() -> Partly:
    """With the bridge plugin all host ends are ports of one bridge; a result of ptp
    knows no bridge at all.
    """
    host = PaperNetlink()
    for number in (2, 3):
        attach_on_paper(host, ARTICLES, decided(number))
    ends = [link for link in host.links() if link.kind == "veth"]
    joined = len(ends) == 2 and {link.master for link in ends} == {
        host.link("cnio0").index
    }
    kind = config.network_conf_from(json.dumps(KIND))
    return Partly(joined, "bridge" not in [plugin.type for plugin in kind.plugins])


@rebuilt("cni-bridge-created-on-first-use")
def bridge_created() -> bool:
    """None before, one after the first pod, the same one after the second."""
    host, bridges = PaperNetlink(), []
    for number in (2, 3):
        bridges.append([link.index for link in host.links() if link.kind == "bridge"])
        attach_on_paper(host, ARTICLES, decided(number))
    bridges.append([link.index for link in host.links() if link.kind == "bridge"])
    return bridges[0] == [] and len(bridges[1]) == 1 and bridges[1] == bridges[2]


@rebuilt("cni-bridge-gets-gateway-address")
def gateway_address() -> bool:
    """IPAM's gateway, with the subnet's mask, on the bridge; and the pod's default
    route leads there.
    """
    host = PaperNetlink()
    pod, result = attach_on_paper(host, ARTICLES, decided())
    own = [str(address) for address in host.addrs(host.link("cnio0").index)]
    default = [
        str(route.gateway) for route in pod.routes() if route.destination is None
    ]
    return own == ["10.200.1.1/24"] and default == [result["ips"][0]["gateway"]]


@rebuilt("cni-ip-only-on-container-end")
def ip_only_inside() -> Partly:
    """With the bridge plugin, of which the article speaks; ptp gives the gateway's
    address to the host's end.
    """
    host = PaperNetlink()
    pod, result = attach_on_paper(host, ARTICLES, decided())
    near = host.addrs(host.link(result["interfaces"][1]["name"]).index)
    inside = pod.addrs(pod.link("eth0").index)
    attach_ptp_on_paper(host, decided(3), "direct")
    return Partly(
        not near and bool(inside), bool(host.addrs(host.link("direct").index))
    )


@rebuilt("cni-bridge-pure-l2-mode")
def layer_2() -> bool:
    """Without IPAM: plugged in and switched on, no address anywhere; another interface
    of the host can be plugged in beside it.
    """
    host = PaperNetlink()
    pod, result = attach_on_paper(host, {"name": "l2", "bridge": "br0"}, {})
    host.link_add("uplink", "dummy")
    host.link_set(host.link("uplink").index, master=host.link("br0").index)
    bare = not host.addrs(host.link("br0").index) and not pod.addrs(
        pod.link("eth0").index
    )
    return bare and "ips" not in result and pod.link("eth0").up


@rebuilt("cni-sample-config-works")
def sample_works() -> bool:
    """Read, and carried out on paper; with the variable left in place it is refused.
    (Tests run it for real, beside Debian's.)
    """
    from lifecycle.cni.plugins.host_local.config import load_ipam_config

    network = config.conf_list_from_conf(config.plugin_conf_from(json.dumps(ARTICLES)))
    host = PaperNetlink()
    pod, _ = attach_on_paper(host, dict(network.plugins[0].network), decided())
    try:
        load_ipam_config(
            {**ARTICLES, "ipam": {"ranges": [[{"subnet": "${POD_CIDR}"}]]}}
        )
    except CNIError:
        return [str(address) for address in pod.addrs(pod.link("eth0").index)] == [
            "10.200.1.2/24"
        ]
    return False


@rebuilt("cni-result-json-returned")
def result_returned() -> Partly:
    """JSON on standard output, read by the runtime's libcni; our kubelet never sees
    it.
    """
    env = Args("ADD", "s1", "/none", "eth0", path=("/bin",)).as_env({})
    text = dispatch(
        {
            "ADD": lambda args: {
                "cniVersion": "1.1.0",
                "ips": [{"address": "10.0.0.2/24"}],
            }
        },
        env,
        lambda: json.dumps(ARTICLES),
    )
    return Partly(
        json.loads(text)["ips"][0]["address"] == "10.0.0.2/24",
        not kubelet_attaches_pods(),
    )
