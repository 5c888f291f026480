"""managedFields as real clusters recorded them, after every kind of write."""

from __future__ import annotations

import pytest

from tests.api.recorded_writes import RECORDINGS, audited_writes, http_writes, lines, managed_fields, replay, timeless


def entries(write):
    return timeless(write.answer["metadata"].get("managedFields"))


def test_creates_of_the_corpus():
    notes = {f"corpus-{e['n']}": e["note"] for e in lines("kind-1.36.2/http/corpus.jsonl")}
    differing = set()
    compared = 0
    for write in http_writes("corpus"):
        compared += 1
        if timeless(managed_fields(write, None)) != entries(write):
            differing.add(notes[write.name])
    assert compared > 40
    assert differing == set()


@pytest.mark.parametrize("scenario", ["kubelet", "services", "scheduling", "etcd"])
def test_creates_of_other_scenarios(scenario):
    differing = [
        w.name for w in http_writes(scenario) if w.verb == "create" and timeless(managed_fields(w, None)) != entries(w)
    ]
    assert differing == []


@pytest.mark.parametrize(
    ("cluster", "differing"),
    [
        ("kind-1.36.2", []),
        (
            "kind-1.36.2-again",
            ["storage-25"],
        ),  # there the deployment controller wrote a status in between, which no request shows
    ],
)
def test_a_chain_of_updates_patches_and_applies(cluster, differing):
    compared = [
        (write.name, timeless(made) == entries(write)) for write, made in replay(http_writes("storage", cluster))
    ]
    assert len(compared) >= 12
    assert [name for name, same in compared if not same] == differing


def test_every_write_of_every_component_on_the_journey():
    differing = []
    compared = 0
    for write, made in replay(audited_writes("kind-1.36.2/audit/journey.jsonl")):
        compared += 1
        if timeless(made) != entries(write):
            differing.append(write.name)
    assert compared > 400
    assert differing == []


def test_entries_are_stored_in_upstreams_order():
    """Key order inside and order of the list: byte for byte what the API server sent."""
    from lifecycle.apiserver.managedfields.entries import decode, encode

    seen = 0
    for scenario in ("objects", "journey", "kubelet"):
        path = RECORDINGS / "kind-1.36.2" / "http" / f"{scenario}.jsonl"
        for exchange in lines(str(path.relative_to(RECORDINGS))):
            response = exchange["response"]
            items = response.get("items", [response]) if isinstance(response, dict) else []
            for item in items:
                recorded = (item.get("metadata") or {}).get("managedFields")
                if recorded:
                    seen += 1
                    assert str(encode(decode(recorded, trusted=False))) == str(recorded)
    assert seen > 100
