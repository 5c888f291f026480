"""kubeconfigs: ours, the real kubectl's and the Python client's reading of the same generated files."""

from __future__ import annotations

from lifecycle.agreements.kubectl.kubeconfig import Answer, kubeconfig_agreement, official_client_agreement, ours, real
from tests.conftest import find_kubectl, unavailable


def test_files_are_read_and_changed_as_kubectl_does() -> None:
    binary = find_kubectl("1.36")
    if binary is None:
        unavailable("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    assert binary is not None
    table = kubeconfig_agreement(real(binary), count=3, seed=7)
    assert table.equal, table.unexplained[:3]
    assert len(table.rows) == 15


def test_the_official_client_finds_the_same_server() -> None:
    table = official_client_agreement(count=80)
    assert table.equal, table.unexplained[:3]
    assert int(table.rows[0].ours.split()[0]) > 12, "enough of them are usable"


def test_a_reader_that_lets_the_last_file_win_is_found_out() -> None:
    def backwards(arguments: tuple[str, ...], environ: dict[str, str]) -> Answer:
        return ours(arguments, {**environ, "KUBECONFIG": ":".join(reversed(environ["KUBECONFIG"].split(":")))})

    table = kubeconfig_agreement(ours, count=14, mine=backwards)
    wrong = {row.input for row in table.rows if not row.equal}
    assert {"config view -o json --raw", "config current-context"} <= wrong
