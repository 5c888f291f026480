"""Our hash of a pod template is Kubernetes' own, for every ReplicaSet in the recordings, and after collisions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.go.fnv import fnv32, fnv32a, fnv64
from lifecycle.api.http.wire import Object
from lifecycle.compare.program_answers import recorded_programs
from lifecycle.controllers.go_dump import dump_for_hash
from lifecycle.controllers.pod_template_hash import compute_hash

RECORDINGS = Path(__file__).parents[2] / "recordings"


def recorded_replica_sets() -> Iterator[tuple[str, Object]]:
    for path in sorted(RECORDINGS.glob("kind-1.36.2*/http/*.jsonl")):
        for line in path.read_text().splitlines():
            if '"pod-template-hash"' in line and "ReplicaSet" in line:
                response: Any = json.loads(line)["response"]
                for obj in response.get("items") or [response]:
                    labels = obj["metadata"].get("labels") or {}
                    if "pod-template-hash" in labels and "template" in obj.get("spec", {}):
                        yield labels["pod-template-hash"], obj["spec"]["template"]


def test_every_recorded_replica_set_has_the_hash_we_compute() -> None:
    seen = set()
    for recorded, template in recorded_replica_sets():
        labels = {k: v for k, v in template["metadata"]["labels"].items() if k != "pod-template-hash"}
        assert compute_hash({**template, "metadata": {**template["metadata"], "labels": labels}}) == recorded
        seen.add(recorded)
    assert seen >= {"747d4c55d8", "77d8c487d7"}  # the journey's two images
    assert len(seen) >= 4  # and add-ons with probes, volumes, resources


NAMES = recorded_programs(RECORDINGS)["v1.36"]["names/collisions"]


@pytest.mark.parametrize(("count", "name"), NAMES["names"])
def test_after_so_many_collisions_the_hash_is_the_real_controllers(count: int | None, name: str) -> None:
    assert f"web-{compute_hash(NAMES['template'], count)}" == name


@pytest.mark.parametrize(
    ("go_type", "value", "printed"),
    [
        ("*int64", None, "(*int64)<nil>"),
        ("*int64", 30, "(*int64)30"),
        ("[]string", ["a", "b"], "([]string)[a b]"),
        ("map[string]string", {"b": "2", "a": "1"}, "(map[string]string)map[a:1 b:2]"),
        ("core/v1.DNSPolicy", "ClusterFirst", "(v1.DNSPolicy)ClusterFirst"),
        ("intstr.IntOrString", "http", "(intstr.IntOrString){Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)http}"),
        (
            "core/v1.ResourceList",
            {"memory": "170Mi", "cpu": "100m"},
            "(v1.ResourceList)map["
            "cpu:{i:(resource.int64Amount){value:(int64)100 scale:(resource.Scale)-3} "
            "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)100m Format:(resource.Format)DecimalSI} "
            "memory:{i:(resource.int64Amount){value:(int64)178257920 scale:(resource.Scale)0} "
            "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)170Mi Format:(resource.Format)BinarySI}]",
        ),
    ],
)
def test_values_are_printed_as_go_prints_them(go_type: str, value: Any, printed: str) -> None:
    assert dump_for_hash(go_type, value) == printed


def test_fnv() -> None:
    assert fnv32a(b"") == 0x811C9DC5
    assert fnv32a(b"foobar") == 0xBF9CF968
    assert fnv32(b"") == 0x811C9DC5
    assert fnv32(b"foobar") == 0x31F0B262
    assert fnv32(b"bar", fnv32(b"foo")) == fnv32(b"foobar")
    assert fnv64(b"") == 0xCBF29CE484222325
    assert fnv64(b"foobar") == 0x340D8765A4DDA9C2
