"""What pages say in words of one and the same number is so, and is the same on all of them."""

from __future__ import annotations

import inspect
import re
from ipaddress import IPv4Network

import pytest
from conformance.results import read

from lifecycle.api.defaults.pods import set_pod_template_defaults, set_probe_defaults
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.default_toleration_seconds import SECONDS
from lifecycle.apiserver.registry.core.service.store import range_offset
from lifecycle.apiserver.registry.event_stores import EVENT_TTL
from lifecycle.apiserver.registry.store import MAX_NAME_ATTEMPTS
from lifecycle.client.leader_election import LeaderElector
from lifecycle.cni.plugins.chain_names import MAX_CHAIN_LENGTH
from lifecycle.controllers.deployment.deployment_util import resolve_fenceposts
from lifecycle.controllers.endpoints.endpoints_controller import MAX_CAPACITY
from lifecycle.controllers.endpointslice.reconciler import MAX_ENDPOINTS_PER_SLICE
from lifecycle.controllers.expectations import EXPECTATIONS_TIMEOUT
from lifecycle.controllers.node_lifecycle.health import NODE_MONITOR_GRACE_PERIOD
from lifecycle.controllers.pod_template_hash import compute_hash
from lifecycle.dns.answering import Answerer
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.lease_manager import REUSE_SECONDS
from lifecycle.kubectl.generators.create_deployment import create_deployment
from lifecycle.kubelet.eviction.eviction_manager import MONITORING_INTERVAL
from lifecycle.kubelet.kubelet_node_status import STATUS_REPORT_FREQUENCY
from lifecycle.kubelet.nodestatus import machine_info
from lifecycle.proxy.iptables.chains import chain_hash
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.scheduler.backend.queue.scheduling_queue import POD_MAX_IN_UNSCHEDULABLE_PODS_DURATION
from lifecycle.scheduler.schedule_pod import num_feasible_nodes_to_find
from tests.conftest import ROOT


def page(name: str) -> str:
    """A page's text, without its line breaks."""
    return " ".join((ROOT / f"{name}.md").read_text().split())


def default_of(function: object, parameter: str) -> object:
    return inspect.signature(function).parameters[parameter].default  # type: ignore[arg-type]


def probe() -> Object:
    """One that says nothing but what it does."""
    words: Object = {"exec": {"command": ["true"]}}
    set_probe_defaults(words)
    return words


NUMBERS: dict[str, tuple[bool, dict[str, str]]] = {
    "a pod tolerates a silent node for so long": (
        SECONDS == 300,
        {
            "book/the-journey": "the pod will stand by for five minutes",
            "book/apiserver/admission": "it will stand by for five minutes",
            "book/control-loops/scheduler": "gives its pods the five minutes that they tolerate",
            "book/playground": "the five minutes after which the pods of a",
        },
    ),
    "a node is called silent after": (
        NODE_MONITOR_GRACE_PERIOD == 50,
        {"book/control-loops/scheduler": "waits 50 seconds and taints it"},
    ),
    "a node that has nothing new to say reports": (
        STATUS_REPORT_FREQUENCY == 300,
        {"book/wrap-up/at-scale": "reports its status only when something in it changed, or every five minutes"},
    ),
    "a node takes so many pods": (
        machine_info.PAPER_CAPACITY["pods"] == "110",
        {"book/wrap-up/at-scale": "110 pods on a node"},
    ),
    "nodes are enough that fit": (
        [num_feasible_nodes_to_find(n) for n in (99, 100, 1000, 1125, 5000, 6000)] == [99, 100, 420, 461, 500, 300],
        {
            "book/wrap-up/at-scale": "Beyond, half of them, and one percent less for each 125 nodes, down to 5 percent.",
            "book/control-loops/scheduler": "by one percent for each 125 nodes, but not below five percent,"
            " and never below a hundred nodes",
        },
    ),
    "a pod on the bench is tried again after": (
        POD_MAX_IN_UNSCHEDULABLE_PODS_DURATION == 300,
        {"book/control-loops/the-scheduling-queue": "five minutes later everybody is tried again"},
    ),
    "expectations count as met after": (
        EXPECTATIONS_TIMEOUT == 300,
        {"book/control-loops/replica-sets-and-ownership": "five minutes later they count as met"},
    ),
    "a leader looks, and loses": (
        (default_of(LeaderElector.__init__, "lease_duration"), default_of(LeaderElector.__init__, "retry_period"))
        == (15, 2),
        {
            "book/control-loops/the-controller-manager": "With `-w` you see `renewTime` move, every two seconds.",
        },
    ),
    "a quarter of few pods": (
        [resolve_fenceposts("25%", "25%", n)[1] for n in (1, 3, 4)] == [0, 0, 1]
        and [10 - resolve_fenceposts("25%", "25%", 10)[1], 10 + resolve_fenceposts("25%", "25%", 10)[0]] == [8, 13],
        {
            "book/control-loops/deployments": "At every moment at least eight pods serve, and at most thirteen are wanted."
        },
    ),
    "a slice holds, and the old list": (
        (MAX_ENDPOINTS_PER_SLICE, MAX_CAPACITY) == (100, 1000),
        {
            "book/services/services-and-endpoints": "holds a hundred endpoints at most",
            "book/wrap-up/at-scale": "in slices](../services/services-and-endpoints.md) of a hundred",
        },
    ),
    "addresses left for fixed ones": (
        range_offset(IPv4Network("10.96.0.0/16")) == range_offset(IPv4Network("10.96.0.0/20")) == 256,
        {"book/services/services-and-endpoints": "so a `/16` with its 65,536 addresses leaves as many as a `/20`"},
    ),
    "letters of a chain": (
        (MAX_CHAIN_LENGTH, len(chain_hash("default/nginx:80tcp"))) == (28, 16),
        {"book/services/kube-proxy": "Sixteen letters of 32 possible ones each are 80 bits"},
    ),
    "rules are written": (
        (ProxierConfig().min_sync_period, ProxierConfig().full_sync_period) == (1, 3600),
        {"book/services/kube-proxy": "Once an hour, or when somebody has flushed the tables, everything is written."},
    ),
    "a missing name is remembered for": (
        default_of(Answerer.__init__, "ttl") == 30,
        {"book/services/dns": "remember it for half a minute"},
    ),
    "a made-up name is tried": (
        MAX_NAME_ATTEMPTS == 8,
        {"book/etcd/keys-values-revisions-watch": "tries eight times in all"},
    ),
    "an Event lives for, and shares its lease with": (
        (EVENT_TTL, REUSE_SECONDS) == (3600, 60),
        {"book/etcd/keys-values-revisions-watch": "one lease serves for all events of the same minute"},
    ),
    "is there enough memory": (
        MONITORING_INTERVAL == 10,
        {"book/kubelet/status": "Every ten seconds it asks how much there is."},
    ),
    "a probe is believed after": (
        probe()["failureThreshold"] == 3,
        {"book/services/services-and-endpoints": "a probe has to fail three times in a row before the kubelet"},
    ),
    "where the Deployment lies": (
        registry_key(resource("deployments.apps"), "default", "nginx") == "/registry/deployments/default/nginx",
        {
            "book/the-journey": "/registry/deployments/default/nginx",
            "book/etcd/keys-values-revisions-watch": "/registry/deployments/default/nginx",
        },
    ),
}
"""What it is about: whether it is so, and on which pages it stands, in which words."""


@pytest.mark.parametrize("about", NUMBERS)
def test_a_number_in_words_is_the_codes_on_every_page_that_tells_it(about: str) -> None:
    true, told = NUMBERS[about]
    assert [(name, words) for name, words in told.items() if words not in page(name)] == []
    assert true


@pytest.mark.parametrize(("name", "image"), [("README", "nginx"), ("book/the-journey", "nginx:1.27")])
def test_the_hash_in_the_names_of_pods_is_that_of_the_image_that_was_typed(name: str, image: str) -> None:
    template = create_deployment("nginx", [image])["spec"]["template"]
    set_pod_template_defaults(template)
    assert f"nginx-{compute_hash(template)}" in page(name)


def test_as_many_questions_are_asked_at_the_door_as_its_heading_says() -> None:
    door = (ROOT / "book" / "the-journey.md").read_text().partition("## Eight questions at the door")[2]
    asked = re.findall(r"^\*\*(.+?)\*\*", door.partition("\n## ")[0], re.M)
    assert "".join(asked).count("?") == 8
    assert "the same eight questions" in page("book/the-journey")
    assert "a server that asks eight questions" in page("book/the-journey")


def test_all_tests_that_want_a_cluster_to_themselves_are_among_the_results() -> None:
    assert "There are twenty-nine of these; they run by themselves" in page("book/conformance")
    assert len([each for each in read("sandbox") if each.alone]) == 29
