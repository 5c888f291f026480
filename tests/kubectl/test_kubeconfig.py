"""kubeconfig files: which one counts, and what comes out."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig import (
    ClientConfig,
    client_config,
    empty_config,
    load,
    loading_precedence,
    make,
    write,
)


def test_precedence():
    assert loading_precedence("x", {"KUBECONFIG": "a:b"}) == [Path("x")]
    assert loading_precedence("", {"KUBECONFIG": "a::b:a"}) == [Path("a"), Path("b")]
    assert loading_precedence("", {"HOME": "/h"}) == [Path("/h/.kube/config")]


def test_written_configurations_can_be_loaded_and_are_private(tmp_path):
    path = tmp_path / "deep" / "config"
    write(make("kind", "https://127.0.0.1:1", ca=b"CA", client_certificate=b"C", client_key=b"K"), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert client_config(load([path])) == ClientConfig(
        "https://127.0.0.1:1", ca=b"CA", client_certificate=b"C", client_key=b"K"
    )


def test_the_first_file_wins_entry_by_entry(tmp_path):
    first, second = tmp_path / "1", tmp_path / "2"
    write({**make("a", "https://first"), "current-context": ""}, first)
    both = make("a", "https://second")
    both["clusters"] += make("b", "https://b")["clusters"]
    both["contexts"].append({"name": "b", "context": {"cluster": "b", "user": "a", "namespace": "ns"}})
    write({**both, "current-context": "b"}, second)
    config = load([first, tmp_path / "missing", second])
    assert config["current-context"] == "b"
    assert client_config(config) == ClientConfig("https://b", "ns")
    assert client_config(config, context="a").server == "https://first"


def test_flags_win(tmp_path):
    config = make("a", "https://a", token="t")
    assert client_config(config, server="https://x/", token="u", namespace="n") == ClientConfig(
        "https://x", "n", token="u"
    )
    assert client_config(empty_config()).server == "http://localhost:8080"
    for flag, kind in (("context", "context"), ("cluster", "cluster"), ("user", "auth info")):
        with pytest.raises(CommandError, match=f'{kind} "nope" does not exist$'):
            client_config(config, **{flag: "nope"})


def test_paths_are_relative_to_their_file(tmp_path):
    (tmp_path / "ca.crt").write_bytes(b"CA")
    (tmp_path / "token").write_text("secret\n")
    config = make("a", "https://a")
    config["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
    config["users"][0]["user"]["tokenFile"] = "token"
    write(config, tmp_path / "config")
    loaded = client_config(load([tmp_path / "config"]))
    assert (loaded.ca, loaded.token) == (b"CA", "secret")
    config["users"] = []
    config["clusters"][0]["cluster"] = {
        "server": "https://s",
        "certificate-authority-data": base64.b64encode(b"X").decode(),
    }
    assert client_config(config).ca == b"X"


def test_what_cannot_be_loaded(tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("a: [")
    with pytest.raises(CommandError, match="error loading config file"):
        load([broken])
    with pytest.raises(CommandError, match=r"no such file or directory$"):
        load([tmp_path / "nope"], explicit=True)
    assert load([tmp_path / "nope"]) == empty_config()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: 0", "number into Go struct field .kind"),
        ("apiVersion: 3", "number into Go struct field .apiVersion"),
        ("apiVersion: false", "bool into Go struct field .apiVersion"),
    ],
)
def test_a_version_or_kind_that_is_no_text_is_refused_as_the_real_kubectl_does(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "config").write_text(text)
    complaint = f"couldn't get version/kind; json parse error: json: cannot unmarshal {said} of type string"
    with pytest.raises(CommandError) as refused:
        load([tmp_path / "config"])
    assert str(refused.value) == f'error loading config file "{tmp_path}/config": {complaint}'


def test_a_preference_that_is_false_is_as_good_as_none(tmp_path: Path) -> None:
    """A real kubectl merges so: what is not set in Go says nothing."""
    files = []
    for number, colors in enumerate((False, True, False)):
        files.append(tmp_path / str(number))
        files[-1].write_text(f"apiVersion: v1\nkind: Config\npreferences: {{colors: {str(colors).lower()}}}\n")
    assert load(files)["preferences"] == {"colors": True}
