"""Whether a test file asks what it asked before: what it asks with counts as part of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants.digests import _imported, digest

FILES = {
    "tests/test_table.py": "from pkg.asking.table import rows\nimport pkg.other\nfrom tests.shared import player\n",
    "tests/test_checks.py": "from pkg.asking import checks\n",
    "tests/shared/player.py": "from tests.shared.board import Board\nfrom pkg.asking.setting import table\n",
    "tests/shared/board.py": "from tests.shared import player\n",
    "tests/shared/unused/__init__.py": "",
    "src/pkg/__init__.py": "",
    "src/pkg/other.py": "",
    "src/pkg/asking/__init__.py": "",
    "src/pkg/asking/table.py": "import pkg.asking.scene\n",
    "src/pkg/asking/scene.py": "from pkg.asking import table\n",
    "src/pkg/asking/setting.py": "",
    "src/pkg/asking/alone.py": "",
    "src/pkg/asking/checks/__init__.py": "",
    "src/pkg/asking/checks/one.py": "from pkg.asking.alone import it\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def digests(checkout: Path, asking: str = "pkg.asking") -> tuple[str, str]:
    _imported.cache_clear()
    table, checks = (
        digest(checkout / f"tests/{name}.py", checkout / "src", asking) for name in ("test_table", "test_checks")
    )
    return table, checks


@pytest.mark.parametrize(
    ("changed", "table", "checks"),
    [
        ("tests/test_table.py", True, False),
        ("src/pkg/asking/table.py", True, False),
        ("src/pkg/asking/scene.py", True, False),  # through another
        ("src/pkg/asking/alone.py", False, True),  # through one of a package's modules
        ("src/pkg/asking/checks/one.py", False, True),
        ("src/pkg/asking/checks/new.py", False, True),
        ("src/pkg/other.py", False, False),  # what is asked about, not with
        ("tests/conftest.py", True, True),
        ("tests/shared/player.py", True, False),  # what tests share
        ("tests/shared/board.py", True, False),  # through another
        ("src/pkg/asking/setting.py", True, False),  # through what tests share
        ("tests/shared/unused/__init__.py", False, False),
    ],
)
def test_a_changed_question_is_another_one(checkout: Path, changed: str, table: bool, checks: bool) -> None:
    before, without = digests(checkout), digests(checkout, "")
    assert digests(checkout) == before
    (checkout / changed).write_text(f"{FILES.get(changed, '')}\nchanged = True\n")
    assert [a != b for a, b in zip(digests(checkout), before, strict=True)] == [table, checks]
    if changed.startswith("src"):
        assert digests(checkout, "") == without
