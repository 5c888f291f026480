"""What ginkgo says is followed to its end, whatever bytes are in it."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.suite import run

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
