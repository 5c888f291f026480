"""How many pods of a kind a node has is known without looking at its other pods."""

from __future__ import annotations

from collections.abc import Mapping
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import EVERYTHING, NOTHING, Selector, parse_selector
from lifecycle.scheduler.framework.kinds_of_pods import KindsOfPods
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from tests.scheduler.cluster_model import make_node, make_pod

LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["x", "y"]))
SELECTORS = ["app=x", "tier=y,app=x", "app in (x,y)", "tier", "!app", "app!=x"]


@st.composite
def pods(draw: st.DrawFn) -> Object:
    metadata: Object = {"namespace": draw(st.sampled_from(["default", "other"])), "labels": draw(LABELS)}
    if draw(st.booleans()):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": metadata}


@given(st.lists(pods()), st.lists(pods()), st.sampled_from(SELECTORS))
def test_the_number_is_that_of_the_pods_that_are_selected_and_stay(
    staying: list[Object], going: list[Object], text: str
) -> None:
    selector, kinds = parse_selector(text), KindsOfPods()
    for pod in [*staying, *going]:
        kinds.count(pod, 1)
    before = kinds.copy()
    for pod in going:
        kinds.count(pod, -1)
    for counted, there in ((kinds, staying), (before, [*staying, *going])):
        selected = [
            pod
            for pod in there
            if pod["metadata"]["namespace"] == "default"
            and "deletionTimestamp" not in pod["metadata"]
            and selector.matches(pod["metadata"]["labels"])
        ]
        assert counted.number(selector, "default") == len(selected)
    assert kinds.number(EVERYTHING, "default") == kinds.number(NOTHING, "default") == 0


def test_nothing_is_left_of_pods_that_went_in_whatever_order_their_labels_are() -> None:
    kinds, labels = KindsOfPods(), {"app": "x", "tier": "y"}
    kinds.count(make_pod("p", labels=labels), 1)
    kinds.count(make_pod("p", labels=dict(reversed(labels.items()))), -1)
    assert not kinds._filed


def test_pods_of_other_kinds_are_not_looked_at() -> None:
    looked_at: list[Mapping[str, str]] = []
    matches = Selector.matches

    def counting(self: Selector, labels: Mapping[str, str] | None) -> bool:
        looked_at.append(labels or {})
        return matches(self, labels)

    for others in (10, 100):
        node = NodeInfo(make_node("n"))
        for i in range(others):
            node.add_pod(PodInfo(make_pod(f"other-{i}", labels={"app": f"other-{i}"})))
        for i in range(others):
            node.add_pod(PodInfo(make_pod(f"ours-{i}", labels={"app": "ours"})))
        with patch.object(Selector, "matches", counting):
            assert node.clone().kinds.number(parse_selector("app=ours"), "default") == others
    assert looked_at == [{"app": "ours"}] * 2
