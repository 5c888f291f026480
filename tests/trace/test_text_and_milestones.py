"""How a journey is shown: as text with bars, and its milestones beside those of others."""

from __future__ import annotations

import pytest

from lifecycle.trace import text
from lifecycle.trace.journey import Journey, Step
from lifecycle.trace.milestones import MILESTONES, side_by_side

STEPS = (
    Step("kubectl", "create", 0.0, 1.5, "create deployment web"),
    Step("apiserver", "request", 0.0, 0.6, "POST /apis/apps/v1", 1),
    Step("apiserver", "storage", 0.25, 0.5, depth=6),
    Step("etcd", "txn", 0.3, 0.4, "deployments/ns/web", 3),
    Step("etcd", "txn", 0.31, 0.9, "deployments/ns/web", 3),
    Step("etcd", "txn", 0.7, 0.8, "replicasets/ns/web-1"),
    Step("etcd", "txn", 0.9, 1.0, "pods/ns/web-1-a"),
    Step("etcd", "txn", 1.0, 1.1, "pods/ns/web-1-b"),
    Step("etcd", "txn", 1.0, 9.0, "podsets/ns/web-1-b"),
    Step("scheduler", "bind", 1.2, 1.25, "pods/ns/web-1-a"),
    Step("scheduler", "bind", 1.3, 1.35, "pods/ns/web-1-b"),
    Step("kubelet", "status", 1.4, 1.45),
    Step("kubelet", "status", 1.6, 1.65),
    Step("watch", "all pods ready", 2.0, 2.0),
    Step("watch", "all pods ready", 3.0, 3.0),
)
OURS = Journey("deployments/ns/web", STEPS)
REAL = Journey(
    "deployments/web",
    (
        Step("kubectl", "create Deployment", 0.0, 0.0101, "deployments/web"),
        Step("deployment-controller", "create ReplicaSet", 0.02, 0.0302),
        Step("replicaset-controller", "create Pod", 0.03, 0.0403),
        Step("replicaset-controller", "create Pod", 0.03, 0.0504),
        Step("scheduler", "bind", 0.06, 0.06),
    ),
    "kind <1.36>",
)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 µs"), (0.0009994, "999 µs"), (0.001, "1.0 ms"), (0.01234, "12.3 ms"),
        (0.9994, "999.4 ms"), (1.0, "1.00 s"), (12.345, "12.35 s"),
    ],
)  # fmt: skip
def test_durations_are_shown_in_the_unit_people_read(seconds, shown):
    assert text.milliseconds(seconds) == shown


def test_a_step_is_shown_when_how_long_by_whom_and_about_what():
    journey = Journey(
        "web",
        (
            Step("kubectl", "create", 0.0, 1.0, "deployment web"),
            Step("apiserver", "request", 0.0, 0.5, "POST", 1),
            Step("apiserver", "storage", 0.25, 0.5, depth=9),
            Step("etcd", "txn", 0.5, 0.5),
            Step("kubelet", "status", 1.0, 1.0),
        ),
    )
    assert text.render(journey).splitlines() == [
        "web – 1.00 s on the embedded cluster",
        "",
        f"{'0 µs':>10}  {'▇' * 32} {'1.00 s':>9}  {'kubectl':22} {'create':26} deployment web",
        f"{'0 µs':>10}  {'▇' * 16:32} {'500.0 ms':>9}  {'apiserver':22} {'  request':26} POST",
        f"{'250.0 ms':>10}  {' ' * 8 + '▇' * 8:32} {'250.0 ms':>9}  {'':22} {'        storage'}",
        f"{'500.0 ms':>10}  {' ' * 16 + '▇':32} {'0 µs':>9}  {'etcd':22} txn",
        f"{'1.00 s':>10}  {' ' * 31 + '▇':32} {'0 µs':>9}  {'kubelet':22} status",
        "",
        "stage by stage:",
        f"  {'kubectl':24}{'create':22}   1×  {'1.00 s':>10}",
        f"  {'apiserver':24}{'request':22}   1×  {'500.0 ms':>10}",
        f"  {'apiserver':24}{'storage':22}   1×  {'250.0 ms':>10}",
        f"  {'etcd':24}{'txn':22}   1×  {'0 µs':>10}",
        f"  {'kubelet':24}{'status':22}   1×  {'0 µs':>10}",
    ]


def test_a_bar_ends_where_the_journey_ends():
    journey = Journey("web", (Step("a", "b", 0.0, 1.0), Step("a", "c", 0.99, 1.99), Step("a", "d", 1.9, 2.0)))
    bars = [line[12:44] for line in text.render(journey).splitlines()[2:5]]
    assert bars == [f"{'▇' * 16:32}", f"{' ' * 16}{'▇' * 16}", f"{' ' * 30}▇▇"]


def test_a_journey_without_duration_has_bars_at_the_beginning():
    line = text.render(Journey("web", (Step("a", "b", 0.0, 0.0),))).splitlines()[2]
    assert line == f"{'0 µs':>10}  {'▇':32} {'0 µs':>9}  {'a':22} b"


def test_what_is_over_the_limit_is_counted():
    lines = text.render(OURS, limit=4).splitlines()
    assert lines[6] == f"… and {len(STEPS) - 4} more steps"
    assert not [line for line in text.render(OURS, limit=len(STEPS)).splitlines() if "more steps" in line]
    many = Journey("web", tuple(Step("a", "b", 0.0, 1.0) for _ in range(201)))
    assert "… and 1 more steps" in text.render(many)


def test_the_summary_adds_up_each_stage():
    assert text.summary(OURS)[:4] == [
        "stage by stage:",
        f"  {'kubectl':24}{'create':22}   1×  {'1.50 s':>10}",
        f"  {'apiserver':24}{'request':22}   1×  {'600.0 ms':>10}",
        f"  {'apiserver':24}{'storage':22}   1×  {'250.0 ms':>10}",
    ]
    assert f"  {'kubelet':24}{'status':22}   2×  {'100.0 ms':>10}" in text.summary(OURS)


def test_milestones_are_the_first_and_last_of_their_kind_by_spans_or_by_answers():
    assert side_by_side(OURS, REAL).reached() == [
        ("the Deployment is stored", [0.4, 0.0101]),
        ("the ReplicaSet is stored", [0.8, 0.0302]),
        ("the last pod is stored", [1.1, 0.0504]),
        ("the last pod is bound to a node", [1.35, 0.06]),
        ("the first word from a kubelet", [1.45, None]),
        ("all pods are ready", [2.0, None]),
    ]


@pytest.mark.parametrize("missing", list(MILESTONES))
def test_in_order_means_all_of_them_each_after_the_one_before(missing):
    kept = {
        "the Deployment is stored": "deployments/", "the ReplicaSet is stored": "replicasets/",
        "the last pod is stored": "pods/ns",
    }  # fmt: skip
    stages = {
        "the last pod is bound to a node": "bind", "the first word from a kubelet": "status",
        "all pods are ready": "all pods ready",
    }  # fmt: skip
    gone = tuple(
        s for s in STEPS
        if not (s.stage == "txn" and s.about.startswith(kept.get(missing, "nothing"))) and s.stage != stages.get(missing)
    )  # fmt: skip
    late = tuple(Step(s.component, s.stage, s.start + 50, s.end + 50, s.about) if s not in gone else s for s in STEPS)
    ordered = side_by_side(OURS, Journey("", gone), Journey("", late)).in_order()
    assert ordered == [True, False, missing == "all pods are ready"]


def test_milestones_are_shown_in_columns():
    lines = str(side_by_side(OURS, REAL)).splitlines()
    assert lines[0] == f"{'':34}{'the embedded cluster':>44}{'kind <1.36>':>44}"
    assert lines[1] == f"{'the Deployment is stored':34}{'400.0 ms':>44}{'10.1 ms':>44}"
    assert lines[6] == f"{'all pods are ready':34}{'2.00 s':>44}{'–':>44}"
    assert len(lines) == 7


def test_milestones_are_a_table_in_a_notebook():
    shown = side_by_side(OURS, REAL)._repr_html_()
    assert shown.startswith(
        '<div style="overflow-x:auto" tabindex="0"><table><thead><tr><td></td>'
        "<th>the embedded cluster</th><th>kind &lt;1.36&gt;</th></tr></thead><tbody>"
        "<tr><td>the Deployment is stored</td>"
        '<td style="text-align:right">400.0 ms</td><td style="text-align:right">10.1 ms</td></tr>'
        "<tr><td>the ReplicaSet is stored</td>"
    )
    assert shown.endswith('<td style="text-align:right">–</td></tr></tbody></table></div>')
