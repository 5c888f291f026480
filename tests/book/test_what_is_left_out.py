"""Each sentence in which the book says what its own Kubernetes does not have is bound to a test, here or beside this one."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.apiserver.storage import compactor
from lifecycle.apiserver.storage.encryption_config.transformers import Transformers
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cni.errors import CNIError
from lifecycle.cni.overlay.lease import pod_subnet
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.etcd import memory, sqlite
from lifecycle.kubelet.allocation import allocation_manager
from lifecycle.kubelet.kuberuntime import resize_actions
from lifecycle.kubelet.kuberuntime.kuberuntime_gc import GC_PERIOD
from lifecycle.kubelet.lifecycle import admit_handlers
from lifecycle.kubelet.stats.summary import node_summary
from tests.conftest import ROOT
from tests.dns.cluster import answerer
from tests.kubectl.fake_server import kubectl

PAGES = sorted((ROOT / "book").glob("**/*.md"))
QUOTED = re.compile(r"^(`{3,}).*?^\1", re.M | re.S)
SAYS = re.compile(
    r"\b(?:[Tt]his book's `?\w+`?(?: \w+)?|[Tt]his book|[Oo]urs"
    r"|[Oo]ur (?:\w+ )?(?:server|kubelet|overlay|proxy|kubectl|queue|scheduler)s?|[Ww]e)"
    r"\b[^.:;]*?\b(?:does not|do not have|cannot|has no|have no|knows no|knows only|is simpler|is the older|measures"
    r"|leaves \w+ to|in memory|nobody to)\b"
    r"|Not rebuilt|is missing here|simpler than in upstream|of this book does not|What this book's \w+(?: \w+)? does not"
)


def sentences() -> Iterator[tuple[str, str, str]]:
    """A page, a paragraph without its line breaks, and one of its sentences that says so."""
    for path in PAGES:
        for block in re.split(r"\n\s*\n|\n(?=[-|*] )", QUOTED.sub("", path.read_text())):
            paragraph = " ".join(block.split())
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*(\[])", paragraph):
                if SAYS.search(sentence):
                    yield path.stem, paragraph, sentence


def words_of_tests() -> set[str]:
    """What the tests of this room quote."""
    trees = (ast.parse(path.read_text()) for path in Path(__file__).parent.glob("test_*.py"))
    texts = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {" ".join(text.split()) for text in texts if isinstance(text, str) and 15 <= len(text) < 300}


def told(page: str, words: str) -> bool:
    return words in " ".join((ROOT / "book" / f"{page}.md").read_text().split())


def left_out(module: object) -> str:
    """What a module's first lines say that it leaves out."""
    return " ".join(str(module.__doc__).split()).partition("Left out:")[2]


def test_there_are_such_sentences() -> None:
    assert len({page for page, *_ in sentences()}) > 15


def test_each_such_sentence_stands_in_a_paragraph_that_a_test_quotes() -> None:
    quoted = words_of_tests()
    loose = [f"{page}: {text}" for page, about, text in sentences() if not any(words in about for words in quoted)]
    assert loose == []


def test_keys_that_lie_with_a_service_elsewhere_are_refused() -> None:
    assert told("etcd/keys-values-revisions-watch", "Kubernetes has it, this book does not")
    kms = {"kms": {"apiVersion": "v2", "name": "safe", "endpoint": "unix:///safe.sock"}}
    with pytest.raises(ValueError, match="this server has no KMS providers"):
        Transformers({"resources": [{"resources": ["secrets"], "providers": [kms]}]})


def test_who_compacts_which_store() -> None:
    assert told("etcd/keys-values-revisions-watch", "Our API server does so every five minutes, too")
    assert compactor.COMPACT_INTERVAL == 300
    assert told("etcd/keys-values-revisions-watch", "A real etcd is told, and forgets nothing by itself.")
    assert memory.DEFAULT_HISTORY == sqlite.DEFAULT_HISTORY > 0


def test_apply_sends_a_parameter_and_reads_no_document(tmp_path: Path) -> None:
    assert told(
        "kubectl/openapi", "(The `kubectl` of this book does not look. It sends the parameter, and that is all.)"
    )
    file = tmp_path / "map.yaml"
    file.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}")
    code, _, _, server = kubectl(f"apply -f {file}")
    assert code == 0
    assert server.requests[-1].query["fieldValidation"] == ["Strict"]
    assert not [line for line in server.asked() if "openapi" in line]


def test_who_would_be_attached_is_told_that_nothing_was_created() -> None:
    assert told("kubectl/validation-and-generators", "cannot do that; it says so, and creates nothing.")
    code, out, err, server = kubectl("run x -it --image=busybox")
    assert (code, out, server.asked()) == (1, "", [])
    assert "cannot attach" in err


def test_no_container_gets_a_device() -> None:
    assert told(
        "kubelet/cri-and-pause", "This book's kubelet knows no device plugins, so its own configs have an empty list."
    )

    async def scene(node: OneNode) -> list[object]:
        await node.run_pod("web", container={"resources": {"limits": {"cpu": "1"}}})
        return [list(config.devices) for config in node.runtime.container_configs.values()]

    assert on_one_node(scene) == [[]]


def test_the_eviction_manager_looks_at_memory_only() -> None:
    left = "Of what a machine has left, this book's eviction manager measures memory only."
    assert told("kubelet/garbage-collection", left)
    assert set(asyncio.run(node_summary(HollowRuntime())).observations) == {"memory.available"}


def test_nobody_asks_whether_a_kubelet_knows_what_a_pod_uses() -> None:
    assert told("kubelet/admission-and-cgroups", "know every feature that the pod uses? This book's does not ask.")
    assert "the features that a pod uses" in left_out(admit_handlers)


def test_in_which_points_a_resize_is_simpler_here() -> None:
    assert told("kubelet/in-place-resize", "Ours is simpler than the real one in four points.")
    assert "the checkpoint file" in left_out(allocation_manager)
    assert GC_PERIOD == 60  # "once a minute, with the rest of its housekeeping"
    assert "refusing a memory limit below what is in use" in left_out(resize_actions)


def test_a_node_without_an_ipv4_piece_has_no_place_in_the_overlay() -> None:
    assert told("kubelet/inter-host-networking", "a node without an IPv4 piece is refused")
    with pytest.raises(CNIError, match="missing IPv4 address"):
        pod_subnet({"metadata": {"name": "n"}, "spec": {"podCIDR": "fd00:10:244::/64"}})


def test_a_name_outside_the_cluster_is_beyond_its_dns() -> None:
    assert told("services/dns", "ours has nobody to pass them on to, and says SERVFAIL")
    assert answerer().answer("www.example.org.", "A").rcode == "SERVFAIL"
