"""`wait --for=create`: looked for again and again if it was named, and missed at once if it stands in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kubectl.fake_server import FakeServer, kubectl

PATH = "/api/v1/namespaces/default/configmaps/c"
OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default", "uid": "u"}}
TIMED_OUT = "error: timed out waiting for the condition\n"


class Late(FakeServer):
    """A server on which the object is there when it has been asked for often enough."""

    def __init__(self, missing: int) -> None:
        super().__init__()
        self.missing = missing

    async def round_trip(self, request: Any) -> Any:
        if request.path == PATH and len(self.asked()) >= self.missing:
            self.answers[f"GET {PATH}"] = OBJECT
        return await super().round_trip(request)


@pytest.mark.parametrize("missing", [0, 1, 3])
def test_it_is_looked_for_until_it_is_there(missing: int) -> None:
    server = Late(missing)
    code, out, err, _ = kubectl("wait cm/c --for=create --timeout=10s", server=server)
    assert (code, out, err) == (0, "configmap/c condition met\n", "")
    assert server.asked() == [f"GET {PATH}"] * (missing + 2), "once more when it is there, to wait for the rest"


def test_not_for_longer_than_was_said() -> None:
    code, out, err, server = kubectl("wait cm/c --for=create --timeout=2s")
    assert (code, out, err) == (1, "", TIMED_OUT)
    assert 2 < len(server.asked()) < 10


def test_without_any_time_once() -> None:
    code, out, err, server = kubectl("wait cm/c --for=create --timeout=0s")
    assert (code, out, err) == (1, "", TIMED_OUT)
    assert server.asked() == [f"GET {PATH}"]


def test_what_stands_in_a_file_is_missed_at_once(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    code, out, err, server = kubectl(f"wait -f {file} --for=create --timeout=10s")
    assert (code, out) == (1, "")
    assert err == 'Error from server (NotFound): configmaps "c" not found\n'
    assert server.asked() == [f"GET {PATH}"]
