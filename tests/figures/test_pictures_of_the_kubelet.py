"""Pictures of a pod on its node: ideas have all their boxes, and what is read from a disk or a run is what is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle.figures import node_decisions, pod_lifecycle
from lifecycle.figures.cgroup_tree import draw_cgroup_tree
from lifecycle.figures.knocks import draw_knocks
from lifecycle.figures.looks import draw_looks
from lifecycle.figures.picture import Picture
from lifecycle.figures.volume_links import draw_volume_links
from lifecycle.kubelet.volume.atomic_writer import AtomicWriter, FileProjection


def written(svg: str, text: str) -> int:
    return svg.count(f"<!-- {text} -->")


@pytest.mark.parametrize(
    ("draw", "texts"),
    [
        (
            pod_lifecycle.draw_sources,
            ["API server", "a directory", "a URL", "pod config", "sync loop", "pod worker", "refused"],
        ),
        (pod_lifecycle.draw_worker_states, ["syncing", "terminating", "terminated", "less patience"]),
        (pod_lifecycle.draw_pod_cache, ["runtime", "PLEG", "pod cache", "sync loop", "pod worker"]),
        (pod_lifecycle.draw_three_probes, ["startup", "liveness", "readiness", "killed", "left out"]),
        (pod_lifecycle.draw_probe_to_slice, ["probe", "all containers", "its status", "EndpointSlice", "kube-proxy"]),
        (
            pod_lifecycle.draw_status_makers,
            ["the spec", "the runtime", "the probes", "failures", "status manager", "API server"],
        ),
        (node_decisions.draw_present_image, ["a pod", "pull record", "use it", "registry", "yes", "no"]),
        (node_decisions.draw_exclusive_cpus, ["Guaranteed?", "a whole number?", "shared pool", "refused", "its own"]),
        (node_decisions.draw_resize_order, ["it grows", "wider frame", "less, first", "it shrinks", "narrower frame"]),
        (pod_lifecycle.draw_disk, ["controller", "Node status", "volumesAttached", "kubelet", "nginx"]),
        (pod_lifecycle.draw_deleted, ["deletion", "kubelet", "nginx", "controller", "kube-proxies", "a visitor"]),
        (pod_lifecycle.draw_pull_secret, ["Secret", "kubelet", "registry", "pull record", "container"]),
    ],
)
def test_an_idea_has_all_its_boxes(draw: Callable[[], Picture], texts: list[str]) -> None:
    svg = draw()._repr_svg_()
    assert [text for text in texts if written(svg, text) != 1] == []
    assert svg == draw()._repr_svg_()


def test_handlers_stand_in_the_order_in_which_they_are_asked() -> None:
    svg = pod_lifecycle.draw_admit_handlers({"one": "A", "two": "B", "three": "C", "four": "D"})._repr_svg_()
    places = [svg.index(f"<!-- {name} -->") for name in ("one", "two", "three", "four")]
    assert places == sorted(places)


def test_a_volumes_links_are_those_on_the_disk(tmp_path: Path) -> None:
    writer = AtomicWriter(tmp_path)
    writer.write({"user": FileProjection(b"anna", 0o644), "sub/deep": FileProjection(b"x", 0o644)}, 0.0)
    svg = draw_volume_links(tmp_path)._repr_svg_()
    assert [written(svg, text) for text in ("user", "sub", "..data", "anna", "a directory")] == [1, 1, 1, 1, 2]
    assert written(svg, "..1970_01_01_") == 1
    writer.write({"user": FileProjection(b"bert", 0o644)}, 86400.0)
    svg = draw_volume_links(tmp_path)._repr_svg_()
    assert [written(svg, text) for text in ("bert", "anna", "sub", "..1970_01_02_")] == [1, 0, 0, 1]


def test_what_is_no_volume_has_no_picture(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        draw_volume_links(tmp_path)


def test_a_tree_of_cgroups_has_a_box_for_each_group() -> None:
    svg = draw_cgroup_tree(
        {"kubepods": "2048", "kubepods/burstable": "153", "kubepods/burstable/pod a": "51"}
    )._repr_svg_()
    assert [written(svg, text) for text in ("kubepods", "burstable", "pod a", "2048", "153", "51")] == [1] * 6


def test_each_look_is_a_line_and_each_piece_of_news_a_mark() -> None:
    lanes = {"long": [(0.3, "running"), (3.0, "exited")], "quick": [(1.2, "running"), (1.3, "gone")]}
    svg = draw_looks(lanes, [0, 1, 2, 3], {"long": [(1, "Started"), (3, "Died")]})._repr_svg_()
    assert [written(svg, text) for text in ("Started", "Died", "running", "quick", "gone")] == [1, 1, 1, 1, 0]
    assert svg.count("stroke-dasharray") == 4


def test_each_answer_of_a_probe_is_a_dot_or_a_cross_and_late_ones_are_left_out() -> None:
    answers = {"ready?": [(1.0, True), (3.0, True), (5.0, False), (99.0, False)]}
    svg = draw_knocks({"a container": [(0.0, 4.0), (4.2, 50.0), (60.0, 70.0)]}, answers, 10.0)._repr_svg_()
    assert [written(svg, text) for text in ("a container", "ready?")] == [1, 1]
    dots, crosses = (svg.split(f'id="PathCollection_{n}"')[1].split("</g>")[0].count("<use ") for n in (1, 2))
    assert (dots, crosses) == (2, 1)


def test_two_groups_of_one_name_cannot_be_told_apart() -> None:
    with pytest.raises(ValueError, match=r"two groups are called x$"):
        draw_cgroup_tree({"a": "", "a/x": "", "a/b": "", "a/b/x": ""})
