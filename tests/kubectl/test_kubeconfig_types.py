"""A field of a kubeconfig that has another type is refused in the words of the real kubectl 1.36, field by field.

They stand beside this file in `kubeconfig_types.json`; `KEEP=anew pytest` asks the program again.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig.loading import load
from tests.conftest import find_kubectl

KEPT = Path(__file__).with_name("kubeconfig_types.json")

FIELDS = """
current-context
clusters
users
contexts
clusters[].name
clusters[].cluster
contexts[].name
contexts[].context
users[].name
users[].user
clusters[].cluster.server
clusters[].cluster.tls-server-name
clusters[].cluster.insecure-skip-tls-verify
clusters[].cluster.certificate-authority
clusters[].cluster.certificate-authority-data
clusters[].cluster.proxy-url
clusters[].cluster.disable-compression
contexts[].context.cluster
contexts[].context.user
contexts[].context.namespace
users[].user.client-certificate
users[].user.client-certificate-data
users[].user.client-key
users[].user.client-key-data
users[].user.token
users[].user.tokenFile
users[].user.as
users[].user.as-uid
users[].user.as-groups
users[].user.as-groups[]
users[].user.as-user-extra
users[].user.username
users[].user.password
users[].user.auth-provider
users[].user.auth-provider.name
users[].user.auth-provider.config
users[].user.exec
users[].user.exec.command
users[].user.exec.args
users[].user.exec.args[]
users[].user.exec.env
users[].user.exec.env[].name
users[].user.exec.env[].value
users[].user.exec.apiVersion
users[].user.exec.installHint
users[].user.exec.provideClusterInfo
users[].user.exec.interactiveMode
""".strip().splitlines()

WRONG: tuple[Any, ...] = (1.5, True, "x", {"a": 1}, ["x"])
"""Each of these is another type for most fields."""


def with_field(path: str, value: Any) -> Any:
    """A document that has nothing but this field."""
    for name in reversed(path.split(".")):
        value = {name.removesuffix("[]"): [value] if name.endswith("[]") else value}
    return value


ASKED = {f"{path} {json.dumps(value)}": with_field(path, value) for path in FIELDS for value in WRONG}
ASKED |= {
    f"bytes {json.dumps(value)}": with_field("clusters[].cluster.certificate-authority-data", value)
    for value in ([0, 255], [1, None], [256], [-1], [1.5], [True], [[1]], [{}])
}
"""Bytes may be numbers as well."""


def real(folder: Path) -> dict[str, str]:
    said = {}
    for name, document in ASKED.items():
        (folder / "config").write_text(json.dumps(document))
        line = [str(find_kubectl("1.36")), "config", "view", f"--kubeconfig={folder}/config"]
        done = subprocess.run(line, capture_output=True, text=True, env={"HOME": str(folder)})
        said[name] = done.stderr.removeprefix("error: ").strip().replace(str(folder), "HOME") if done.returncode else ""
    return said


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    if os.environ.get("KEEP"):
        KEPT.write_text(json.dumps(real(tmp_path_factory.mktemp("real")), indent=0, ensure_ascii=False) + "\n")
    return dict(json.loads(KEPT.read_text()))


@pytest.mark.parametrize("name", ASKED)
def test_a_field_of_another_type_is_refused_in_the_words_of_kubectl(
    name: str, kept: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "config").write_text(json.dumps(ASKED[name]))
    try:
        load([tmp_path / "config"], explicit=True)
        said = ""
    except CommandError as refused:
        said = str(refused).replace(str(tmp_path), "HOME")
    assert said == kept[name]
