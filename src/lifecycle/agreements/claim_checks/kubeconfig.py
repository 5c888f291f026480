"""Claims about kubeconfigs, put to our loader. The same behaviour is held against real
kubectls in `lifecycle.agreements.kubectl.kubeconfig`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import yaml

from lifecycle.compare.claims import Partly, rebuilt
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig import (
    ClientConfig,
    client_config,
    load,
    loading_precedence,
    make,
)
from lifecycle.kubectl.kubeconfig.client_config import DirectClientConfig, Overrides


class _Files:
    """Three files with a token each, in a folder of their own: by flag, by variable, at
    home.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.home = self.folder / ".kube" / "config"
        self.home.parent.mkdir()

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def put(self, name: str, document: dict[str, Any] | None = None) -> Path:
        path = self.folder / name
        path.write_text(
            yaml.safe_dump(
                document or make("a", "https://a", token=f"token-{path.name}")
            )
        )
        return path

    def config(
        self, flag: str = "", kubeconfig: str = "", **flags: Any
    ) -> ClientConfig:
        environ = {"HOME": str(self.folder), "KUBECONFIG": kubeconfig}
        loaded = load(loading_precedence(flag, environ), explicit=bool(flag))
        return client_config(loaded, environ={}, **flags)


@rebuilt("kubeconfig-flag-has-first-priority")
def flag_first() -> bool:
    """Its token counts, and a missing file is an error, whatever else there is."""
    with _Files() as files:
        flag, env = files.put("flag"), files.put("env")
        files.put(".kube/config")
        try:
            files.config(str(files.folder / "missing"), str(env))
            refused = False
        except CommandError as error:
            refused = str(error).endswith("no such file or directory")
        return refused and files.config(str(flag), str(env)).token == "token-flag"


@rebuilt("kubeconfig-env-var-has-second-priority")
def variable_second() -> bool:
    """It wins over the home directory."""
    with _Files() as files:
        env = files.put("env")
        files.put(".kube/config")
        return files.config(kubeconfig=str(env)).token == "token-env"


@rebuilt("kubeconfig-home-directory-fallback")
def home_last() -> bool:
    """With neither, the file at home."""
    with _Files() as files:
        files.put(".kube/config")
        return files.config().token == "token-config"


@rebuilt("kubeconfig-first-file-found-in-home")
def first_file_only() -> bool:
    """If the first file found were taken alone, a list of two halves would be of no
    use.
    """
    with _Files() as files:
        whole = make("a", "https://a", token="merged")
        one = files.put("one", {**whole, "users": []})
        two = files.put("two", {"users": whole["users"]})
        missing = files.folder / "missing"
        merged = files.config(kubeconfig=f"{missing}:{one}:{two}").token == "merged"
        candidates = loading_precedence("", {"HOME": str(files.folder)})
        return not merged or len(candidates) > 1


@rebuilt("kubeconfig-context-selects-cluster-and-user")
def context_selects() -> bool:
    """Two contexts over the same entries: another server, another user, another
    namespace.
    """
    one, two = make("a", "https://a", token="ta"), make("b", "https://b", token="tb")
    both = {
        **one,
        **{section: one[section] + two[section] for section in ("clusters", "users")},
    }
    both["contexts"] = [
        {"name": "x", "context": {"cluster": "a", "user": "b", "namespace": "n1"}},
        {"name": "y", "context": {"cluster": "b", "user": "a"}},
    ]
    seen = []
    for current in ("x", "y"):
        config = client_config({**both, "current-context": current}, environ={})
        seen.append((config.server, config.token, config.namespace))
    return seen == [("https://a", "tb", "n1"), ("https://b", "ta", "default")]


NAMED: dict[str, Any] = {
    "server": "https://a",
    "tls-server-name": "a.example.com",
    "certificate-authority-data": "eA==",
    "proxy-url": "",
}
KEPT = {key: value for key, value in NAMED.items() if value}
BARE = {key: value for key, value in KEPT.items() if "data" not in key}
CLUSTERS: list[dict[str, Any]] = [
    KEPT,
    {**KEPT, "server": "https://b", "tls-server-name": ""},
    {**KEPT, "server": "https://b", "tls-server-name": "b.example.com"},
    {**KEPT, "tls-server-name": "b.example.com"},
    {**BARE, "insecure-skip-tls-verify": True, "certificate-authority": ""},
    {**BARE, "insecure-skip-tls-verify": False, "certificate-authority": "/ca"},
    {"server": "http://localhost:8080"},
]


def _clusters() -> list[dict[str, Any]]:
    """The cluster of a file as it is; under flags; and where there is none."""
    document = {**make("a", "https://a"), "clusters": [{"name": "a", "cluster": NAMED}]}
    flags: tuple[dict[str, Any], ...] = (
        {},
        {"server": "https://b"},
        {"server": "https://b", "server_name": "b.example.com"},
        {"server_name": "b.example.com"},
        {"insecure": True},
        {"certificate_authority": "/ca"},
    )
    found = [
        DirectClientConfig(document, Overrides(**each)).cluster() for each in flags
    ]
    return [*found, DirectClientConfig({}).cluster()]


@rebuilt("kubeconfig-flags-override-file-values")
def flags_override() -> Partly:
    """A token and a server by flag beat the file's; but a user name beside the file's
    token is no override but an error. What the file says of how its server is known
    goes with what a flag replaces, and not further.
    """
    assert _clusters() == CLUSTERS
    document = make("a", "https://a", token="file")
    config = client_config(document, environ={}, token="flag", server="https://b")
    try:
        client_config(document, environ={}, username="jane")
        refused = False
    except CommandError as error:
        refused = "more than one authentication method" in str(error)
    return Partly((config.token, config.server) == ("flag", "https://b"), refused)
