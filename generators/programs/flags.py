"""What the programs' own help says of their flags: which there are, and their defaults.
Of descriptions only lists of names are kept.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from generators.programs.answer import Answer
from generators.programs.control_plane import version_of
from lifecycle.api.go.yaml_reader import read_yaml

ASKED = {
    "kube-apiserver": "admission|client-ca|token-auth|basic-auth|etcd-prefix",
    "kube-controller-manager": "admission|attach-detach",
    "kube-scheduler": "policy|config|algorithm",
    "kubelet": "container-runtime|network-plugin|cni-|docker|cpu-manager|sync-freq|"
    "attach-detach",
    "kube-proxy": "proxy-mode",
}
"""Which flags a claim asks about."""
FLAG = re.compile(r"^\s+(?:-\w, )?--([a-z0-9-]+)[ \[](.*)$", re.M)
DEFAULT = re.compile(r"\(default \"?(.*?)\"?\)(?:\s|$|\.)")
PLAIN = re.compile(r"true$|false$|[0-9][0-9.a-zA-Z]*$")
"""Numbers, durations and switches; not where a file is."""
WRITES = ("kube-scheduler",)
FILE = ", and the configuration that it would run with (--write-config-to)"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "none", "context": {"cluster": "none"}}],
    "current-context": "none",
}
PLUGINS = "Comma-delimited list of admission plugins: "
CONTROLLERS = re.compile(r"^\s+All controllers: (.*)$", re.M)


def answers(programs: Path) -> Iterator[Answer]:
    """The flags asked about; the admission plugins that the API server knows, and the
    controllers that the manager does; a command line that the scheduler refuses.
    """
    for name, pattern in ASKED.items():
        program = programs / name
        printed = subprocess.run(
            [program, "--help"], check=True, capture_output=True, text=True
        ).stdout
        flags = FLAG.findall(printed)
        yield Answer(
            f"flags/{name}",
            version_of(program),
            f"{name} --help: flags with {pattern} in their names, and their defaults",
            {
                flag: default[1] if (default := DEFAULT.search(rest)) else ""
                for flag, rest in sorted(flags)
                if re.search(pattern, flag)
            },
        )
        if name == "kube-controller-manager":
            [names] = CONTROLLERS.findall(printed)
            yield Answer(
                "flags/controllers",
                version_of(program),
                f"{name} --help: the controllers that --controllers names",
                sorted(names.split(", ")),
            )
        if name == "kube-apiserver":
            rest = dict(flags)["enable-admission-plugins"]
            yield Answer(
                "flags/admission-plugins",
                version_of(program),
                f"{name} --help: the plugins that --enable-admission-plugins names",
                sorted(rest.partition(PLUGINS)[2].partition(".")[0].split(", ")),
            )
        yield Answer(
            f"defaults/{name}",
            version_of(program),
            f"{name} --help: what its flags are set to if nobody uses them"
            f"{FILE if name in WRITES else ''}",
            {
                **{
                    flag: default[1]
                    for flag, rest in sorted(flags)
                    if (default := DEFAULT.search(rest)) and PLAIN.match(default[1])
                },
                **(_written(program) if name in WRITES else {}),
            },
        )
    scheduler = programs / "kube-scheduler"
    refused = subprocess.run(
        [scheduler, "--policy-config-file=policy.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    yield Answer(
        "flags/policy-config-file",
        version_of(scheduler),
        "kube-scheduler --policy-config-file=policy.json",
        {
            "exit": refused.returncode,
            "unknown flag": "unknown flag" in refused.stderr,
        },
    )


def _written(program: Path) -> dict[str, str]:
    """What a scheduler writes down of its own configuration: the numbers, and those of
    its plugins after their names; the weights of those that score.
    """
    with TemporaryDirectory() as folder:
        kubeconfig, written = Path(folder, "kubeconfig"), Path(folder, "written")
        kubeconfig.write_text(json.dumps(KUBECONFIG))
        subprocess.run(
            [
                program,
                f"--kubeconfig={kubeconfig}",
                f"--write-config-to={written}",
                "--secure-port=0",
            ],
            capture_output=True,
            check=True,
        )
        document, _ = read_yaml(written.read_bytes())
    [profile] = document["profiles"]
    numbers = _numbers(document)
    for each in profile["pluginConfig"]:
        numbers |= _numbers(each["args"], f"{each['name']}.")
    for each in profile["plugins"]["multiPoint"]["enabled"]:
        if each["weight"]:
            numbers[f"{each['name']}.weight"] = str(each["weight"])
    return numbers


def _numbers(fields: dict[str, Any], prefix: str = "") -> dict[str, str]:
    return {
        f"{prefix}{name}": str(value).lower()
        for name, value in fields.items()
        if PLAIN.match(str(value).lower())
    }
