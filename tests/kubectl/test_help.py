"""`--help` shows the flags that the real kubectl 1.36 has, with its defaults."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from lifecycle.kubectl.help_texts import COMMANDS, FLAGS
from lifecycle.kubectl.main import main
from tests.conftest import find_kubectl, unavailable

RECORDED = Path(__file__).parent / "real_flags.json"
"""Each command's flags with defaults, from kubectl 1.36. Written anew with `RECORD_KUBECTL=1 pytest …`."""

_FLAG = re.compile(r"^    (?:-(\w), )?--([\w-]+)=(.*?):$", re.MULTILINE)
GROUPS = ("config", "create secret", "create service", "rollout", "set")
LINES = [name for name in COMMANDS if name not in GROUPS]


def flags_in(text: str) -> dict[str, str]:
    """`-o --output` → its default."""
    text = re.sub(r"--cache-dir='.*'", "--cache-dir='HOME'", text)
    return {f"-{short} --{name}" if short else f"--{name}": default for short, name, default in _FLAG.findall(text)}


def ours(line: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = asyncio.run(main(line.split(), out=out, err=err, environ={"HOME": "/nowhere"}))
    return code, out.getvalue(), err.getvalue()


def real(line: str) -> dict[str, str]:
    binary = find_kubectl("1.36")
    assert binary is not None
    done = subprocess.run([str(binary), *line.split()], capture_output=True, text=True, timeout=60, check=True)
    return flags_in(done.stdout)


def asked(name: str) -> str:
    return name if name == "options" else f"{name} --help"


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict[str, str]]:
    if os.environ.get("RECORD_KUBECTL"):
        RECORDED.write_text(json.dumps({name: real(asked(name)) for name in LINES}, indent=0) + "\n")
    return dict(json.loads(RECORDED.read_text()))


@pytest.mark.parametrize("name", LINES)
def test_the_same_flags_with_the_same_defaults(recorded, name):
    code, out, err = ours(asked(name))
    assert (code, err) == (0, "")
    assert flags_in(out) == recorded[name]


def test_what_was_recorded_is_still_what_the_real_kubectl_says(recorded):
    if find_kubectl("1.36") is None:
        unavailable("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    for name in LINES[::12]:
        assert real(asked(name)) == recorded[name]


def test_help_comes_by_all_roads():
    assert ours("help create deployment") == ours("create deployment --help") == ours("create deploy -h")
    assert ours("help") == ours("--help") == ours("")
    assert all(f"  {name} " in ours("help")[1] for name in COMMANDS if " " not in name)


@pytest.mark.parametrize("group", GROUPS)
def test_a_command_that_only_holds_others_lists_them(group):
    code, out, err = ours(f"{group} --help")
    assert (code, err) == (0, "")
    below = [name.removeprefix(f"{group} ") for name in COMMANDS if name.startswith(f"{group} ")]
    assert below
    assert all(f"  {word} " in out for word in below)
    code, *texts = ours(group)
    assert (code, "".join(texts)) == (1, out), "alone it is a mistake, and says the same"


def test_nothing_is_described_that_is_nowhere(recorded):
    known = {flag.rpartition("--")[2] for flags in recorded.values() for flag in flags} | {"help", "record"}
    assert {name.rpartition(" ")[2] for name in FLAGS} <= known
