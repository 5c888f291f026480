"""The kubeconfig that a cluster hands out, and how it is written."""

from __future__ import annotations

import stat
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from lifecycle.cluster.kubeconfig_file import kubeconfig, write_kubeconfig


def made(**more: Any) -> dict[str, Any]:
    return kubeconfig("https://127.0.0.1:1", b"the ca", b"the certificate", b"the key", **more)


@pytest.mark.parametrize(("more", "name"), [({}, "lifecycle"), ({"name": "kind-x"}, "kind-x")])
def test_one_cluster_one_user_and_one_context_have_the_same_name(more: dict[str, str], name: str) -> None:
    config = made(**more)
    (cluster,), (user,), (context,) = config["clusters"], config["users"], config["contexts"]
    assert cluster["name"] == user["name"] == context["name"] == config["current-context"] == name
    assert context["context"] == {"cluster": name, "user": name}
    assert (config["apiVersion"], config["kind"], config["preferences"]) == ("v1", "Config", {})


def test_the_user_shows_a_certificate() -> None:
    config = made()
    assert config["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": b64encode(b"the ca").decode(),
    }
    user = config["users"][0]["user"]
    assert {key: b64decode(value) for key, value in user.items()} == {
        "client-certificate-data": b"the certificate",
        "client-key-data": b"the key",
    }


def test_a_token_takes_the_place_of_the_certificate() -> None:
    assert made(token="t")["users"][0]["user"] == {"token": "t"}


def test_the_file_is_its_owners_and_its_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "config"
    for _ in range(2):
        write_kubeconfig(made(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert yaml.safe_load(path.read_text()) == made()
        assert path.read_text().startswith("apiVersion: v1\nkind: Config\nclusters:\n"), "in the order of the parts"
        assert list(path.parent.iterdir()) == [path]


def test_an_older_and_longer_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("# old\n" * 5000)
    write_kubeconfig(made(), path)
    assert "old" not in path.read_text()


def test_a_file_that_cannot_be_made_is_named_and_not_its_draft(tmp_path: Path) -> None:
    (tmp_path / f"{'x' * 250}").touch()
    path = tmp_path / ("x" * 250)
    with pytest.raises(OSError, match="File name too long") as refused:
        write_kubeconfig(made(), path)
    assert refused.value.filename == str(path)


def test_of_a_draft_that_cannot_take_its_place_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    with pytest.raises(IsADirectoryError):
        write_kubeconfig(made(), tmp_path / "config")
    assert [path.name for path in tmp_path.iterdir()] == ["config"]
