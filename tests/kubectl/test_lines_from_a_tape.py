"""What commands say and ask, as the real kubectl 1.36 did once, from what the server said then: no cluster and no program.

The tape is kept by the tests beside the real kubectl, for lines that both answered the same.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from lifecycle.agreements.kubectl.printed import told
from tests.kubectl import beside
from tests.kubectl import test_lines_beside_real_kubectl as lines
from tests.kubectl import test_manifests_beside_real_kubectl as manifests
from tests.kubectl import test_rarer_lines_beside_real_kubectl as rarer
from tests.kubectl import test_templates_beside_real_kubectl as templates
from tests.kubectl.tape import LINES, Tape

TAPE = Tape(LINES)
ASKED = lines.ASKED | rarer.ASKED | templates.ASKED | manifests.ASKED
FILES = beside.FILES | lines.FILES | rarer.MORE_FILES | {"text.txt": templates.TEXT, "keys.env": templates.KEYS}
FILES |= {f"odd/{name}": text for name, text in manifests.FILES.items()}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("line", TAPE.lines)
def test_the_same_is_said_and_asked(line: str, home: Path) -> None:
    argv = [word.replace("HOME", str(home)) for word in shlex.split(ASKED[line])]
    assert told(TAPE.play(line, argv), home) == TAPE.lines[line]["said"]
