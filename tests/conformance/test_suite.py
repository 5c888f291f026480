"""What ginkgo says is followed to its end, whatever bytes are in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conformance.suite import Programs, SuiteError, command, put_in_zones, run

SAYS = r"""#!/bin/sh
printf 'Will run 1 of 1 specs\n\367\377\n• [1.0 seconds]\n'
echo '[]' > "${1#--output-dir=}/report.json"
"""


def test_bytes_that_are_no_text_do_not_end_the_run(tmp_path: Path) -> None:
    ginkgo = tmp_path / "ginkgo"
    ginkgo.write_text(SAYS)
    ginkgo.chmod(0o755)
    report = run([str(ginkgo), f"--output-dir={tmp_path}"], tmp_path / "tests.log")
    assert json.loads(report.read_text()) == []
    assert (tmp_path / "tests.log").read_text().splitlines()[-1] == "• [1.0 seconds]"


def test_tests_that_want_a_cluster_to_themselves_are_chosen_by_their_labels(tmp_path: Path) -> None:
    programs = Programs(*(tmp_path / name for name in ("ginkgo", "e2e.test", "agnhost", "kubectl")))
    plain = command(programs, tmp_path, tmp_path, focus="F", skip="S", procs=8, workers=2)
    assert [each for each in plain if "label" in each] == []
    assert {"--procs=8", "--focus=F", "--skip=S", "--num-nodes=2"} <= set(plain)
    alone = command(programs, tmp_path, tmp_path, focus="F", skip="", procs=1, workers=2, labels="Serial || Disruptive")
    assert {"--procs=1", "--label-filter=Serial || Disruptive"} <= set(alone)
    assert [each for each in alone if "skip" in each] == []


def test_each_worker_stands_in_a_zone_of_its_own(tmp_path: Path) -> None:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\ncase "$2" in get) echo node/a; echo node/b;; esac\n')
    kubectl.chmod(0o755)
    put_in_zones(Programs(*[tmp_path] * 3, kubectl), Path("config"))
    labelled = (tmp_path / "said").read_text().splitlines()[1:]
    zone = "topology.kubernetes.io/zone=zone"
    assert labelled == [f"--kubeconfig=config label node/{name} {zone}-{i}" for i, name in ((1, "a"), (2, "b"))]


def test_a_kubectl_that_fails_ends_the_run_with_its_words(tmp_path: Path) -> None:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text("#!/bin/sh\necho nobody there >&2\nexit 1\n")
    kubectl.chmod(0o755)
    with pytest.raises(SuiteError, match=r"the nodes are in no zones: nobody there$"):
        put_in_zones(Programs(*[tmp_path] * 3, kubectl), Path("config"))
