"""UDP flows that go on to endpoints which are there no longer."""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.proxy.conntrack import Flow, stale_flows
from lifecycle.proxy.endpoints_map import EndpointsMap
from lifecycle.proxy.service_map import ServicePortMap

CLUSTER_IP, EXTERNAL_IP, BALANCER, PORT = "10.96.0.53", "192.0.2.9", "203.0.113.9", 53
NODE_PORT, NODE = 30053, "172.19.0.2"
WAYS_IN = (
    (CLUSTER_IP, PORT),
    (EXTERNAL_IP, PORT),
    (BALANCER, PORT),
    (NODE, NODE_PORT),
)


def _service(protocol: str) -> Object:
    port = {"port": PORT, "targetPort": 5353, "protocol": protocol}
    return {
        "metadata": {"name": "dns", "namespace": "default"},
        "spec": {
            "type": "LoadBalancer",
            "clusterIP": CLUSTER_IP,
            "clusterIPs": [CLUSTER_IP],
            "externalIPs": [EXTERNAL_IP],
            "ipFamilies": ["IPv4"],
            "externalTrafficPolicy": "Cluster",
            "internalTrafficPolicy": "Cluster",
            "ports": [{**port, "nodePort": NODE_PORT}],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": BALANCER}]}},
    }


def _slice(protocol: str, *endpoints: tuple[str, bool]) -> Object:
    return {
        "metadata": {
            "name": "dns-1",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "dns"},
        },
        "addressType": "IPv4",
        "ports": [{"name": "", "port": 5353, "protocol": protocol}],
        "endpoints": [
            {"addresses": [ip], "conditions": {"ready": serving, "serving": serving}}
            for ip, serving in endpoints
        ],
    }


def forgotten(protocol: str, *endpoints: tuple[str, bool]) -> list[bytes]:
    """Which flows are to be forgotten, if these endpoints serve, or do not: to each way
    in a flow to each of two addresses, and one to somebody else's port.
    """
    services, ends = ServicePortMap(), EndpointsMap("n")
    services.update(_service(protocol))
    ends.update(_slice(protocol, *endpoints))
    flows = [
        Flow(way, (ip, 5353), f"{way[0]}>{ip}".encode())
        for way in (*WAYS_IN, (CLUSTER_IP, PORT + 1))
        for ip in ("10.244.1.1", "10.244.1.2")
    ]
    return [flow.key for flow in stale_flows(services, ends, flows)]


def are_forgotten() -> bool:
    """Those whose endpoint serves no longer, by whichever way they came; none if there
    is nobody else, and none of TCP, whose connections end with the pod.
    """
    both = ("10.244.1.1", True), ("10.244.1.2", False)
    gone = [f"{address}>10.244.1.2".encode() for address, _ in WAYS_IN]
    return (
        forgotten("UDP", *both) == gone
        and forgotten("UDP", *both[:1]) == gone
        and forgotten("UDP", *both[1:]) == []
        and forgotten("TCP", *both) == []
    )
