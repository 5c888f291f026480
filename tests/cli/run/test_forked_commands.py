"""What is forked says and does what the program does that everybody starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run.lone_component import LoneComponent

Said = tuple[int, list[str], list[str]]


def said(*words: str, program: bool) -> Said:
    with LoneComponent(*words, ready=False, program=program) as component:
        code: int = component.process.wait(60)
        component.stop()
    return code, component.printed, component.said


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("scheduler", "--help"), 0),
        (("scheduler", "--no-such-flag"), 2),
        (("controllers", "--kubeconfig", "not-here"), 1),
    ],
    ids=str,
)
def test_a_forked_command_ends_as_the_program_does(
    words: tuple[str, ...], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    forked = said(*words, program=False)
    assert forked == said(*words, program=True)
    assert forked[0] == code
    assert forked[1] + forked[2]


def test_it_is_in_its_askers_folder_and_has_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, columns in (("here", "200"), ("elsewhere", "50")):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        monkeypatch.setenv("COLUMNS", columns)
        if name == "here":
            Path("kubeconfig").write_text("contexts: 1")
        code, _, errors = said("controllers", "--kubeconfig", "kubeconfig", program=False)
        assert (code, "no such file" in "".join(errors)) == (1, name == "elsewhere"), errors
        lines = said("scheduler", "--help", program=False)[1]
        assert (max(map(len, lines)) <= 50) == (name == "elsewhere")
